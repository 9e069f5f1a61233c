// warptime plans: the plans that are compiled in.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "cli/views/table.h"
#include "load/bundled.h"
#include "models/costs.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

CommandSyntax plans_syntax() {
  return {"plans",
          "list the bundled plans, or show one; `warptime predict` takes them by name",
          "[OPTION...] [NAME]",
          "Lists the bundled plans, with their parameters and a line of description.",
          "  warptime plans\n"
          "  warptime plans gpu_dwt_m2_nw\n"
          "  warptime plans --format csv\n",
          {general_options({"text", "json", "csv"})},
          0,
          1,
          false,
          nullptr,
          Inputs::plans};
}

std::vector<std::string> parameter_list(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& parameter : plan.parameters) names.push_back(parameter.name);
  return names;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

// "N / 32 x 8"
std::string dimensions_text(const Dim3Expressions& sizes) {
  std::vector<std::string> words;
  for (const auto& size : sizes) words.push_back(to_string(size));
  return joined(words, " x ");
}

Json dimensions_json(const Dim3Expressions& sizes) {
  Json json = Json::array();
  for (const auto& size : sizes) json.push_back(to_string(size));
  return json;
}

// In words of the plan's file: "2 * b threads a block".
std::string size_text(const PlanLaunch& launch) {
  if (launch.threads) return fmt::format("{} threads", to_string(*launch.threads));
  const std::string shared =
      launch.shared ? fmt::format(" with {} bytes of shared memory", to_string(*launch.shared)) : "";
  return fmt::format("{} blocks of {} threads{}", dimensions_text(launch.grid), dimensions_text(launch.block),
                     shared);
}

const char* to_text(PlanTransferDirection copy) {
  return copy == PlanTransferDirection::device_to_host ? "host" : "device";
}

std::string repeat_text(const PlanStep& step) {
  const bool once = step.repeat.is_integer() && step.repeat.integer_value() == 1;
  if (once && step.counter.empty()) return {};
  return fmt::format("{} times{}{}", to_string(step.repeat),
                     step.counter.empty() ? "" : fmt::format(", counted by {}", step.counter),
                     step.streams ? fmt::format(", in {} streams", to_string(*step.streams)) : "");
}

void add_steps(const std::vector<PlanStep>& steps, int indent, std::string& text) {
  for (const auto& step : steps) {
    const std::string space(static_cast<std::size_t>(indent), ' ');
    const auto repeat = repeat_text(step);
    if (step.copy) {
      text += fmt::format("{}copy of {} bytes to the {}{}\n", space, to_string(step.copy->bytes),
                          to_text(step.copy->direction), repeat.empty() ? "" : ", " + repeat);
      continue;
    }
    if (!step.launch) {
      text += fmt::format("{}{}:\n", space, repeat.empty() ? "once" : repeat);
      add_steps(step.steps, indent + 2, text);
      continue;
    }
    const auto& launch = *step.launch;
    text +=
        fmt::format("{}{}{}: {}{}\n", space, launch.kernel, launch.entry.empty() ? "" : " " + launch.entry,
                    size_text(launch), repeat.empty() ? "" : ", " + repeat);
  }
}

Json steps_json(const std::vector<PlanStep>& steps) {
  Json json = Json::array();
  for (const auto& step : steps) {
    Json one;
    if (step.launch) {
      one["kernel"] = step.launch->kernel;
      one["entry"] = step.launch->entry;
      one["arguments"] = Json::object();
      for (const auto& [name, value] : step.launch->arguments) one["arguments"][name] = to_string(value);
      if (step.launch->threads) one["threads"] = to_string(*step.launch->threads);
      const auto& [grid, block] = std::tie(step.launch->grid, step.launch->block);
      if (grid.size() == 1) one["blocks"] = to_string(grid.front());
      if (block.size() == 1) one["threads_per_block"] = to_string(block.front());
      if (!grid.empty()) one["grid"] = dimensions_json(grid);
      if (!block.empty()) one["block"] = dimensions_json(block);
      if (step.launch->shared) one["shared"] = to_string(*step.launch->shared);
    } else if (step.copy) {
      one["copy"]["bytes"] = to_string(step.copy->bytes);
      one["copy"]["to"] = to_text(step.copy->direction);
    } else {
      if (step.streams) one["streams"] = to_string(*step.streams);
      one["launches"] = steps_json(step.steps);
    }
    one["repeat"] = to_string(step.repeat);
    if (!step.counter.empty()) one["counter"] = step.counter;
    json.push_back(std::move(one));
  }
  return json;
}

