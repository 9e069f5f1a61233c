#include "simulator/program/expression/range_expression.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>

#include "simulator/program/expression/arithmetic.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;
using arithmetic::floor_divide;
using arithmetic::Wide;

constexpr Wide kLowest = std::numeric_limits<std::int64_t>::min(),
               kHighest = std::numeric_limits<std::int64_t>::max();

bool fits(Wide value) {
  return value >= kLowest && value <= kHighest;
}

// Rounded down; by > 0. A processor divides 64 bits several times as fast as 128.
Wide floor_by(Wide a, std::int64_t by) {
  if (!fits(a)) return floor_divide(a, by);
  const auto dividend = static_cast<std::int64_t>(a);
  if (std::has_single_bit(static_cast<std::uint64_t>(by)))
    return dividend >> std::countr_zero(static_cast<std::uint64_t>(by));
  if (((static_cast<std::uint64_t>(dividend) | static_cast<std::uint64_t>(by)) >> 32) == 0)
    return static_cast<std::uint32_t>(dividend) / static_cast<std::uint32_t>(by);
  return dividend / by - (dividend % by < 0 ? 1 : 0);
}

bool is_comparison(Operator op) {
  return op == Operator::less || op == Operator::less_equal || op == Operator::greater ||
         op == Operator::greater_equal || op == Operator::equal || op == Operator::not_equal;
}

bool is_logical(Operator op) {
  return op == Operator::logical_and || op == Operator::logical_or || op == Operator::logical_not;
}

template <typename Function>
void for_each_dimension(DimensionSet set, const Function& function) {
  for (; set != 0; set &= set - 1) function(static_cast<std::size_t>(std::countr_zero(set)));
}

// An affine form while it is made: unknown if it does not fit.
class Form {
 public:
  Form(Wide base, Wide rest_low, Wide rest_high, DimensionSet rest_dimensions)
      : base_(base), rest_low_(rest_low), rest_high_(rest_high), rest_dimensions_(rest_dimensions) {}

  void step(std::size_t dimension, Wide step, const DimensionCounts& counts) {
    if (step == 0 || counts[dimension] <= 1) return;
    const Wide reach = step * (counts[dimension] - 1);
    (reach < 0 ? low_ : high_) += reach;
    fits_ = fits_ && fits(step);
    range_.set_step(dimension, static_cast<std::int64_t>(step));
  }

  ValueRange finish() {
    if (rest_low_ == rest_high_) {
      base_ += rest_low_;
      rest_low_ = rest_high_ = 0;
      rest_dimensions_ = 0;
    }
    low_ += base_ + rest_low_;
    high_ += base_ + rest_high_;
    if (!fits_ || !fits(low_) || !fits(high_) || !fits(base_) || !fits(rest_low_) || !fits(rest_high_))
      return ValueRange::unknown();
    range_.rest_dimensions = rest_dimensions_;
    range_.base = static_cast<std::int64_t>(base_);
    range_.rest_low = static_cast<std::int64_t>(rest_low_);
    range_.rest_high = static_cast<std::int64_t>(rest_high_);
    range_.low = static_cast<std::int64_t>(low_);
    range_.high = static_cast<std::int64_t>(high_);
    return range_;
  }

 private:
  ValueRange range_;
  Wide base_, rest_low_, rest_high_, low_ = 0, high_ = 0;
  DimensionSet rest_dimensions_;
  bool fits_ = true;
};

ValueRange between(Wide low, Wide high, DimensionSet dimensions) {
  return Form(0, low, high, dimensions).finish();
}

// -range; false: it does not fit.
bool negate(const ValueRange& range, ValueRange& negated) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  bool fit = range.base != lowest && range.rest_low != lowest && range.low != lowest;
  negated.rest_dimensions = range.rest_dimensions;
  for_each_dimension(range.stepping, [&](std::size_t d) {
    fit = fit && range.step(d) != lowest;
    if (fit) negated.set_step(d, -range.step(d));
  });
  if (!fit || range.rest_high == lowest || range.high == lowest) return false;
  negated.base = -range.base;
  negated.rest_low = -range.rest_high;
  negated.rest_high = -range.rest_low;
  negated.low = -range.high;
  negated.high = -range.low;
  return true;
}

