#include "cli/views/against_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/views/prediction_view.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

const std::string& quicker(const PlanComparison& comparison, const PlanPair& pair) {
  static const std::string neither = "equal";
  if (pair.first_us == pair.second_us) return neither;
  return pair.first_us < pair.second_us ? comparison.first : comparison.second;
}

bool too_close(const PlanComparison& comparison, const PlanPair& pair) {
  return comparison.calls_close &&
         std::max(pair.first_us, pair.second_us) < kTooClose * std::min(pair.first_us, pair.second_us);
}

// For people: "too close to call" where it is.
const std::string& called(const PlanComparison& comparison, const PlanPair& pair) {
  static const std::string close = "too close to call";
  return too_close(comparison, pair) ? close : quicker(comparison, pair);
}

// The last parameter that has several values; the number of parameters where none has.
std::size_t moving_parameter(const std::vector<PlanPair>& pairs) {
  const std::size_t count = pairs.front().parameters.size();
  for (std::size_t i = count; i-- > 0;) {
    const auto other = std::find_if(pairs.begin(), pairs.end(), [&](const PlanPair& pair) {
      return pair.parameters[i].second != pairs.front().parameters[i].second;
    });
    if (other != pairs.end()) return i;
  }
  return count;
}

// "matrix is the faster one for N = 64 to 4096, lattice for 8192 to 1048576"
std::string sentence(const PlanComparison& comparison, const std::string& name,
                     const std::vector<std::pair<std::int64_t, const PlanPair*>>& along) {
  std::string text;
  for (std::size_t begin = 0; begin < along.size();) {
    const std::string& who = called(comparison, *along[begin].second);
    std::size_t end = begin + 1;
    while (end < along.size() && called(comparison, *along[end].second) == who) ++end;
    const auto from = along[begin].first, to = along[end - 1].first;
    const std::string range = from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
    if (too_close(comparison, *along[begin].second)) {
      text += text.empty() ? fmt::format("too close to call for {} = {}", name, range)
                           : fmt::format(", too close to call for {}", range);
    } else if (text.empty()) {
      text = who == "equal" ? fmt::format("both are equal for {} = {}", name, range)
                            : fmt::format("{} is the faster one for {} = {}", who, name, range);
    } else {
      text += fmt::format(", {} for {}", who == "equal" ? "both are equal" : who, range);
    }
    begin = end;
  }
  return text;
}

std::string text_of(const PlanComparison& comparison) {
  std::vector<Column> columns = {{"gpu", Align::left}};
  for (const auto& [name, value] : comparison.pairs.front().parameters) columns.push_back({name});
  columns.push_back({comparison.first});
  columns.push_back({comparison.second});
  columns.push_back({"R"});
  columns.push_back({"faster", Align::left});
  Table table(columns);
  for (const PlanPair& pair : comparison.pairs) {
    std::vector<std::string> cells = {pair.gpu};
    for (const auto& [name, value] : pair.parameters) cells.push_back(fmt::format("{}", value));
    cells.push_back(sensible_time(pair.first_us));
    cells.push_back(sensible_time(pair.second_us));
    cells.push_back(fmt::format("{:.3f}", pair.ratio()));
    cells.push_back(called(comparison, pair));
    table.add(std::move(cells));
  }
  std::string text = table.take() + "\n";
  for (const auto& line : crossovers(comparison)) text += wrapped(line, 118, 2) + "\n";
  if (comparison.calls_close)
    text += fmt::format("Too close to call: the times differ by less than {:.0f}%.\n", 100 * (kTooClose - 1));
  return text + comparison.model +
         fmt::format("R = time of {} / time of {} (equation 21)\n", comparison.first, comparison.second);
}

std::string csv_of(const PlanComparison& comparison) {
  std::vector<std::string> fields = {"gpu"};
  for (const auto& [name, value] : comparison.pairs.front().parameters) fields.push_back(name);
  fields.push_back(comparison.first + "_us");
  fields.push_back(comparison.second + "_us");
  fields.insert(fields.end(), {"ratio", "quicker"});
  if (comparison.calls_close) fields.emplace_back("too_close");
  std::string text = csv_line(fields);
  for (const PlanPair& pair : comparison.pairs) {
    fields = {pair.gpu};
    for (const auto& [name, value] : pair.parameters) fields.push_back(fmt::format("{}", value));
    for (const double number : {pair.first_us, pair.second_us, pair.ratio()}) fields.push_back(exact(number));
    fields.push_back(quicker(comparison, pair));
    if (comparison.calls_close) fields.emplace_back(too_close(comparison, pair) ? "true" : "false");
    text += csv_line(fields);
  }
  return text;
}

std::string json_of(const PlanComparison& comparison) {
  nlohmann::ordered_json json;
  json["plans"] = {comparison.first, comparison.second};
  json["rows"] = nlohmann::ordered_json::array();
  for (const PlanPair& pair : comparison.pairs) {
    nlohmann::ordered_json row;
    row["gpu"] = pair.gpu;
    row["parameters"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : pair.parameters) row["parameters"][name] = value;
    row["times_us"] = {pair.first_us, pair.second_us};
    row["ratio"] = exact_json(pair.ratio());
    row["quicker"] = quicker(comparison, pair);
    if (comparison.calls_close) row["too_close"] = too_close(comparison, pair);
    json["rows"].push_back(std::move(row));
  }
  json["crossovers"] = crossovers(comparison);
  return json_text(json, 1) + "\n";
}

}  // namespace

std::vector<std::string> crossovers(const PlanComparison& comparison) {
  if (comparison.pairs.empty()) return {};
  const std::size_t moving = moving_parameter(comparison.pairs);
  if (moving == comparison.pairs.front().parameters.size()) return {};
  std::vector<std::string> groups;  // in order of appearance
  std::map<std::string, std::vector<std::pair<std::int64_t, const PlanPair*>>> along;
  for (const PlanPair& pair : comparison.pairs) {
    std::string group = pair.gpu;
    for (std::size_t i = 0; i < pair.parameters.size(); ++i)
      if (i != moving) group += fmt::format(", {} = {}", pair.parameters[i].first, pair.parameters[i].second);
    if (along.count(group) == 0) groups.push_back(group);
    along[group].emplace_back(pair.parameters[moving].second, &pair);
  }
  std::vector<std::string> sentences;
  for (const auto& group : groups) {
    auto& values = along[group];
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    sentences.push_back(fmt::format(
        "{}: {}", group, sentence(comparison, comparison.pairs.front().parameters[moving].first, values)));
  }
  return sentences;
}

std::string against_text(const PlanComparison& comparison, std::string_view format) {
  if (format == "json") return json_of(comparison);
  if (comparison.pairs.empty()) return {};
  return format == "csv" ? csv_of(comparison) : text_of(comparison);
}

}  // namespace warptime::cli
