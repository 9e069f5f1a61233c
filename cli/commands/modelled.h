// Measured rows with what the model says of them: what calibrate and compare work on.
#pragma once

#include <memory>
#include <vector>

#include "cli/commands/measured.h"
#include "simulator/fit/row_times.h"

namespace warptime::cli {

struct ModelledRows {
  const Gpu* gpu = nullptr;
  std::vector<Measured> rows;  // those that the model has a prediction of; the same as times->rows()
  std::unique_ptr<RowTimes> times;
  std::vector<std::string> notes;  // on the rows: left out, launched otherwise

 private:
  friend Result<ModelledRows> model_rows(const Plan&, MeasuredRows, const PredictionOptions&,
                                         const ProgramLoader&);
  std::unique_ptr<Plan> plan_;  // that `times` refers to
};

// Rows that the model has no prediction of are left out, and named in the notes. Where a file says that a row
// was launched in other blocks than the plan's, and the plan has one launch (repeated or not), the row is
// predicted with the blocks that it was measured with; of a plan of several launches such rows are left out.
// Errors: the loader's, no row with a prediction.
Result<ModelledRows> model_rows(const Plan& plan, MeasuredRows measured, const PredictionOptions& options,
                                const ProgramLoader& loader);

// How many different combinations of parameters these rows have.
std::size_t different_rows(const std::vector<Measured>& rows, const std::vector<std::size_t>& which);

}  // namespace warptime::cli
