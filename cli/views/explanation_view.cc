#include "cli/views/explanation_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/prediction_view.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kShown = 0.0005;  // of the time: less is 0.0%

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

// "mtx on rtx-2080, K = 8"
std::string title_of(const PredictionRow& row) {
  return fmt::format("{} on {}{}", row.plan, row.gpu, with_values(row.parameters));
}

// What the row's time is spent on, in the model's finer terms.
std::string limits_table(const Explanation& explanation) {
  Table table({{"limited by", Align::left}, {"time"}, {"share"}});
  const double total = explanation.row.time.total_us;
  const auto add = [&](std::string title, double us) {
    table.add(
        {std::move(title), sensible_time(us), total > 0 ? fmt::format("{:.1f}%", 100 * us / total) : "-"});
  };
  double rest = 0;
  for (const Limit& limit : explanation.limits) {
    if (limit.us < kShown * total)
      rest += limit.us;
    else
      add(std::string(limit.title), limit.us);
  }
  if (rest > 0) add("all else", rest);
  return table.take();
}

std::string bytes_text(double bytes) {
  constexpr double unit = 1024;
  if (bytes < unit) return fmt::format("{:.0f} B", bytes);
  if (bytes < unit * unit) return fmt::format("{:.1f} KiB", bytes / unit);
  if (bytes < unit * unit * unit) return fmt::format("{:.1f} MiB", bytes / (unit * unit));
  return fmt::format("{:.1f} GiB", bytes / (unit * unit * unit));
}

// What lines ask the levels of memory for, in the order of the lines' times.
std::string traffic_table(const Explanation& explanation, bool several) {
  bool shared = false, local = false;
  for (const LineShare& line : explanation.lines) {
    shared = shared || (line.traffic && line.traffic->shared_ways > 0);
    local = local || (line.traffic && line.traffic->local_sectors > 0);
  }
  std::vector<Column> columns;
  if (several) columns.push_back({"kernel", Align::left});
  columns.push_back({"where", Align::left});
  for (const char* title : {"L1 sectors", "hit", "per request", "without gaps"}) columns.push_back({title});
  if (shared) columns.push_back({"shared ways"});
  if (local) columns.push_back({"local sectors"});
  for (const char* title : {"L2", "memory"}) columns.push_back({title});
  Table table(columns);
  for (const LineShare& line : explanation.lines) {
    if (!line.traffic) continue;
    const LineTraffic& of = *line.traffic;
    std::vector<std::string> cells;
    if (several) cells.push_back(line.kernel);
    const bool requests = of.requests > 0;
    cells.push_back(line.where);
    cells.push_back(requests ? fmt::format("{:.0f}", of.sectors) : "");
    cells.push_back(of.load_sectors > 0 ? fmt::format("{:.0f}%", 100 * of.load_hits / of.load_sectors) : "");
    cells.push_back(requests ? fmt::format("{:.3g}", of.sectors / of.requests) : "");
    cells.push_back(requests ? fmt::format("{:.3g}", of.least_sectors / of.requests) : "");
    if (shared)
      cells.push_back(of.shared_ways > 0 ? fmt::format("{:.3g}", of.shared_ways / of.shared_least_ways) : "");
    if (local) cells.push_back(of.local_sectors > 0 ? fmt::format("{:.0f}", of.local_sectors) : "");
    cells.push_back(bytes_text(of.l2_bytes));
    cells.push_back(bytes_text(of.memory_bytes));
    table.add(std::move(cells));
  }
  return table.take();
}

bool several_kernels(const Explanation& explanation) {
  return std::any_of(explanation.lines.begin(), explanation.lines.end(),
                     [&](const LineShare& line) { return line.kernel != explanation.lines.front().kernel; });
}

