#include "analyzer/symbolic/facts.h"

#include <algorithm>
#include <climits>

namespace warptime::analysis {
namespace {

constexpr std::size_t max_facts = 48;
constexpr std::uint16_t max_simplified_nesting = 40;  // what is nested deeper is written nowhere
constexpr std::size_t max_simplified = 4096;          // that are remembered
constexpr int max_proof_depth = 6;
constexpr int max_proof_steps = 2000;  // a fact that takes more to see goes unseen

}  // namespace

void Facts::add_fact(ExprId id) {
  if (exprs_->is_constant(id)) return;
  // What was learnt long ago, many branches up, is forgotten.
  if (not_negative_.size() >= max_facts) not_negative_.erase(not_negative_.begin());
  not_negative_.push_back(id);
  simplified_.reset();
}

void Facts::assume(ExprId condition, bool holds) {
  auto& v = *exprs_;
  const auto node = v[condition];
  const auto at_least_one_more = [&](ExprId a, ExprId b) {
    add_fact(v.add(v.subtract(b, a), v.constant(-1)));
  };
  switch (node.op) {
    case SymbolicOp::logical_not:
      assume(node.a, !holds);
      return;
    case SymbolicOp::logical_and:
      if (holds) {
        assume(node.a, true);
        assume(node.b, true);
      }
      return;
    case SymbolicOp::logical_or:
      if (!holds) {
        assume(node.a, false);
        assume(node.b, false);
      }
      return;
    case SymbolicOp::less:
      if (holds)
        at_least_one_more(node.a, node.b);
      else
        add_fact(v.subtract(node.a, node.b));
      return;
    case SymbolicOp::less_equal:
      if (holds)
        add_fact(v.subtract(node.b, node.a));
      else
        at_least_one_more(node.b, node.a);
      return;
    case SymbolicOp::equal:
    case SymbolicOp::not_equal:
      if ((node.op == SymbolicOp::equal) == holds) {
        add_fact(v.subtract(node.a, node.b));
        add_fact(v.subtract(node.b, node.a));
      } else {  // a >= b and a != b: a >= b + 1
        if (not_negative(v.subtract(node.a, node.b)))
          at_least_one_more(node.b, node.a);
        else if (not_negative(v.subtract(node.b, node.a)))
          at_least_one_more(node.a, node.b);
      }
      return;
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal_unsigned: {
      // a <u b where b is not negative: 0 <= a < b. Its negation, b <=u a, where a is not negative: b <= a.
      const bool strict = (node.op == SymbolicOp::less_unsigned) == holds;
      const auto small = holds ? node.a : node.b;
      const auto large = holds ? node.b : node.a;
      if (!not_negative(large)) return;
      add_fact(small);
      if (strict)
        at_least_one_more(small, large);
      else
        add_fact(v.subtract(large, small));
      return;
    }
    default:
      return;
  }
}

template <class Terms, class Make>
bool Facts::sum_not_negative(std::int64_t number, const Terms& terms, Make make, int depth) const {
  const auto& v = *exprs_;
  bool all = number >= 0;
  for (const auto& t : terms) {
    if (t.coefficient < 0) {
      all = false;
      continue;
    }
    all = all && structurally_not_negative(t.atom, depth + 1);
  }
  if (all) return true;
  if (terms.size() == 1 && terms[0].coefficient == 1) {
    const auto atom = v[terms[0].atom];
    // c + x / d = (x + c·d) / d
    if (atom.op == SymbolicOp::floor_divide && v.is_constant(atom.b)) {
      const auto d = v[atom.b].number;
      constexpr auto large = std::int64_t{1} << 31;
      if (d > 0 && d < large && number > -large && number < large &&
          prove(exprs_->add(atom.a, exprs_->constant(number * d)), depth + 1))
        return true;
    }
    // log2(x) - m >= 0 where x >= 2^m
    if (atom.op == SymbolicOp::log2_floor && number > -31 && number <= 0 &&
        prove(exprs_->add(atom.a, exprs_->constant(-(std::int64_t{1} << -number))), depth + 1))
      return true;
  }
  // x - d·(x / d) >= 0, for whatever x
  for (const auto& t : terms) {
    if (t.coefficient >= 0 || t.coefficient == INT64_MIN) continue;
    const auto atom = v[t.atom];
    if (atom.op == SymbolicOp::floor_divide && exprs_->is_constant(atom.b) &&
        v[atom.b].number == -t.coefficient) {
      const auto id = make();
      const auto rest = exprs_->subtract(id, exprs_->modulo(atom.a, atom.b));
      if (rest != id && structurally_not_negative(rest, depth + 1)) return true;
    }
  }
  return false;
}

bool Facts::difference_not_negative(ExprId a, ExprId b, int depth) const {
  SymbolicExprs::Linear difference;
  if (b == 0 || a == b || !exprs_->difference(a, b, difference))
    return structurally_not_negative(exprs_->subtract(a, b), depth);
  const auto terms = difference.terms();
  if (difference.number == 0 && terms.size() == 1 && terms[0].coefficient == 1)
    return structurally_not_negative(terms[0].atom, depth);
  if (depth > max_proof_depth || ++steps_ > max_proof_steps) return false;
  if (terms.empty()) return difference.number >= 0;
  return sum_not_negative(
      difference.number, terms, [&] { return exprs_->subtract(a, b); }, depth);
}

bool Facts::structurally_not_negative(ExprId id, int depth) const {
  const auto& v = *exprs_;
  const auto node = v[id];
  if (depth > max_proof_depth || ++steps_ > max_proof_steps) return false;
  switch (node.op) {
    case SymbolicOp::constant:
      return node.number >= 0;
    case SymbolicOp::special:
    case SymbolicOp::counter:
    case SymbolicOp::power_of_two:
    case SymbolicOp::log2_floor:
      return true;
    case SymbolicOp::less:
    case SymbolicOp::less_equal:
    case SymbolicOp::equal:
    case SymbolicOp::not_equal:
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal_unsigned:
    case SymbolicOp::logical_and:
    case SymbolicOp::logical_or:
    case SymbolicOp::logical_not:
      return true;
    case SymbolicOp::product:
      for (const auto& t : v.terms(id))
        if (!structurally_not_negative(t.atom, depth + 1)) return false;
      return true;
    case SymbolicOp::floor_divide:
    case SymbolicOp::truncated_divide:
      return prove(node.a, depth + 1) && prove(node.b, depth + 1);
    case SymbolicOp::minimum:
    case SymbolicOp::bit_or:
    case SymbolicOp::bit_xor:
      return prove(node.a, depth + 1) && prove(node.b, depth + 1);
    case SymbolicOp::maximum:
    case SymbolicOp::bit_and:
      return prove(node.a, depth + 1) || prove(node.b, depth + 1);
    case SymbolicOp::select:
      return prove(node.b, depth + 1) && prove(node.c, depth + 1);
    case SymbolicOp::sum:
      return sum_not_negative(
          node.number, v.terms(id), [id] { return id; }, depth);
    default:
      return false;
  }
}

bool Facts::not_negative(ExprId id) const {
  steps_ = 0;
  return prove(id, 0);
}

// By its structure, or as a fact (or, at first, two) and something that is not negative by its structure.
bool Facts::prove(ExprId id, int depth) const {
  if (structurally_not_negative(id, depth)) return true;
  if (depth > max_proof_depth || steps_ > max_proof_steps) return false;
  for (const auto fact : not_negative_)
    if (fact == id || difference_not_negative(id, fact, depth + 1)) return true;
  if (depth > 0 || not_negative_.size() > 8) return false;
  for (std::size_t i = 0; i < not_negative_.size(); ++i) {
    const auto rest = exprs_->subtract(id, not_negative_[i]);
    for (std::size_t j = i; j < not_negative_.size(); ++j)
      if (difference_not_negative(rest, not_negative_[j], depth + 1)) return true;
  }
  return false;
}

ExprId Facts::simplify(ExprId id) const {
  if (exprs_->is_constant(id) || (*exprs_)[id].depth > max_simplified_nesting) return id;
  if (!simplified_) simplified_ = std::make_shared<ExprMemo>();
  if (const auto* known = simplified_->find(id)) return *known;
  const auto result = simplify_node(id);
  if (simplified_->size() >= max_simplified) simplified_->clear();
  simplified_->set(id, result);
  return result;
}

ExprId Facts::simplify_node(ExprId id) const {
  auto& v = *exprs_;
  const auto node = v[id];
  switch (node.op) {
    case SymbolicOp::sum: {
      const auto list = v.terms(id);
      if (std::all_of(list.begin(), list.end(), [&](const Term& t) { return simplify(t.atom) == t.atom; }))
        return id;
      auto result = v.constant(node.number);
      for (const auto& t : list) result = v.add(result, v.scale(simplify(t.atom), t.coefficient));
      return result;
    }
    case SymbolicOp::product: {
      const auto list = v.terms(id);
      if (std::all_of(list.begin(), list.end(), [&](const Term& t) { return simplify(t.atom) == t.atom; }))
        return id;
      auto result = v.constant(1);
      for (const auto& t : list) result = v.multiply(result, simplify(t.atom));
      return result;
    }
    case SymbolicOp::floor_divide: {
      const auto a = simplify(node.a);
      return v.floor_divide(a, simplify(node.b));
    }
    case SymbolicOp::truncated_divide: {
      const auto a = simplify(node.a), b = simplify(node.b);
      return not_negative(a) && not_negative(b) ? v.floor_divide(a, b) : v.truncated_divide(a, b);
    }
    case SymbolicOp::minimum:
    case SymbolicOp::maximum: {
      const auto a = simplify(node.a), b = simplify(node.b);
      if (not_negative(v.subtract(a, b))) return node.op == SymbolicOp::maximum ? a : b;
      if (not_negative(v.subtract(b, a))) return node.op == SymbolicOp::maximum ? b : a;
      return node.op == SymbolicOp::maximum ? v.maximum(a, b) : v.minimum(a, b);
    }
    case SymbolicOp::less:
    case SymbolicOp::less_equal: {
      const auto a = simplify(node.a), b = simplify(node.b);
      const auto difference = v.subtract(b, a);  // less: >= 1
      const auto wanted = node.op == SymbolicOp::less ? v.add(difference, v.constant(-1)) : difference;
      if (not_negative(wanted)) return v.constant(1);
      if (not_negative(v.add(v.scale(wanted, -1), v.constant(-1)))) return v.constant(0);
      return v.compare(node.op, a, b);
    }
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal_unsigned: {
      const auto a = simplify(node.a), b = simplify(node.b);
      const auto as_signed = node.op == SymbolicOp::less_unsigned ? SymbolicOp::less : SymbolicOp::less_equal;
      const auto zero = v.constant(0);
      const bool a_known = not_negative(a), b_known = not_negative(b);
      if (a_known && b_known) return simplify(v.compare(as_signed, a, b));
      if (b_known)  // a negative number is a large unsigned one
        return v.logical_and(v.compare(SymbolicOp::less_equal, zero, a), v.compare(as_signed, a, b));
      if (a_known) return v.logical_or(v.compare(SymbolicOp::less, b, zero), v.compare(as_signed, a, b));
      return v.compare(node.op, a, b);
    }
    case SymbolicOp::equal:
    case SymbolicOp::not_equal: {
      const auto a = simplify(node.a), b = simplify(node.b);
      const auto d = v.subtract(a, b);
      const auto minus_one = v.constant(-1);
      if (not_negative(v.add(d, minus_one)) || not_negative(v.add(v.scale(d, -1), minus_one)))
        return v.constant(node.op == SymbolicOp::not_equal);
      if (not_negative(d) && not_negative(v.scale(d, -1))) return v.constant(node.op == SymbolicOp::equal);
      return v.compare(node.op, a, b);
    }
    case SymbolicOp::logical_and: {
      const auto a = simplify(node.a);
      return v.logical_and(a, simplify(node.b));
    }
    case SymbolicOp::logical_or: {
      const auto a = simplify(node.a);
      return v.logical_or(a, simplify(node.b));
    }
    case SymbolicOp::logical_not:
      return v.logical_not(simplify(node.a));
    case SymbolicOp::select: {
      const auto c = simplify(node.a);
      const auto t = simplify(node.b);
      return v.select(c, t, simplify(node.c));
    }
    case SymbolicOp::power_of_two:
      return v.power_of_two(simplify(node.a));
    case SymbolicOp::log2_floor: {
      const auto a = simplify(node.a);
      // log2(2·x + 1) = log2(x) + 1 where x >= 1
      if (v[a].op == SymbolicOp::sum && v[a].number == 1) {
        const auto half = v.floor_divide(v.add(a, v.constant(-1)), v.constant(2));
        if (v.scale(half, 2) == v.add(a, v.constant(-1)) && not_negative(v.add(half, v.constant(-1))))
          return v.add(v.log2_floor(half), v.constant(1));
      }
      return v.log2_floor(a);
    }
    default:
      return id;
  }
}

}  // namespace warptime::analysis
