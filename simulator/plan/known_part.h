// What of a plan can be predicted without the values of some of its parameters.
#pragma once

#include <string>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/plan/parameter_values.h"
#include "simulator/plan/plan.h"

namespace warptime {

// The plan's parameters that no launch can do without, in its order: those in how often steps are repeated, in sizes of
// grids and blocks, in shared memory and streams; with `copies` also those in what is copied. An argument of a kernel
// may need others, if the kernel's program uses it.
std::vector<std::string> needed_parameters(const Plan& plan, bool copies);

struct KnownPart {
  Plan plan;
  Diagnostics left_out;            // why, of steps that are not in it
  std::vector<std::string> notes;  // arrays whose sizes are not known without these parameters
};

// The plan without the parameters that have no values in `given`, where nothing needs them: the arguments that do are
// PlanLaunch::unknown. With leave_out_steps also without the steps that cannot do without one of them (else these
// parameters stay); the plan may then have no launch.
KnownPart known_part(const Plan& plan, const std::vector<NamedValues>& given, bool copies,
                     bool leave_out_steps);

}  // namespace warptime
