// The contents of a plan's arrays after it ran, from executing its kernels' PTX on the CPU; and the
// comparison of the GPU's with them.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/binding.h"

namespace warptime::measuring {

using Arrays = std::vector<std::vector<std::byte>>;  // as BoundPlan::arrays

struct ReferenceResult {
  bool too_large = false;  // the budget was exceeded: `arrays` are not valid
  Arrays arrays;
};

// Runs all launches on `before`. `budget`: of warp instructions, all launches together. Errors: what a kernel
// does wrong (accesses out of bounds, races, …), with its line.
Result<ReferenceResult> run_reference(const BoundPlan& bound, const PlanKernels& kernels, Arrays before,
                                      std::uint64_t budget);

// Floating-point values may differ by 1e-5 of the array's largest: ptxas may contract products and sums, and
// approximate instructions differ. All other values must be equal. Error: the first element that differs.
Diagnostics compare(const BoundPlan& bound, const Arrays& wanted, const Arrays& got);

}  // namespace warptime::measuring
