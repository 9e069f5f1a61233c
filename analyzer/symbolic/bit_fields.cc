#include "analyzer/symbolic/bit_fields.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

namespace warptime::analysis {
namespace {

constexpr int max_mask_runs = 3;  // a mask with more gives sums that say less than the mask

std::int64_t sign_extended(std::int64_t number, int width) {
  if (width >= 64) return number;
  const auto unused = 64 - width;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) << unused) >> unused;
}

}  // namespace

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

// k · x / 2^s is x / q where k · q = 2^s + e and x · e < 2^s: reciprocal_division of symbolic_exprs.cc, for
// numbers of any width whose range is known.
ExprId BitFields::divide(ExprId a, ExprId by) {
  auto& v = exprs_;
  const auto quotient = v.floor_divide(a, by);
  const auto node = v[quotient];
  if (node.op != SymbolicOp::floor_divide || !v.is_constant(node.b)) return quotient;
  const auto power = v[node.b].number;
  std::vector<Term> terms;
  auto factor = std::abs(v.linear_terms(node.a, terms));
  for (const auto& term : terms) factor = std::gcd(factor, term.coefficient);
  if (factor < 3 || (power & (power - 1)) != 0 || power < factor) return quotient;
  const auto x = v.floor_divide(node.a, v.constant(factor));
  const auto within = range(x);
  const auto q = (power + factor - 1) / factor;
  const auto excess = factor * q - power;
  std::int64_t error = 0;
  if (q < 2 || within.low < 0 || __builtin_mul_overflow(excess, within.high, &error) || error >= power)
    return quotient;
  return v.floor_divide(x, v.constant(q));
}

}  // namespace warptime::analysis
