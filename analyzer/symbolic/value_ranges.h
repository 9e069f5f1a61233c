// The possible numbers of a value, and the bits of it that can be 1.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::analysis {

// By a value's structure and the limits of CUDA launches (a thread index is below 1024, …), without facts of
// the path. Each value is examined once.
class ValueRanges {
 public:
  // SymbolicExprs must outlive it, and may grow during its lifetime.
  explicit ValueRanges(const SymbolicExprs& exprs) : exprs_(exprs) {}

  // From `low` to `high`, inclusive. Numbers beyond `far` are not distinguished.
  struct Range {
    static constexpr std::int64_t far = std::int64_t{1} << 61;
    std::int64_t low = -far, high = far;
    bool within(std::int64_t least, std::int64_t most) const { return least <= low && high <= most; }
  };
  Range range(ExprId value) { return known(value, 0).range; }
  // The bits that can be 1 in its two's complement.
  std::uint64_t possible_bits(ExprId value) { return known(value, 0).bits; }

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
  static Known scaled(std::int64_t factor, const Known& part);

  const SymbolicExprs& exprs_;
  std::unordered_map<ExprId, Known> known_;
};

}  // namespace warptime::analysis
