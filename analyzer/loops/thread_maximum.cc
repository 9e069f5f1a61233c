#include "analyzer/loops/thread_maximum.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/symbolic/facts.h"
#include "analyzer/symbolic/univariate.h"

namespace warptime::analysis {
namespace {

// Indices, and how many values each has.
constexpr std::array<std::pair<Special, Special>, 6> indices{{
    {Special::tid_x, Special::ntid_x},
    {Special::tid_y, Special::ntid_y},
    {Special::tid_z, Special::ntid_z},
    {Special::ctaid_x, Special::nctaid_x},
    {Special::ctaid_y, Special::nctaid_y},
    {Special::ctaid_z, Special::nctaid_z},
}};

}  // namespace

template <class F>
bool ThreadMaximum::over_threads(ExprId expr, F each) const {
  constexpr std::int64_t most_threads = 1024;  // of a block, on every GPU
  constexpr std::uint16_t most_nesting = 12;
  const auto node = exprs_[expr];
  if (node.indirect || node.dependence != on_thread || node.depth > most_nesting) return false;
  UnivariateExpr of_thread(exprs_, expr, exprs_.special(Special::tid_x));
  for (std::int64_t thread = 0; thread < most_threads; ++thread) {
    const auto number = of_thread.at(thread);
    if (!number) return false;
    if (!each(*number)) break;
  }
  return true;
}

std::optional<std::int64_t> ThreadMaximum::same_for_all_threads(ExprId expr) const {
  std::optional<std::int64_t> first;
  bool same = true;
  const bool known = over_threads(expr, [&](std::int64_t number) {
    if (!first) first = number;
    same = number == *first;
    return same;
  });
  return known && same ? first : std::nullopt;
}

std::optional<ExprId> ThreadMaximum::by_trial(ExprId count, bool& differs) {
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  const bool known = over_threads(count, [&](std::int64_t number) {
    least = std::min(least, number);
    most = std::max(most, number);
    return true;
  });
  if (!known) return std::nullopt;
  differs = differs || least != most;
  return exprs_.constant(most);
}

ThreadMaximum::Direction ThreadMaximum::both(Direction x, Direction y) {
  if (x == Direction::independent) return y;
  if (y == Direction::independent) return x;
  return x == y ? x : Direction::unknown;
}

ThreadMaximum::Direction ThreadMaximum::reversed(Direction direction) {
  if (direction == Direction::grows) return Direction::falls;
  return direction == Direction::falls ? Direction::grows : direction;
}

// Through floor division, maximum and minimum it is that of what is inside.
ThreadMaximum::Direction ThreadMaximum::direction(ExprId expr, ExprId index) const {
  if (!exprs_.any_leaf(expr, [&](ExprId leaf) { return leaf == index; })) return Direction::independent;
  if (expr == index) return Direction::grows;
  const auto node = exprs_[expr];
  auto all = Direction::independent;
  switch (node.op) {
    case SymbolicOp::sum:
      for (const auto& t : exprs_.terms(expr)) {
        const auto one = direction(t.atom, index);
        all = both(all, t.coefficient > 0 ? one : reversed(one));
      }
      return all;
    case SymbolicOp::product:
      for (const auto& t : exprs_.terms(expr)) {
        all = both(all, direction(t.atom, index));
        if (!Facts(exprs_).not_negative(t.atom)) return Direction::unknown;
      }
      return all;
    case SymbolicOp::floor_divide:
      if (direction(node.b, index) != Direction::independent || !Facts(exprs_).not_negative(node.b))
        return Direction::unknown;
      return direction(node.a, index);
    case SymbolicOp::minimum:
    case SymbolicOp::maximum:
      return both(direction(node.a, index), direction(node.b, index));
    default:
      return Direction::unknown;
  }
}

std::optional<ExprId> ThreadMaximum::of(ExprId count, bool& differs) {
  if ((exprs_[count].dependence & (on_thread | on_block)) == 0) return count;
  for (const auto& [index, extent] : indices) {
    const auto atom = exprs_.special(index);
    const auto with_index = direction(count, atom);
    if (with_index == Direction::independent) continue;
    if (with_index == Direction::unknown) return by_trial(count, differs);
    const auto extreme = with_index == Direction::falls
                             ? exprs_.constant(0)
                             : exprs_.add(exprs_.special(extent), exprs_.constant(-1));
    count = exprs_.rewrite(
        count,
        [](const SymbolicExprs::Node& node) { return (node.dependence & (on_thread | on_block)) != 0; },
        [&](ExprId leaf) { return leaf == atom ? extreme : leaf; });
    differs = true;
  }
  if ((exprs_[count].dependence & (on_thread | on_block)) != 0) return std::nullopt;
  return count;
}

std::optional<ExprId> ThreadMaximum::of_window(ExprId count, int most_choices) {
  std::vector<Term> terms;
  exprs_.linear_terms(count, terms);
  const auto cut = std::ranges::find_if(terms, [&](const Term& term) {
    const auto op = exprs_[term.atom].op;
    return op == SymbolicOp::minimum || op == SymbolicOp::maximum;
  });
  if (cut == terms.end()) {
    bool differs = false;
    return of(count, differs);
  }
  if (most_choices == 0) return std::nullopt;
  const auto node = exprs_[cut->atom];
  const auto rest = exprs_.subtract(count, exprs_.scale(cut->atom, cut->coefficient));
  const auto with = [&](ExprId operand) {
    return of_window(exprs_.add(rest, exprs_.scale(operand, cut->coefficient)), most_choices - 1);
  };
  const auto a = with(node.a), b = with(node.b);
  if ((node.op == SymbolicOp::maximum) == (cut->coefficient > 0))  // either may be the count
    return a && b ? std::optional(exprs_.maximum(*a, *b)) : std::nullopt;
  // Both are a bound. Numbers are the better ones: others grow with the launch.
  if (!a || !b) return a ? a : b;
  if (exprs_.is_constant(*a) != exprs_.is_constant(*b)) return exprs_.is_constant(*a) ? a : b;
  return exprs_.minimum(*a, *b);
}

ExprId ThreadMaximum::of_ends(ExprId count) {
  const auto at = [&](bool last) {
    return exprs_.rewrite(
        count,
        [](const SymbolicExprs::Node& node) { return (node.dependence & (on_thread | on_block)) != 0; },
        [&](ExprId leaf) {
          for (const auto& [index, extent] : indices)
            if (leaf == exprs_.special(index))
              return last ? exprs_.add(exprs_.special(extent), exprs_.constant(-1)) : exprs_.constant(0);
          const auto node = exprs_[leaf];
          const bool of_thread = (node.dependence & (on_thread | on_block)) != 0;
          return node.op == SymbolicOp::special && of_thread ? exprs_.constant(0) : leaf;
        });
  };
  return exprs_.maximum(at(false), at(true));
}

ExprId ThreadMaximum::without_remainders(ExprId expr, bool least) {
  std::vector<Term> terms;
  const auto number = exprs_.linear_terms(expr, terms);
  for (const auto& term : terms) {
    const auto node = exprs_[term.atom];
    if (node.op != SymbolicOp::floor_divide || !exprs_.is_constant(node.b) ||
        (node.dependence & (on_thread | on_block)) == 0)
      continue;
    const auto divisor = exprs_[node.b].number;
    if (divisor <= 0 || term.coefficient % divisor != 0) continue;
    const auto multiple = -(term.coefficient / divisor);
    const auto rest = exprs_.subtract(expr, exprs_.scale(exprs_.modulo(node.a, node.b), multiple));
    std::vector<Term> after;
    const auto left = exprs_.linear_terms(rest, after);
    if (after.size() + (left != 0) >= terms.size() + (number != 0)) continue;
    const auto bound = least == (multiple > 0) ? 0 : multiple * (divisor - 1);
    return without_remainders(exprs_.add(rest, exprs_.constant(bound)), least);
  }
  return expr;
}

}  // namespace warptime::analysis