// a + b where no dimension steps both.
ValueRange sum_of_disjoint(const ValueRange& a, const ValueRange& b) {
  ValueRange result = a;
  result.rest_dimensions |= b.rest_dimensions;
  for_each_dimension(b.stepping, [&](std::size_t d) { result.set_step(d, b.step(d)); });
  const bool wraps = __builtin_add_overflow(a.base, b.base, &result.base) |
                     __builtin_add_overflow(a.rest_low, b.rest_low, &result.rest_low) |
                     __builtin_add_overflow(a.rest_high, b.rest_high, &result.rest_high) |
                     __builtin_add_overflow(a.low, b.low, &result.low) |
                     __builtin_add_overflow(a.high, b.high, &result.high);
  return wraps ? ValueRange::unknown() : result;
}

// a + sign · b
ValueRange sum(const ValueRange& a, const ValueRange& b, int sign, const DimensionCounts& counts) {
  if (a.is_single() && b.is_single()) {
    std::int64_t value = 0;
    const bool wraps = sign > 0 ? __builtin_add_overflow(a.low, b.low, &value)
                                : __builtin_sub_overflow(a.low, b.low, &value);
    return wraps ? ValueRange::unknown() : ValueRange(value);
  }
  if ((a.stepping & b.stepping) == 0) {
    if (sign > 0) return sum_of_disjoint(a, b);
    if (ValueRange negated; negate(b, negated)) return sum_of_disjoint(a, negated);
  }
  const Wide of_b = sign;
  Form form(Wide{a.base} + of_b * b.base, Wide{a.rest_low} + (sign > 0 ? b.rest_low : -Wide{b.rest_high}),
            Wide{a.rest_high} + (sign > 0 ? b.rest_high : -Wide{b.rest_low}),
            a.rest_dimensions | b.rest_dimensions);
  for_each_dimension(a.stepping | b.stepping,
                     [&](std::size_t d) { form.step(d, Wide{a.step(d)} + of_b * b.step(d), counts); });
  return form.finish();
}

// base + rest + the steps of `a` in `dimensions`, by divisor.
[[gnu::always_inline]] inline ValueRange divided(Wide base, Wide rest_low, Wide rest_high,
                                                 const ValueRange& a, DimensionSet dimensions,
                                                 std::int64_t divisor, const DimensionCounts& counts,
                                                 DimensionSet rest_dimensions) {
  Form form(base, rest_low, rest_high, rest_dimensions);
  for_each_dimension(a.stepping & dimensions, [&](std::size_t d) {
    form.step(d, divisor == 1 ? a.step(d) : a.step(d) / divisor, counts);
  });
  return form.finish();
}

// by: not 0
ValueRange times(const ValueRange& a, std::int64_t by) {
  ValueRange result;
  const bool up = by > 0;
  bool wraps = __builtin_mul_overflow(a.base, by, &result.base) |
               __builtin_mul_overflow(up ? a.rest_low : a.rest_high, by, &result.rest_low) |
               __builtin_mul_overflow(up ? a.rest_high : a.rest_low, by, &result.rest_high) |
               __builtin_mul_overflow(up ? a.low : a.high, by, &result.low) |
               __builtin_mul_overflow(up ? a.high : a.low, by, &result.high);
  for_each_dimension(a.stepping, [&](std::size_t d) {
    std::int64_t step = 0;
    wraps |= __builtin_mul_overflow(a.step(d), by, &step);
    result.set_step(d, step);
  });
  result.rest_dimensions = a.rest_dimensions;
  return wraps ? ValueRange::unknown() : result;
}

ValueRange product(const ValueRange& a, const ValueRange& b) {
  if (b.is_single()) {
    if (a.is_single()) {
      std::int64_t value = 0;
      return __builtin_mul_overflow(a.low, b.low, &value) ? ValueRange::unknown() : ValueRange(value);
    }
    return b.low == 0 ? ValueRange(0) : times(a, b.low);
  }
  if (a.is_single()) return product(b, a);
  const std::array corners = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                              Wide{a.high} * b.high};
  const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
  return between(*low, *high, a.dimensions() | b.dimensions());
}

