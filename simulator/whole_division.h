// Division of whole numbers, quick where both fit 32 bits: there a processor divides several times as fast.
#pragma once

#include <cstdint>

namespace warptime {

// a >= 0, b > 0
inline std::int64_t divide_down(std::int64_t a, std::int64_t b) {
  if ((static_cast<std::uint64_t>(a | b) >> 32) == 0) {
    return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  }
  return a / b;
}

// Unlike (a + b - 1) / b it cannot overflow.
inline std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = divide_down(a, b);
  return quotient + (quotient * b != a ? 1 : 0);
}

}  // namespace warptime