Json to_json(const Plan& plan, bool whole) {
  Json json;
  json["name"] = plan.name;
  json["description"] = plan.description;
  json["file"] = plan.file;
  json["parameters"] = Json::object();
  for (const auto& parameter : plan.parameters) json["parameters"][parameter.name] = parameter.description;
  json["typical"] = Json::object();
  for (const auto& [name, value] : plan.typical) json["typical"][name] = value;
  if (!whole) return json;
  json["launches"] = steps_json(plan.steps);
  json["calibrations"] = Json::object();
  for (const auto& [gpu, calibration] : plan.calibrations) json["calibrations"][gpu] = calibration.source;
  return json;
}

std::string list_view(const std::vector<Plan>& plans, std::string_view format) {
  if (format == "json") {
    Json json = Json::array();
    for (const auto& plan : plans) json.push_back(to_json(plan, false));
    return json_text(json, 2) + "\n";
  }
  if (format == "csv") {
    std::string text = csv_line({"name", "parameters", "typical", "file", "description"});
    for (const auto& plan : plans)
      text += csv_line({plan.name, joined(parameter_list(plan), " "), models::sizes_text(plan.typical),
                        plan.file, plan.description});
    return text;
  }
  Table table({{"name", Align::left}, {"parameters", Align::left}, {"description", Align::left}});
  for (const auto& plan : plans) table.add({plan.name, joined(parameter_list(plan), ", "), plan.description});
  return table.take() +
         "\n`warptime plans NAME` shows what a plan launches, `warptime predict NAME` its times.\n";
}

std::string plan_text(const Plan& plan) {
  std::string text = fmt::format("{}: {}\n{}\n\nparameters:\n", plan.name, plan.description, plan.file);
  for (const auto& parameter : plan.parameters)
    text += fmt::format("  {}: {}\n", parameter.name, parameter.description);
  if (!plan.typical.empty()) text += fmt::format("typical: {}\n", models::sizes_text(plan.typical));
  text += "launches:\n";
  add_steps(plan.steps, 2, text);
  for (const auto& [gpu, calibration] : plan.calibrations)
    text += fmt::format("calibrated on {}: {}\n", gpu,
                        calibration.source.empty() ? "no source given" : calibration.source);
  std::vector<std::string> sizes;
  for (const auto& [name, value] : plan.typical) sizes.push_back(models::sizes_text({{name, value}}));
  for (const auto& parameter : plan.parameters)
    if (std::none_of(plan.typical.begin(), plan.typical.end(),
                     [&](const auto& one) { return one.first == parameter.name; }))
      sizes.push_back(parameter.name + "=1024");
  return text + fmt::format("\n  warptime predict {}{}\n", plan.name,
                            sizes.empty() ? "" : " --param " + joined(sizes, ","));
}

std::string plan_csv(const Plan& plan) {
  std::string text = csv_line({"parameter", "typical", "description"});
  for (const auto& parameter : plan.parameters) {
    std::string typical;
    for (const auto& [name, value] : plan.typical)
      if (name == parameter.name) typical = fmt::format("{}", value);
    text += csv_line({parameter.name, typical, parameter.description});
  }
  return text;
}

int run_plans(const Arguments& arguments) {
  const auto format = read_choice(arguments, "format");
  if (!format) return fail(wrong_command_line, format.diagnostics());
  const auto output = arguments.value("output");
  if (arguments.positionals().empty()) {
    std::vector<Plan> plans;
    for (const auto& name : bundled_plan_names())
      if (auto plan = bundled_plan(name)) plans.push_back(std::move(*plan));
    return write_result(output, list_view(plans, *format));
  }
  const auto plan = bundled_plan(arguments.positionals().front());
  if (!plan) return fail(wrong_input, plan.diagnostics());
  if (*format == "json") return write_result(output, json_text(to_json(*plan, true), 2) + "\n");
  return write_result(output, *format == "csv" ? plan_csv(*plan) : plan_text(*plan));
}

}  // namespace

Command plans_command() {
  return {plans_syntax(), run_plans};
}

}  // namespace warptime::cli
