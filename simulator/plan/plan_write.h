// A plan as YAML that read_plan() reads again, laid out for people: one that was found in host code is there
// to be corrected.
#pragma once

#include <string>
#include <vector>

#include "simulator/plan/plan.h"

namespace warptime {

// `comments`: lines for the top of the file, without `# `. Each launch and transfer names its origin in a
// comment.
std::string write_plan(const Plan& plan, const std::vector<std::string>& comments = {});

}  // namespace warptime
