// A plan that the user names, a file or a bundled plan, and how to read the files that it names.
#pragma once

#include <string>

#include "load/kernel_loader.h"
#include "simulator/plan/plan.h"

namespace warptime {

struct PlanInput {
  Plan plan;
  FileReader read;
};

// Errors: no such file or bundled plan, an input that is not a plan, those of read_plan.
Result<PlanInput> read_plan_input(const std::string& input);

}  // namespace warptime