ValueRange power(const ValueRange& a, const ValueRange& b) {
  std::int64_t low = 0, high = 0;
  if (a.low < 0 || b.low < 0 || arithmetic::power(a.low, b.low, low) != nullptr ||
      arithmetic::power(a.high, b.high, high) != nullptr)
    return ValueRange::unknown();
  if (a.is_single() && b.is_single()) return ValueRange(low);
  return between(std::min(low, a.low == 0 ? std::int64_t{0} : low), std::max(high, std::int64_t{1}),
                 a.dimensions() | b.dimensions());
}

using LaneNumbers = RangeExpression::LaneNumbers;

// a = a op b for each thread. Returns for which of them it is known. uniform: b is the same for all.
std::uint32_t apply_to_lanes(Operator op, LaneNumbers& a, const LaneNumbers& b, bool uniform) {
  constexpr std::uint32_t all = ~std::uint32_t{0};
  constexpr std::size_t lanes = std::tuple_size_v<LaneNumbers>;
  const auto each = [&](const auto& of) {
    for (std::size_t lane = 0; lane < lanes; ++lane) a[lane] = of(a[lane], b[lane]);
    return all;
  };
  // The sign of `wraps` says whether a sum does.
  const auto sums = [&](const auto& of, const auto& wraps) {
    std::int64_t any = 0;
    LaneNumbers wrapped;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto sum = static_cast<std::int64_t>(
          of(static_cast<std::uint64_t>(a[lane]), static_cast<std::uint64_t>(b[lane])));
      wrapped[lane] = wraps(a[lane], b[lane], sum);
      any |= wrapped[lane];
      a[lane] = sum;
    }
    std::uint32_t known = all;
    if (any < 0)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if (wrapped[lane] < 0) known &= ~(std::uint32_t{1} << lane);
    return known;
  };
  switch (op) {
    case Operator::add:
      return sums([](std::uint64_t x, std::uint64_t y) { return x + y; },
                  [](std::int64_t x, std::int64_t y, std::int64_t sum) { return (x ^ sum) & (y ^ sum); });
    case Operator::subtract:
      return sums([](std::uint64_t x, std::uint64_t y) { return x - y; },
                  [](std::int64_t x, std::int64_t y, std::int64_t sum) { return (x ^ y) & (x ^ sum); });
    case Operator::less:
      return each([](std::int64_t x, std::int64_t y) { return std::int64_t{x < y}; });
    case Operator::less_equal:
      return each([](std::int64_t x, std::int64_t y) { return std::int64_t{x <= y}; });
    case Operator::greater:
      return each([](std::int64_t x, std::int64_t y) { return std::int64_t{x > y}; });
    case Operator::greater_equal:
      return each([](std::int64_t x, std::int64_t y) { return std::int64_t{x >= y}; });
    case Operator::equal:
      return each([](std::int64_t x, std::int64_t y) { return std::int64_t{x == y}; });
    case Operator::not_equal:
      return each([](std::int64_t x, std::int64_t y) { return std::int64_t{x != y}; });
    case Operator::minimum:
      return each([](std::int64_t x, std::int64_t y) { return std::min(x, y); });
    case Operator::maximum:
      return each([](std::int64_t x, std::int64_t y) { return std::max(x, y); });
    case Operator::divide:
    case Operator::modulo:
      if (uniform && b[0] > 0 && std::has_single_bit(static_cast<std::uint64_t>(b[0]))) {
        const int shift = std::countr_zero(static_cast<std::uint64_t>(b[0]));
        const std::int64_t mask = b[0] - 1;
        for (std::int64_t& value : a) value = op == Operator::modulo ? value & mask : value >> shift;
        return all;
      }
      break;
    default:
      break;
  }
  std::uint32_t known = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    known |= static_cast<std::uint32_t>(arithmetic::binary(op, a[lane], b[lane], a[lane]) == nullptr) << lane;
  return known;
}

}  // namespace

ValueRange ValueRange::progression(std::size_t dimension, std::int64_t first, std::int64_t step,
                                   std::int64_t count) {
  ValueRange range(first);
  if (step == 0 || count <= 1) return range;
  std::int64_t reach = 0;
  if (__builtin_mul_overflow(step, count - 1, &reach) ||
      __builtin_add_overflow(first, reach, reach < 0 ? &range.low : &range.high))
    return unknown();
  range.set_step(dimension, step);
  return range;
}

