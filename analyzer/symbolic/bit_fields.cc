#include "analyzer/symbolic/bit_fields.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

#include "analyzer/symbolic/arithmetic.h"

namespace warptime::analysis {
namespace {

using Range = BitFields::Range;

constexpr int max_range_depth = 12;
constexpr int max_mask_runs = 3;  // a mask with more gives sums that say less than the mask

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

std::int64_t sign_extended(std::int64_t number, int width) {
  if (width >= 64) return number;
  const auto unused = 64 - width;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) << unused) >> unused;
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

// The chain's own value may be a sum whose terms stand among the others: a whole multiple of it is its first link.
void take_multiple(const SymbolicExprs& exprs, Chain& chain, std::vector<Term>& others, std::int64_t& rest) {
  std::vector<Term> own;
  const auto own_number = exprs.linear_form(chain.of, own);
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

// From factors of quotients to factors of digits, each digit the quotient modulo what the next one divides it by.
// False where a divisor does not divide the next.
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

// ---- what is known of a value

BitFields::Known BitFields::scaled(std::int64_t factor, const Known& part) const {
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
BitFields::Known BitFields::digit(const Known& x, std::int64_t divisor, std::int64_t modulus) {
  const auto is_power = [](std::int64_t n) { return (n & (n - 1)) == 0; };
  const Range quotient{saturated_divide(x.range.low, divisor), saturated_divide(x.range.high, divisor)};
  if (modulus == 0 || quotient.within(0, modulus - 1)) return {quotient, bits_in(quotient, 0)};
  if (!is_power(divisor) || !is_power(modulus)) return {{0, modulus - 1}, bits_up_to(modulus - 1)};
  const auto bits = x.bits >> std::countr_zero(static_cast<std::uint64_t>(divisor)) &
                    static_cast<std::uint64_t>(modulus - 1);
  return {{0, static_cast<std::int64_t>(bits)}, bits};
}

// A sum, taken apart into numbers that do not depend on each other's low bits: x - 8·(x / 8) is one number from
// 0 to 7. All terms over one x, of divisors d0 | d1 | …, are Σ m_i · ((x / d_i) mod (d_(i+1) / d_i)), and the
// last quotient whole.
std::vector<BitFields::Known> BitFields::pieces(ExprId sum, int depth) {
  const auto& v = exprs_;
  std::vector<Term> terms;
  const auto number = v.linear_form(sum, terms);
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
      if (!is_quotient(v, term.atom) || v[term.atom].a != of) return false;
      chain.links.push_back({v[v[term.atom].b].number, term.coefficient});
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

BitFields::Known BitFields::known_of_sum(ExprId sum, int depth) {
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

BitFields::Known BitFields::known_of_bits(const SymbolicExprs::Node& node, int depth) {
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

Range BitFields::range_of(const SymbolicExprs::Node& node, ExprId value, int depth) {
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

BitFields::Known BitFields::known(ExprId value, int depth) {
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

// ---- masks

ExprId BitFields::bit_not(ExprId a) {
  return exprs_.add(exprs_.scale(a, -1), exprs_.constant(-1));
}

ExprId BitFields::low_bits(ExprId a, int bits) {
  if (bits <= 0) return exprs_.constant(0);
  if (bits > 61 || (possible_bits(a) >> bits) == 0) return a;
  return exprs_.modulo(a, exprs_.constant(std::int64_t{1} << bits));
}

ExprId BitFields::sign_extend(ExprId a, int bits) {
  if (bits <= 0) return exprs_.constant(0);
  if (bits > 61) return a;
  const auto half = std::int64_t{1} << (bits - 1);
  if (range(a).within(-half, half - 1)) return a;
  return exprs_.subtract(low_bits(exprs_.add(a, exprs_.constant(half)), bits), exprs_.constant(half));
}

// Bits `from` to `end` - 1, where they stand.
ExprId BitFields::field(ExprId a, std::int64_t from, std::int64_t end) {
  return exprs_.subtract(low_bits(a, static_cast<int>(end)), low_bits(a, static_cast<int>(from)));
}

// a & mask, where the mask is a few runs of ones.
bool BitFields::masked(ExprId a, std::int64_t mask, ExprId& result) {
  if (mask == 0 || mask == -1) return result = mask == 0 ? exprs_.constant(0) : a, true;
  auto left = static_cast<std::uint64_t>(mask);
  // Bits that can not be 1 need no mask.
  const auto possible = possible_bits(a);
  if ((possible & ~left) == 0) return result = a, true;
  // …111000, and 0…0111…1000 of 30 bits and more, where the compiler knows that the value is not negative:
  // rounds down to a multiple.
  const auto low = std::countr_zero(left);
  const auto filled = mask | ((std::int64_t{1} << std::min(low, 62)) - 1);
  if (low > 61) return false;
  if (filled == -1 || filled == 0x7fffffffffffffff ||
      (low > 0 &&
       (filled == 0xffffffff || filled == 0x7fffffff || filled == 0x3fffffff || filled == 0x1fffffff)))
    return result = exprs_.subtract(a, low_bits(a, low)), true;
  ExprId sum = exprs_.constant(0);
  for (int runs = 0; left != 0; ++runs) {
    if (runs == max_mask_runs) return false;
    const auto from = std::countr_zero(left);
    const auto end = from + std::countr_one(left >> from);
    if (end > 61) {  // up to the top
      sum = exprs_.add(sum, exprs_.subtract(a, low_bits(a, from)));
      break;
    }
    sum = exprs_.add(sum, field(a, from, end));
    left &= ~((std::uint64_t{1} << end) - 1);
  }
  result = sum;
  return true;
}

ExprId BitFields::bit_and(ExprId a, ExprId b, int width) {
  auto& v = exprs_;
  if (v.is_constant(a)) std::swap(a, b);
  if (!v.is_constant(b)) {
    if (a == b) return a;
    if (v.is_boolean(a) && v.is_boolean(b)) return v.logical_and(a, b);
    if ((possible_bits(a) & possible_bits(b)) == 0) return v.constant(0);
    return v.bits(SymbolicOp::bit_and, a, b);
  }
  const auto mask = sign_extended(v[b].number, width);
  if (v.is_constant(a)) return v.constant(sign_extended(v[a].number, width) & mask);
  if (v.is_boolean(a) && (mask & 1) != 0) return a;
  ExprId result = 0;
  return masked(a, mask, result) ? result : v.bits(SymbolicOp::bit_and, a, b);
}

ExprId BitFields::bit_or(ExprId a, ExprId b, int width) {
  auto& v = exprs_;
  if (v.is_constant(a)) std::swap(a, b);
  if (a == b || v.is_constant(b, 0)) return a;
  if (v.is_constant(a)) return v.constant(sign_extended(v[a].number | v[b].number, width));
  if (v.is_boolean(a) && v.is_boolean(b)) return v.logical_or(a, b);
  if ((possible_bits(a) & possible_bits(b)) == 0) return v.add(a, b);
  // a | m = a + m - (a & m)
  ExprId common = 0;
  if (v.is_constant(b) && masked(a, sign_extended(v[b].number, width), common))
    return v.subtract(v.add(a, v.constant(sign_extended(v[b].number, width))), common);
  return v.bits(SymbolicOp::bit_or, a, b);
}

ExprId BitFields::bit_xor(ExprId a, ExprId b, int width) {
  auto& v = exprs_;
  if (v.is_constant(a)) std::swap(a, b);
  if (a == b) return v.constant(0);
  if (v.is_constant(b, 0)) return a;
  if (v.is_constant(a)) return v.constant(sign_extended(v[a].number ^ v[b].number, width));
  if (v.is_constant(b) && sign_extended(v[b].number, width) == -1) return bit_not(a);
  if ((possible_bits(a) & possible_bits(b)) == 0) return v.add(a, b);
  // a ^ m = a + m - 2·(a & m)
  ExprId common = 0;
  if (v.is_constant(b) && sign_extended(v[b].number, width) > 0 && masked(a, v[b].number, common))
    return v.subtract(v.add(a, b), v.scale(common, 2));
  return v.bits(SymbolicOp::bit_xor, a, b);
}

// ---- fields

ExprId BitFields::extract(ExprId a, std::int64_t position, std::int64_t length, int width, bool is_signed) {
  auto& v = exprs_;
  if (length == 0) return v.constant(0);
  if (position >= width) {
    // Only the sign is left, where there is one.
    if (!is_signed) return v.constant(0);
    return v.scale(v.compare(SymbolicOp::less, a, v.constant(0)), -1);
  }
  const auto shifted = v.floor_divide(a, v.power_of_two(v.constant(position)));
  if (position + length >= width && is_signed) return shifted;
  const auto bits = static_cast<int>(std::min<std::int64_t>(length, width - position));
  return is_signed ? sign_extend(shifted, bits) : low_bits(shifted, bits);
}

ExprId BitFields::insert(ExprId a, ExprId b, std::int64_t position, std::int64_t length, int width) {
  auto& v = exprs_;
  if (length == 0 || position >= width) return b;
  const auto at = static_cast<int>(position);
  const auto below = low_bits(b, at);
  if (position + length >= width) return v.add(v.multiply(a, v.power_of_two(v.constant(position))), below);
  const auto end = static_cast<int>(position + length);
  const auto above = v.subtract(b, low_bits(b, end));
  const auto inserted =
      v.multiply(low_bits(a, static_cast<int>(length)), v.power_of_two(v.constant(position)));
  return v.add(v.add(above, inserted), below);
}

ExprId BitFields::permute_bytes(ExprId a, ExprId b, std::uint32_t selector) {
  auto& v = exprs_;
  constexpr int byte_bits = 8, word_bytes = 4;
  auto result = v.constant(0);
  for (int to = 0; to < word_bytes; ++to) {
    const auto nibble = (selector >> (4 * to)) & 0xf;
    const auto source = (nibble & 7) < word_bytes ? a : b;
    const auto from = static_cast<std::int64_t>(nibble & 3) * byte_bits;
    ExprId byte = 0;
    if ((nibble & 8) != 0) {  // the byte's sign, eight times
      byte = v.scale(extract(source, from + byte_bits - 1, 1, 32, false), 255);
    } else if (to == word_bytes - 1 && from == to * byte_bits) {
      byte = v.floor_divide(source, v.constant(std::int64_t{1} << from));  // the top byte stays at the top
    } else {
      byte = extract(source, from, byte_bits, 64, false);
    }
    result = v.add(result, v.scale(byte, std::int64_t{1} << (to * byte_bits)));
  }
  return result;
}

// Bit a · 2 + b of the table is the result for a and b.
ExprId BitFields::lookup_two(ExprId a, ExprId b, std::uint32_t truth_table) {
  constexpr int width = 32;
  switch (truth_table & 0xf) {
    case 0x0:
      return exprs_.constant(0);
    case 0x1:
      return bit_not(bit_or(a, b, width));
    case 0x2:
      return bit_and(bit_not(a), b, width);
    case 0x3:
      return bit_not(a);
    case 0x4:
      return bit_and(a, bit_not(b), width);
    case 0x5:
      return bit_not(b);
    case 0x6:
      return bit_xor(a, b, width);
    case 0x7:
      return bit_not(bit_and(a, b, width));
    case 0x8:
      return bit_and(a, b, width);
    case 0x9:
      return bit_not(bit_xor(a, b, width));
    case 0xa:
      return b;
    case 0xb:
      return bit_or(bit_not(a), b, width);
    case 0xc:
      return a;
    case 0xd:
      return bit_or(a, bit_not(b), width);
    case 0xe:
      return bit_or(a, b, width);
    default:
      return exprs_.constant(-1);
  }
}

ExprId BitFields::lookup(ExprId a, ExprId b, ExprId c, std::uint32_t truth_table) {
  const auto where_set = (truth_table >> 4) & 0xf, where_clear = truth_table & 0xf;
  const auto set = lookup_two(b, c, where_set);
  if (where_set == where_clear) return set;
  const auto clear = lookup_two(b, c, where_clear);
  constexpr int width = 32;
  if (where_clear == 0) return bit_and(a, set, width);
  if (where_set == 0xf) return bit_or(a, clear, width);
  if (where_set == (where_clear ^ 0xf)) return bit_xor(a, clear, width);
  return exprs_.add(bit_and(a, set, width), bit_and(bit_not(a), clear, width));
}

ExprId BitFields::funnel_left(ExprId a, ExprId b, int count) {
  constexpr int width = 32;
  if (count == 0) return b;
  if (count >= width) return a;
  return insert(b, extract(a, width - count, count, width, false), count, width - count, 64);
}

ExprId BitFields::funnel_right(ExprId a, ExprId b, int count) {
  constexpr int width = 32;
  if (count == 0) return a;
  if (count >= width) return b;
  return insert(b, extract(a, count, width - count, width, false), width - count, count, 64);
}

ExprId BitFields::count_ones(ExprId a) {
  auto result = exprs_.constant(0);
  for (auto bits = possible_bits(a); bits != 0; bits &= bits - 1)
    result = exprs_.add(result, extract(a, std::countr_zero(bits), 1, 64, false));
  return result;
}

ExprId BitFields::reverse(ExprId a, int width) {
  auto result = exprs_.constant(0);
  for (auto bits = possible_bits(a); bits != 0; bits &= bits - 1) {
    const auto i = std::countr_zero(bits);
    result =
        exprs_.add(result, exprs_.scale(extract(a, i, 1, width, false), std::int64_t{1} << (width - 1 - i)));
  }
  return result;
}

// k · x / 2^s is x / q where k · q = 2^s + e and x · e < 2^s (as reciprocal_division of symbolic_exprs.cc, for
// numbers of any width whose range is known).
ExprId BitFields::divide(ExprId a, ExprId by) {
  auto& v = exprs_;
  const auto quotient = v.floor_divide(a, by);
  const auto node = v[quotient];
  if (node.op != SymbolicOp::floor_divide || !v.is_constant(node.b)) return quotient;
  const auto power = v[node.b].number;
  std::vector<Term> terms;
  auto factor = std::abs(v.linear_form(node.a, terms));
  for (const auto& term : terms) factor = std::gcd(factor, term.coefficient);
  if (factor < 3 || (power & (power - 1)) != 0 || power < factor) return quotient;
  const auto x = v.floor_divide(node.a, v.constant(factor));
  const auto range = known(x, 0).range;
  const auto q = (power + factor - 1) / factor;
  const auto excess = factor * q - power;
  std::int64_t error = 0;
  if (q < 2 || range.low < 0 || __builtin_mul_overflow(excess, range.high, &error) || error >= power)
    return quotient;
  return v.floor_divide(x, v.constant(q));
}

}  // namespace warptime::analysis
