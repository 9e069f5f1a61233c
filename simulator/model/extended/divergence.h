// Where the threads of a warp take different ways: items that only some of them execute, found by following some warps of
// the launch.
#pragma once

#include <string>

#include "simulator/model/extended/program_changes.h"
#include "simulator/sm/launch_on_gpu.h"

namespace warptime {

struct Divergence {
  // For without_divergence(); empty: the warps do not diverge, or the program does not say where.
  TogetherShares shares;
  // The place whose threads are idle most.
  std::string where;
  LineSet lines;
  double threads = 0;  // of a warp that executes it, on average
};

// Warps with fewer than 32 threads, guards that leave a part of the last warps idle, and what loaded data decide are no
// divergence.
Divergence divergence_of(const LaunchOnGpu& launch);

}  // namespace warptime
