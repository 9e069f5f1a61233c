// The kernels, plans and samples of this repository (dwt_kernels/ and samples/), which are compiled in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/plan/plan.h"

namespace warptime {

// Whether `input` can only be a plan's name: it has no folder and no extension, and no such file exists.
bool is_plan_name(const std::string& input);
// The names of the bundled plans, sorted.
std::vector<std::string> bundled_plan_names();
// By the plan's own `name`. Error: an unknown name (with the names that there are).
Result<Plan> bundled_plan(const std::string& name);
// The text of a file that a bundled plan names. Error: it is not bundled.
Result<std::string> bundled_text(const std::string& file);

}  // namespace warptime