bool ValueRange::has_steps_of(const ValueRange& other, DimensionSet of) const {
  if (((stepping ^ other.stepping) & of) != 0) return false;
  bool same = true;
  for_each_dimension(stepping & of, [&](std::size_t d) { same = same && steps_[d] == other.steps_[d]; });
  return same;
}

ValueRange add(const ValueRange& a, const ValueRange& b, const DimensionCounts& counts) {
  return a.known && b.known ? sum(a, b, 1, counts) : ValueRange::unknown();
}

// Evaluates the nodes of an expression.
class RangeExpression::Evaluation {
 public:
  Evaluation(const std::vector<Node>& nodes, const ValueRange* slots, const DimensionCounts& counts,
             RangeObstacles* obstacles, Kept* kept)
      : nodes_(nodes), slots_(slots), counts_(counts), obstacles_(obstacles), kept_(kept) {}

  ValueRange evaluate(std::uint32_t index) {
    const Node& node = nodes_[index];
    if (kept_ != nullptr && kept_at(node) >= 0) return kept(node);
    return evaluate(node);
  }

 private:
  ValueRange evaluate(const Node& node) {
    switch (node.op) {
      case Operator::integer:
        return ValueRange(node.number);
      case Operator::decimal:
        return ValueRange::unknown();
      case Operator::name:
        return node.number < 0 ? ValueRange::unknown() : slots_[node.number];
      case Operator::logical_and:
      case Operator::logical_or:
        return logical(node);
      case Operator::conditional:
        return conditional(node);
      default:
        return arithmetic(node);
    }
  }

  int kept_at(const Node& node) const { return obstacles_ != nullptr ? node.kept : node.kept_without; }

  const ValueRange& kept(const Node& node) {
    const auto at = static_cast<std::size_t>(kept_at(node));
    if (kept_->made_[at] == 0) {
      kept_->values_[at] = evaluate(node);
      kept_->made_[at] = 1;
    }
    return kept_->values_[at];
  }

  ValueRange logical(const Node& node) {
    const bool both = node.op == Operator::logical_and;
    const auto decides = [both](const ValueRange& v) {
      return v.known && (both ? v.low == 0 && v.high == 0 : v.low > 0 || v.high < 0);
    };
    const ValueRange a = evaluate(node.operands[0]);
    if (decides(a)) return ValueRange(both ? 0 : 1);
    const ValueRange b = evaluate(node.operands[1]);
    if (decides(b)) return ValueRange(both ? 0 : 1);
    if (!a.known || !b.known) return ValueRange::unknown();
    if (a.is_decided() && b.is_decided()) return ValueRange(both ? 1 : 0);
    return between(0, 1, (a.is_decided() ? 0 : a.dimensions()) | (b.is_decided() ? 0 : b.dimensions()));
  }

  ValueRange conditional(const Node& node) {
    const ValueRange condition = evaluate(node.operands[0]);
    if (!condition.known) return condition;
    if (condition.is_decided()) return evaluate(node.operands[condition.holds() ? 1 : 2]);
    const ValueRange a = evaluate(node.operands[1]), b = evaluate(node.operands[2]);
    if (!a.known || !b.known) return ValueRange::unknown();
    return between(std::min(a.low, b.low), std::max(a.high, b.high),
                   condition.dimensions() | a.dimensions() | b.dimensions());
  }

  // Room for a value that is made where it stays.
  union Place {
    Place() {}
    ValueRange range;
  };

  // That of a name and of what is kept where it stands, others in `place`.
  const ValueRange& operand(std::uint32_t index, Place& place) {
    const Node& node = nodes_[index];
    if (node.op == Operator::name && node.number >= 0) return slots_[node.number];
    if (kept_ == nullptr || kept_at(node) < 0) return *::new (&place.range) ValueRange(evaluate(node));
    return kept(node);
  }

