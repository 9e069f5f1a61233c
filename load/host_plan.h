// The plan of a program: the launches that its host code makes (analyzer/compile/host_launches.h), as a plan.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/compile/host_launches.h"
#include "simulator/plan/plan.h"

namespace warptime {

struct FoundPlan {
  Plan plan;
  Diagnostics notes;   // assumptions that were made
  Diagnostics unread;  // warnings: launches and copies that the plan lacks
};

// Lines for the top of the plan's file: what it lacks.
std::vector<std::string> comments_of(const FoundPlan& found);

// Reads the sources together, as one program. `folder`: where the plan's file will stand; the names of its
// kernels' files are relative to it. Errors: those of find_host_launches; no launch found (with what there
// was).
Result<FoundPlan> find_plan(const std::vector<HostSource>& sources, const CompileOptions& options,
                            const std::string& folder = {});

}  // namespace warptime
