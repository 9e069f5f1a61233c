// Arithmetic of counts: 64-bit whole numbers that never wrap. Both evaluators of expressions use it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "simulator/program/expression/expression.h"

namespace warptime::arithmetic {

using Operator = Expression::Operator;

inline constexpr std::uint32_t kDeepestTree = 10'000;
inline constexpr std::uint64_t kLargestTree = 1'000'000;
inline bool too_large(const Expression& expression) {
  return expression.depth() > kDeepestTree || expression.size() > kLargestTree;
}

// How many numbers a first() tries.
inline std::int64_t most_tried(const Expression& condition) {
  constexpr std::uint64_t most = 1'000'000, most_nodes = 50'000'000;
  return static_cast<std::int64_t>(std::min(most, most_nodes / condition.size()));
}

inline constexpr char kOverflow[] = "the result does not fit 64 bits";

__extension__ using Wide = __int128;  // for sums and products that 64 bits may not hold

// Rounded down; b > 0.
inline Wide floor_divide(Wide a, Wide b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

// The functions below return an error text, or null.
inline const char* divide(Operator op, std::int64_t a, std::int64_t b, std::int64_t& value) {
  if (((static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b)) >> 32) == 0 && b != 0) {
    // Processors divide 32-bit operands several times as fast.
    const auto dividend = static_cast<std::uint32_t>(a), divisor = static_cast<std::uint32_t>(b);
    const std::uint32_t quotient = dividend / divisor, remainder = dividend % divisor;
    value = op == Operator::modulo                       ? remainder
            : op == Operator::ceil_div && remainder != 0 ? quotient + 1LL
                                                         : quotient;
    return nullptr;
  }
  if (b == 0) return "division by zero";
  if (b == -1) {
    value = 0;
    if (op == Operator::modulo) return nullptr;
    return __builtin_sub_overflow(std::int64_t{0}, a, &value) ? kOverflow : nullptr;
  }
  const std::int64_t quotient = a / b, remainder = a % b;
  const bool same_sign = (remainder < 0) == (b < 0);
  if (op == Operator::modulo) {
    value = remainder != 0 && !same_sign ? remainder + b : remainder;
  } else if (op == Operator::ceil_div) {
    value = remainder != 0 && same_sign ? quotient + 1 : quotient;
  } else {
    value = remainder != 0 && !same_sign ? quotient - 1 : quotient;
  }
  return nullptr;
}

inline const char* power(std::int64_t base, std::int64_t exponent, std::int64_t& value) {
  if (base == 1 || base == -1) {
    value = exponent % 2 == 0 ? 1 : base;
    return nullptr;
  }
  if (exponent < 0) return "a negative power is not a whole number";
  for (value = 1;;) {
    if (exponent % 2 != 0 && __builtin_mul_overflow(value, base, &value)) return kOverflow;
    exponent /= 2;
    if (exponent == 0) return nullptr;
    if (__builtin_mul_overflow(base, base, &base)) return kOverflow;
  }
}

// The binary operators, except && and ||.
inline const char* binary(Operator op, std::int64_t a, std::int64_t b, std::int64_t& value) {
  switch (op) {
    case Operator::add:
      return __builtin_add_overflow(a, b, &value) ? kOverflow : nullptr;
    case Operator::subtract:
      return __builtin_sub_overflow(a, b, &value) ? kOverflow : nullptr;
    case Operator::multiply:
      return __builtin_mul_overflow(a, b, &value) ? kOverflow : nullptr;
    case Operator::divide:
    case Operator::modulo:
    case Operator::ceil_div:
      return divide(op, a, b, value);
    case Operator::power:
      return power(a, b, value);
    case Operator::less:
      value = a < b;
      return nullptr;
    case Operator::less_equal:
      value = a <= b;
      return nullptr;
    case Operator::greater:
      value = a > b;
      return nullptr;
    case Operator::greater_equal:
      value = a >= b;
      return nullptr;
    case Operator::equal:
      value = a == b;
      return nullptr;
    case Operator::bit_and:
      value = a & b;
      return nullptr;
    case Operator::bit_or:
      value = a | b;
      return nullptr;
    case Operator::bit_xor:
      value = a ^ b;
      return nullptr;
    default:
      value = a != b;
      return nullptr;
  }
}

// value >= 1
inline std::int64_t log2(std::int64_t value) {
  return std::bit_width(static_cast<std::uint64_t>(value)) - 1;
}

}  // namespace warptime::arithmetic
