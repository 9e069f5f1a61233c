#include "models/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "load/programs.h"

namespace warptime::models {
namespace {

// The programs of one source.
std::vector<KernelProgram> of_source(const Programs& programs, const std::string& file) {
  std::vector<KernelProgram> found;
  for (auto at = programs.lower_bound({file, ""}); at != programs.end() && at->first.first == file; ++at)
    found.push_back(at->second);
  return found;
}

Result<LoadedProgram> load(const Programs& programs, const Plan& plan, const PlanLaunch& launch) {
  const std::string file = launched_file(plan, launch);
  auto candidates = of_source(programs, file);
  if (candidates.empty()) {
    const auto input = read_kernel_file(file, read_text);
    if (!input) return input.diagnostics();
    if (input->kind != InputKind::kernel_program) return error_at(file, 0, 0, "has no model");
    auto read = read_kernel_programs(input->text, file);
    if (!read) return read.diagnostics();
    candidates = std::move(*read);
  }
  auto program = select_program(std::move(candidates), launch.entry, file, ChosenBy::plan);
  if (!program) return program.diagnostics();
  return LoadedProgram{std::move(*program), {}};
}

Result<std::vector<PredictionRow>> rows_of(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                           const std::vector<NamedValues>& sizes, const Programs& programs) {
  std::vector<PredictionRow> rows;
  const auto count = predict(
      plan, gpus, sizes, {},
      [&](const Plan& of, const PlanLaunch& launch, const Gpu&) { return load(programs, of, launch); },
      [&](const PredictionRow& row) {
        rows.push_back(row);
        return true;
      });
  if (!count) return count.diagnostics();
  return rows;
}

void about_plan(const Diagnostics& diagnostics, const Plan& plan, std::string_view which, Diagnostics& into) {
  for (Diagnostic diagnostic : diagnostics) {
    if (diagnostic.file.empty()) diagnostic.file = plan.file;
    diagnostic.message =
        fmt::format("plan {} has no predicted time {}: {}", plan.name, which, diagnostic.message);
    into.push_back(std::move(diagnostic));
  }
}

NamedValues single(const std::string& name, std::int64_t value) {
  return {name, *ParameterValues::parse(fmt::format("{}", value))};
}

}  // namespace

std::optional<double> growth(const Cost& cost) {
  if (!cost.before_us) return std::nullopt;
  if (*cost.before_us > 0) return cost.after_us / *cost.before_us - 1;
  return cost.after_us > 0 ? std::optional(std::numeric_limits<double>::infinity()) : std::optional(0.0);
}

std::string growth_text(double growth) {
  const double percent = 100 * growth;
  if (percent == 0) return "no change";
  const double size = std::abs(percent);
  return fmt::format("{:+.{}f}%", percent, size >= 9.95 ? 0 : size >= 0.095 ? 1 : 3);
}

std::string sizes_text(const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : parameters) {
    const bool power = value >= 1024 && std::has_single_bit(static_cast<std::uint64_t>(value));
    texts.push_back(power ? fmt::format("{}=2^{}", name, std::countr_zero(static_cast<std::uint64_t>(value)))
                          : fmt::format("{}={}", name, value));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<NamedValues> sizes_of(const Plan& plan, const std::vector<NamedValues>& given,
                                  std::vector<std::string>* defaulted) {
  std::vector<NamedValues> sizes;
  for (const auto& parameter : plan.parameters) {
    const auto on_line =
        std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.name == parameter.name; });
    const auto typical = std::find_if(plan.typical.begin(), plan.typical.end(),
                                      [&](const auto& one) { return one.first == parameter.name; });
    if (on_line != given.end()) {
      sizes.push_back(*on_line);
    } else if (typical != plan.typical.end()) {
      sizes.push_back(single(parameter.name, typical->second));
    } else {
      sizes.push_back(single(parameter.name, default_size));
      if (defaulted != nullptr) defaulted->push_back(parameter.name);
    }
  }
  return sizes;
}

Costs costs_of(const Plan& plan, const std::vector<const Gpu*>& gpus, const std::vector<NamedValues>& given,
               const Programs* before, const Programs& after) {
  Costs result;
  const auto sizes = sizes_of(plan, given);
  const auto now = rows_of(plan, gpus, sizes, after);
  if (!now) about_plan(now.diagnostics(), plan, "", result.problems);
  const auto was = before != nullptr ? rows_of(plan, gpus, sizes, *before) : std::vector<PredictionRow>();
  if (!was) about_plan(was.diagnostics(), plan, "for the earlier models", result.problems);
  if (!now) return result;
  for (std::size_t i = 0; i < now->size(); ++i) {
    Cost cost{plan.name, (*now)[i].gpu, (*now)[i].parameters, {}, (*now)[i].time.total_us};
    if (was && i < was->size()) cost.before_us = (*was)[i].time.total_us;
    result.costs.push_back(std::move(cost));
  }
  return result;
}

bool launches_kernel(const Plan& plan, const Programs& programs,
                     const std::pair<std::string, std::string>& kernel) {
  const auto found = programs.find(kernel);
  if (found == programs.end()) return false;
  const auto& from = found->second.provenance;
  bool launched = false;
  for_each_launch(plan.steps, [&](const PlanStep& step) {
    const auto& entry = step.launch->entry;
    const bool named = entry.empty() || entry == from.kernel || entry == from.symbol;
    launched = launched || (named && launched_file(plan, *step.launch) == kernel.first);
  });
  return launched;
}

}  // namespace warptime::models
