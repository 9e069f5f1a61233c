#include "cli/views/counters_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/views/counters_view.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// "-12.3%"; "-" where there is none.
std::string percent(std::optional<double> error) {
  if (!error) return "-";
  const std::string text = fmt::format("{:+.1f}%", 100 * *error);
  return text == "-0.0%" ? "+0.0%" : text;
}

std::string value_or_dash(std::optional<double> value) {
  return value ? readable_count(*value) : "-";
}

bool is_compared(const ComparedLaunch& launch, std::size_t metric) {
  return launch.measured[metric].has_value();
}

std::string launches_text(double count) {
  return fmt::format("{} launch{}", count, count == 1 ? "" : "es");
}

std::string launch_text(const ComparedLaunch& launch) {
  const std::int64_t measured = launch.measured_launches;
  std::string text = fmt::format("{}, {} measured\n", launch_title(*launch.row, *launch.computed), measured);
  Table table({{"metric", Align::left}, {"computed"}, {"measured"}, {"error"}, {"unit", Align::left}});
  for (std::size_t m = 0; m < launch.measured.size(); ++m) {
    if (!is_compared(launch, m)) continue;
    const auto computed = launch.computed->values[m];
    table.add({std::string(counter_metrics()[m].name), value_or_dash(computed),
               value_or_dash(launch.measured[m]), percent(counter_error(computed, launch.measured[m])),
               std::string(counter_metrics()[m].unit)});
  }
  text += table.take();
  for (const std::string& note : launch.computed->notes) text += wrapped("* " + note, 100, 2) + "\n";
  return text;
}

// The sizes of the errors of one metric, without their signs.
std::vector<double> errors_of(const CountersComparison& comparison, std::size_t metric) {
  std::vector<double> errors;
  for (const ComparedLaunch& launch : comparison.launches)
    if (const auto error = counter_error(launch.computed->values[metric], launch.measured[metric]))
      errors.push_back(std::abs(*error));
  std::sort(errors.begin(), errors.end());
  return errors;
}

std::string summary_text(const CountersComparison& comparison) {
  Table table({{"metric", Align::left}, {"launches"}, {"median error"}, {"mean error"}, {"maximum"}});
  for (std::size_t m = 0; m < counter_metrics().size(); ++m) {
    const std::vector<double> errors = errors_of(comparison, m);
    if (errors.empty()) continue;
    double sum = 0;
    for (const double error : errors) sum += error;
    const double middle = (errors[errors.size() / 2] + errors[(errors.size() - 1) / 2]) / 2;
    const auto share = [](double error) { return fmt::format("{:.1f}%", 100 * error); };
    table.add({std::string(counter_metrics()[m].name), std::to_string(errors.size()), share(middle),
               share(sum / static_cast<double>(errors.size())), share(errors.back())});
  }
  return table.take();
}

}  // namespace

std::optional<double> counter_error(std::optional<double> computed, std::optional<double> measured) {
  if (!computed || !measured) return std::nullopt;
  if (*measured != 0) return *computed / *measured - 1;
  return *computed == 0 ? std::optional(0.0) : std::nullopt;
}

std::string counters_comparison_text(const CountersComparison& comparison) {
  std::string out;
  for (const ComparedLaunch& launch : comparison.launches) out += launch_text(launch) + "\n";
  if (comparison.launches.size() > 1)
    out += fmt::format("all {}:\n{}", launches_text(static_cast<double>(comparison.launches.size())),
                       summary_text(comparison));
  else if (!out.empty())
    out.pop_back();
  for (const std::string& note : comparison.notes) out += wrapped("* " + note, 100, 2) + "\n";
  return out;
}

std::string counters_comparison_csv(const Plan& plan, const CountersComparison& comparison) {
  std::vector<std::string> titles = {"plan", "gpu"};
  for (const auto& parameter : plan.parameters) titles.push_back(parameter.name);
  titles.insert(titles.end(), {"kernel", "grid", "block", "launches", "measured_launches", "metric",
                               "computed", "measured", "error"});
  std::string out = csv_line(titles);
  for (const ComparedLaunch& launch : comparison.launches) {
    std::vector<std::string> first = {launch.row->row.plan, launch.row->row.gpu};
    for (const auto& [name, value] : launch.row->row.parameters) first.push_back(std::to_string(value));
    first.insert(first.end(), {launch.computed->kernel, to_string(launch.computed->size.grid),
                               to_string(launch.computed->size.block), exact(launch.computed->launches),
                               std::to_string(launch.measured_launches)});
    const auto text = [](std::optional<double> value) { return value ? exact(*value) : ""; };
    for (std::size_t m = 0; m < launch.measured.size(); ++m) {
      if (!is_compared(launch, m)) continue;
      std::vector<std::string> fields = first;
      const auto computed = launch.computed->values[m];
      fields.insert(fields.end(),
                    {std::string(counter_metrics()[m].name), text(computed), text(launch.measured[m]),
                     text(counter_error(computed, launch.measured[m]))});
      out += csv_line(fields);
    }
  }
  return out;
}

std::string counters_comparison_json(const CountersComparison& comparison) {
  OrderedJson all = OrderedJson::object();
  OrderedJson& launches = all["launches"] = OrderedJson::array();
  const auto json = [](std::optional<double> value) { return value ? exact_json(*value) : OrderedJson(); };
  for (const ComparedLaunch& launch : comparison.launches) {
    OrderedJson parameters = OrderedJson::object(), metrics = OrderedJson::object();
    for (const auto& [name, value] : launch.row->row.parameters) parameters[name] = value;
    for (std::size_t m = 0; m < launch.measured.size(); ++m) {
      if (!is_compared(launch, m)) continue;
      const auto computed = launch.computed->values[m];
      metrics[std::string(counter_metrics()[m].name)] = {
          {"computed", json(computed)},
          {"measured", json(launch.measured[m])},
          {"error", json(counter_error(computed, launch.measured[m]))}};
    }
    launches.push_back({{"plan", launch.row->row.plan},
                        {"gpu", launch.row->row.gpu},
                        {"parameters", std::move(parameters)},
                        {"kernel", launch.computed->kernel},
                        {"grid", to_string(launch.computed->size.grid)},
                        {"block", to_string(launch.computed->size.block)},
                        {"launches", exact_json(launch.computed->launches)},
                        {"measured_launches", launch.measured_launches},
                        {"metrics", std::move(metrics)},
                        {"notes", launch.computed->notes}});
  }
  all["notes"] = comparison.notes;
  return json_text(all, 2) + "\n";
}

}  // namespace warptime::cli
