#include "cli/commands/modelled.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace warptime::cli {
namespace {

constexpr char blocks_parameter[] = "measured.blocks";
constexpr char threads_parameter[] = "measured.threads_per_block";
constexpr std::size_t most_named = 5;

bool other_launch(const Measured& row, const Launch& planned) {
  return (row.blocks && *row.blocks != planned.blocks) ||
         (row.threads_per_block && *row.threads_per_block != planned.threads_per_block);
}

// The launch of a plan that has no more than one; nothing: it has several.
PlanLaunch* only_launch(std::vector<PlanStep>& steps) {
  if (steps.size() != 1) return nullptr;
  return steps.front().launch ? &*steps.front().launch : only_launch(steps.front().steps);
}

std::vector<std::vector<std::int64_t>> values_of(const std::vector<Measured>& rows) {
  std::vector<std::vector<std::int64_t>> values;
  for (const auto& row : rows) values.push_back(row.values);
  return values;
}

// The plan with its one launch in blocks that two more parameters give.
bool take_measured_launches(Plan& plan, const std::vector<Measured>& rows, const std::vector<Launch>& planned,
                            std::vector<std::vector<std::int64_t>>& values) {
  PlanLaunch* launch = only_launch(plan.steps);
  if (launch == nullptr || launch->grid.size() > 1 || launch->block.size() > 1) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values[i].push_back(rows[i].blocks.value_or(planned[i].blocks));
    values[i].push_back(rows[i].threads_per_block.value_or(planned[i].threads_per_block));
  }
  plan.parameters.push_back({blocks_parameter, "blocks that were measured"});
  plan.parameters.push_back({threads_parameter, "threads per block that were measured"});
  launch->threads.reset();
  launch->grid = {Expression::name(blocks_parameter)};
  launch->block = {Expression::name(threads_parameter)};
  return true;
}

void leave_out(std::vector<Measured>& rows, const std::vector<bool>& which) {
  std::vector<Measured> kept;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!which[i]) kept.push_back(std::move(rows[i]));
  rows = std::move(kept);
}

// The first row without a prediction, which is what is wrong where no row has one.
Diagnostics no_prediction(const ModelledRows& modelled, const Plan& plan) {
  const auto& failed = modelled.times->failed().front();
  const auto& row = modelled.rows[failed.row];
  Diagnostics why = failed.why;
  Diagnostic& first = why.front();
  const std::string place = first.file.empty() || first.line == 0
                                ? std::string()
                                : fmt::format(" (the launch at {}:{})", first.file, first.line);
  first.message = fmt::format("no prediction: {}{}", first.message, place);
  first.file = row.file;
  first.line = row.line;
  first.column = 0;
  first.source_line.clear();
  if (plan.parameters.empty()) return why;
  first.hint = first.hint.empty() ? fmt::format("the row has {}", values_text(plan, row.values)) : first.hint;
  return why;
}

void keep_good(ModelledRows& modelled, const Plan& plan) {
  const auto& failed = modelled.times->failed();
  for (std::size_t i = 0; i < failed.size() && i < most_named; ++i) {
    const auto& row = modelled.rows[failed[i].row];
    const auto& why = failed[i].why.front();
    modelled.notes.push_back(fmt::format("omitted: {}:{}: {}{}", row.file, row.line,
                                         values_text(plan, row.values) + ": ", why.message));
  }
  if (failed.size() > most_named)
    modelled.notes.push_back(
        fmt::format("omitted: {} more rows without a prediction", failed.size() - most_named));
  std::vector<Measured> good;
  for (const std::size_t index : modelled.times->rows()) good.push_back(std::move(modelled.rows[index]));
  modelled.rows = std::move(good);
}

}  // namespace

Result<ModelledRows> model_rows(const Plan& plan, MeasuredRows measured, const PredictionOptions& options,
                                const ProgramLoader& loader) {
  ModelledRows modelled;
  modelled.gpu = measured.gpu;
  modelled.rows = std::move(measured.rows);
  modelled.launch_calls_us = std::move(measured.launch_calls_us);
  modelled.plan_ = std::make_unique<Plan>(plan);
  auto values = values_of(modelled.rows);
  const auto time = measured.what == "plan" ? MeasuredTime::plan : MeasuredTime::kernels;
  auto times = RowTimes::make(*modelled.plan_, *modelled.gpu, values, options, loader, time);
  if (!times) return times.diagnostics();
  modelled.times = std::move(*times);
  if (modelled.times->rows().empty()) return no_prediction(modelled, plan);
  keep_good(modelled, plan);

  const auto& planned = modelled.times->first_launches();
  std::vector<bool> other;
  for (std::size_t i = 0; i < modelled.rows.size(); ++i)
    other.push_back(other_launch(modelled.rows[i], planned[i]));
  const auto others = std::count(other.begin(), other.end(), true);
  if (others == 0) return modelled;
  values = values_of(modelled.rows);
  std::string how = "predicted with the measured ones";
  if (!take_measured_launches(*modelled.plan_, modelled.rows, planned, values)) {
    // Which blocks the other launches had, or how many in y and z, is not in the file.
    const bool all = others == static_cast<std::ptrdiff_t>(other.size());
    const char* const several = only_launch(modelled.plan_->steps) == nullptr ? "launches" : "dimensions";
    how =
        all ? fmt::format("predicted with the plan's all the same, because the plan has several {}", several)
            : fmt::format("omitted, because the plan has several {}", several);
    if (!all) leave_out(modelled.rows, other);
    values = values_of(modelled.rows);
  }
  modelled.notes.push_back(
      fmt::format("{} of {} rows were launched with other blocks than {} launches on {}: {}", others,
                  other.size(), plan.name, modelled.gpu->name, how));
  times = RowTimes::make(*modelled.plan_, *modelled.gpu, values, options, loader, time);
  if (!times) return times.diagnostics();
  modelled.times = std::move(*times);
  if (modelled.times->rows().empty()) return no_prediction(modelled, plan);
  keep_good(modelled, plan);
  return modelled;
}

std::size_t different_rows(const std::vector<Measured>& rows, const std::vector<std::size_t>& which) {
  std::set<std::vector<std::int64_t>> different;
  for (const std::size_t index : which) {
    auto values = rows[index].values;
    values.push_back(rows[index].blocks.value_or(0));
    values.push_back(rows[index].threads_per_block.value_or(0));
    different.insert(std::move(values));
  }
  return different.size();
}

}  // namespace warptime::cli
