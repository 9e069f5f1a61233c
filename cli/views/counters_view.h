// What the hardware counts for each launch, as text, CSV and JSON.
#pragma once

#include <string>
#include <vector>

#include "simulator/plan/plan.h"
#include "simulator/predict/counters.h"

namespace warptime::cli {

// "mtx on h200, K = 8: grid 128x1x1, block 32x1x1, 1 launch"
std::string launch_title(const CounterRow& row, const LaunchCounters& launch);
// Counts are whole numbers on the hardware; estimates have fractions that mean nothing.
std::string readable_count(double value);

// A table of metrics for each launch.
std::string counters_text(const std::vector<CounterRow>& rows);
// A row for each launch: plan, gpu, the parameters, kernel, grid, block, launches, the metrics, notes. What is not known
// is empty.
std::string counters_csv(const Plan& plan, const std::vector<CounterRow>& rows);
// Metrics in an object `metrics`, what is not known as null.
std::string counters_json(const std::vector<CounterRow>& rows);

}  // namespace warptime::cli
