// Counters as computed beside counters as measured, as text, CSV and JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/plan/plan.h"
#include "simulator/predict/counters.h"

namespace warptime::cli {

struct ComparedLaunch {
  const CounterRow* row = nullptr;
  const LaunchCounters* computed = nullptr;
  std::int64_t measured_launches = 0;
  // By counter_metrics(): the mean over the measured launches; nothing: not in the file.
  std::vector<std::optional<double>> measured;
};

struct CountersComparison {
  std::vector<ComparedLaunch> launches;
  std::vector<std::string> notes;  // what of the file or of the plan was not compared
};

// computed / measured - 1; nothing where one is not known, or only the measured value is 0.
std::optional<double> counter_error(std::optional<double> computed, std::optional<double> measured);

// A table of metrics for each launch, then one of the errors of each metric over all launches.
std::string counters_comparison_text(const CountersComparison& comparison);
// A line for each launch and metric: plan, gpu, the parameters, kernel, grid, block, launches, measured_launches, metric,
// computed, measured, error.
std::string counters_comparison_csv(const Plan& plan, const CountersComparison& comparison);
std::string counters_comparison_json(const CountersComparison& comparison);

}  // namespace warptime::cli
