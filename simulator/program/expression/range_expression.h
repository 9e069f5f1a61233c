// Expressions over ranges: the value of an expression where some of its names run through arithmetic progressions.
//
// A launch has too many warps to look at each. What most of them execute is decided for many at once: a name such as
// blockIdx.x becomes the sum of one or more dimensions that run from 0 in steps, and an expression over it becomes
//
//     base + Σ step · k + rest,   0 <= k < count of the dimension,   rest_low <= rest <= rest_high
//
// (affine arithmetic: Stolfi and de Figueiredo, "Self-Validated Numerical Methods and Applications", 1997, section 3).
// What is linear in both operands cancels exactly; a quotient and a remainder keep the steps that are multiples of the
// divisor.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "simulator/program/expression/expression.h"

namespace warptime {

// For each of x, y and z: blocks, blocks within a stride, warps of a block, threads of a warp; then the counters of
// nested repeats.
inline constexpr std::size_t kRangeDimensions = 18;
inline constexpr std::size_t kFirstStrideDimension = 3, kFirstWarpDimension = 6, kFirstLaneDimension = 9,
                             kFirstCounterDimension = 12;

// How many values each dimension has; at least 1.
using DimensionCounts = std::array<std::int64_t, kRangeDimensions>;
using DimensionSet = std::uint32_t;  // a bit each

struct ValueRange {
  bool known = true;  // false: nothing is known of it, which nothing below then says either
  DimensionSet stepping = 0, rest_dimensions = 0;  // that the linear part and the rest vary with
  std::int64_t base = 0;
  std::int64_t rest_low = 0, rest_high = 0;  // both 0, or different
  std::int64_t low = 0, high = 0;            // of the sum

  ValueRange() = default;
  explicit ValueRange(std::int64_t value) : base(value), low(value), high(value) {}
  ValueRange(const ValueRange& other) { *this = other; }
  // Most have no steps.
  ValueRange& operator=(const ValueRange& other) {
    known = other.known;
    stepping = other.stepping;
    rest_dimensions = other.rest_dimensions;
    base = other.base;
    rest_low = other.rest_low;
    rest_high = other.rest_high;
    low = other.low;
    high = other.high;
    for (DimensionSet set = stepping; set != 0; set &= set - 1) {
      const auto d = static_cast<std::size_t>(std::countr_zero(set));
      steps_[d] = other.steps_[d];
    }
    return *this;
  }
  static ValueRange unknown() {
    ValueRange range;
    range.known = false;
    return range;
  }
  // first, first + step, …: count of them.
  static ValueRange progression(std::size_t dimension, std::int64_t first, std::int64_t step,
                                std::int64_t count);

  bool is_single() const { return known && low == high; }
  bool is_linear() const { return rest_low == rest_high; }
  // 0 for all, or for none.
  bool is_decided() const { return is_single() || low > 0 || high < 0; }
  bool holds() const { return low != 0 || high != 0; }  // where it is decided
  DimensionSet dimensions() const { return stepping | rest_dimensions; }
  std::int64_t step(std::size_t dimension) const {
    return (stepping >> dimension & 1) != 0 ? steps_[dimension] : 0;
  }
  void set_step(std::size_t dimension, std::int64_t step) {
    steps_[dimension] = step;
    if (step != 0) stepping |= DimensionSet{1} << dimension;
  }
  // The same linear part over these dimensions.
  bool has_steps_of(const ValueRange& other, DimensionSet of) const;

 private:
  std::array<std::int64_t, kRangeDimensions> steps_;  // those of `stepping`
};

ValueRange add(const ValueRange& a, const ValueRange& b, const DimensionCounts& counts);

// What kept an expression from having one value: differences that are negative for some and not for others, and
// dividends that run through multiples of their divisor.
struct RangeObstacles {
  struct Division {
    ValueRange dividend;
    std::int64_t divisor = 1;
  };
  std::vector<ValueRange> differences;
  std::vector<Division> divisions;
};

class RangeExpression {
 public:
  RangeExpression() : RangeExpression(Expression(0), [](const std::string&) { return -1; }) {}
  // slot_of: the index of a name's range in the array for evaluate(); negative if it has none: then it is unknown.
  RangeExpression(const Expression& expression, const std::function<int(const std::string&)>& slot_of);

