// What a figure of a GPU may be, for reading a file and for changing a figure. External interface: none.
#pragma once

#include <string>

#include "simulator/gpu/gpu.h"

namespace warptime {

inline constexpr double kLargestCount = 1e6;   // of SMs, cores, … : beyond it is a slip of the pen
inline constexpr double kLargestBytes = 1e12;  // of shared memory, of a cache

// What is wrong with `value` for this figure, in words; empty: nothing.
std::string out_of_range(const GpuFigure& figure, double value);

}  // namespace warptime
