#include "analyzer/execute/half.h"

#include <bit>
#include <cmath>
#include <limits>

namespace warptime::execute {
namespace {

std::uint32_t infinity_bits(const Format& f) {
  return ((1u << f.exponent_bits) - 1) << (f.significand_bits - 1);
}

// The largest finite number. e4m3 has no infinity: its last exponent is used, but for all ones.
std::uint32_t largest_bits(const Format& f) {
  return f.has_infinity ? infinity_bits(f) - 1 : infinity_bits(f) + ((1u << (f.significand_bits - 1)) - 2);
}

// Rounds up in magnitude?
bool away(std::uint64_t kept, std::uint64_t rest, std::uint64_t half, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return rest > half || (rest == half && (kept & 1) != 0);
    case Rounding::nearest_away:
      return rest >= half;
    case Rounding::to_zero:
      return false;
    case Rounding::down:
      return rest != 0 && negative;
    case Rounding::up:
      return rest != 0 && !negative;
  }
  return false;
}

std::uint32_t overflowed(const Format& f, bool negative, Rounding rounding, bool saturate) {
  const bool to_largest = saturate || rounding == Rounding::to_zero ||
                          (rounding == Rounding::down && !negative) || (rounding == Rounding::up && negative);
  if (to_largest) return largest_bits(f);
  return f.has_infinity ? infinity_bits(f) : largest_bits(f) + 1;
}

}  // namespace

std::uint32_t round_to(const Format& f, double value, Rounding rounding, bool saturate) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const std::uint32_t sign = std::uint32_t{negative} << (f.exponent_bits + f.significand_bits - 1);
  if (std::isnan(value)) return (1u << (f.exponent_bits + f.significand_bits - 1)) - 1;
  if (value == 0) return sign;
  if (std::isinf(value))
    return sign | (saturate ? largest_bits(f) : overflowed(f, negative, Rounding::nearest_even, false));
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // 0.5 ≤ fraction < 1
  --exponent;
  const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));  // 53 bits, exact
  // Below e_min the spacing stays what it is there.
  int dropped = 53 - f.significand_bits;
  if (exponent < f.e_min) dropped += f.e_min - exponent;
  std::uint64_t kept = 0, rest = significand, half = ~std::uint64_t{0};
  if (dropped < 64) {
    kept = significand >> dropped;
    rest = significand & ((std::uint64_t{1} << dropped) - 1);
    half = std::uint64_t{1} << (dropped - 1);
  }
  if (away(kept, rest, half, negative, rounding)) ++kept;
  if (exponent < f.e_min)
    return sign | static_cast<std::uint32_t>(kept);  // a carry makes the least normal number
  if (kept >> f.significand_bits != 0) kept >>= 1, ++exponent;
  const auto biased = static_cast<std::uint32_t>(exponent - f.e_min + 1);
  const auto result = exponent > f.e_max
                          ? ~0u
                          : (biased << (f.significand_bits - 1)) |
                                (static_cast<std::uint32_t>(kept) & ((1u << (f.significand_bits - 1)) - 1));
  if (exponent > f.e_max || result > largest_bits(f))
    return sign | overflowed(f, negative, rounding, saturate);
  return sign | result;
}

double value_of(const Format& f, std::uint32_t bits) {
  const int fraction_bits = f.significand_bits - 1;
  const bool negative = ((bits >> (f.exponent_bits + fraction_bits)) & 1) != 0;
  const auto magnitude = bits & ((1u << (f.exponent_bits + fraction_bits)) - 1);
  const auto biased = magnitude >> fraction_bits;
  const auto fraction = magnitude & ((1u << fraction_bits) - 1);
  double value = 0;
  if (magnitude > largest_bits(f)) {
    value = f.has_infinity && fraction == 0 ? std::numeric_limits<double>::infinity()
                                            : std::numeric_limits<double>::quiet_NaN();
  } else if (biased == 0) {
    value = std::ldexp(fraction, f.e_min - fraction_bits);
  } else {
    value =
        std::ldexp(fraction + (1u << fraction_bits), static_cast<int>(biased) - 1 + f.e_min - fraction_bits);
  }
  return negative ? -value : value;
}

float from_half(std::uint16_t bits) {
  return static_cast<float>(value_of(half_format, bits));
}
float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  // Knuth's exact error of a sum.
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  const bool larger = (error > 0) == (sum > 0);
  return std::bit_cast<double>(larger ? bits + 1 : bits - 1);
}

}  // namespace warptime::execute