  // Values of its parts that do not change while some slots do, once they are needed: with obstacles, of its sums and products.
  class Kept {
   public:
    // Other slots change, or it is of another expression from now on.
    void forget() { std::fill(made_.begin(), made_.end(), char{0}); }

   private:
    friend class RangeExpression;
    std::vector<ValueRange> values_;
    std::vector<char> made_;
  };
  // Lets `Kept` have the parts that do not depend on these slots, and lane_values() tell them apart.
  void keep_parts(std::span<const int> changing);

  // The values that evaluate_count can have, or more: never fewer. Unknown where it fails. `obstacles`, if given, takes
  // what keeps it from being decided. `kept`, if given, is of this expression.
  ValueRange evaluate(const ValueRange* slots, const DimensionCounts& counts,
                      RangeObstacles* obstacles = nullptr, Kept* kept = nullptr) const;
  // The same where each slot that matters has a single value. False: unknown.
  bool value(const ValueRange* slots, std::int64_t& value) const {
    return value_of(static_cast<std::uint32_t>(nodes_.size() - 1), slots, value);
  }
  // The same for 32 values, one of each thread of a warp, of each of the slots of keep_parts(): those slots' own ranges do not matter.
  // Returns for which of them it is known: a bit each.
  using LaneNumbers = std::array<std::int64_t, 32>;
  struct LaneSlot {
    int slot = 0;
    const LaneNumbers* numbers = nullptr;
  };
  std::uint32_t lane_values(const ValueRange* slots, std::span<const LaneSlot> own,
                            LaneNumbers& values) const {
    return lane_values(static_cast<std::uint32_t>(nodes_.size() - 1), slots, own, values);
  }
  // Whether lane_values() has what evaluate() gives for each of the threads: each other slot that it uses has a single value, or none.
  bool is_of_lanes(const ValueRange* slots) const {
    return !has_power_ && std::all_of(others_.begin(), others_.end(), [slots](int slot) {
      return !slots[slot].known || slots[slot].low == slots[slot].high;
    });
  }
  // The slots of keep_parts() that it uses.
  const std::vector<int>& changing() const { return changing_; }
  // Whether it uses a slot.
  bool uses(int slot) const;
  // Whether it is made of comparisons by `&&`, `||` and `!` alone: then it changes only where one of them does.
  bool combines_comparisons() const {
    return combines_comparisons(static_cast<std::uint32_t>(nodes_.size() - 1));
  }

 private:
  struct Node {
    Expression::Operator op = Expression::Operator::integer;
    std::vector<std::uint32_t> operands;
    std::int64_t number = 0;  // an integer's value, a name's slot
    int kept = -1;            // its index in Kept, with obstacles, …
    int kept_without = -1;    // … and without
    bool changes = false;     // it uses a slot of keep_parts()
  };
  class Evaluation;
  bool value_of(std::uint32_t index, const ValueRange* slots, std::int64_t& value) const;
  std::uint32_t lane_values(std::uint32_t index, const ValueRange* slots, std::span<const LaneSlot> own,
                            LaneNumbers& values) const;
  bool combines_comparisons(std::uint32_t index) const;
  std::uint32_t compile(const Expression& expression, const std::function<int(const std::string&)>& slot_of);

  std::vector<Node> nodes_;             // operands come before; the root is the last
  std::size_t kept_ = 0;                // how many parts have an index in Kept
  std::vector<int> others_, changing_;  // slots that it uses, each once: those of keep_parts() apart
  bool has_power_ = false;
};

}  // namespace warptime
