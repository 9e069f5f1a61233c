// Instructions on bits as arithmetic: masks, shifts of fields, permutations of bytes.
#pragma once

#include <bit>
#include <cstdint>

#include "analyzer/symbolic/symbolic_exprs.h"
#include "analyzer/symbolic/value_ranges.h"

namespace warptime::analysis {

// The result of an instruction on bits: a sum of quotients and remainders if that is right for every number
// that its operands can have, otherwise a bit operation without a closed form. Registers are whole numbers
// that do not wrap (see symbolic_exprs.h): a field that reaches the register's top bit keeps its high part.
class BitFields {
 public:
  // SymbolicExprs must outlive it.
  explicit BitFields(SymbolicExprs& exprs) : exprs_(exprs), ranges_(exprs) {}

  using Range = ValueRanges::Range;
  Range range(ExprId value) { return ranges_.range(value); }
  std::uint64_t possible_bits(ExprId value) { return ranges_.possible_bits(value); }

  ExprId bit_not(ExprId a);
  // `width`: bits of the registers, 1 to 64; determines the sign of a constant.
  ExprId bit_and(ExprId a, ExprId b, int width);
  ExprId bit_or(ExprId a, ExprId b, int width);
  ExprId bit_xor(ExprId a, ExprId b, int width);

  // The lowest `bits` bits as an unsigned number, and as a number in two's complement.
  ExprId low_bits(ExprId a, int bits);
  ExprId sign_extend(ExprId a, int bits);

  // `length` bits of `a` from bit `position` on, of a register of `width` bits. position, length: 0 to 255.
  ExprId extract(ExprId a, std::int64_t position, std::int64_t length, int width, bool is_signed);
  // `b` with the lowest `length` bits of `a` in place of its own from bit `position` on.
  ExprId insert(ExprId a, ExprId b, std::int64_t position, std::int64_t length, int width);
  // prmt.b32 in its default mode: four bytes of the eight in {b, a}, chosen by the nibbles of the selector.
  ExprId permute_bytes(ExprId a, ExprId b, std::uint32_t selector);
  // lop3.b32: bit by bit, by its table of eight truth values.
  ExprId lookup(ExprId a, ExprId b, ExprId c, std::uint32_t truth_table);
  // The upper 32 bits of {b, a} << count, and the lower ones of {b, a} >> count. count: 0 to 32.
  ExprId funnel_left(ExprId a, ExprId b, int count);
  ExprId funnel_right(ExprId a, ExprId b, int count);

  // a / by, rounded down. Recovers the divisor of the source if the compiler multiplies by its reciprocal.
  ExprId divide(ExprId a, ExprId by);

  // How many bits are 1, and the bits in reverse order: only of values with few possible bits.
  static constexpr int most_single_bits = 12;
  bool few_bits(ExprId a) {
    const auto bits = possible_bits(a);
    return std::popcount(bits) <= most_single_bits && bits >> 32 == 0;
  }
  ExprId count_ones(ExprId a);
  ExprId reverse(ExprId a, int width);

 private:
  ExprId field(ExprId a, std::int64_t from, std::int64_t end);
  bool masked(ExprId a, std::int64_t mask, ExprId& result);
  ExprId lookup_two(ExprId a, ExprId b, std::uint32_t truth_table);

  SymbolicExprs& exprs_;
  ValueRanges ranges_;
};

}  // namespace warptime::analysis