  ValueRange arithmetic(const Node& node) {
    if (node.operands.size() > 1) return of_several(node);
    const ValueRange a = evaluate(node.operands[0]);
    if (!a.known) return a;
    if (node.op == Operator::negate) return sum(ValueRange(0), a, -1, counts_);
    if (node.op == Operator::logical_not) return negation(node, a);
    if (node.op == Operator::log2) {
      if (a.low < 1) return ValueRange::unknown();
      return between(arithmetic::log2(a.low), arithmetic::log2(a.high), a.dimensions());
    }
    return a;
  }

  // ((first op second) op third) …
  ValueRange of_several(const Node& node) {
    Place first, second, right;
    const ValueRange* a = &operand(node.operands[0], first);
    Place* next = &second;
    const std::size_t last = node.operands.size() - 1;
    for (std::size_t i = 1; a->known; ++i) {
      const ValueRange& b = operand(node.operands[i], right);
      if (!b.known) return b;
      if (i == last) return apply(node.op, *a, b);
      a = ::new (&next->range) ValueRange(apply(node.op, *a, b));
      next = next == &second ? &first : &second;
    }
    return *a;
  }

  ValueRange negation(const Node& node, const ValueRange& a) {
    if (a.is_decided()) return ValueRange(a.holds() ? 0 : 1);
    const Operator inner = nodes_[node.operands[0]].op;
    if (is_comparison(inner) || is_logical(inner)) return between(0, 1, a.dimensions());  // it has said why
    return comparison(Operator::equal, a, ValueRange(0));
  }

  ValueRange apply(Operator op, const ValueRange& a, const ValueRange& b) {
    switch (op) {
      case Operator::add:
        return sum(a, b, 1, counts_);
      case Operator::subtract:
        return sum(a, b, -1, counts_);
      case Operator::multiply:
        return product(a, b);
      case Operator::divide:
      case Operator::modulo:
      case Operator::ceil_div:
        return division(op, a, b);
      case Operator::power:
        return power(a, b);
      case Operator::minimum:
      case Operator::maximum:
        return least_or_most(op, a, b);
      case Operator::bit_and:
      case Operator::bit_or:
      case Operator::bit_xor:
        return of_bits(op, a, b);
      default:
        return comparison(op, a, b);
    }
  }

  // a / b or a % b, rounded down, b > 0
  ValueRange division(Operator op, const ValueRange& a, const ValueRange& b) {
    const DimensionSet both = a.dimensions() | b.dimensions();
    if (!b.is_single()) {
      if (b.low <= 0 || a.low < 0) return ValueRange::unknown();
      if (op == Operator::modulo) return between(0, std::min(a.high, b.high - 1), both);
      return between(floor_divide(a.low, b.high), floor_divide(a.high, b.low), both);
    }
    const std::int64_t by = b.low;
    if (by <= 0) {
      std::int64_t value = 0;
      if (!a.is_single() || arithmetic::divide(op, a.low, by, value) != nullptr) return ValueRange::unknown();
      return ValueRange(value);
    }
    if (op == Operator::ceil_div) {
      const ValueRange up = sum(a, ValueRange(by - 1), 1, counts_);
      return up.known ? division(Operator::divide, up, b) : up;
    }
    if (a.is_single()) {
      std::int64_t value = 0;
      return arithmetic::divide(op, a.low, by, value) == nullptr ? ValueRange(value) : ValueRange::unknown();
    }
    // a = by · multiples + others
    const Wide base = floor_by(a.base, by);
    Wide low = a.base - base * by + a.rest_low;
    Wide high = low - a.rest_low + a.rest_high;
    DimensionSet others = 0;
    for_each_dimension(a.stepping, [&](std::size_t d) {
      if (a.step(d) % by == 0) return;
      others |= DimensionSet{1} << d;
      const Wide reach = Wide{a.step(d)} * (counts_[d] - 1);
      (reach < 0 ? low : high) += reach;
    });
    const Wide lowest = floor_by(low, by), highest = floor_by(high, by);
    if (lowest != highest && obstacles_ != nullptr) obstacles_->divisions.push_back({a, by});
    if (op == Operator::divide)
      return divided(base, lowest, highest, a, ~others, by, counts_, others | a.rest_dimensions);
    if (lowest != highest) return between(0, by - 1, others | a.rest_dimensions);
    return divided(a.base - (base + lowest) * by, a.rest_low, a.rest_high, a, others, 1, counts_,
                   a.rest_dimensions);
  }

