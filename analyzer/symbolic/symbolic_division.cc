// Quotients of symbolic expressions.
#include "analyzer/symbolic/symbolic_exprs.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "analyzer/symbolic/arithmetic.h"
#include "analyzer/symbolic/facts.h"

namespace warptime::analysis {
namespace {

__extension__ using Wide = __int128;

}  // namespace

// e of x / 2^e.
std::optional<ExprId> SymbolicExprs::power_divisor(ExprId a) const {
  const auto& node = nodes_[a];
  if (node.op != SymbolicOp::floor_divide || nodes_[node.b].op != SymbolicOp::power_of_two)
    return std::nullopt;
  return nodes_[node.b].a;
}

// x / q as compilers write it: (M · x) / 2^s with M = ceil(2^s / q), exact for every x of 32 bits where M·q -
// 2^s <= 2^(s-31) (Granlund and Montgomery, Division by invariant integers using multiplication, 1994).
std::optional<ExprId> SymbolicExprs::reciprocal_division(ExprId a, std::int64_t power) {
  if (power < (std::int64_t{1} << 32) || (power & (power - 1)) != 0) return std::nullopt;
  Scratch scratch(*this);
  auto& all = scratch.list;
  const auto number = linear_terms(a, all);
  if (number == INT64_MIN ||
      std::any_of(all.begin(), all.end(), [](const Term& t) { return t.coefficient == INT64_MIN; }))
    return std::nullopt;
  auto factor = std::abs(number);
  for (const auto& t : all) factor = std::gcd(factor, t.coefficient);
  if (factor < (std::int64_t{1} << 16)) return std::nullopt;
  const auto q = power / factor + (power % factor > factor / 2 ? 1 : 0);
  const auto excess = static_cast<Wide>(factor) * q - power;
  if (q < 2 || excess <= 0 || excess > power >> 31) return std::nullopt;
  for (auto& t : all) t.coefficient /= factor;
  return floor_divide(from_linear(number / factor, all), constant(q));
}

ExprId SymbolicExprs::floor_divide(ExprId a, ExprId b) {
  if (a == b) return constant(1);
  if (is_constant(a, 0)) return a;
  if (is_constant(b)) return floor_divide_by_number(a, b);
  // (x / 2^k) / 2^e = x / 2^(e + k)
  if (nodes_[b].op == SymbolicOp::power_of_two && nodes_[a].op == SymbolicOp::floor_divide &&
      is_constant(nodes_[a].b)) {
    const auto d = nodes_[nodes_[a].b].number;
    if (d > 0 && (d & (d - 1)) == 0)
      return make(SymbolicOp::floor_divide, nodes_[a].a,
                  power_of_two(add(nodes_[b].a, log2_floor(constant(d)))));
  }
  if (const auto exact = exact_quotient(a, b)) return *exact;
  return make(SymbolicOp::floor_divide, a, b);
}

ExprId SymbolicExprs::floor_divide_by_number(ExprId a, ExprId b) {
  const auto d = nodes_[b].number;
  if (d == 0 || d == INT64_MIN) return opaque_of({a});
  if (d == 1) return a;
  if (d == -1) return scale(a, -1);
  if (is_constant(a)) return constant(floor_div(nodes_[a].number, d));
  if (d < 0) return floor_divide(scale(a, -1), constant(-d));
  // (d·q + r) / d = q + r / d
  Scratch scratch_all(*this), scratch_quotient(*this), scratch_rest(*this);
  auto &all = scratch_all.list, &quotient = scratch_quotient.list, &rest = scratch_rest.list;
  const auto number = linear_terms(a, all);
  for (auto t : all) {
    if (t.coefficient % d == 0)
      quotient.push_back({t.atom, t.coefficient / d});
    else
      rest.push_back(t);
  }
  const auto q = floor_div(number, d);
  const auto r = number - q * d;
  if (rest.empty()) return from_linear(q, quotient);
  if (const auto by = reciprocal_division(a, d)) return *by;
  const auto inner = from_linear(r, rest);
  ExprId divided;
  if (nodes_[inner].op == SymbolicOp::floor_divide && is_constant(nodes_[inner].b)) {
    // (x / e) / d = x / (e·d)
    std::int64_t both = 0;
    if (__builtin_mul_overflow(nodes_[nodes_[inner].b].number, d, &both)) return opaque_of({a});
    divided = floor_divide(nodes_[inner].a, constant(both));
  } else if (const auto e = power_divisor(inner); e && (d & (d - 1)) == 0) {
    // (x / 2^e) / 2^k = x / 2^(e + k)
    divided = make(SymbolicOp::floor_divide, nodes_[inner].a, power_of_two(add(*e, log2_floor(b))));
  } else {
    divided = make(SymbolicOp::floor_divide, inner, b);
  }
  quotient.push_back({divided, 1});
  return from_linear(q, quotient);
}

// Where every term of `a` has `b` as a factor.
std::optional<ExprId> SymbolicExprs::exact_quotient(ExprId a, ExprId b) {
  Scratch scratch_all(*this), scratch_quotient(*this);
  auto &all = scratch_all.list, &quotient = scratch_quotient.list;
  if (linear_terms(a, all) != 0 || nodes_[b].op == SymbolicOp::sum) return std::nullopt;
  for (const auto& t : all) {
    Factors atoms, divisors;
    factors(t.atom, atoms);
    factors(b, divisors);
    for (const auto d : divisors) {
      auto* const it = std::find(atoms.begin(), atoms.end(), d);
      if (it == atoms.end()) return std::nullopt;
      atoms.erase(it);
    }
    if (atoms.empty())
      quotient.push_back({constant(1), t.coefficient});
    else
      quotient.push_back({product_of(atoms), t.coefficient});
  }
  auto result = constant(0);
  for (const auto& t : quotient) result = add(result, scale(t.atom, t.coefficient));
  return result;
}

ExprId SymbolicExprs::truncated_divide(ExprId a, ExprId b) {
  if (is_constant(b) && nodes_[b].number == INT64_MIN) return opaque_of({a});
  if (is_constant(a) && is_constant(b) && nodes_[b].number != 0 && nodes_[a].number != INT64_MIN)
    return constant(nodes_[a].number / nodes_[b].number);
  if (is_constant(b, 1)) return a;
  if (is_constant(b) && nodes_[b].number < 0)
    return scale(truncated_divide(a, constant(-nodes_[b].number)), -1);
  const Facts nothing(*this);
  if (nothing.not_negative(a) && nothing.not_negative(b)) return floor_divide(a, b);
  return is_constant(b, 0) ? opaque_of({a}) : make(SymbolicOp::truncated_divide, a, b);
}

}  // namespace warptime::analysis
