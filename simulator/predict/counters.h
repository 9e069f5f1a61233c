// What the hardware counts for each launch of a prediction, under the names of Nsight Compute's metrics: executed
// instructions, requests and sectors of L1, occupancy and waves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/predict/row_model.h"

namespace warptime {

struct Metric {
  std::string_view name;   // smsp__inst_executed.sum
  std::string_view unit;   // inst, sector, …; empty: none
  std::string_view title;  // for people
};
// In the order of LaunchCounters::values.
std::span<const Metric> counter_metrics();

struct LaunchCounters {
  std::string kernel;
  GridAndBlock size;
  double launches = 0;                        // of this kind in the row
  std::vector<std::optional<double>> values;  // of one launch, by counter_metrics(); nothing: not known
  std::vector<std::string> notes;
};

struct CounterRow {
  PredictionRow row;  // its plan, GPU, parameters and notes
  std::vector<LaunchCounters> launches;
  Diagnostics left_out;  // why, of the plan's launches that have no counters
};

// Of the row with these values of the plan's parameters. The plan must be prepared with
// PredictionOptions::all_warps. Errors: the row's own.
Result<CounterRow> count(const PreparedPlan& plan, std::size_t gpu, const std::vector<std::int64_t>& values,
                         const PredictionOptions& options);

// Of every row that predict() would give, in its order. Errors: predict()'s.
Result<std::vector<CounterRow>> count_all(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                          const std::vector<NamedValues>& parameters,
                                          PredictionOptions options, const ProgramLoader& loader,
                                          unsigned threads = 1);

}  // namespace warptime
