#include "cli/views/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) {
  return fmt::format("{:.1f}%", share * 100);
}

std::string size_text(const Experiment& experiment, std::size_t size_parameter) {
  const ComparedRow& worst = experiment.rows[experiment.errors.worst];
  return worst.values.empty() ? "" : std::to_string(worst.values[size_parameter]);
}

// Titles of the parameters but the size.
std::vector<Column> experiment_columns(const Plan& plan, std::size_t size_parameter) {
  std::vector<Column> columns{{"experiment", Align::left}, {"gpu", Align::left}};
  for (std::size_t i = 0; i < plan.parameters.size(); ++i)
    if (i != size_parameter) columns.push_back({plan.parameters[i].name});
  columns.push_back({"rows"});
  return columns;
}

std::vector<std::string> experiment_cells(const Plan& plan, const Experiment& experiment,
                                          std::size_t size_parameter, const std::string& name) {
  std::vector<std::string> cells{fmt::format("Exp. ({})", name), experiment.gpu};
  for (std::size_t i = 0; i < plan.parameters.size(); ++i)
    if (i != size_parameter) cells.push_back(std::to_string(experiment.values[i]));
  cells.push_back(std::to_string(experiment.rows.size()));
  return cells;
}

std::string size_name(const ComparedMethod& method) {
  return method.plan.parameters.empty() ? "" : method.plan.parameters[method.size_parameter].name;
}

std::string method_text(const ComparedMethod& method) {
  std::string text = method.plan.name;
  if (method.rows_of != method.plan.name)
    text += fmt::format(", compared with measurements of {}", method.rows_of);
  text += "\n";
  for (const auto& constants : method.constants) {
    if (!constants.used) continue;
    if (constants.scale) {
      text += fmt::format("  {}: t_p {} µs ({}), scale {}\n", constants.gpu, sensible(constants.t_p_us),
                          constants.t_p_source, sensible(*constants.scale));
      continue;
    }
    text +=
        fmt::format("  {}: t_p {} µs ({}), t_m {} cycles ({})\n", constants.gpu, sensible(constants.t_p_us),
                    constants.t_p_source, sensible(constants.t_m_cycles), constants.t_m_source);
  }
  for (const auto& note : method.notes) text += fmt::format("  note: {}\n", note);
  auto columns = experiment_columns(method.plan, method.size_parameter);
  for (const char* title : {"shortest", "longest", "mean error", "maximum"}) columns.push_back({title});
  columns.push_back({fmt::format("at {}", size_name(method))});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < method.experiments.size(); ++i) {
    const auto& experiment = method.experiments[i];
    auto cells =
        experiment_cells(method.plan, experiment, method.size_parameter, experiment_name(method.letter, i));
    cells.push_back(sensible_time(experiment.shortest_us));
    cells.push_back(sensible_time(experiment.longest_us));
    cells.push_back(percent(experiment.errors.mean));
    cells.push_back(percent(experiment.errors.maximum));
    cells.push_back(size_text(experiment, method.size_parameter));
    table.add(std::move(cells));
  }
  return text + "\n" + table.take() + "\n";
}

std::string ratio_text(const ComparedMethod& first, const ComparedRatio& ratio) {
  std::string text = fmt::format(
      "{} to {}: ratios of their times\n"
      "\n",
      ratio.method, ratio.other);
  auto columns = experiment_columns(first.plan, first.size_parameter);
  for (const char* title : {"mean error", "maximum"}) columns.push_back({title});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < ratio.experiments.size(); ++i) {
    const auto& experiment = ratio.experiments[i];
    auto cells = experiment_cells(first.plan, experiment, first.size_parameter, experiment_name("R", i));
    cells.push_back(percent(experiment.errors.mean));
    cells.push_back(percent(experiment.errors.maximum));
    table.add(std::move(cells));
  }
  if (ratio.experiments.empty())
    return text +
           "The two plans have no measurements with the same parameters.\n"
           "\n";
  return text + table.take() +
         fmt::format("\nAll: mean error {}, maximum {}\n\n", percent(ratio.global.mean),
                     percent(ratio.global.maximum));
}

// Inaccuracy measures and simulation durations, as Table 4 has them.
std::string global_text(const Comparison& comparison) {
  std::vector<Column> columns{{"", Align::left}};
  for (const auto& method : comparison.methods) columns.push_back({method.plan.name});
  columns.push_back({"Overall"});
  Table table(std::move(columns));
  const auto line = [&](const char* title, const auto& figure) {
    std::vector<std::string> cells{title};
    for (const auto& method : comparison.methods) cells.push_back(figure(method.global));
    cells.push_back(figure(comparison.overall));
    table.add(std::move(cells));
  };
  line("Mean error", [](const auto& global) { return percent(global.mean); });
  line("Maximum error", [](const auto& global) { return percent(global.maximum); });
  line("Mean time of a prediction",
       [](const auto& global) { return sensible_time(global.mean_prediction_us); });
  line("Longest prediction", [](const auto& global) { return sensible_time(global.longest_prediction_us); });
  line("Experiments", [](const auto& global) { return std::to_string(global.experiments); });
  line("Measurements", [](const auto& global) { return std::to_string(global.rows); });
  return table.take();
}

