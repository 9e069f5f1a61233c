// Expressions over ranges: the value of an expression where some of its names run through arithmetic progressions.
//
// A launch has too many warps to look at each. What most of them execute is decided for many at once: a name such as
// blockIdx.x becomes a dimension that runs from 0 in steps, and an expression over it has a lowest and a highest value,
// and, where it is linear in the dimension, its change for one step.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulator/program/expression/expression.h"

namespace warptime {

// blockIdx.x, .y, .z, threadIdx.x, .y, .z, and the counters of nested repeats.
inline constexpr std::size_t kRangeDimensions = 12;
inline constexpr std::size_t kFirstCounterDimension = 6;

// How many values each dimension has; at least 1.
using DimensionCounts = std::array<std::int64_t, kRangeDimensions>;

struct ValueRange {
  bool known = true;      // false: nothing is known of it, which nothing below then says either
  std::int64_t base = 0;  // where all dimensions are at their first value; only if linear
  std::int64_t low = 0, high = 0;
  std::uint32_t dimensions = 0;  // that it varies with, a bit each
  bool linear = true;            // in each of them, with these steps
  std::array<std::int64_t, kRangeDimensions> steps{};

  ValueRange() = default;
  explicit ValueRange(std::int64_t value) : base(value), low(value), high(value) {}
  static ValueRange unknown() {
    ValueRange range;
    range.known = false;
    return range;
  }
  // first, first + step, …: count of them.
  static ValueRange progression(std::size_t dimension, std::int64_t first, std::int64_t step,
                                std::int64_t count);
  bool is_single() const { return known && low == high; }
};

class RangeExpression {
 public:
  RangeExpression() : RangeExpression(Expression(0), [](const std::string&) { return -1; }) {}
  // slot_of: the index of a name's range in the array for evaluate(); negative if it has none: then it is unknown.
  RangeExpression(const Expression& expression, const std::function<int(const std::string&)>& slot_of);

  // The values that evaluate_count can have, or more: never fewer. Unknown where it fails.
  ValueRange evaluate(const ValueRange* slots, const DimensionCounts& counts) const {
    return evaluate(static_cast<std::uint32_t>(nodes_.size() - 1), slots, counts);
  }
  // Whether it uses a slot.
  bool uses(int slot) const;

 private:
  struct Node {
    Expression::Operator op = Expression::Operator::integer;
    std::vector<std::uint32_t> operands;
    std::int64_t number = 0;  // an integer's value, a name's slot
  };
  std::uint32_t compile(const Expression& expression, const std::function<int(const std::string&)>& slot_of);
  ValueRange evaluate(std::uint32_t index, const ValueRange* slots, const DimensionCounts& counts) const;

  std::vector<Node> nodes_;  // operands come before; the root is the last
};

}  // namespace warptime
