// Comparisons, logical operations, selections and bits of symbolic expressions.
#include "analyzer/symbolic/symbolic_exprs.h"

#include <algorithm>
#include <cassert>

namespace warptime::analysis {
namespace {

bool is_comparison(SymbolicOp op) {
  return op >= SymbolicOp::less && op <= SymbolicOp::less_equal_unsigned;
}

}  // namespace

bool SymbolicExprs::is_boolean(ExprId id) const {
  const auto op = nodes_[id].op;
  return is_comparison(op) || op == SymbolicOp::logical_and || op == SymbolicOp::logical_or ||
         op == SymbolicOp::logical_not ||
         (op == SymbolicOp::constant && (nodes_[id].number == 0 || nodes_[id].number == 1));
}

ExprId SymbolicExprs::minimum(ExprId a, ExprId b) {
  const auto difference = subtract(a, b);
  if (is_constant(difference)) return nodes_[difference].number <= 0 ? a : b;
  return make(SymbolicOp::minimum, std::min(a, b), std::max(a, b));
}

ExprId SymbolicExprs::maximum(ExprId a, ExprId b) {
  const auto difference = subtract(a, b);
  if (is_constant(difference)) return nodes_[difference].number >= 0 ? a : b;
  return make(SymbolicOp::maximum, std::min(a, b), std::max(a, b));
}

// b + d <u b holds where the sum wraps, which b from -d to -1 make it do: compilers write a bound of an induction variable
// that they have moved by it, `i + 128 <u i` for `i + 256 < 256`.
ExprId SymbolicExprs::sum_wraps(ExprId b, std::int64_t d) {
  return logical_and(compare(SymbolicOp::less_equal, constant(-d), b),
                     compare(SymbolicOp::less, b, constant(0)));
}

ExprId SymbolicExprs::compare(SymbolicOp op, ExprId a, ExprId b) {
  assert(is_comparison(op));
  constexpr auto most_added = std::int64_t{1} << 31;
  const auto difference = subtract(a, b);
  if (is_constant(difference)) {
    const auto d = nodes_[difference].number;
    const bool both_known = is_constant(a) && is_constant(b);
    switch (op) {
      case SymbolicOp::less:
        return constant(d < 0);
      case SymbolicOp::less_equal:
        return constant(d <= 0);
      case SymbolicOp::equal:
        return constant(d == 0);
      case SymbolicOp::not_equal:
        return constant(d != 0);
      case SymbolicOp::less_unsigned:
        if (d == 0) return constant(0);
        if (both_known)
          return constant(static_cast<std::uint64_t>(nodes_[a].number) <
                          static_cast<std::uint64_t>(nodes_[b].number));
        if (d > 0 && d < most_added) return sum_wraps(b, d);
        break;
      default:
        if (d == 0) return constant(1);
        if (both_known)
          return constant(static_cast<std::uint64_t>(nodes_[a].number) <=
                          static_cast<std::uint64_t>(nodes_[b].number));
        if (d > 0 && d < most_added) return sum_wraps(b, d);
        break;
    }
  }
  // A truth value compared with 0 or 1 is that truth value.
  if ((op == SymbolicOp::equal || op == SymbolicOp::not_equal) && is_constant(b) && is_boolean(a) &&
      !is_constant(a)) {
    const auto n = nodes_[b].number;
    if (n == 0 || n == 1) return (op == SymbolicOp::equal) == (n == 1) ? a : logical_not(a);
  }
  return make(op, a, b);
}

ExprId SymbolicExprs::logical_not(ExprId a) {
  const auto& n = nodes_[a];
  switch (n.op) {
    case SymbolicOp::constant:
      return constant(n.number == 0);
    case SymbolicOp::logical_not:
      return n.a;
    case SymbolicOp::less:
      return compare(SymbolicOp::less_equal, n.b, n.a);
    case SymbolicOp::less_equal:
      return compare(SymbolicOp::less, n.b, n.a);
    case SymbolicOp::equal:
      return compare(SymbolicOp::not_equal, n.a, n.b);
    case SymbolicOp::not_equal:
      return compare(SymbolicOp::equal, n.a, n.b);
    case SymbolicOp::less_unsigned:
      return compare(SymbolicOp::less_equal_unsigned, n.b, n.a);
    case SymbolicOp::less_equal_unsigned:
      return compare(SymbolicOp::less_unsigned, n.b, n.a);
    default:
      return make(SymbolicOp::logical_not, a);
  }
}

ExprId SymbolicExprs::logical_and(ExprId a, ExprId b) {
  if (a == b || is_constant(b, 1)) return a;
  if (is_constant(a, 1)) return b;
  if (is_constant(a, 0) || is_constant(b, 0)) return constant(0);
  return make(SymbolicOp::logical_and, a, b);
}

ExprId SymbolicExprs::logical_or(ExprId a, ExprId b) {
  if (a == b || is_constant(b, 0)) return a;
  if (is_constant(a, 0)) return b;
  if (is_constant(a, 1) || is_constant(b, 1)) return constant(1);
  return make(SymbolicOp::logical_or, a, b);
}

bool SymbolicExprs::is_multiple(ExprId id, ExprId of) {
  std::vector<Term> x, y;
  const auto a = linear_terms(id, x), b = linear_terms(of, y);
  if (x.size() != y.size() || x.empty()) return false;
  if (x[0].coefficient % y[0].coefficient != 0) return false;
  return scale(of, x[0].coefficient / y[0].coefficient) == id && (a == 0) == (b == 0);
}

ExprId SymbolicExprs::select(ExprId condition, ExprId then_value, ExprId else_value) {
  if (then_value == else_value) return then_value;
  if (is_constant(condition)) return nodes_[condition].number != 0 ? then_value : else_value;
  if (is_constant(then_value, 1) && is_constant(else_value, 0) && is_boolean(condition)) return condition;
  if (is_constant(then_value, 0) && is_constant(else_value, 1)) return logical_not(condition);
  // Where p = 0 chooses the first, and the two differ by a multiple of p, the second is right in both cases.
  const auto node = nodes_[condition];
  if (node.op == SymbolicOp::equal && is_multiple(subtract(then_value, else_value), subtract(node.a, node.b)))
    return else_value;
  if (node.op == SymbolicOp::not_equal &&
      is_multiple(subtract(then_value, else_value), subtract(node.a, node.b)))
    return then_value;
  return make(SymbolicOp::select, condition, then_value, else_value);
}

ExprId SymbolicExprs::power_of_two(ExprId exponent) {
  if (is_constant(exponent)) {
    const auto e = nodes_[exponent].number;
    if (e >= 0 && e < 62) return constant(std::int64_t{1} << e);
  }
  return make(SymbolicOp::power_of_two, exponent);
}

ExprId SymbolicExprs::log2_floor(ExprId a) {
  if (is_constant(a) && nodes_[a].number >= 1)
    return constant(63 - __builtin_clzll(static_cast<unsigned long long>(nodes_[a].number)));
  if (nodes_[a].op == SymbolicOp::power_of_two) return nodes_[a].a;
  return make(SymbolicOp::log2_floor, a);
}

ExprId SymbolicExprs::bits(SymbolicOp op, ExprId a, ExprId b) {
  if (is_constant(a) && is_constant(b)) {
    const auto x = nodes_[a].number, y = nodes_[b].number;
    return constant(op == SymbolicOp::bit_and ? x & y : op == SymbolicOp::bit_or ? x | y : x ^ y);
  }
  return make(op, std::min(a, b), std::max(a, b));
}

}  // namespace warptime::analysis
