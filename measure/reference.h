// What a plan leaves in its arrays, by executing its kernels' PTX on the CPU; and whether a GPU left the
// same.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/binding.h"

namespace warptime::measuring {

using Arrays = std::vector<std::vector<std::byte>>;  // as BoundPlan::arrays

struct ReferenceResult {
  bool too_large = false;  // the budget was spent: `arrays` mean nothing
  Arrays arrays;
};

// Runs all launches on `before`. `budget`: of warp instructions, all launches together. Errors: what a kernel
// does wrong (accesses out of bounds, races, …), with its line.
Result<ReferenceResult> run_reference(const BoundPlan& bound, const PlanKernels& kernels, Arrays before,
                                      std::uint64_t budget);

// Floating-point values may differ by 1e-5 of the array's largest: products and sums may be rounded together
// below PTX, approximate instructions are approximate. Everything else is to the bit. Errors: the first
// element that differs.
Diagnostics compare(const BoundPlan& bound, const Arrays& wanted, const Arrays& got);

}  // namespace warptime::measuring
