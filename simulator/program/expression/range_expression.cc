#include "simulator/program/expression/range_expression.h"

#include <algorithm>
#include <limits>

#include "simulator/program/expression/arithmetic.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;
__extension__ using Wide = __int128;

constexpr Wide kLowest = std::numeric_limits<std::int64_t>::min(),
               kHighest = std::numeric_limits<std::int64_t>::max();

bool fits(Wide value) {
  return value >= kLowest && value <= kHighest;
}

ValueRange between(std::int64_t low, std::int64_t high, std::uint32_t dimensions) {
  ValueRange range(low);
  range.high = high;
  if (low == high) return range;
  range.dimensions = dimensions;
  range.linear = false;
  return range;
}

// base + Σ step · k. Unknown if it does not fit.
ValueRange linear_range(Wide base, const std::array<Wide, kRangeDimensions>& steps,
                        const DimensionCounts& counts) {
  ValueRange range;
  Wide low = base, high = base;
  for (std::size_t d = 0; d < kRangeDimensions; ++d) {
    if (steps[d] == 0 || counts[d] <= 1) continue;
    if (!fits(steps[d])) return ValueRange::unknown();
    const Wide reach = steps[d] * (counts[d] - 1);
    (reach < 0 ? low : high) += reach;
    range.steps[d] = static_cast<std::int64_t>(steps[d]);
    range.dimensions |= std::uint32_t{1} << d;
  }
  if (!fits(low) || !fits(high) || !fits(base)) return ValueRange::unknown();
  range.base = static_cast<std::int64_t>(base);
  range.low = static_cast<std::int64_t>(low);
  range.high = static_cast<std::int64_t>(high);
  return range;
}

// a + sign · b
ValueRange sum(const ValueRange& a, const ValueRange& b, int sign, const DimensionCounts& counts) {
  if (a.linear && b.linear) {
    std::array<Wide, kRangeDimensions> steps{};
    const std::uint32_t both = a.dimensions | b.dimensions;
    for (std::size_t d = 0; both >> d != 0; ++d) steps[d] = Wide{a.steps[d]} + Wide{sign} * b.steps[d];
    return linear_range(Wide{a.base} + Wide{sign} * b.base, steps, counts);
  }
  const Wide low = Wide{a.low} + (sign > 0 ? Wide{b.low} : -Wide{b.high});
  const Wide high = Wide{a.high} + (sign > 0 ? Wide{b.high} : -Wide{b.low});
  if (!fits(low) || !fits(high)) return ValueRange::unknown();
  return between(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high),
                 a.dimensions | b.dimensions);
}

ValueRange product(const ValueRange& a, const ValueRange& b, const DimensionCounts& counts) {
  if (b.is_single() && a.linear) {
    std::array<Wide, kRangeDimensions> steps{};
    for (std::size_t d = 0; a.dimensions >> d != 0; ++d) steps[d] = Wide{a.steps[d]} * b.low;
    return linear_range(Wide{a.base} * b.low, steps, counts);
  }
  if (a.is_single() && b.linear) return product(b, a, counts);
  const std::array corners = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                              Wide{a.high} * b.high};
  const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
  if (!fits(*low) || !fits(*high)) return ValueRange::unknown();
  return between(static_cast<std::int64_t>(*low), static_cast<std::int64_t>(*high),
                 a.dimensions | b.dimensions);
}

bool steps_are_multiples_of(const ValueRange& a, std::int64_t of) {
  if (!a.linear) return false;
  for (std::size_t d = 0; a.dimensions >> d != 0; ++d)
    if (a.steps[d] % of != 0) return false;
  return true;
}

std::int64_t floor_of(std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  arithmetic::divide(Operator::divide, a, b, value);
  return value;
}

