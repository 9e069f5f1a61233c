// warptime predict PLAN --against PLAN: two plans side by side.
#pragma once

#include <string>

#include "cli/commands/predict_plan.h"
#include "cli/options/predict_settings.h"

namespace warptime::cli {

// Predicts the job's plan and `other` (a file or a bundled plan) for the same GPUs and parameters, and writes
// both times, their ratio R (the job's plan over the other: equation 21 of Puchala et al. 2022) and where the
// faster of them changes. Returns the exit status.
int run_against(const Arguments& arguments, const PredictionJob& job, const std::string& other,
                const PredictSettings& settings);

}  // namespace warptime::cli
