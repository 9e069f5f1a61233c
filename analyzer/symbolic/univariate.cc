#include "analyzer/symbolic/univariate.h"

#include <algorithm>

#include "analyzer/symbolic/arithmetic.h"

namespace warptime::analysis {

UnivariateExpr::UnivariateExpr(const SymbolicExprs& exprs, ExprId id, ExprId leaf) {
  ExprMemo places;
  add(exprs, id, leaf, places);
  numbers_.resize(steps_.size());
}

std::uint32_t UnivariateExpr::add(const SymbolicExprs& exprs, ExprId id, ExprId leaf, ExprMemo& places) {
  if (const auto* place = places.find(id)) return *place;
  const auto node = exprs[id];
  Step step;
  step.op = node.op;
  step.number = node.number;
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
      step.op = id == leaf ? SymbolicOp::special : SymbolicOp::opaque;
      break;
    case SymbolicOp::sum:
    case SymbolicOp::product: {
      std::vector<StepTerm> own;
      for (const auto& t : exprs.terms(id)) own.push_back({add(exprs, t.atom, leaf, places), t.coefficient});
      step.a = static_cast<std::uint32_t>(terms_.size());
      step.b = static_cast<std::uint32_t>(own.size());
      terms_.insert(terms_.end(), own.begin(), own.end());
      break;
    }
    default:
      step.a = add(exprs, node.a, leaf, places);
      step.b = add(exprs, node.b, leaf, places);
      step.c = add(exprs, node.c, leaf, places);
      break;
  }
  steps_.push_back(step);
  const auto place = static_cast<std::uint32_t>(steps_.size() - 1);
  places.set(id, place);
  return place;
}

std::optional<std::int64_t> UnivariateExpr::at(std::int64_t leaf) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].op == SymbolicOp::special)
      numbers_[i] = leaf;
    else
      numbers_[i] = compute(steps_[i]);
  }
  return numbers_.back();
}

std::optional<std::int64_t> UnivariateExpr::compute(const Step& step) const {
  switch (step.op) {
    case SymbolicOp::constant:
      return step.number;
    case SymbolicOp::opaque:
      return std::nullopt;
    case SymbolicOp::sum:
    case SymbolicOp::product: {
      auto all = step.op == SymbolicOp::sum ? step.number : 1;
      for (auto i = step.a; i < step.a + step.b; ++i) {
        const auto& part = numbers_[terms_[i].step];
        std::int64_t scaled = 0;
        if (!part ||
            __builtin_mul_overflow(*part, step.op == SymbolicOp::sum ? terms_[i].coefficient : all, &scaled))
          return std::nullopt;
        if (step.op == SymbolicOp::product)
          all = scaled;
        else if (__builtin_add_overflow(all, scaled, &all))
          return std::nullopt;
      }
      return all;
    }
    case SymbolicOp::select: {
      const auto& condition = numbers_[step.a];
      return condition ? numbers_[*condition != 0 ? step.b : step.c] : std::nullopt;
    }
    default:
      break;
  }
  const auto &a = numbers_[step.a], &b = numbers_[step.b];
  if (!a || !b) return std::nullopt;
  switch (step.op) {
    case SymbolicOp::floor_divide:
      return *b <= 0 ? std::nullopt : std::optional(floor_div(*a, *b));
    case SymbolicOp::truncated_divide:
      return *b <= 0 ? std::nullopt : std::optional(*a / *b);
    case SymbolicOp::minimum:
      return std::min(*a, *b);
    case SymbolicOp::maximum:
      return std::max(*a, *b);
    case SymbolicOp::less:
      return *a < *b;
    case SymbolicOp::less_equal:
      return *a <= *b;
    case SymbolicOp::equal:
      return *a == *b;
    case SymbolicOp::not_equal:
      return *a != *b;
    case SymbolicOp::less_unsigned:
      return static_cast<std::uint64_t>(*a) < static_cast<std::uint64_t>(*b);
    case SymbolicOp::less_equal_unsigned:
      return static_cast<std::uint64_t>(*a) <= static_cast<std::uint64_t>(*b);
    case SymbolicOp::logical_and:
      return *a != 0 && *b != 0;
    case SymbolicOp::logical_or:
      return *a != 0 || *b != 0;
    case SymbolicOp::logical_not:
      return *a == 0;
    case SymbolicOp::power_of_two:
      return *a < 0 || *a > 61 ? std::nullopt : std::optional(std::int64_t{1} << *a);
    case SymbolicOp::log2_floor:
      return *a < 1 ? std::nullopt
                    : std::optional<std::int64_t>(63 - __builtin_clzll(static_cast<unsigned long long>(*a)));
    case SymbolicOp::bit_and:
      return *a & *b;
    case SymbolicOp::bit_or:
      return *a | *b;
    case SymbolicOp::bit_xor:
      return *a ^ *b;
    default:
      return std::nullopt;
  }
}

}  // namespace warptime::analysis
