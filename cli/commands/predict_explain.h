// warptime predict --explain
#pragma once

#include "cli/commands/predict_plan.h"

namespace warptime::cli {

// Explains each row of the job, at most 200. Returns the exit status.
int run_explanation(const Arguments& arguments, const PredictionJob& job);

}  // namespace warptime::cli
