#include "cli/commands/measure_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/options/options.h"
#include "cli/views/table.h"
#include "measure/statistics.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

const NamedValues* values_of(const std::vector<NamedValues>& given, const std::string& name) {
  const auto found =
      std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.name == name; });
  return found == given.end() ? nullptr : &*found;
}

// Times are whole nanoseconds.
std::string microseconds(double value) {
  return fmt::format("{:.3f}", value);
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:g}", *value) : "";
}

}  // namespace

Result<std::vector<MeasuredCase>> measured_cases(const Plan& plan, const std::vector<NamedValues>& given,
                                                 const std::optional<ParameterValues>& threads_per_block) {
  std::vector<std::string> names;
  for (const auto& parameter : plan.parameters) names.push_back(parameter.name);
  for (const auto& one : given) {
    if (std::find(names.begin(), names.end(), one.name) != names.end()) continue;
    const auto near = nearest(one.name, names);
    return error(fmt::format("the plan {} has no parameter `{}`", plan.name, one.name),
                 near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  }
  std::vector<const ParameterValues*> values;
  for (const auto& parameter : plan.parameters) {
    const auto* one = values_of(given, parameter.name);
    if (one == nullptr)
      return error(
          fmt::format("the parameter `{}`{} has no value", parameter.name,
                      parameter.description.empty() ? "" : fmt::format(" ({})", parameter.description)),
          fmt::format("--param {}=…", parameter.name));
    values.push_back(&one->values);
  }
  if (threads_per_block) values.push_back(&*threads_per_block);
  std::uint64_t total = 1;
  for (const auto* one : values) {
    if (one->size() > most_measured_cases / total)
      return error(fmt::format("more than {} combinations", most_measured_cases));
    total *= one->size();
  }
  std::vector<MeasuredCase> cases;
  for (std::uint64_t i = 0; i < total; ++i) {
    MeasuredCase one;
    std::uint64_t rest = i;
    std::vector<std::int64_t> chosen(values.size());
    for (std::size_t at = values.size(); at-- > 0; rest /= values[at]->size())
      chosen[at] = values[at]->at(rest % values[at]->size());
    for (std::size_t at = 0; at < names.size(); ++at) one.parameters.emplace_back(names[at], chosen[at]);
    if (threads_per_block) one.threads_per_block = chosen.back();
    cases.push_back(std::move(one));
  }
  return cases;
}

std::string case_text(const MeasuredCase& of) {
  std::vector<std::string> words;
  for (const auto& [name, value] : of.parameters) words.push_back(fmt::format("{}={}", name, value));
  if (of.threads_per_block) words.push_back(fmt::format("{} threads per block", *of.threads_per_block));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string measured_heading_csv(const Plan& plan) {
  std::vector<std::string> columns = {"plan", "gpu"};
  for (const auto& parameter : plan.parameters) columns.push_back(parameter.name);
  for (const auto* column :
       {"time_us", "spread_us", "repetitions", "what", "blocks", "threads_per_block", "launches", "clock_mhz",
        "temperature_c", "device", "driver", "versions", "grid", "block"})
    columns.emplace_back(column);
  return csv_line(columns);
}

std::string measured_row_csv(const MeasuredRow& row, const MeasuredSetting& setting) {
  std::vector<std::string> fields = {setting.plan, setting.gpu};
  for (const auto& [name, value] : row.of->parameters) fields.push_back(std::to_string(value));
  fields.push_back(microseconds(measuring::median(row.times.microseconds)));
  fields.push_back(microseconds(measuring::interquartile_range(row.times.microseconds)));
  fields.push_back(std::to_string(row.times.microseconds.size()));
  fields.emplace_back(measuring::to_string(row.what));
  const auto [blocks, threads_per_block] = row.first_launch.launch();
  for (const auto count : {blocks, threads_per_block, static_cast<std::int64_t>(row.launches)})
    fields.push_back(std::to_string(count));
  fields.push_back(number(row.times.clock_mhz));
  fields.push_back(number(row.times.temperature_c));
  for (const auto& text : {setting.device, setting.driver, setting.versions}) fields.push_back(text);
  for (const auto& size : {row.first_launch.grid, row.first_launch.block}) fields.push_back(to_string(size));
  return csv_line(fields);
}

std::string measured_row_json(const MeasuredRow& row, const MeasuredSetting& setting) {
  nlohmann::ordered_json json;
  json["plan"] = setting.plan;
  json["gpu"] = setting.gpu;
  json["parameters"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : row.of->parameters) json["parameters"][name] = value;
  json["time_us"] = measuring::median(row.times.microseconds);
  json["spread_us"] = measuring::interquartile_range(row.times.microseconds);
  json["repetitions"] = row.times.microseconds.size();
  json["times_us"] = row.times.microseconds;
  json["what"] = measuring::to_string(row.what);
  const auto [blocks, threads_per_block] = row.first_launch.launch();
  json["blocks"] = blocks;
  json["threads_per_block"] = threads_per_block;
  json["launches"] = row.launches;
  if (row.times.clock_mhz) json["clock_mhz"] = *row.times.clock_mhz;
  if (row.times.temperature_c) json["temperature_c"] = *row.times.temperature_c;
  json["device"] = setting.device;
  json["driver"] = setting.driver;
  json["versions"] = setting.versions;
  json["grid"] = to_string(row.first_launch.grid);
  json["block"] = to_string(row.first_launch.block);
  return json.dump();
}

}  // namespace warptime::cli
