// The kernels, plans and samples of this repository, compiled in: dwt_kernels/ and samples/, under these
// names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/plan/plan.h"

namespace warptime {

// Whether `input` can only be a plan's name: no file is called so, and it has no folder and no extension.
bool is_plan_name(const std::string& input);
// The names of the bundled plans, sorted.
std::vector<std::string> bundled_plan_names();
// By the plan's own `name`. Error: there is none of that name (says which there are).
Result<Plan> bundled_plan(const std::string& name);
// A kernel's file as a bundled plan names it. Error: not bundled.
Result<std::string> bundled_text(const std::string& file);

}  // namespace warptime
