// `warptime run PLAN`: all launches of a plan, on a user's signal or image.
#pragma once

#include "cli/options/arguments.h"
#include "load/plan_input.h"

namespace warptime::cli {

// The options that only plans take.
OptionGroup run_plan_options();
// Runs the plan on the CPU and writes --out. Reports what goes wrong, and returns the exit status.
int run_plan(const Arguments& arguments, const PlanInput& input);

}  // namespace warptime::cli