// The time by line, then what no line has a share in.
std::string table_of(const Explanation& explanation) {
  const double total = explanation.row.time.total_us;
  const auto parts = explanation.row.model->parts();
  const PartsByLine by_line = parts_by_line(explanation);
  const bool several = several_kernels(explanation);
  std::vector<Column> columns;
  if (several) columns.push_back({"kernel", Align::left});
  columns.push_back({"where", Align::left});
  for (const char* title : {"time", "share"}) columns.push_back({title});
  std::vector<std::size_t> shown = by_line.of_lines;
  if (!explanation.limits.empty())
    std::erase_if(shown, [&](std::size_t part) { return explanation.row.time.us[part] < kShown * total; });
  for (const std::size_t part : shown) columns.push_back({std::string(parts[part].title)});
  if (!explanation.lines.empty()) columns.push_back({"accesses per warp"});
  Table table(columns);
  const auto share = [&](double part) {
    return total > 0 ? fmt::format("{:.1f}%", 100 * part / total) : "-";
  };
  LineShare rest;  // lines that are 0.0%
  rest.where = "all else";
  for (const LineShare& line : explanation.lines)
    if (!explanation.limits.empty() && line.total_us() < kShown * total)
      for (std::size_t i = 0; i < rest.us.size(); ++i) rest.us[i] += line.us[i];
  std::vector<const LineShare*> rows;
  for (const LineShare& line : explanation.lines)
    if (explanation.limits.empty() || !(line.total_us() < kShown * total)) rows.push_back(&line);
  if (rest.total_us() > 0) rows.push_back(&rest);
  for (const LineShare* row : rows) {
    const LineShare& line = *row;
    std::vector<std::string> cells;
    if (several) cells.push_back(line.kernel);
    cells.push_back(line.where);
    cells.push_back(sensible_time(line.total_us()));
    cells.push_back(share(line.total_us()));
    for (const std::size_t part : shown) cells.push_back(share(line.us[part]));
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

bool has_traffic(const Explanation& explanation) {
  return std::any_of(explanation.lines.begin(), explanation.lines.end(),
                     [](const LineShare& line) { return line.traffic.has_value(); });
}

Json limits_json(const std::vector<Limit>& limits) {
  Json json = Json::object();
  for (const Limit& limit : limits) json[std::string(limit.key) + "_us"] = exact_json(limit.us);
  return json;
}

Json traffic_json(const LineTraffic& of) {
  const auto rate = [](double part, double whole) { return whole > 0 ? exact_json(part / whole) : Json(); };
  return {{"requests", exact_json(of.requests)},
          {"sectors", exact_json(of.sectors)},
          {"sectors_without_gaps", exact_json(of.least_sectors)},
          {"load_sectors", exact_json(of.load_sectors)},
          {"load_hit_rate", rate(of.load_hits, of.load_sectors)},
          {"local_sectors", exact_json(of.local_sectors)},
          {"local_hit_rate", rate(of.local_hits, of.local_sectors)},
          {"shared_ways", rate(of.shared_ways, of.shared_least_ways)},
          {"l2_bytes", exact_json(of.l2_bytes)},
          {"memory_bytes", exact_json(of.memory_bytes)}};
}

}  // namespace

std::string explanations_text(const std::vector<Explanation>& explanations) {
  std::string text;
  for (const Explanation& explanation : explanations) {
    if (!text.empty()) text += '\n';
    text +=
        fmt::format("{}: {}\n\n", title_of(explanation.row), sensible_time(explanation.row.time.total_us));
    for (const Claim& claim : explanation.claims) text += wrapped("- " + claim.text, 110, 2) + "\n";
    if (!explanation.claims.empty()) text += '\n';
    if (!explanation.limits.empty()) text += limits_table(explanation) + '\n';
    text += table_of(explanation);
    if (has_traffic(explanation)) text += '\n' + traffic_table(explanation, several_kernels(explanation));
    for (const std::string& note : explanation.row.notes) text += wrapped("note: " + note, 110, 6) + "\n";
  }
  return text;
}

std::string traffic_text(const std::vector<Explanation>& explanations) {
  std::string text;
  for (const Explanation& explanation : explanations) {
    if (!has_traffic(explanation)) continue;
    const PredictionRow& row = explanation.row;
    if (!text.empty()) text += '\n';
    text += fmt::format("{}: by line, of {} launch{}\n", title_of(row), row.launches,
                        row.launches == 1 ? "" : "es");
    text += traffic_table(explanation, several_kernels(explanation));
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
      for (const Claim::Term& term : claim.terms) one["terms"][term.key] = exact_json(term.value);
      json["claims"].push_back(std::move(one));
    }
    if (!explanation.limits.empty()) json["limits"] = limits_json(explanation.limits);
    json["lines"] = nlohmann::ordered_json::array();
    for (const LineShare& line : explanation.lines) {
      nlohmann::ordered_json one{{"kernel", line.kernel}, {"where", line.where}};
      if (!line.lines.empty()) one["lines"] = to_string(line.lines);
      for (const std::size_t part : parts_by_line(explanation).of_lines)
        one[std::string(row.model->parts()[part].key)] = exact_json(line.us[part]);
      one["accesses_of_a_warp"] = exact_json(line.accesses);
      if (!line.limits.empty()) one["limits"] = limits_json(line.limits);
      if (line.traffic) one["traffic"] = traffic_json(*line.traffic);
      json["lines"].push_back(std::move(one));
    }
    json["notes"] = row.notes;
    all.push_back(std::move(json));
  }
  return json_text(all, 1) + "\n";
}

}  // namespace warptime::cli
