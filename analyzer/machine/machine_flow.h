// Basic blocks and loops of a kernel's machine code, without the subroutines behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/machine/machine_code.h"

namespace warptime::machine {

inline constexpr std::uint32_t no_machine_loop = 0xffffffff;

struct MachineBlock {
  std::uint32_t first = 0, end = 0;  // instructions [first, end) of the kernel
  std::vector<std::uint32_t> successors, predecessors;
  std::uint32_t loop = no_machine_loop;  // innermost
  bool reachable = false;
  bool seldom = false;  // entered only where the threads of a warp have diverged, or to call a slow path
};

// A natural loop.
struct MachineLoop {
  std::uint32_t header = 0;                // a block
  std::uint32_t parent = no_machine_loop;  // the loop around it
  std::vector<std::uint32_t> blocks;       // with those of inner loops
  std::vector<std::uint32_t> latches;      // the blocks that lead back to the header
};

struct MachineFlow {
  std::vector<MachineBlock> blocks;  // by address
  std::vector<MachineLoop> loops;    // outer before inner
};

// An indirect branch leads to all blocks that nothing else leads to. target: 90 of sm_90.
MachineFlow flow_of(const MachineKernel& kernel, int target);

}  // namespace warptime::machine
