// Division of whole numbers, as in symbolic expressions.
#pragma once

#include <cstdint>

namespace warptime::analysis {

// Rounded down. b is not 0, and a / b fits.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const auto q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

}  // namespace warptime::analysis
