// A launch with all its warps, on a GPU: what is simulated.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/gpu/gpu.h"
#include "simulator/gpu/occupancy.h"
#include "simulator/program/kernel_program.h"
#include "simulator/program/warps.h"
#include "simulator/sm/array_places.h"

namespace warptime {

// What the caches hold when the launch begins: nothing, or what the same launch left there.
enum class CacheState : std::uint8_t { cold, warm };

class KnownRuns;

struct LaunchOnGpu {
  const KernelProgram* program = nullptr;
  Bindings values;
  LaunchSize size;
  Shares shares;
  const LaunchWarps* warps = nullptr;  // with sectors and machine instructions
  const Gpu* gpu = nullptr;
  Occupancy occupancy;
  ArrayPlaces places = {};
  KnownRuns* known_runs = nullptr;  // of launches before; none: each launch is simulated
};

// What is found of the warps of a launch to simulate it; of a program with a change, too, so that both are looked at as
// closely.
inline WarpOptions whole_launch_options() {
  WarpOptions options;
  options.sectors = options.machine = true;
  options.budget = 150'000;  // some 100 ms
  return options;
}

// The kernel's resources in a launch that asks for so much dynamic shared memory (with_shared_bytes()), with
// its estimated registers where none are known.
KernelResources resources_of(const KernelProgram& program, std::optional<std::int64_t> shared_bytes);

}  // namespace warptime
