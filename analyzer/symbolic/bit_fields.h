// Instructions on bits as arithmetic: masks, shifts of fields, permutations of bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::analysis {

// What an instruction on bits gives, as a sum of quotients and remainders where that is right for every number
// that its operands can have, else as a bit operation that has no closed form. Registers are whole numbers that
// do not wrap (see symbolic_exprs.h): a field that reaches the register's top bit keeps its high part.
class BitFields {
 public:
  // SymbolicExprs must outlive it.
  explicit BitFields(SymbolicExprs& exprs) : exprs_(exprs) {}

  // From `low` to `high`, both possible. Numbers beyond `far` are not told apart.
  struct Range {
    static constexpr std::int64_t far = std::int64_t{1} << 61;
    std::int64_t low = -far, high = far;
    bool within(std::int64_t least, std::int64_t most) const { return least <= low && high <= most; }
  };
  // The numbers that a value can have, by its structure and the limits of CUDA launches.
  Range range(ExprId value) { return known(value, 0).range; }
  // The bits that can be 1 in its two's complement.
  std::uint64_t possible_bits(ExprId value) { return known(value, 0).bits; }

  ExprId bit_not(ExprId a);
  // `width`: bits of the registers, 1 to 64: how a constant's top bit reads.
  ExprId bit_and(ExprId a, ExprId b, int width);
  ExprId bit_or(ExprId a, ExprId b, int width);
  ExprId bit_xor(ExprId a, ExprId b, int width);

  // The lowest `bits` bits as a number that is not negative, and as one in two's complement.
  ExprId low_bits(ExprId a, int bits);
  ExprId sign_extend(ExprId a, int bits);

  // `length` bits of `a` from bit `position` on, of a register of `width` bits. position and length: 0 to 255.
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

  // a / by, rounded down: by the number that compilers meant where they multiply by a reciprocal and shift right.
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
  struct Known {
    Range range;
    std::uint64_t bits = 0;  // that can be 1
  };
  Known known(ExprId value, int depth);
  Known known_of_sum(ExprId sum, int depth);
  Known known_of_bits(const SymbolicExprs::Node& node, int depth);
  Range range_of(const SymbolicExprs::Node& node, ExprId value, int depth);
  static Known digit(const Known& x, std::int64_t divisor, std::int64_t modulus);
  std::vector<Known> pieces(ExprId sum, int depth);
  Known scaled(std::int64_t factor, const Known& part) const;
  ExprId field(ExprId a, std::int64_t from, std::int64_t end);
  bool masked(ExprId a, std::int64_t mask, ExprId& result);
  ExprId lookup_two(ExprId a, ExprId b, std::uint32_t truth_table);

  SymbolicExprs& exprs_;
  std::unordered_map<ExprId, Known> known_;
};

}  // namespace warptime::analysis
