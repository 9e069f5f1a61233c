#include "cli/views/counters_view.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> notes_of(const CounterRow& row, const LaunchCounters& launch) {
  std::vector<std::string> notes = row.row.notes;
  notes.insert(notes.end(), launch.notes.begin(), launch.notes.end());
  return notes;
}

}  // namespace

std::string launch_title(const CounterRow& row, const LaunchCounters& launch) {
  return fmt::format("{} on {}{}: grid {}, block {}, {} launch{}", launch.kernel, row.row.gpu,
                     with_values(row.row.parameters), to_string(launch.size.grid),
                     to_string(launch.size.block), launch.launches, launch.launches == 1 ? "" : "es");
}

std::string readable_count(double value) {
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string counters_text(const std::vector<CounterRow>& rows) {
  std::string out;
  for (const CounterRow& row : rows) {
    for (const LaunchCounters& launch : row.launches) {
      if (!out.empty()) out += '\n';
      out += launch_title(row, launch) + "\n";
      Table table({{"metric", Align::left}, {"value"}, {"unit", Align::left}, {"", Align::left}});
      for (std::size_t i = 0; i < launch.values.size(); ++i) {
        const Metric& metric = counter_metrics()[i];
        table.add({std::string(metric.name), launch.values[i] ? readable_count(*launch.values[i]) : "-",
                   std::string(metric.unit), std::string(metric.title)});
      }
      out += table.take();
      for (const std::string& note : notes_of(row, launch)) out += wrapped("* " + note, 100, 2) + "\n";
    }
  }
  return out;
}

std::string counters_csv(const Plan& plan, const std::vector<CounterRow>& rows) {
  std::vector<std::string> titles = {"plan", "gpu"};
  for (const auto& parameter : plan.parameters) titles.push_back(parameter.name);
  titles.insert(titles.end(), {"kernel", "grid", "block", "launches"});
  for (const Metric& metric : counter_metrics()) titles.emplace_back(metric.name);
  titles.emplace_back("notes");
  std::string out = csv_line(titles);
  for (const CounterRow& row : rows) {
    for (const LaunchCounters& launch : row.launches) {
      std::vector<std::string> fields = {row.row.plan, row.row.gpu};
      for (const auto& [name, value] : row.row.parameters) fields.push_back(std::to_string(value));
      fields.insert(fields.end(), {launch.kernel, to_string(launch.size.grid), to_string(launch.size.block),
                                   exact(launch.launches)});
      for (const auto& value : launch.values) fields.push_back(value ? exact(*value) : "");
      fields.push_back(fmt::format("{}", fmt::join(notes_of(row, launch), "; ")));
      out += csv_line(fields);
    }
  }
  return out;
}

std::string counters_json(const std::vector<CounterRow>& rows) {
  Json all = Json::array();
  for (const CounterRow& row : rows) {
    for (const LaunchCounters& launch : row.launches) {
      Json parameters = Json::object(), metrics = Json::object();
      for (const auto& [name, value] : row.row.parameters) parameters[name] = value;
      for (std::size_t i = 0; i < launch.values.size(); ++i)
        metrics[std::string(counter_metrics()[i].name)] =
            launch.values[i] ? exact_json(*launch.values[i]) : Json();
      all.push_back({{"plan", row.row.plan},
                     {"gpu", row.row.gpu},
                     {"parameters", std::move(parameters)},
                     {"kernel", launch.kernel},
                     {"grid", to_string(launch.size.grid)},
                     {"block", to_string(launch.size.block)},
                     {"launches", exact_json(launch.launches)},
                     {"metrics", std::move(metrics)},
                     {"notes", notes_of(row, launch)}});
    }
  }
  return json_text(all, 2) + "\n";
}

}  // namespace warptime::cli
