// Conflicts between the banks of shared memory.
//
// Shared memory has 32 banks of 4 bytes; words whose numbers differ by a multiple of 32 share one. In a cycle
// each bank gives one word, to all threads that want it (NVIDIA, "CUDA C++ Programming Guide", shared memory
// since compute capability 5.0). So an access of 4 bytes or less takes as many cycles as the bank with the
// most distinct words. An access of 8 bytes is made for half a warp at a time, one of 16 bytes for a quarter.
// Loads return 128 bytes a cycle, and those of twice as many threads where neighbours share their words:
// where all threads n and n ^ 1, or all n and n ^ 2, have the same address
// (forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228; the H100 of the development
// set counts so, too).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simulator/program/item_detail.h"

namespace warptime {

inline constexpr std::size_t kSharedBanks = 32;
inline constexpr int kSharedWordShift = 2;  // banks of 4 bytes

// Whether every active lane has the address of the lane `distance` from it, as far as that is active.
inline bool neighbours_share(std::span<const std::int64_t> addresses, std::uint32_t active,
                             std::size_t distance) {
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const auto other = lane ^ distance;
    if ((active >> other & 1) != 0 && addresses[lane] != addresses[other]) return false;
  }
  return true;
}

// How many lanes of an access shared memory serves at once, if they do not conflict; as shared_ways.
inline std::size_t lanes_at_once(std::span<const std::int64_t> addresses, std::uint32_t active,
                                 std::int64_t bytes, ChipAccess::Kind kind) {
  const std::size_t lanes = bytes > 8 ? 8 : bytes > 4 ? 16 : 32;
  const bool together = kind == ChipAccess::Kind::load && lanes < 32 &&
                        (neighbours_share(addresses, active, 1) || neighbours_share(addresses, active, 2));
  return together ? lanes * 2 : lanes;
}

// The ways of one warp's access: the cycles in which shared memory serves it (Nsight Compute's wavefronts).
// addresses: in bytes, by lane. active: a bit for each lane that makes the access. bytes: per thread, 1 to
// 16. 0 without active lanes. An atomic operation counts as a store: threads with one address are not told
// apart.
inline int shared_ways(std::span<const std::int64_t> addresses, std::uint32_t active, std::int64_t bytes,
                       ChipAccess::Kind kind) {
  const std::size_t lanes = lanes_at_once(addresses, active, bytes, kind);
  constexpr std::size_t most_words = kSharedBanks * 2;  // of lanes at once, an unaligned word each
  int ways = 0;
  for (std::size_t first = 0; first < 32; first += lanes) {
    std::uint32_t rest = active >> first;
    if (lanes < 32) rest &= (std::uint32_t{1} << lanes) - 1;
    if (rest == 0) continue;
    // The distinct words of each bank, as a list: `next` of a word, and the last word of each bank.
    std::array<std::int64_t, most_words> words;
    std::array<std::int8_t, most_words> next;
    std::array<std::int8_t, kSharedBanks> last;
    std::array<std::int8_t, kSharedBanks> distinct{};
    last.fill(-1);
    std::size_t count = 0;
    int most = 0;
    for (; rest != 0; rest &= rest - 1) {
      const std::int64_t address = addresses[first + static_cast<std::size_t>(std::countr_zero(rest))];
      const std::int64_t end = (address + bytes - 1) >> kSharedWordShift;
      for (std::int64_t word = address >> kSharedWordShift; word <= end && count < most_words; ++word) {
        const auto bank = static_cast<std::size_t>(word & (kSharedBanks - 1));
        int at = last[bank];
        while (at >= 0 && words[static_cast<std::size_t>(at)] != word)
          at = next[static_cast<std::size_t>(at)];
        if (at >= 0) continue;
        words[count] = word;
        next[count] = last[bank];
        last[bank] = static_cast<std::int8_t>(count++);
        most = std::max<int>(most, ++distinct[bank]);
      }
    }
    ways += most;
  }
  return ways;
}

}  // namespace warptime
