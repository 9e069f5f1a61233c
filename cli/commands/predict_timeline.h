// warptime predict --timeline
#pragma once

#include "cli/commands/predict_plan.h"

namespace warptime::cli {

OptionGroup sm_timeline_options();
// Draws what an SM does in the longest launch of each row: of several rows, as text only. Returns the exit
// status.
int run_timeline(const Arguments& arguments, const PredictionJob& job);

}  // namespace warptime::cli
