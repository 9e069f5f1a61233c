// Division of whole numbers, with a fast path for 32-bit operands: processors divide these several times as
// fast.
#pragma once

#include <cstdint>
#include <limits>

namespace warptime {

// The value of sums and products of counts that do not fit 64 bits.
inline constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();

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

// A divisor for many divisions: 32-bit numbers are divided by a multiplication.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::int64_t value) : value_(value), inverse_(1 / static_cast<double>(value)) {}
  // a >= 0
  std::int64_t down(std::int64_t a) const {
    if ((static_cast<std::uint64_t>(a) >> 32) != 0) return a / value_;
    // The product is off by less than one.
    auto quotient = static_cast<std::int64_t>(static_cast<double>(a) * inverse_);
    const std::int64_t rest = a - quotient * value_;
    if (rest >= value_) ++quotient;
    if (rest < 0) --quotient;
    return quotient;
  }
  std::int64_t up(std::int64_t a) const {
    const std::int64_t quotient = down(a);
    return quotient + (quotient * value_ != a ? 1 : 0);
  }

 private:
  std::int64_t value_ = 1;
  double inverse_ = 1;
};

// The number of warps of a number of threads. All GPUs have warps of 32 (read_gpu rejects others).
inline std::int64_t warps_of_threads(std::int64_t threads) {
  return threads / 32 + (threads % 32 != 0 ? 1 : 0);
}

}  // namespace warptime
