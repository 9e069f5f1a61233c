// Launches to try kernels with: those of the plans beside them, and sizes that fit most kernels where there
// is no plan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/execute/execute.h"
#include "simulator/program/expression/expression.h"
#include "tests/execute/harness.h"

namespace warptime::execute::testing {

struct TrialLaunch {
  LaunchConfig how;
  Bindings numbers;  // the kernel's whole-number arguments, by name
};

// In the order of their sizes, smallest first; each once. `sizes`: values for the parameters of plans, by name, for
// each size; without them, those that the plans are made for.
std::vector<TrialLaunch> trial_launches(const std::string& file, const KernelSignature& kernel);
std::vector<TrialLaunch> trial_launches(const std::string& file, const KernelSignature& kernel,
                                        const std::vector<Bindings>& sizes);

// The kernel's arguments at such a launch: arrays of zeros, and one half where the launch says nothing.
std::vector<Given> arguments_of(const Loaded& loaded, const KernelSignature& kernel,
                                const TrialLaunch& trial);
// Its dimensions and numbers, as kernel programs name them.
Bindings bindings_of(const TrialLaunch& trial);

}  // namespace warptime::execute::testing
