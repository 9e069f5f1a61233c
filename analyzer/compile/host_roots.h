// Roots and logarithms in host code, of numbers that the plan knows as expressions. They are no expressions themselves, but
// rounded they are: `(int)sqrt(n)`, `ceil(log2(n))`, `lround(4 * cbrt(n))`.
#pragma once

#include <optional>

#include "simulator/program/expression/expression.h"

namespace warptime::compiling {

enum class Rounding { down, up, nearest };

// times / divisor * f(numerator / denominator), where f is a root or the binary logarithm.
struct Irrational {
  int degree = 2;  // of the root; 0: the logarithm
  Expression numerator = 0, denominator = 1;
  Expression times = 1, divisor = 1;  // not negative, and positive
  bool half_more = false;             // plus 1/2
};

// As a first() with a counter that bears the line's number, a log2(), or a number. Nothing for multiples of logarithms, and for
// logarithms of fractions that are not rounded down.
std::optional<Expression> rounded(const Irrational& value, Rounding rounding, int line);

}  // namespace warptime::compiling
