// Whether the warps of a launch go through their loops in step.
#pragma once

#include "simulator/sm/launch_on_gpu.h"

namespace warptime {

// Whether no warps of blocks that begin together are known to run ahead of others in the loops, and to bring to L2 what these load
// then: but for those that end at once none executes a tenth less than the longest does, and neither data nor a loop's counter
// decide which warps execute what of an iteration.
bool in_step(const LaunchOnGpu& launch);

}  // namespace warptime
