#include "cli/views/explanation_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/prediction_view.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

struct LinePart {
  const char* name;
  const char* title;
  double LineShare::*microseconds;
};
constexpr LinePart line_parts[] = {{"calculation_us", "calc", &LineShare::calculation_us},
                                   {"issue_us", "issue", &LineShare::issue_us},
                                   {"waiting_us", "wait", &LineShare::waiting_us},
                                   {"tail_us", "tail", &LineShare::tail_us}};

std::string title_of(const PredictionRow& row) {
  std::string text = fmt::format("{} on {}", row.plan, row.gpu);
  for (const auto& [name, value] : row.parameters) text += fmt::format(", {} = {}", name, value);
  return fmt::format("{}: {}\n\n", text, sensible_time(row.time.total_us));
}

// The rest of the time is the launches' preparation.
std::string table_of(const Explanation& explanation) {
  if (explanation.lines.empty()) return {};
  const double total = explanation.row.time.total_us;
  const bool several =
      std::any_of(explanation.lines.begin(), explanation.lines.end(),
                  [&](const LineShare& line) { return line.kernel != explanation.lines.front().kernel; });
  std::vector<Column> columns;
  if (several) columns.push_back({"kernel", Align::left});
  columns.push_back({"where", Align::left});
  for (const char* title : {"time", "of it"}) columns.push_back({title});
  for (const LinePart& part : line_parts) columns.push_back({part.title});
  columns.push_back({"accesses of a warp"});
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
    for (const LinePart& part : line_parts) cells.push_back(share(line.*part.microseconds));
    cells.push_back(line.accesses > 0 ? sensible(line.accesses) : "");
    table.add(std::move(cells));
  }
  const double preparation = explanation.row.time.preparation_us;
  if (preparation > 0) {
    std::vector<std::string> cells;
    if (several) cells.emplace_back();
    cells.insert(cells.end(), {"preparing launches", sensible_time(preparation), share(preparation)});
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
    json["preparation_us"] = exact_json(row.time.preparation_us);
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
      for (const LinePart& part : line_parts) one[part.name] = exact_json(line.*part.microseconds);
      one["accesses_of_a_warp"] = exact_json(line.accesses);
      json["lines"].push_back(std::move(one));
    }
    json["notes"] = row.notes;
    all.push_back(std::move(json));
  }
  return json_text(all, 1) + "\n";
}

}  // namespace warptime::cli
