#include "analyzer/symbolic/value_ranges.h"

#include <algorithm>
#include <bit>

#include "analyzer/symbolic/arithmetic.h"

namespace warptime::analysis {
namespace {

using Range = ValueRanges::Range;

constexpr int max_range_depth = 12;

std::int64_t saturated(std::int64_t n) {
  return std::clamp(n, -Range::far, Range::far);
}

std::int64_t saturated_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -Range::far : Range::far;
  return saturated(sum);
}

// An end that is not known stays so, whatever it is multiplied by.
std::int64_t saturated_multiply(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  std::int64_t product = 0;
  const bool unknown = a <= -Range::far || a >= Range::far;
  if (unknown || __builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? Range::far : -Range::far;
  return saturated(product);
}

std::int64_t saturated_divide(std::int64_t a, std::int64_t by) {
  return a <= -Range::far || a >= Range::far ? a : floor_div(a, by);
}

Range special_range(Special which) {
  constexpr std::int64_t most_x = 1024, most_z = 64, most_blocks_x = 0x7fffffff, most_blocks_y = 0xffff;
  switch (which) {
    case Special::tid_x:
    case Special::tid_y:
      return {0, most_x - 1};
    case Special::tid_z:
      return {0, most_z - 1};
    case Special::ntid_x:
    case Special::ntid_y:
      return {1, most_x};
    case Special::ntid_z:
      return {1, most_z};
    case Special::ctaid_x:
      return {0, most_blocks_x - 1};
    case Special::ctaid_y:
    case Special::ctaid_z:
      return {0, most_blocks_y - 1};
    case Special::nctaid_x:
      return {1, most_blocks_x};
    case Special::nctaid_y:
    case Special::nctaid_z:
      return {1, most_blocks_y};
    case Special::laneid:
      return {0, 31};
    case Special::warpid:
      return {0, 63};
    case Special::warpsize:
      return {32, 32};
    default:
      return {};
  }
}

// Of a number from 0 to `most`.
std::uint64_t bits_up_to(std::int64_t most) {
  if (most >= Range::far) return ~std::uint64_t{0} >> 1;
  const auto width = std::bit_width(static_cast<std::uint64_t>(most));
  return (std::uint64_t{1} << width) - 1;
}

// Where a number is not negative and has no end, or may be negative, every bit from its lowest on can be 1.
std::uint64_t bits_in(const Range& range, std::uint64_t lowest_unset) {
  return (range.low < 0 || range.high >= Range::far ? ~std::uint64_t{0} : bits_up_to(range.high)) &
         ~lowest_unset;
}

std::uint64_t below_lowest_bit(std::uint64_t bits) {
  return bits == 0 ? ~std::uint64_t{0} : (bits & (0 - bits)) - 1;
}

// Σ factor · (of / divisor), divisors ascending, each dividing the next.
struct Chain {
  ExprId of = 0;
  struct Link {
    std::int64_t divisor, factor;
  };
  std::vector<Link> links;
};

bool is_quotient(const SymbolicExprs& exprs, ExprId atom) {
  const auto node = exprs[atom];
  return node.op == SymbolicOp::floor_divide && exprs.is_constant(node.b) && exprs[node.b].number > 0;
}

// of - other, where that is a number.
bool constant_difference(const SymbolicExprs& exprs, ExprId of, ExprId other, std::int64_t& difference) {
  if (of == other) return difference = 0, true;
  std::vector<Term> own, theirs;
  const auto number = exprs.linear_terms(of, own), from = exprs.linear_terms(other, theirs);
  const auto same = [](const Term& a, const Term& b) {
    return a.atom == b.atom && a.coefficient == b.coefficient;
  };
  return std::equal(own.begin(), own.end(), theirs.begin(), theirs.end(), same) &&
         !__builtin_sub_overflow(number, from, &difference);
}

// The chain's own value may be a sum whose terms stand among the others: a whole multiple of it is the first
// link.
void take_multiple(const SymbolicExprs& exprs, Chain& chain, std::vector<Term>& others, std::int64_t& rest) {
  std::vector<Term> own;
  const auto own_number = exprs.linear_terms(chain.of, own);
  std::int64_t factor = 0;
  for (const auto& term : own) {
    const auto found =
        std::find_if(others.begin(), others.end(), [&](const Term& o) { return o.atom == term.atom; });
    if (found == others.end() || found->coefficient % term.coefficient != 0) return;
    if (factor != 0 && found->coefficient / term.coefficient != factor) return;
    factor = found->coefficient / term.coefficient;
  }
  std::int64_t moved = 0;
  if (own.empty() || __builtin_mul_overflow(own_number, factor, &moved) ||
      __builtin_sub_overflow(rest, moved, &rest))
    return;
  for (const auto& term : own) std::erase_if(others, [&](const Term& o) { return o.atom == term.atom; });
  chain.links.insert(chain.links.begin(), {1, factor});
}

// From factors of quotients to factors of digits; a digit is the quotient modulo what the next one divides it
// by. False where a divisor does not divide the next.
bool make_digits(Chain& chain) {
  for (std::size_t i = 1; i < chain.links.size(); ++i) {
    const auto& before = chain.links[i - 1];
    auto& link = chain.links[i];
    std::int64_t carried = 0;
    if (link.divisor % before.divisor != 0 ||
        __builtin_mul_overflow(before.factor, link.divisor / before.divisor, &carried) ||
        __builtin_add_overflow(link.factor, carried, &link.factor))
      return false;
  }
  return true;
}

}  // namespace

ValueRanges::Known ValueRanges::scaled(std::int64_t factor, const Known& part) {
  const auto& [range, bits] = part;
  auto low = saturated_multiply(range.low, factor), high = saturated_multiply(range.high, factor);
  if (factor < 0) std::swap(low, high);
  const Range all{low, high};
  const auto magnitude = static_cast<std::uint64_t>(factor);
  const auto lowest = std::countr_zero(magnitude);
  if (low >= 0 && (magnitude & (magnitude - 1)) == 0 && high < Range::far) return {all, bits << lowest};
  const auto trailing = std::min(63, lowest + (bits == 0 ? 63 : std::countr_zero(bits)));
  return {all, bits_in(all, (std::uint64_t{1} << trailing) - 1)};
}

// x / divisor, modulo `modulus` where that is not 0.
ValueRanges::Known ValueRanges::digit(const Known& x, std::int64_t divisor, std::int64_t modulus) {
  const auto is_power = [](std::int64_t n) { return (n & (n - 1)) == 0; };
  const Range quotient{saturated_divide(x.range.low, divisor), saturated_divide(x.range.high, divisor)};
  if (modulus == 0 || quotient.within(0, modulus - 1)) return {quotient, bits_in(quotient, 0)};
  if (!is_power(divisor) || !is_power(modulus)) return {{0, modulus - 1}, bits_up_to(modulus - 1)};
  const auto bits = x.bits >> std::countr_zero(static_cast<std::uint64_t>(divisor)) &
                    static_cast<std::uint64_t>(modulus - 1);
  return {{0, static_cast<std::int64_t>(bits)}, bits};
}

// A sum, taken apart into numbers whose ranges are known: x - 8·(x / 8) is one number from 0 to 7. All terms over one x, of divisors d0 | d1 | …, are Σ m_i · ((x / d_i) mod (d_(i+1) / d_i)), and the
// last quotient whole.
std::vector<ValueRanges::Known> ValueRanges::pieces(ExprId sum, int depth) {
  const auto& v = exprs_;
  std::vector<Term> terms;
  const auto number = v.linear_terms(sum, terms);
  std::vector<Known> all;
  std::int64_t rest = number;
  while (true) {
    // The latest value that is divided may be made of the quotients of others.
    ExprId of = 0;
    for (const auto& term : terms)
      if (is_quotient(v, term.atom)) of = std::max(of, v[term.atom].a);
    if (of == 0) break;
    Chain chain{of, {}};
    std::erase_if(terms, [&](const Term& term) {
      std::int64_t apart = 0, moved = 0;
      if (!is_quotient(v, term.atom) || !constant_difference(v, of, v[term.atom].a, apart)) return false;
      // x / 32 is (x + 32) / 32 - 1.
      const auto divisor = v[v[term.atom].b].number;
      if (apart % divisor != 0 || __builtin_mul_overflow(term.coefficient, apart / divisor, &moved) ||
          __builtin_sub_overflow(rest, moved, &moved))
        return false;
      rest = moved;
      chain.links.push_back({divisor, term.coefficient});
      return true;
    });
    std::sort(chain.links.begin(), chain.links.end(),
              [](const auto& x, const auto& y) { return x.divisor < y.divisor; });
    take_multiple(v, chain, terms, rest);
    if (!make_digits(chain)) return {{Range{}, ~std::uint64_t{0}}};
    const auto divided = known(chain.of, depth + 1);
    for (std::size_t i = 0; i < chain.links.size(); ++i) {
      const auto& link = chain.links[i];
      if (link.factor == 0) continue;
      const auto next = i + 1 < chain.links.size() ? chain.links[i + 1].divisor / link.divisor : 0;
      all.push_back(scaled(link.factor, digit(divided, link.divisor, next)));
    }
  }
  for (const auto& term : terms) all.push_back(scaled(term.coefficient, known(term.atom, depth + 1)));
  if (rest != 0) all.push_back({{saturated(rest), saturated(rest)}, static_cast<std::uint64_t>(rest)});
  return all;
}

ValueRanges::Known ValueRanges::known_of_sum(ExprId sum, int depth) {
  Range all{0, 0};
  std::uint64_t bits = 0, lowest = ~std::uint64_t{0};
  bool disjoint = true, low_known = true, high_known = true;
  for (const auto& piece : pieces(sum, depth)) {
    all = {saturated_add(all.low, piece.range.low), saturated_add(all.high, piece.range.high)};
    low_known = low_known && piece.range.low > -Range::far;
    high_known = high_known && piece.range.high < Range::far;
    disjoint = disjoint && (bits & piece.bits) == 0;
    bits |= piece.bits;
    lowest &= below_lowest_bit(piece.bits);
  }
  // An end that is not known stays so, whatever is added to it.
  if (!low_known) all.low = -Range::far;
  if (!high_known) all.high = Range::far;
  return {all, disjoint ? bits : bits_in(all, lowest)};
}

ValueRanges::Known ValueRanges::known_of_bits(const SymbolicExprs::Node& node, int depth) {
  const auto a = known(node.a, depth + 1), b = known(node.b, depth + 1);
  const auto& [low_a, high_a] = a.range;
  const auto& [low_b, high_b] = b.range;
  if (node.op == SymbolicOp::bit_and) {
    Range range;
    if (low_a >= 0 || low_b >= 0)
      range = {0, low_a < 0 ? high_b : low_b < 0 ? high_a : std::min(high_a, high_b)};
    return {range, a.bits & b.bits};
  }
  Range range;
  if (low_a >= 0 && low_b >= 0) {
    const auto most = std::max(high_a, high_b);
    range = {0, most >= Range::far ? Range::far : static_cast<std::int64_t>(bits_up_to(most))};
  }
  return {range, a.bits | b.bits};
}

Range ValueRanges::range_of(const SymbolicExprs::Node& node, ExprId value, int depth) {
  const auto& v = exprs_;
  const auto of = [&](ExprId part) { return known(part, depth + 1).range; };
  switch (node.op) {
    case SymbolicOp::special:
      return special_range(static_cast<Special>(node.a));
    case SymbolicOp::counter:
    case SymbolicOp::power_of_two:
      return {0, Range::far};
    case SymbolicOp::log2_floor:
      return {0, 63};
    case SymbolicOp::product: {
      Range all{1, 1};
      for (const auto& t : v.terms(value)) {
        const auto part = of(t.atom);
        if (part.low < 0) return {};
        all = {saturated_multiply(all.low, part.low), saturated_multiply(part.high, all.high)};
        if (all.low >= Range::far) all.low = 0;
      }
      return all;
    }
    case SymbolicOp::floor_divide:
    case SymbolicOp::truncated_divide: {
      const auto a = of(node.a), b = of(node.b);
      if (v.is_constant(node.b) && v[node.b].number > 0)
        return {saturated_divide(a.low, v[node.b].number),
                saturated_divide(a.high, v[node.b].number) + (a.high < 0 ? 1 : 0)};
      return a.low >= 0 && b.low >= 0 ? Range{0, a.high} : Range{};
    }
    case SymbolicOp::minimum: {
      const auto a = of(node.a), b = of(node.b);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case SymbolicOp::maximum: {
      const auto a = of(node.a), b = of(node.b);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case SymbolicOp::select: {
      const auto a = of(node.b), b = of(node.c);
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    default:
      return v.is_boolean(value) ? Range{0, 1} : Range{};
  }
}

ValueRanges::Known ValueRanges::known(ExprId value, int depth) {
  if (depth > max_range_depth) return {Range{}, ~std::uint64_t{0}};
  const auto node = exprs_[value];
  if (node.op == SymbolicOp::constant)
    return {{saturated(node.number), saturated(node.number)}, static_cast<std::uint64_t>(node.number)};
  if (const auto it = known_.find(value); it != known_.end()) return it->second;
  Known result;
  if (node.op == SymbolicOp::sum) {
    result = known_of_sum(value, depth);
  } else if (node.op == SymbolicOp::bit_and || node.op == SymbolicOp::bit_or ||
             node.op == SymbolicOp::bit_xor) {
    result = known_of_bits(node, depth);
  } else {
    result.range = range_of(node, value, depth);
    result.bits = bits_in(result.range, 0);
  }
  return known_[value] = result;
}

}  // namespace warptime::analysis
