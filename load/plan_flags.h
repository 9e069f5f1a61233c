// The flags with which a plan's sources are compiled.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "simulator/plan/plan.h"

namespace warptime {

// Of a compiler's flags those that a plan keeps (is_plan_flag): folders and files are relative to `folder`, where the
// plan's file will stand (empty: the working folder).
std::vector<std::string> plan_flags(const std::vector<std::string>& flags, const std::string& folder);

// The options with the plan's flags before their own. Folders and files of a plan are relative to its file.
CompileOptions with_plan_flags(CompileOptions options, const Plan& plan);

}  // namespace warptime