// a / b or a % b, rounded down, b > 0
ValueRange division(Operator op, const ValueRange& a, const ValueRange& b, const DimensionCounts& counts) {
  if (!b.is_single()) {
    if (b.low <= 0 || a.low < 0) return ValueRange::unknown();
    if (op == Operator::modulo) return between(0, std::min(a.high, b.high - 1), a.dimensions | b.dimensions);
    return between(floor_of(a.low, b.high), floor_of(a.high, b.low), a.dimensions | b.dimensions);
  }
  const std::int64_t by = b.low;
  if (by <= 0) {
    std::int64_t value = 0;
    if (!a.is_single() || arithmetic::divide(op, a.low, by, value) != nullptr) return ValueRange::unknown();
    return ValueRange(value);
  }
  if (op == Operator::ceil_div) {
    const ValueRange up = sum(a, ValueRange(by - 1), 1, counts);
    return up.known ? division(Operator::divide, up, b, counts) : up;
  }
  const std::int64_t low = floor_of(a.low, by), high = floor_of(a.high, by);
  const bool multiples = steps_are_multiples_of(a, by);
  if (op == Operator::divide) {
    if (low == high) return ValueRange(low);
    if (!multiples) return between(low, high, a.dimensions);
    std::array<Wide, kRangeDimensions> steps{};
    for (std::size_t d = 0; a.dimensions >> d != 0; ++d) steps[d] = a.steps[d] / by;
    return linear_range(floor_of(a.base, by), steps, counts);
  }
  if (multiples) return ValueRange(a.base - floor_of(a.base, by) * by);
  if (low == high) return sum(a, ValueRange(low * by), -1, counts);
  return between(0, by - 1, a.dimensions);
}

// 1, 0, or a range of both.
ValueRange truth(bool surely, bool never, std::uint32_t dimensions) {
  return surely ? ValueRange(1) : never ? ValueRange(0) : between(0, 1, dimensions);
}

ValueRange comparison(Operator op, const ValueRange& a, const ValueRange& b, const DimensionCounts& counts) {
  ValueRange less = sum(a, b, -1, counts);  // what is linear in both may cancel
  if (!less.known) {
    less = between(a.low < b.high    ? -1
                   : a.low == b.high ? 0
                                     : 1,
                   a.high < b.low    ? -1
                   : a.high == b.low ? 0
                                     : 1,
                   a.dimensions | b.dimensions);
  }
  const std::uint32_t dimensions = less.dimensions;
  switch (op) {
    case Operator::less:
      return truth(less.high < 0, less.low >= 0, dimensions);
    case Operator::less_equal:
      return truth(less.high <= 0, less.low > 0, dimensions);
    case Operator::greater:
      return truth(less.low > 0, less.high <= 0, dimensions);
    case Operator::greater_equal:
      return truth(less.low >= 0, less.high < 0, dimensions);
    default: {
      // A linear difference that steps over 0 is never 0.
      std::uint32_t varying = 0;
      std::int64_t step = 0;
      for (std::size_t d = 0; less.linear && less.dimensions >> d != 0; ++d)
        if (less.steps[d] != 0) ++varying, step = less.steps[d];
      const bool misses =
          less.low > 0 || less.high < 0 ||
          (varying == 1 && step != std::numeric_limits<std::int64_t>::min() && less.base % step != 0);
      const bool same = less.low == 0 && less.high == 0;
      return op == Operator::equal ? truth(same, misses, dimensions) : truth(misses, same, dimensions);
    }
  }
}

ValueRange least_or_most(Operator op, const ValueRange& a, const ValueRange& b,
                         const DimensionCounts& counts) {
  const ValueRange first = comparison(Operator::less_equal, a, b, counts);
  if (first.is_single()) return (first.low != 0) == (op == Operator::minimum) ? a : b;
  const bool least = op == Operator::minimum;
  return between(least ? std::min(a.low, b.low) : std::max(a.low, b.low),
                 least ? std::min(a.high, b.high) : std::max(a.high, b.high), a.dimensions | b.dimensions);
}

ValueRange power(const ValueRange& a, const ValueRange& b) {
  std::int64_t low = 0, high = 0;
  if (a.low < 0 || b.low < 0 || arithmetic::power(a.low, b.low, low) != nullptr ||
      arithmetic::power(a.high, b.high, high) != nullptr)
    return ValueRange::unknown();
  if (a.is_single() && b.is_single()) return ValueRange(low);
  return between(std::min(low, a.low == 0 ? std::int64_t{0} : low), std::max(high, std::int64_t{1}),
                 a.dimensions | b.dimensions);
}

}  // namespace

