// A plan bound to parameters: the arrays with their sizes, and every launch with its blocks, threads and
// arguments, as the driver takes them.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "measure/kernels.h"
#include "simulator/gpu/gpu.h"
#include "simulator/plan/launch.h"
#include "simulator/plan/plan.h"

namespace warptime::measuring {

struct BoundArray {
  const PlanArray* of = nullptr;
  std::uint64_t elements = 0;
  std::int64_t cycles_of = 0;             // of cycle_leaders
  bool pointed_to = false;                // some argument points into it
  std::vector<std::size_t> variables_of;  // modules that have a variable of its name
  std::uint64_t bytes() const { return elements * bytes_of(of->type); }
};

struct ArrayPointer {
  std::size_t array = 0;
  std::uint64_t first = 0;  // the element
};
using ArgumentValue = std::variant<ArrayPointer, std::int64_t, double>;

struct BoundLaunch {
  KernelReference kernel;
  GridAndBlock shape;
  std::int64_t shared_bytes = 0;         // dynamic shared memory of each block
  std::vector<ArgumentValue> arguments;  // one for each parameter of the kernel
};

struct BoundPlan {
  std::vector<BoundArray> arrays;     // those of the plan, in its order
  std::vector<BoundLaunch> launches;  // in their order
  std::uint64_t bytes() const;        // of all arrays
};

// The limit on the launches of one run of a plan.
inline constexpr std::size_t most_launches = 100'000;

// `threads_per_block`: replaces Algorithm 3's, for launches that leave the choice (`threads`). Errors, with
// the plan's line: an argument without a value (for a pointer: which array is missing), a value that does not
// fit its type, a pointer outside its array, an array that nothing uses, a launch that exceeds the GPU's
// limits.
Result<BoundPlan> bind_plan(const Plan& plan, const PlanKernels& kernels, const Bindings& parameters,
                            const Gpu& gpu, std::optional<std::int64_t> threads_per_block = std::nullopt);

// As text: the arrays with their sizes, and every launch as CUDA writes it.
std::string to_text(const BoundPlan& bound, const PlanKernels& kernels);

}  // namespace warptime::measuring