Json experiment_json(const Plan& plan, const Experiment& experiment, std::size_t size_parameter,
                     const std::string& name, bool times) {
  Json json;
  json["experiment"] = name;
  json["gpu"] = experiment.gpu;
  json["parameters"] = Json::object();
  for (std::size_t i = 0; i < plan.parameters.size(); ++i)
    if (i != size_parameter) json["parameters"][plan.parameters[i].name] = experiment.values[i];
  json["mean_error_percent"] = experiment.errors.mean * 100;
  json["max_error_percent"] = experiment.errors.maximum * 100;
  if (times) {
    json["t_min_us"] = experiment.shortest_us;
    json["t_max_us"] = experiment.longest_us;
  }
  json["rows"] = Json::array();
  for (const auto& row : experiment.rows) {
    Json one;
    one["parameters"] = Json::object();
    for (std::size_t i = 0; i < plan.parameters.size(); ++i)
      one["parameters"][plan.parameters[i].name] = row.values[i];
    one[times ? "measured_us" : "measured"] = row.measured_us;
    one[times ? "predicted_us" : "predicted"] = row.predicted_us;
    one["ratio"] = row.ratio();
    json["rows"].push_back(std::move(one));
  }
  return json;
}

Json global_json(const GlobalErrors& global, bool durations) {
  Json json{{"mean_error_percent", global.mean * 100},
            {"max_error_percent", global.maximum * 100},
            {"experiments", global.experiments},
            {"measurements", global.rows}};
  if (durations) {
    json["mean_prediction_us"] = global.mean_prediction_us;
    json["longest_prediction_us"] = global.longest_prediction_us;
  }
  return json;
}

}  // namespace

std::string experiment_name(const std::string& letter, std::size_t index) {
  return fmt::format("{}.{}", letter, index + 1);
}

std::string fixed_text(const Plan& plan, const Experiment& experiment, std::size_t size_parameter) {
  std::string text;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i)
    if (i != size_parameter)
      text +=
          fmt::format("{}{} = {}", text.empty() ? "" : ", ", plan.parameters[i].name, experiment.values[i]);
  return text;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  for (const auto& method : comparison.methods) text += method_text(method);
  for (const auto& ratio : comparison.ratios) text += ratio_text(comparison.methods.front(), ratio);
  return text + global_text(comparison);
}

std::string comparison_csv(const Comparison& comparison) {
  std::vector<std::string> titles{"plan", "gpu"};
  for (const auto& parameter : comparison.methods.front().plan.parameters) titles.push_back(parameter.name);
  for (const char* title : {"measured_us", "predicted_us", "ratio", "error_percent", "experiment"})
    titles.emplace_back(title);
  std::string text = csv_line(titles);
  for (const auto& method : comparison.methods) {
    for (std::size_t i = 0; i < method.experiments.size(); ++i) {
      for (const auto& row : method.experiments[i].rows) {
        std::vector<std::string> cells{method.plan.name, row.gpu};
        for (const std::int64_t value : row.values) cells.push_back(std::to_string(value));
        cells.push_back(exact(row.measured_us));
        cells.push_back(exact(row.predicted_us));
        cells.push_back(exact(row.ratio()));
        cells.push_back(exact((row.ratio() - 1) * 100));
        cells.push_back(experiment_name(method.letter, i));
        text += csv_line(cells);
      }
    }
  }
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  Json json;
  json["plans"] = Json::array();
  for (const auto& method : comparison.methods) {
    Json one;
    one["plan"] = method.plan.name;
    one["rows_of"] = method.rows_of;
    one["constants"] = Json::array();
    for (const auto& constants : method.constants)
      one["constants"].push_back({{"gpu", constants.gpu},
                                  {"t_p_us", constants.t_p_us},
                                  {"t_p_source", constants.t_p_source},
                                  {"t_m_cycles", constants.t_m_cycles},
                                  {"t_m_source", constants.t_m_source}});
    one["notes"] = method.notes;
    one["size"] = size_name(method);
    one["global"] = global_json(method.global, true);
    one["experiments"] = Json::array();
    for (std::size_t i = 0; i < method.experiments.size(); ++i)
      one["experiments"].push_back(experiment_json(method.plan, method.experiments[i], method.size_parameter,
                                                   experiment_name(method.letter, i), true));
    json["plans"].push_back(std::move(one));
  }
  const auto& first = comparison.methods.front();
  json["ratios"] = Json::array();
  for (const auto& ratio : comparison.ratios) {
    Json one{{"plan", ratio.method}, {"against", ratio.other}};
    one["global"] = global_json(ratio.global, false);
    one["experiments"] = Json::array();
    for (std::size_t i = 0; i < ratio.experiments.size(); ++i)
      one["experiments"].push_back(experiment_json(first.plan, ratio.experiments[i], first.size_parameter,
                                                   experiment_name("R", i), false));
    json["ratios"].push_back(std::move(one));
  }
  json["overall"] = global_json(comparison.overall, true);
  return json_text(json, 2) + "\n";
}

}  // namespace warptime::cli