  // Whether no two numbers have a bit in common: `low` is below 2^k, of which all of `high` are multiples.
  static bool disjoint(const ValueRange& low, const ValueRange& high) {
    if (low.low < 0 || !high.is_linear() || high.low < 0) return false;
    auto bits = static_cast<std::uint64_t>(high.base);
    for_each_dimension(high.stepping,
                       [&](std::size_t d) { bits |= static_cast<std::uint64_t>(high.step(d)); });
    return bits == 0 || low.high < std::int64_t{1} << std::min(62, std::countr_zero(bits));
  }

  ValueRange of_bits(Operator op, const ValueRange& a, const ValueRange& b) {
    if (a.is_single() && b.is_single()) {
      std::int64_t value = 0;
      arithmetic::binary(op, a.low, b.low, value);
      return ValueRange(value);
    }
    if (disjoint(a, b) || disjoint(b, a))
      return op == Operator::bit_and ? ValueRange(0) : sum(a, b, 1, counts_);
    const DimensionSet both = a.dimensions() | b.dimensions();
    // As many bits as the largest of them has, and its sign.
    const auto magnitude = [](std::int64_t n) { return static_cast<std::uint64_t>(n < 0 ? ~n : n); };
    const Wide all = (Wide{1} << std::bit_width(magnitude(a.low) | magnitude(a.high) | magnitude(b.low) |
                                                magnitude(b.high))) -
                     1;
    if (a.low < 0 || b.low < 0) return between(-all - 1, all, both);
    return between(op == Operator::bit_or ? std::max(a.low, b.low) : 0,
                   op == Operator::bit_and ? std::min<Wide>(a.high, b.high) : all, both);
  }

  // 1, 0, or a range of both.
  ValueRange truth(bool surely, bool never, const ValueRange& difference) {
    if (surely || never) return ValueRange(surely ? 1 : 0);
    if (obstacles_ != nullptr) obstacles_->differences.push_back(difference);
    return between(0, 1, difference.dimensions());
  }

  // a - b; where it does not fit, its signs.
  ValueRange difference(const ValueRange& a, const ValueRange& b) const {
    ValueRange less = sum(a, b, -1, counts_);  // what is linear in both cancels
    if (less.known) return less;
    return between(a.low < b.high    ? -1
                   : a.low == b.high ? 0
                                     : 1,
                   a.high < b.low    ? -1
                   : a.high == b.low ? 0
                                     : 1,
                   a.dimensions() | b.dimensions());
  }

  ValueRange comparison(Operator op, const ValueRange& a, const ValueRange& b) {
    if (a.is_single() && b.is_single()) {
      std::int64_t value = 0;
      arithmetic::binary(op, a.low, b.low, value);
      return ValueRange(value);
    }
    const ValueRange less = difference(a, b);
    switch (op) {
      case Operator::less:
        return truth(less.high < 0, less.low >= 0, less);
      case Operator::less_equal:
        return truth(less.high <= 0, less.low > 0, less);
      case Operator::greater:
        return truth(less.low > 0, less.high <= 0, less);
      case Operator::greater_equal:
        return truth(less.low >= 0, less.high < 0, less);
      default: {
        // A linear difference that steps over 0 is never 0.
        std::uint64_t steps = 0;
        for_each_dimension(less.stepping, [&](std::size_t d) {
          const std::int64_t step = less.step(d);
          steps = std::gcd(steps,
                           step < 0 ? -static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step));
        });
        const std::uint64_t base =
            less.base < 0 ? -static_cast<std::uint64_t>(less.base) : static_cast<std::uint64_t>(less.base);
        const bool misses =
            less.low > 0 || less.high < 0 || (less.is_linear() && steps != 0 && base % steps != 0);
        const bool same = less.low == 0 && less.high == 0;
        return op == Operator::equal ? truth(same, misses, less) : truth(misses, same, less);
      }
    }
  }

  ValueRange least_or_most(Operator op, const ValueRange& a, const ValueRange& b) {
    const bool least = op == Operator::minimum;
    const ValueRange less = difference(a, b);
    if (less.high <= 0) return least ? a : b;
    if (less.low >= 0) return least ? b : a;  // where they are the same, it is either
    if (obstacles_ != nullptr) obstacles_->differences.push_back(less);
    return between(least ? std::min(a.low, b.low) : std::max(a.low, b.low),
                   least ? std::min(a.high, b.high) : std::max(a.high, b.high),
                   a.dimensions() | b.dimensions());
  }

  const std::vector<Node>& nodes_;
  const ValueRange* slots_;
  const DimensionCounts& counts_;
  RangeObstacles* obstacles_;
  Kept* kept_;
};

