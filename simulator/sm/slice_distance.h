// L2 is in slices, at different distances from an SM. Four neighbouring lines are in one slice; NVIDIA does not
// publish which one, so that an evenly spread sequence stands for it. On an H100 the loads of one SM take 207 to 372 cycles, evenly spread, where their mean is 289
// (data/hardware/h100_sm_latencies.csv: chains, and first loads of several lines).
#pragma once

#include <cstdint>

#include "simulator/base/mixed_bits.h"

namespace warptime {

// Of a line of an array, -1 (nearest) to 1 (farthest), evenly spread. array: counted in the order in which the SM first read
// them; line: from the first one that it read. So it does not matter where arrays begin.
inline double slice_distance(std::int64_t array, std::int64_t line) {
  // A Weyl sequence of the golden ratio: neighbours are far apart, and any stretch of them is spread evenly.
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15, middle = std::uint64_t{1} << 63;
  const std::uint64_t place = middle + golden * static_cast<std::uint64_t>(5 * array + (line >> 2));
  return static_cast<double>(place >> 11) * 0x1p-52 - 1;
}

// What a line that memory gives takes longer than the mean of all lines, as a part of that mean. Memory is in two parts, of which one
// is farther from an SM; 4 KiB are in one of them. Some requests find it at other work, neighbouring lines together.
// On an H100 44% take 560 to 640 cycles, and most others 720 to 830, but every ninth 870 to 1,220, where the mean is 742
// (data/hardware/h100_memory_latencies.csv).
inline double memory_distance(std::int64_t array, std::int64_t line) {
  constexpr double near_share = 0.44, near = -0.18, far = 0.075, near_spread = 0.04, far_spread = 0.06;
  constexpr double busy_share = 0.11, busy_least = 0.15, busy_most = 0.6;
  constexpr std::uint64_t root_of_two = 0x6a09e667f3bcc909, first = 0xb851eb851eb851ec;  // 0.72: far
  const double part =
      share_of_bits(first + root_of_two * static_cast<std::uint64_t>(5 * array + (line >> 5)));
  const auto mixed = [&](std::int64_t place) {
    return mixed_bits(static_cast<std::uint64_t>(place) ^ static_cast<std::uint64_t>(array) << 48);
  };
  const double within = 2 * share_of_bits(mixed(line)) - 1, busy = share_of_bits(mixed(line >> 2) << 17);
  const double way = part < near_share ? near + near_spread * within : far + far_spread * within;
  return busy < busy_share ? way + busy_least + (busy_most - busy_least) * busy / busy_share : way;
}

}  // namespace warptime
