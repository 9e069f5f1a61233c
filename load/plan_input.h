// A plan that the user names, a file or a bundled plan, and how to read the files that it names; or what stands
// in a plan's place.
#pragma once

#include <optional>
#include <string>

#include "load/input.h"
#include "load/kernel_loader.h"
#include "simulator/plan/plan.h"

namespace warptime {

struct PlanInput {
  Plan plan;
  FileReader read;
};

// A plan, or any other input.
struct PlanOrKernel {
  std::optional<PlanInput> plan;
  Input kernel;  // without a plan
};

// Errors: no such file or bundled plan, those of read_plan.
Result<PlanOrKernel> read_plan_or_kernel(const std::string& input);

// Errors: those of read_plan_or_kernel, an input that is not a plan.
Result<PlanInput> read_plan_input(const std::string& input);

}  // namespace warptime
