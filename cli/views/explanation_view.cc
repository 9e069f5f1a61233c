#include "cli/views/explanation_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/prediction_view.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

// Indices of the parts that lines have shares in, and of those that they have none in.
struct PartsByLine {
  std::vector<std::size_t> of_lines, of_launches;
};

PartsByLine parts_by_line(const Explanation& explanation) {
  PartsByLine by_line;
  const auto parts = explanation.row.model->parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == TimePart::Kind::further) continue;
    const bool of_launches = parts[i].kind == TimePart::Kind::launch || explanation.lines.empty();
    (of_launches ? by_line.of_launches : by_line.of_lines).push_back(i);
  }
  return by_line;
}

std::string title_of(const PredictionRow& row) {
  std::string text = fmt::format("{} on {}", row.plan, row.gpu);
  for (const auto& [name, value] : row.parameters) text += fmt::format(", {} = {}", name, value);
  return fmt::format("{}: {}\n\n", text, sensible_time(row.time.total_us));
}

// The time by line, then what no line has a share in.
std::string table_of(const Explanation& explanation) {
  const double total = explanation.row.time.total_us;
  const auto parts = explanation.row.model->parts();
  const PartsByLine by_line = parts_by_line(explanation);
  const bool several =
      std::any_of(explanation.lines.begin(), explanation.lines.end(),
                  [&](const LineShare& line) { return line.kernel != explanation.lines.front().kernel; });
  std::vector<Column> columns;
  if (several) columns.push_back({"kernel", Align::left});
  columns.push_back({"where", Align::left});
  for (const char* title : {"time", "share"}) columns.push_back({title});
  for (const std::size_t part : by_line.of_lines) columns.push_back({std::string(parts[part].title)});
  if (!explanation.lines.empty()) columns.push_back({"accesses per warp"});
  Table table(columns);
  const auto share = [&](double part) {
    return total > 0 ? fmt::format("{:.1f}%", 100 * part / total) : "-";
  };
  for (const LineShare& line : explanation.lines) {
    std::vector<std::string> cells;
    if (several) cells.push_back(line.kernel);
    cells.push_back(line.where);
    cells.push_back(sensible_time(line.total_us()));
    cells.push_back(share(line.total_us()));
    for (const std::size_t part : by_line.of_lines) cells.push_back(share(line.us[part]));
    cells.push_back(line.accesses > 0 ? sensible(line.accesses) : "");
    table.add(std::move(cells));
  }
  for (const std::size_t part : by_line.of_launches) {
    const double time = explanation.row.time.us[part];
    if (!(time > 0)) continue;
    std::vector<std::string> cells;
    if (several) cells.emplace_back();
    cells.insert(cells.end(), {std::string(parts[part].meaning), sensible_time(time), share(time)});
    cells.resize(columns.size());
    table.add(std::move(cells));
  }
  return table.take();
}

}  // namespace

std::string explanations_text(const std::vector<Explanation>& explanations) {
  std::string text;
  for (const Explanation& explanation : explanations) {
    if (!text.empty()) text += '\n';
    text += title_of(explanation.row);
    for (const Claim& claim : explanation.claims) text += wrapped("- " + claim.text, 110, 2) + "\n";
    if (!explanation.claims.empty()) text += '\n';
    text += table_of(explanation);
    for (const std::string& note : explanation.row.notes) text += wrapped("note: " + note, 110, 6) + "\n";
  }
  return text;
}

std::string explanations_json(const std::vector<Explanation>& explanations) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Explanation& explanation : explanations) {
    const PredictionRow& row = explanation.row;
    nlohmann::ordered_json json = row_json(row);
    add_parts(row, json);
    json["claims"] = nlohmann::ordered_json::array();
    for (const Claim& claim : explanation.claims) {
      nlohmann::ordered_json one{{"kind", to_string(claim.kind)}, {"text", claim.text}};
      if (claim.time_us) one["time_us"] = exact_json(*claim.time_us);
      if (claim.warps) one["warps"] = *claim.warps;
      json["claims"].push_back(std::move(one));
    }
    json["lines"] = nlohmann::ordered_json::array();
    for (const LineShare& line : explanation.lines) {
      nlohmann::ordered_json one{{"kernel", line.kernel}, {"where", line.where}};
      if (!line.lines.empty()) one["lines"] = to_string(line.lines);
      for (const std::size_t part : parts_by_line(explanation).of_lines)
        one[std::string(row.model->parts()[part].key)] = exact_json(line.us[part]);
      one["accesses_of_a_warp"] = exact_json(line.accesses);
      json["lines"].push_back(std::move(one));
    }
    json["notes"] = row.notes;
    all.push_back(std::move(json));
  }
  return json_text(all, 1) + "\n";
}

}  // namespace warptime::cli
