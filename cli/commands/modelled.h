// Measured rows with their predictions: the input of calibrate and compare.
#pragma once

#include <memory>
#include <vector>

#include "cli/commands/measured.h"
#include "simulator/fit/row_times.h"

namespace warptime::cli {

struct ModelledRows {
  const Gpu* gpu = nullptr;
  std::vector<Measured> rows;  // those with a prediction; the same as times->rows()
  std::unique_ptr<RowTimes> times;
  std::vector<double> launch_calls_us;  // as in MeasuredRows
  std::vector<std::string> notes;       // on rows that are omitted, or launched differently

 private:
  friend Result<ModelledRows> model_rows(const Plan&, MeasuredRows, const PredictionOptions&,
                                         const ProgramLoader&);
  std::unique_ptr<Plan> plan_;  // that `times` refers to
};

// Rows without a prediction are omitted, and named in the notes. If a file says that a row was launched with
// other blocks than the plan's, and the plan has one launch (repeated or not), the prediction uses the
// measured blocks; for a plan of several launches, such rows are omitted. Errors: the loader's, no row with a
// prediction.
Result<ModelledRows> model_rows(const Plan& plan, MeasuredRows measured, const PredictionOptions& options,
                                const ProgramLoader& loader);

// The number of different combinations of parameters in these rows.
std::size_t different_rows(const std::vector<Measured>& rows, const std::vector<std::size_t>& which);

}  // namespace warptime::cli
