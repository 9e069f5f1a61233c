// What a launch asks of each level of memory: L1 of every SM, L2, device memory.
#pragma once

#include <array>
#include <vector>

#include "simulator/sm/launch_on_gpu.h"
#include "simulator/sm/launch_places.h"
#include "simulator/sm/sm_simulation.h"

namespace warptime {

// Of the whole launch. Sectors are of 32 bytes.
struct MemoryLevels {
  double l1_loads = 0, l1_stores = 0;  // sectors of global memory, without atomics
  double l1_local_loads = 0, l1_local_stores = 0;
  double l1_load_hits = 0, l1_store_hits = 0, l1_local_hits = 0;  // sectors
  double l2_reads = 0, l2_writes = 0;  // sectors that L1 asks for, or writes; atomics apart
  double l2_atomics = 0;               // sectors, of L1 too
  // Cycles that conflicts of shared memory's banks cost.
  double shared_load_conflicts = 0, shared_store_conflicts = 0;
  double exchange_rounds =
      0;  // of additions of floating-point numbers in shared memory, beyond the first of each warp
  double memory_read_bytes = 0, memory_written_bytes = 0;
  double cycles = 0;                     // of the SM that starts last, from when the first one starts
  std::array<double, kSmWaits> waits{};  // they are the sum of these
  double unknown_share = 0;              // of the sectors of L1: their addresses are not known
  double profiled_share = 0;             // … a profile stands for their addresses
  double simulated_share = 1;            // of the accesses of the SM that was simulated
  bool footprint_estimated = false;
  bool dependences_known = false;  // the program says what its items need
};

// What launches take beside what the SMs do, in microseconds.
struct LaunchFigures {
  double kernel_us = 0;  // of a kernel that does nothing, as profilers report it
  double gap_us = 0;     // between the end of a kernel and the begin of the next in its stream
  double host_us = 0;    // from one launch of the host to the next
};
LaunchFigures launch_figures(const Gpu& gpu, CacheState caches);

// One SM's blocks are simulated (sm_simulation.h), and stand for those of the others; what memory gives and takes is found
// from the bytes that the blocks access that run at about the same time (launch_footprint.h). `places`, if given: the same
// by place. Errors: LaunchTrace's.
Result<MemoryLevels> memory_levels(const LaunchOnGpu& launch, CacheState caches,
                                   std::vector<LaunchPlace>* places = nullptr);

// The levels of `launch`, and what `listener` hears of the SM whose time they have: no more than it needs, where that SM's
// run is known. Errors: memory_levels()'s.
Result<MemoryLevels> memory_levels(const LaunchOnGpu& launch, CacheState caches, SmListener& listener);

}  // namespace warptime