RangeExpression::RangeExpression(const Expression& expression,
                                 const std::function<int(const std::string&)>& slot_of) {
  compile(expression, slot_of);
}

ValueRange RangeExpression::evaluate(const ValueRange* slots, const DimensionCounts& counts,
                                     RangeObstacles* obstacles, Kept* kept) const {
  if (kept != nullptr && kept->made_.size() != kept_) {
    kept->values_.resize(kept_);
    kept->made_.assign(kept_, 0);
  }
  return Evaluation(nodes_, slots, counts, obstacles, kept)
      .evaluate(static_cast<std::uint32_t>(nodes_.size() - 1));
}

void RangeExpression::keep_parts(std::span<const int> changing) {
  // Only what has no obstacles can be kept: they would be named only once.
  std::vector<char> keeps(nodes_.size(), 0);
  kept_ = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {  // operands come first
    Node& node = nodes_[i];
    const bool plain = node.op == Operator::add || node.op == Operator::subtract ||
                       node.op == Operator::multiply || node.op == Operator::negate ||
                       node.op == Operator::integer;
    const bool same = node.op == Operator::name &&
                      std::find(changing.begin(), changing.end(), node.number) == changing.end();
    keeps[i] = same || (plain && std::all_of(node.operands.begin(), node.operands.end(),
                                             [&](std::uint32_t one) { return keeps[one] != 0; }));
    has_power_ = has_power_ || node.op == Operator::power;
    if (node.op == Operator::name && node.number >= 0) {
      std::vector<int>& slots = same ? others_ : changing_;
      const int slot = static_cast<int>(node.number);
      if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
    }
    node.changes = node.op == Operator::name
                       ? !same
                       : std::any_of(node.operands.begin(), node.operands.end(),
                                     [this](std::uint32_t one) { return nodes_[one].changes; });
    for (const std::uint32_t one : node.operands) {
      Node& operand = nodes_[one];
      if (operand.operands.empty()) continue;
      if (keeps[i] == 0 && keeps[one] != 0) operand.kept = static_cast<int>(kept_++);
      if (node.changes && !operand.changes) operand.kept_without = static_cast<int>(kept_++);
    }
  }
}

