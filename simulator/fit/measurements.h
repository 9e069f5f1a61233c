// Measurements: how long runs of a plan took on a GPU. A CSV whose columns are found by their titles:
//
//   plan,gpu,K,N,time_us,spread_us,repetitions,what,blocks,threads_per_block,launches,…,grid,block
//   mtx,h200,8,1048576,21.44,0.06,20,kernels,1024,1024,1,…,1024x1x1,1024x1x1
//
// `plan`, `gpu`, `time_us` and every parameter of the plan must be there; the other columns may be missing,
// and ones that are not known are left alone. A file may hold rows of several plans; a parameter that a row's
// plan does not have is empty. `what` is `kernels` (the sum of the kernels' own durations) or `plan` (from
// the first launch to the end of the last); a file without the column has one kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/csv.h"
#include "simulator/plan/launch.h"
#include "simulator/plan/plan.h"

namespace warptime {

struct Measured {
  std::vector<std::int64_t> values;  // of the plan's parameters, in their order
  double time_us = 0;                // median of the repetitions
  std::optional<double> spread_us;   // their interquartile range
  std::optional<std::int64_t> repetitions;
  // Of the first launch, where the file says how it was made.
  std::optional<std::int64_t> blocks, threads_per_block;
  std::string file;
  int line = 0;
  // The dimensions of the same launch, in files that have them; blocks and threads_per_block are then known.
  std::optional<Dim3> grid = {}, block = {};
};

struct MeasuredOnGpu {
  std::string gpu;  // as the file names it
  std::vector<Measured> rows;
};

struct MeasurementsFile {
  std::string file;
  std::vector<CsvRecord> records;  // the first is the heading
};

// Errors: no CSV, no `plan`, `gpu` or `time_us` column, a column that is there twice, a record that has not
// as many fields as the heading.
Result<MeasurementsFile> read_measurements(std::string_view text, const std::string& file);

struct MeasurementSelection {
  std::string rows_of;  // the rows of this plan; empty: of the plan itself
  std::string what;     // of files that have the column; empty: kernels, or plan where there is nothing else
};

struct SelectedMeasurements {
  std::vector<MeasuredOnGpu> gpus;  // in order of appearance
  std::string what = "kernels";     // of all these rows
  std::size_t other_plans = 0;      // rows that were of another plan
  std::size_t other_kinds = 0;      // rows of the plan whose `what` is another
};

// The rows of `plan` in one file. Errors, with the line: a parameter's column that is missing, a value that
// is no whole number, a time that is no number or not positive, no row of the plan (says which plans there
// are).
Result<SelectedMeasurements> select_measurements(const MeasurementsFile& file, const Plan& plan,
                                                 const MeasurementSelection& selection);

// What read_measurements reads back.
std::string to_csv(const Plan& plan, const std::vector<MeasuredOnGpu>& measured);

}  // namespace warptime