ValueRange ValueRange::progression(std::size_t dimension, std::int64_t first, std::int64_t step,
                                   std::int64_t count) {
  if (count <= 1) return ValueRange(first);
  std::array<Wide, kRangeDimensions> steps{};
  steps[dimension] = step;
  DimensionCounts counts;
  counts.fill(1);
  counts[dimension] = count;
  return linear_range(first, steps, counts);
}

RangeExpression::RangeExpression(const Expression& expression,
                                 const std::function<int(const std::string&)>& slot_of) {
  compile(expression, slot_of);
}

std::uint32_t RangeExpression::compile(const Expression& expression,
                                       const std::function<int(const std::string&)>& slot_of) {
  Node node;
  node.op = expression.op();
  if (arithmetic::too_large(expression)) {
    node.op = Operator::decimal;
  } else if (node.op == Operator::integer) {
    node.number = expression.integer_value();
  } else if (node.op == Operator::name) {
    node.number = slot_of(expression.name_text());
  } else {
    for (const Expression& operand : expression.operands())
      node.operands.push_back(compile(operand, slot_of));
  }
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

bool RangeExpression::uses(int slot) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [slot](const Node& node) { return node.op == Operator::name && node.number == slot; });
}

ValueRange RangeExpression::evaluate(std::uint32_t index, const ValueRange* slots,
                                     const DimensionCounts& counts) const {
  const Node& node = nodes_[index];
  const auto operand = [&](std::size_t i) { return evaluate(node.operands[i], slots, counts); };
  switch (node.op) {
    case Operator::integer:
      return ValueRange(node.number);
    case Operator::decimal:
      return ValueRange::unknown();
    case Operator::name:
      return node.number < 0 ? ValueRange::unknown() : slots[node.number];
    case Operator::logical_and:
    case Operator::logical_or: {
      const bool both = node.op == Operator::logical_and;
      const ValueRange a = operand(0);
      const auto decides = [both](const ValueRange& v) {
        return v.known && (both ? v.low == 0 && v.high == 0 : v.low > 0 || v.high < 0);
      };
      if (decides(a)) return ValueRange(both ? 0 : 1);
      const ValueRange b = operand(1);
      if (decides(b)) return ValueRange(both ? 0 : 1);
      if (!a.known || !b.known) return ValueRange::unknown();
      const bool a_decided = a.is_single() || a.low > 0 || a.high < 0;
      const bool b_decided = b.is_single() || b.low > 0 || b.high < 0;
      if (a_decided && b_decided) return ValueRange(both ? 1 : 0);
      return between(0, 1, (a_decided ? 0 : a.dimensions) | (b_decided ? 0 : b.dimensions));
    }
    case Operator::conditional: {
      const ValueRange condition = operand(0);
      if (!condition.known) return condition;
      if (condition.low > 0 || condition.high < 0) return operand(1);
      if (condition.is_single()) return operand(2);
      const ValueRange a = operand(1), b = operand(2);
      if (!a.known || !b.known) return ValueRange::unknown();
      return between(std::min(a.low, b.low), std::max(a.high, b.high),
                     condition.dimensions | a.dimensions | b.dimensions);
    }
    default:
      break;
  }
  ValueRange a = operand(0);
  if (!a.known) return a;
  if (node.op == Operator::negate) return sum(ValueRange(0), a, -1, counts);
  if (node.op == Operator::logical_not) return comparison(Operator::equal, a, ValueRange(0), counts);
  if (node.op == Operator::log2) {
    if (a.low < 1) return ValueRange::unknown();
    return between(arithmetic::log2(a.low), arithmetic::log2(a.high), a.dimensions);
  }
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    const ValueRange b = operand(i);
    if (!b.known) return b;
    switch (node.op) {
      case Operator::add:
        a = sum(a, b, 1, counts);
        break;
      case Operator::subtract:
        a = sum(a, b, -1, counts);
        break;
      case Operator::multiply:
        a = product(a, b, counts);
        break;
      case Operator::divide:
      case Operator::modulo:
      case Operator::ceil_div:
        a = division(node.op, a, b, counts);
        break;
      case Operator::power:
        a = power(a, b);
        break;
      case Operator::minimum:
      case Operator::maximum:
        a = least_or_most(node.op, a, b, counts);
        break;
      default:
        a = comparison(node.op, a, b, counts);
        break;
    }
    if (!a.known) return a;
  }
  return a;
}

}  // namespace warptime
