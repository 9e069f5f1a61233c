// What a launch asks of each level of memory: L1 of every SM, L2, device memory.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/gpu/gpu.h"
#include "simulator/gpu/occupancy.h"
#include "simulator/program/kernel_program.h"
#include "simulator/program/warps.h"

namespace warptime {

// What the caches hold when the launch begins: nothing, or what the same launch left there.
enum class CacheState : std::uint8_t { cold, warm };

struct LaunchOnGpu {
  const KernelProgram* program = nullptr;
  Bindings values;
  LaunchSize size;
  Shares shares;
  const LaunchWarps* warps = nullptr;  // with sectors
  const Gpu* gpu = nullptr;
  Occupancy occupancy;
};

// Of the whole launch. Sectors are of 32 bytes.
struct MemoryLevels {
  double l1_load_hits = 0, l1_store_hits = 0, l1_local_hits = 0;  // sectors
  double l2_reads = 0, l2_writes = 0;  // sectors that L1 asks for, or writes; atomics apart
  double l2_atomics = 0;               // sectors
  // Cycles that conflicts of shared memory's banks cost.
  double shared_load_conflicts = 0, shared_store_conflicts = 0;
  double memory_read_bytes = 0, memory_written_bytes = 0;
  double cycles = 0;           // of an SM
  double unknown_share = 0;    // of the sectors of L1: their addresses are not known
  double simulated_share = 1;  // of the accesses of the SM that was simulated
  bool footprint_estimated = false;
};

// One SM's blocks are simulated (sm_simulation.h), and stand for those of the others; what memory gives and takes is found
// from the bytes that the blocks access that run at about the same time (launch_footprint.h). Errors: LaunchTrace's.
Result<MemoryLevels> memory_levels(const LaunchOnGpu& launch, CacheState caches);

}  // namespace warptime
