// Taking symbolic expressions apart, and rebuilding them with other leaves.
#include "analyzer/symbolic/symbolic_exprs.h"

#include <algorithm>

#include "analyzer/symbolic/value_ranges.h"

namespace warptime::analysis {
namespace {

constexpr int max_depth = 400;

}  // namespace

bool SymbolicExprs::split_linear(ExprId id, ExprId atom, ExprId& coefficient, ExprId& rest) {
  Scratch scratch(*this);
  auto& all = scratch.list;
  const auto number = linear_terms(id, all);
  coefficient = constant(0);
  rest = constant(number);
  const auto holds = [&](ExprId v) { return any_leaf(v, [&](ExprId leaf) { return leaf == atom; }); };
  for (const auto& t : all) {
    if (t.atom == atom) {
      coefficient = add(coefficient, constant(t.coefficient));
      continue;
    }
    Factors atoms;
    factors(t.atom, atoms);
    auto* const it = std::find(atoms.begin(), atoms.end(), atom);
    if (it == atoms.end()) {
      if (holds(t.atom)) return false;
      rest = add(rest, scale(t.atom, t.coefficient));
      continue;
    }
    atoms.erase(it);
    const auto other = product_of(atoms);
    if (holds(other)) return false;
    coefficient = add(coefficient, scale(other, t.coefficient));
  }
  return true;
}

bool SymbolicExprs::any_leaf(ExprId id, const std::function<bool(ExprId)>& predicate) const {
  ExprMemo memo;
  return any_leaf_part(id, predicate, memo);
}

bool SymbolicExprs::any_leaf_part(ExprId id, const std::function<bool(ExprId)>& predicate,
                                  ExprMemo& memo) const {
  const auto& n = nodes_[id];
  switch (n.op) {
    case SymbolicOp::constant:
      return false;
    case SymbolicOp::argument:
    case SymbolicOp::special:
    case SymbolicOp::counter:
    case SymbolicOp::phi:
    case SymbolicOp::result:
    case SymbolicOp::opaque:
    case SymbolicOp::symbol:
      return predicate(id);
    default:
      break;
  }
  if (memo.find(id) != nullptr) return false;  // seen, and went on
  memo.set(id, 0);
  bool found = false;
  if (n.op == SymbolicOp::sum || n.op == SymbolicOp::product) {
    for (const auto& t : term_span(id)) found = found || any_leaf_part(t.atom, predicate, memo);
  } else {
    found = any_leaf_part(n.a, predicate, memo);
    if (n.b != 0) found = found || any_leaf_part(n.b, predicate, memo);
    if (n.c != 0) found = found || any_leaf_part(n.c, predicate, memo);
  }
  return found;
}

struct SymbolicExprs::Rewriting {
  bool (*relevant)(const Node&);
  const LeafRewriter& leaf;
  ExprMemo memo = {};
};

ExprId SymbolicExprs::rewrite(ExprId id, bool (*relevant)(const Node&), const LeafRewriter& leaf) {
  Rewriting rewriting{relevant, leaf};
  return rewrite_part(id, rewriting, 0);
}

ExprId SymbolicExprs::rewrite_part(ExprId id, Rewriting& rewriting, int depth) {
  const auto node = nodes_[id];  // a copy: nodes_ grows below
  if (node.op == SymbolicOp::constant || !rewriting.relevant(node)) return id;
  if (const auto* known = rewriting.memo.find(id)) return *known;
  if (depth > max_depth) return opaque_of({id});
  const auto again = [&](ExprId part) { return rewrite_part(part, rewriting, depth + 1); };
  ExprId result = id;
  switch (node.op) {
    case SymbolicOp::constant:
      break;
    case SymbolicOp::argument:
    case SymbolicOp::special:
    case SymbolicOp::counter:
    case SymbolicOp::phi:
    case SymbolicOp::result:
    case SymbolicOp::opaque:
    case SymbolicOp::symbol:
      result = rewriting.leaf(id);
      break;
    case SymbolicOp::sum: {
      const auto list = terms(id);
      std::size_t same = 0;
      while (same < list.size() && again(list[same].atom) == list[same].atom) ++same;
      if (same == list.size()) break;
      result = constant(node.number);
      for (const auto& t : list) result = add(result, scale(again(t.atom), t.coefficient));
      break;
    }
    case SymbolicOp::product: {
      const auto list = terms(id);
      result = constant(1);
      for (const auto& t : list) result = multiply(result, again(t.atom));
      break;
    }
    case SymbolicOp::floor_divide: {
      const auto a = again(node.a);
      result = floor_divide(a, again(node.b));
      break;
    }
    case SymbolicOp::truncated_divide: {
      const auto a = again(node.a);
      result = truncated_divide(a, again(node.b));
      break;
    }
    case SymbolicOp::minimum:
      result = minimum(again(node.a), again(node.b));
      break;
    case SymbolicOp::maximum:
      result = maximum(again(node.a), again(node.b));
      break;
    case SymbolicOp::less:
    case SymbolicOp::less_equal:
    case SymbolicOp::equal:
    case SymbolicOp::not_equal:
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal_unsigned: {
      const auto a = again(node.a);
      result = compare(node.op, a, again(node.b));
      break;
    }
    case SymbolicOp::logical_and:
      result = logical_and(again(node.a), again(node.b));
      break;
    case SymbolicOp::logical_or:
      result = logical_or(again(node.a), again(node.b));
      break;
    case SymbolicOp::logical_not:
      result = logical_not(again(node.a));
      break;
    case SymbolicOp::select: {
      const auto a = again(node.a), b = again(node.b);
      result = select(a, b, again(node.c));
      break;
    }
    case SymbolicOp::power_of_two:
      result = power_of_two(again(node.a));
      break;
    case SymbolicOp::log2_floor:
      result = log2_floor(again(node.a));
      break;
    case SymbolicOp::bit_and:
    case SymbolicOp::bit_or:
    case SymbolicOp::bit_xor: {
      const auto a = again(node.a), b = again(node.b);
      // What has no bit in common is a sum, once that is known of what stands for a register now.
      const auto apart = [&] {
        ValueRanges ranges(*this);
        return (ranges.possible_bits(a) & ranges.possible_bits(b)) == 0;
      };
      result = node.op != SymbolicOp::bit_and && apart() ? add(a, b) : bits(node.op, a, b);
      break;
    }
  }
  rewriting.memo.set(id, result);
  return result;
}

}  // namespace warptime::analysis
