// L2 is in slices, at different distances from an SM. Four neighbouring lines are in one slice; NVIDIA does not
// publish which one, so that an evenly spread sequence stands for it. On an H100 the loads of one SM take 207 to 372 cycles, evenly spread, where their mean is 289
// (data/hardware/h100_sm_latencies.csv: chains, and first loads of several lines).
#pragma once

#include <cstdint>

namespace warptime {

// Of a line of an array, -1 (nearest) to 1 (farthest), evenly spread. array: counted in the order in which the SM first read
// them; line: from the first one that it read. So it does not matter where arrays begin.
inline double slice_distance(std::int64_t array, std::int64_t line) {
  // A Weyl sequence of the golden ratio: neighbours are far apart, and any stretch of them is spread evenly.
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15, middle = std::uint64_t{1} << 63;
  const std::uint64_t place = middle + golden * static_cast<std::uint64_t>(5 * array + (line >> 2));
  return static_cast<double>(place >> 11) * 0x1p-52 - 1;
}

}  // namespace warptime