std::uint32_t RangeExpression::lane_values(std::uint32_t index, const ValueRange* slots,
                                           std::span<const LaneSlot> own, LaneNumbers& values) const {
  constexpr std::uint32_t all = ~std::uint32_t{0};
  constexpr std::size_t lanes = std::tuple_size_v<LaneNumbers>;
  const Node& node = nodes_[index];
  if (!node.changes) {
    std::int64_t value = 0;
    if (!value_of(index, slots, value)) return 0;
    values.fill(value);
    return all;
  }
  const auto operand = [&](std::size_t i, LaneNumbers& of) {
    return lane_values(node.operands[i], slots, own, of);
  };
  const auto holding = [](const LaneNumbers& of) {
    std::uint32_t set = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) set |= static_cast<std::uint32_t>(of[lane] != 0) << lane;
    return set;
  };
  if (node.op == Operator::name) {
    for (const LaneSlot& one : own)
      if (one.slot == node.number) values = *one.numbers;
    return all;
  }
  std::uint32_t known = operand(0, values);
  switch (node.op) {
    case Operator::negate:
      if (known == 0) return 0;
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if (__builtin_sub_overflow(std::int64_t{0}, values[lane], &values[lane]))
          known &= ~(std::uint32_t{1} << lane);
      return known;
    case Operator::logical_not:
      if (known == 0) return 0;
      for (std::int64_t& value : values) value = value == 0 ? 1 : 0;
      return known;
    case Operator::log2:
      if (known == 0) return 0;
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if (values[lane] >= 1)
          values[lane] = arithmetic::log2(values[lane]);
        else
          known &= ~(std::uint32_t{1} << lane);
      return known;
    case Operator::logical_and:
    case Operator::logical_or: {  // one of the two may decide it, known or not what the other is
      const bool both = node.op == Operator::logical_and;
      LaneNumbers second;
      const std::uint32_t second_known = operand(1, second);
      const std::uint32_t a = known != 0 ? holding(values) : 0, b = second_known != 0 ? holding(second) : 0;
      const std::uint32_t decided = (known & (both ? ~a : a)) | (second_known & (both ? ~b : b));
      const std::uint32_t holds = both ? ~decided : decided;
      for (std::size_t lane = 0; lane < lanes; ++lane) values[lane] = holds >> lane & 1;
      return decided | (known & second_known);
    }
    case Operator::conditional: {
      if (known == 0) return 0;
      const std::uint32_t takes = holding(values);
      LaneNumbers then{}, otherwise{};
      const std::uint32_t of_then = (takes & known) != 0 ? operand(1, then) : 0,
                          of_otherwise = (~takes & known) != 0 ? operand(2, otherwise) : 0;
      for (std::size_t lane = 0; lane < lanes; ++lane)
        values[lane] = (takes >> lane & 1) != 0 ? then[lane] : otherwise[lane];
      return known & ((takes & of_then) | (~takes & of_otherwise));
    }
    default:
      break;
  }
  for (std::size_t i = 1; i < node.operands.size() && known != 0; ++i) {
    LaneNumbers right;
    known &= operand(i, right);
    if (known == 0) return 0;
    known &= apply_to_lanes(node.op, values, right, !nodes_[node.operands[i]].changes);
  }
  return known;
}

bool RangeExpression::value_of(std::uint32_t index, const ValueRange* slots, std::int64_t& value) const {
  const Node& node = nodes_[index];
  const auto operand = [&](std::size_t i, std::int64_t& of) { return value_of(node.operands[i], slots, of); };
  switch (node.op) {
    case Operator::integer:
      value = node.number;
      return true;
    case Operator::decimal:
      return false;
    case Operator::name:
      if (node.number < 0 || !slots[node.number].is_single()) return false;
      value = slots[node.number].low;
      return true;
    case Operator::logical_and:
    case Operator::logical_or: {
      const bool both = node.op == Operator::logical_and;
      std::int64_t a = 0, b = 0;
      const bool a_known = operand(0, a);
      value = both ? 0 : 1;
      if (a_known && (a != 0) != both) return true;
      const bool b_known = operand(1, b);
      if (b_known && (b != 0) != both) return true;
      value = both ? 1 : 0;
      return a_known && b_known;
    }
    case Operator::conditional:
      return operand(0, value) && operand(value != 0 ? 1 : 2, value);
    default:
      break;
  }
  if (!operand(0, value)) return false;
  if (node.op == Operator::negate) return !__builtin_sub_overflow(std::int64_t{0}, value, &value);
  if (node.op == Operator::logical_not) return value = value == 0 ? 1 : 0, true;
  if (node.op == Operator::log2) return value >= 1 && (value = arithmetic::log2(value), true);
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    std::int64_t right = 0;
    if (!operand(i, right)) return false;
    if (node.op == Operator::minimum || node.op == Operator::maximum)
      value = node.op == Operator::minimum ? std::min(value, right) : std::max(value, right);
    else if (arithmetic::binary(node.op, value, right, value) != nullptr)
      return false;
  }
  return true;
}

std::uint32_t RangeExpression::compile(const Expression& expression,
                                       const std::function<int(const std::string&)>& slot_of) {
  Node node;
  node.op = expression.op();
  if (arithmetic::too_large(expression) || node.op == Operator::first) {
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

bool RangeExpression::combines_comparisons(std::uint32_t index) const {
  const Node& node = nodes_[index];
  if (is_comparison(node.op)) return true;
  return is_logical(node.op) && std::all_of(node.operands.begin(), node.operands.end(),
                                            [this](std::uint32_t one) { return combines_comparisons(one); });
}

bool RangeExpression::uses(int slot) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [slot](const Node& node) { return node.op == Operator::name && node.number == slot; });
}

}  // namespace warptime
