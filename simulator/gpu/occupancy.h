// Occupancy: how many blocks of a kernel an SM runs at once, as NVIDIA publishes it (CUDA Occupancy
// Calculator; CUDA C Programming Guide, "hardware multithreading" and the technical specifications per
// compute capability). The paper's N_ab/sm (Puchala et al. 2022, Algorithm 1) has two of the limits, warps
// and blocks per SM; registers and shared memory are the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/gpu/gpu.h"
#include "simulator/program/kernel_program.h"

namespace warptime {

// The limits of an SM by compute capability, and the units in which it allocates registers and shared memory.
struct ComputeLimits {
  ComputeCapability compute_capability;
  int max_threads_per_block = 1024;
  int max_warps_per_sm = 0;
  int max_blocks_per_sm = 0;
  std::int64_t registers_per_sm = 0;     // of 32 bits
  std::int64_t registers_per_block = 0;  // the maximum for a block
  int registers_per_thread = 0;          // the maximum for a thread
  // Registers are allocated to a warp (1.x: to a block) in multiples of register_unit. The warps of an SM
  // live in warp_partitions, each with its share of the registers.
  enum class Granularity : std::uint8_t { block, warp } register_granularity = Granularity::warp;
  int register_unit = 256;
  // 1.x: warps of a block are rounded up to a multiple of it before their registers are counted. From 2.0 on:
  // the partitions of an SM.
  int warp_partitions = 4;
  // From 2.0 on: a block's warps are rounded up to a multiple of it to compare its registers with
  // registers_per_block. The number of partitions, except on 6.0, where a block has to fit 6.1 too.
  int warps_checked_by = 4;
  std::int64_t shared_bytes_per_sm = 0;     // with the maximum configuration
  std::int64_t shared_bytes_per_block = 0;  // the most that a block can ask for (7.0 and later: opted into)
  int shared_unit = 256;                    // bytes: shared memory is allocated to a block in multiples of it
  int shared_reserved_per_block = 0;        // bytes per block that the system reserves
};

// Ascending.
std::span<const ComputeLimits> all_compute_limits();

// The limits of a compute capability; for one that is not in the table, those of the newest older one. Null
// for one older than 1.0.
const ComputeLimits* find_compute_limits(ComputeCapability compute_capability);

struct Occupancy {
  enum class Limit : std::uint8_t { threads, warps, blocks, registers, shared_memory };

  std::int64_t active_blocks = 0;  // per SM; 0: not even one block can be launched
  std::int64_t active_warps = 0;   // active_blocks times the warps of a block
  double fraction = 0;             // active_warps as a share of the SM's maximum
  Limit limit = Limit::warps;  // the tightest limit; the first one in the order above if several are equal
  // The number of blocks that each limit alone allows. Nothing: no limit (registers unknown, no shared memory
  // used).
  std::int64_t blocks_by_warps = 0;
  std::int64_t blocks_by_blocks = 0;
  std::optional<std::int64_t> blocks_by_registers;
  std::optional<std::int64_t> blocks_by_shared_memory;
  std::int64_t registers_per_block = 0;     // as allocated; 0: unknown
  std::int64_t shared_bytes_per_block = 0;  // as allocated, including the reserved bytes
  bool registers_known = false;
  // Assumptions, and why a launch with 0 active blocks is impossible (last, for `limit`), in sentences; may
  // be empty.
  std::vector<std::string> notes;
};

// "registers", "shared memory", "threads", "blocks", "warps"
std::string_view to_string(Occupancy::Limit limit);

// The occupancy of a kernel with blocks of `threads_per_block` (at least 1) threads. A figure in the GPU's
// file overrides the table of its compute capability. Unknown resources.registers_per_thread, or shared
// memory of unknown size, limit nothing, and a note says so.
Occupancy occupancy(const Gpu& gpu, std::int64_t threads_per_block, const KernelResources& resources);

// A kernel's resources in a launch that asks for `shared_bytes` of dynamic shared memory, which beat what the
// program says; nothing: as the program says. Of a program that says nothing, all but the shared memory is
// unknown.
KernelResources with_shared_bytes(const std::optional<KernelResources>& resources,
                                  std::optional<std::int64_t> shared_bytes);

// "2 blocks of 8 warps are active on an SM: 16 of 64 warps (25 %), limited by registers"
std::string to_text(const Gpu& gpu, const Occupancy& occupancy);

}  // namespace warptime
