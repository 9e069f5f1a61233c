// Where a plan says that the arrays of a launch lie.
#pragma once

#include "simulator/plan/plan.h"
#include "simulator/sm/array_places.h"

namespace warptime {

// Where the plan's k-th array begins, as a pointer: a value says which array it points into.
constexpr std::int64_t array_begin(std::size_t k) {
  return static_cast<std::int64_t>(k + 1) << 46;
}

// The arrays that the launch's pointer arguments point into, with `values` for the plan's parameters. An argument whose
// expression cannot be evaluated is not among them: it depends on a counter, say.
ArrayPlaces array_places(const Plan& plan, const PlanLaunch& launch, const Bindings& values);

}  // namespace warptime
