// How many bytes of device memory the blocks of a launch access, each counted once.
#pragma once

#include <cstdint>
#include <memory>

#include "simulator/program/kernel_program.h"
#include "simulator/program/warps.h"
#include "simulator/sm/array_places.h"

namespace warptime {

inline constexpr std::int64_t kMemoryBytes = 64;  // that memory gives at once

struct Footprint {
  double read_bytes = 0;  // that loads and atomics access, in pieces of 64 bytes, as memory gives them to L2
  double written_bytes = 0;  // that stores and atomics access, in sectors
  double all_bytes = 0;      // of both together, in lines, as L2 keeps them
  double atomic_bytes = 0;   // that atomics access, in sectors, where their addresses are known
  double hottest = 0;  // the largest share of the threads of atomics with a profile that access one address
  bool estimated = false;  // some addresses are not known, or depend on what has no range
};

class LaunchFootprint {
 public:
  // `program` must outlive it.
  LaunchFootprint(const KernelProgram& program, const Bindings& values, const LaunchSize& size,
                  const ArrayPlaces& places = {});
  ~LaunchFootprint();
  LaunchFootprint(const LaunchFootprint&) = delete;
  LaunchFootprint& operator=(const LaunchFootprint&) = delete;

  // Of blocks `first` to `first + count - 1`, in launch order.
  Footprint of_blocks(std::int64_t first, std::int64_t count) const;

  struct Compiled;

 private:
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace warptime
