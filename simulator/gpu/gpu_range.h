// The range of a figure of a GPU, for reading a file and for changing a figure. External interface: none.
#pragma once

#include <string>

#include "simulator/gpu/gpu.h"

namespace warptime {

inline constexpr double kLargestCount = 1e6;   // of SMs, cores, …; a larger one is a typing error
inline constexpr double kLargestBytes = 1e12;  // of shared memory, of a cache

// Why `value` is wrong for this figure; empty if it is not.
std::string out_of_range(const GpuFigure& figure, double value);

}  // namespace warptime
