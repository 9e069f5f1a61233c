#include "analyzer/symbolic/symbolic_exprs.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <numeric>

#include "analyzer/symbolic/arithmetic.h"
#include "analyzer/symbolic/facts.h"

namespace warptime::analysis {
namespace {

__extension__ using Wide = __int128;

constexpr std::size_t max_terms = 32;  // a longer polynomial says nothing to a reader, and costs
constexpr std::size_t max_factors = 6;
constexpr int max_depth = 400;
constexpr std::uint16_t max_nesting =
    200;  // a form nested deeper is none: recursion over forms stays shallow

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccdULL;
  return h ^ (h >> 32);
}

// The careful answer where phis and results hide what it depends on.
std::uint8_t known_dependence(const SymbolicExprs::Node& node) {
  return node.indirect ? std::uint8_t{on_thread} : node.dependence;
}

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

SymbolicExprs::SymbolicExprs() : index_(512, 0) {
  nodes_.reserve(256);
  hashes_.reserve(256);
  intern({.op = SymbolicOp::constant});
}

void SymbolicExprs::grow_index() {
  const auto mask = index_.size() * 2 - 1;
  index_.assign(mask + 1, 0);
  for (ExprId id = 1; id < nodes_.size(); ++id) {
    auto at = hashes_[id] & mask;
    while (index_[at] != 0) at = (at + 1) & mask;
    index_[at] = id;
  }
}

ExprId SymbolicExprs::intern(const Node& wanted, std::span<const Term> terms) {
  if (wanted.op == SymbolicOp::constant && wanted.number == 0 && !nodes_.empty()) return 0;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = mix((static_cast<std::uint64_t>(wanted.a) << 32) | wanted.b,
                            static_cast<std::uint64_t>(wanted.number) + wanted.c * odd +
                                (static_cast<std::uint64_t>(wanted.op) << 56));
  for (const auto& t : terms) mixed = mix(mixed, t.atom * odd + static_cast<std::uint64_t>(t.coefficient));
  const auto hash = static_cast<std::uint32_t>(mixed);
  const auto mask = index_.size() - 1;
  auto at = hash & mask;
  for (; index_[at] != 0; at = (at + 1) & mask) {
    const auto id = index_[at];
    if (hashes_[id] != hash) continue;
    const auto& n = nodes_[id];
    if (n.op == wanted.op && n.a == wanted.a && n.b == wanted.b && n.c == wanted.c &&
        n.number == wanted.number && std::ranges::equal(term_span(id), terms))
      return id;
  }
  Node node = wanted;
  node.first_term = static_cast<std::uint32_t>(terms_.size());
  node.term_count = static_cast<std::uint32_t>(terms.size());
  for (const auto& t : terms) {
    node.dependence |= nodes_[t.atom].dependence;
    node.has_phi = node.has_phi || nodes_[t.atom].has_phi;
    node.indirect = node.indirect || nodes_[t.atom].indirect;
    node.depth = std::max<std::uint16_t>(node.depth, nodes_[t.atom].depth + 1);
  }
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  nodes_.push_back(node);
  hashes_.push_back(hash);
  const auto id = static_cast<ExprId>(nodes_.size() - 1);
  if (id != 0) index_[at] = id;
  if (nodes_.size() * 2 > index_.size()) grow_index();
  return id;
}

ExprId SymbolicExprs::make(SymbolicOp op, ExprId a, ExprId b, ExprId c) {
  Node node{.op = op, .a = a, .b = b, .c = c};
  for (const auto part : {a, b, c}) {
    node.dependence |= nodes_[part].dependence;
    node.has_phi = node.has_phi || nodes_[part].has_phi;
    node.indirect = node.indirect || nodes_[part].indirect;
    node.depth = std::max<std::uint16_t>(node.depth, nodes_[part].depth + 1);
  }
  return node.depth > max_nesting ? opaque_of({a, b, c}) : intern(node);
}

ExprId SymbolicExprs::constant(std::int64_t number) {
  return intern({.op = SymbolicOp::constant, .number = number});
}

ExprId SymbolicExprs::argument(std::uint32_t index, std::uint32_t offset) {
  return intern({.op = SymbolicOp::argument, .dependence = on_argument, .a = index, .b = offset});
}

ExprId SymbolicExprs::special(Special which) {
  std::uint8_t dependence = on_data;
  if (which <= Special::tid_z || which == Special::laneid || which == Special::warpid)
    dependence = on_thread;
  else if (which <= Special::ntid_z)
    dependence = on_launch;
  else if (which <= Special::ctaid_z)
    dependence = on_block;
  else if (which <= Special::nctaid_z)
    dependence = on_launch;
  return intern({.op = SymbolicOp::special, .dependence = dependence, .a = static_cast<ExprId>(which)});
}

ExprId SymbolicExprs::counter(std::uint32_t loop) {
  return intern({.op = SymbolicOp::counter, .dependence = on_counter, .a = loop});
}
ExprId SymbolicExprs::phi(std::uint32_t index) {
  return intern({.op = SymbolicOp::phi, .has_phi = true, .indirect = true, .a = index});
}
ExprId SymbolicExprs::symbol(std::uint32_t serial) {
  return intern({.op = SymbolicOp::symbol, .a = serial});
}
ExprId SymbolicExprs::result(std::uint32_t instruction, std::uint32_t reg) {
  return intern(
      {.op = SymbolicOp::result, .dependence = on_data, .indirect = true, .a = instruction, .b = reg});
}
ExprId SymbolicExprs::opaque(std::uint8_t dependence) {
  return intern({.op = SymbolicOp::opaque, .dependence = dependence, .b = ++serial_});
}

ExprId SymbolicExprs::opaque_of(std::initializer_list<ExprId> parts) {
  std::uint8_t dependence = on_data;
  for (const auto part : parts) dependence |= known_dependence(nodes_[part]);
  return opaque(dependence);
}

std::int64_t SymbolicExprs::linear_form(ExprId id, std::vector<Term>& into) const {
  const auto& node = nodes_[id];
  if (node.op == SymbolicOp::constant) return node.number;
  if (node.op == SymbolicOp::sum) {
    const auto all = term_span(id);
    into.insert(into.end(), all.begin(), all.end());
    return node.number;
  }
  into.push_back({id, 1});
  return 0;
}

ExprId SymbolicExprs::from_linear(std::int64_t number, std::vector<Term>& list) {
  std::sort(list.begin(), list.end(), [](const Term& x, const Term& y) { return x.atom < y.atom; });
  std::size_t out = 0;
  for (std::size_t i = 0; i < list.size();) {
    Term sum = list[i++];
    for (; i < list.size() && list[i].atom == sum.atom; ++i)
      if (__builtin_add_overflow(sum.coefficient, list[i].coefficient, &sum.coefficient))
        return opaque(on_data | on_thread);
    if (sum.coefficient != 0) list[out++] = sum;
  }
  list.resize(out);
  if (list.empty()) return constant(number);
  if (number == 0 && list.size() == 1 && list[0].coefficient == 1) return list[0].atom;
  if (list.size() > max_terms) {
    std::uint8_t dependence = on_data;
    for (const auto& t : list) dependence |= known_dependence(nodes_[t.atom]);
    return opaque(dependence);
  }
  const bool too_deep = std::any_of(list.begin(), list.end(),
                                    [&](const Term& t) { return nodes_[t.atom].depth > max_nesting; });
  return too_deep ? opaque(on_data | on_thread) : intern({.op = SymbolicOp::sum, .number = number}, list);
}

ExprId SymbolicExprs::add(ExprId a, ExprId b) {
  if (a == 0) return b;
  if (b == 0) return a;
  Scratch scratch(*this);
  std::int64_t number = 0;
  const auto x = linear_form(a, scratch.list);
  const auto y = linear_form(b, scratch.list);
  if (__builtin_add_overflow(x, y, &number)) return opaque_of({a, b});
  return from_linear(number, scratch.list);
}

ExprId SymbolicExprs::scale(ExprId a, std::int64_t factor) {
  if (factor == 1) return a;
  Scratch scratch(*this);
  auto number = linear_form(a, scratch.list);
  bool overflow = __builtin_mul_overflow(number, factor, &number);
  for (auto& t : scratch.list)
    overflow = __builtin_mul_overflow(t.coefficient, factor, &t.coefficient) || overflow;
  if (overflow) return opaque_of({a});
  return from_linear(number, scratch.list);
}

void SymbolicExprs::factors(ExprId atom, std::vector<ExprId>& into) const {
  if (nodes_[atom].op == SymbolicOp::product) {
    for (const auto& t : term_span(atom)) into.push_back(t.atom);
  } else {
    into.push_back(atom);
  }
}

ExprId SymbolicExprs::product_of(std::vector<ExprId>& atoms) {
  if (atoms.size() == 1) return atoms[0];
  std::sort(atoms.begin(), atoms.end());
  Scratch scratch(*this);
  for (const auto atom : atoms) scratch.list.push_back({atom, 1});
  return intern({.op = SymbolicOp::product}, scratch.list);
}

ExprId SymbolicExprs::multiply(ExprId a, ExprId b) {
  if (is_constant(a)) return scale(b, nodes_[a].number);
  if (is_constant(b)) return scale(a, nodes_[b].number);
  Scratch scratch_x(*this), scratch_y(*this), scratch(*this);
  auto &x = scratch_x.list, &y = scratch_y.list, &list = scratch.list;
  const auto p = linear_form(a, x);
  const auto q = linear_form(b, y);
  if (x.size() * y.size() > max_terms) return opaque_of({a, b});
  std::int64_t number = 0;
  bool overflow = __builtin_mul_overflow(p, q, &number);
  for (auto t : x) {
    overflow = __builtin_mul_overflow(t.coefficient, q, &t.coefficient) || overflow;
    list.push_back(t);
  }
  for (auto t : y) {
    overflow = __builtin_mul_overflow(t.coefficient, p, &t.coefficient) || overflow;
    list.push_back(t);
  }
  for (const auto& s : x)
    for (const auto& t : y) {
      std::vector<ExprId> atoms;
      factors(s.atom, atoms);
      factors(t.atom, atoms);
      if (atoms.size() > max_factors) return opaque_of({a, b});
      Term both{product_of(atoms), 0};
      overflow = __builtin_mul_overflow(s.coefficient, t.coefficient, &both.coefficient) || overflow;
      list.push_back(both);
    }
  if (overflow) return opaque_of({a, b});
  return from_linear(number, list);
}

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
  const auto number = linear_form(a, all);
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
  if (is_constant(b)) {
    const auto d = nodes_[b].number;
    if (d == 0 || d == INT64_MIN) return opaque_of({a});
    if (d == 1) return a;
    if (d == -1) return scale(a, -1);
    if (is_constant(a)) return constant(floor_div(nodes_[a].number, d));
    if (d < 0) return floor_divide(scale(a, -1), constant(-d));
    // (d·q + r) / d = q + r / d
    Scratch scratch_all(*this), scratch_quotient(*this), scratch_rest(*this);
    auto &all = scratch_all.list, &quotient = scratch_quotient.list, &rest = scratch_rest.list;
    const auto number = linear_form(a, all);
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
    if (nodes_[inner].op == SymbolicOp::floor_divide &&
        is_constant(nodes_[inner].b)) {  // (x / e) / d = x / (e·d)
      std::int64_t both = 0;
      if (__builtin_mul_overflow(nodes_[nodes_[inner].b].number, d, &both)) return opaque_of({a});
      divided = floor_divide(nodes_[inner].a, constant(both));
    } else if (const auto e = power_divisor(inner);
               e && (d & (d - 1)) == 0) {  // (x / 2^e) / 2^k = x / 2^(e + k)
      divided = make(SymbolicOp::floor_divide, nodes_[inner].a, power_of_two(add(*e, log2_floor(b))));
    } else {
      divided = make(SymbolicOp::floor_divide, inner, b);
    }
    quotient.push_back({divided, 1});
    return from_linear(q, quotient);
  }
  // (x / 2^k) / 2^e = x / 2^(e + k)
  if (nodes_[b].op == SymbolicOp::power_of_two && nodes_[a].op == SymbolicOp::floor_divide &&
      is_constant(nodes_[a].b)) {
    const auto d = nodes_[nodes_[a].b].number;
    if (d > 0 && (d & (d - 1)) == 0)
      return make(SymbolicOp::floor_divide, nodes_[a].a,
                  power_of_two(add(nodes_[b].a, log2_floor(constant(d)))));
  }
  // Every term holds b as a factor: divides exactly.
  Scratch scratch_all(*this), scratch_quotient(*this);
  auto &all = scratch_all.list, &quotient = scratch_quotient.list;
  if (linear_form(a, all) == 0 && nodes_[b].op != SymbolicOp::sum) {
    bool exact = true;
    for (const auto& t : all) {
      std::vector<ExprId> atoms, divisors;
      factors(t.atom, atoms);
      factors(b, divisors);
      for (const auto d : divisors) {
        const auto it = std::find(atoms.begin(), atoms.end(), d);
        if (it == atoms.end()) {
          exact = false;
          break;
        }
        atoms.erase(it);
      }
      if (!exact) break;
      if (atoms.empty())
        quotient.push_back({constant(1), t.coefficient});
      else
        quotient.push_back({product_of(atoms), t.coefficient});
    }
    if (exact) {
      auto result = constant(0);
      for (const auto& t : quotient) result = add(result, scale(t.atom, t.coefficient));
      return result;
    }
  }
  return make(SymbolicOp::floor_divide, a, b);
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

ExprId SymbolicExprs::compare(SymbolicOp op, ExprId a, ExprId b) {
  assert(is_comparison(op));
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
        break;
      default:
        if (d == 0) return constant(1);
        if (both_known)
          return constant(static_cast<std::uint64_t>(nodes_[a].number) <=
                          static_cast<std::uint64_t>(nodes_[b].number));
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

bool SymbolicExprs::is_multiple(ExprId value, ExprId of) {
  std::vector<Term> x, y;
  const auto a = linear_form(value, x), b = linear_form(of, y);
  if (x.size() != y.size() || x.empty()) return false;
  if (x[0].coefficient % y[0].coefficient != 0) return false;
  return scale(of, x[0].coefficient / y[0].coefficient) == value && (a == 0) == (b == 0);
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

bool SymbolicExprs::split_linear(ExprId id, ExprId atom, ExprId& coefficient, ExprId& rest) {
  Scratch scratch(*this);
  auto& all = scratch.list;
  const auto number = linear_form(id, all);
  coefficient = constant(0);
  rest = constant(number);
  const auto holds = [&](ExprId v) { return any_leaf(v, [&](ExprId leaf) { return leaf == atom; }); };
  for (const auto& t : all) {
    if (t.atom == atom) {
      coefficient = add(coefficient, constant(t.coefficient));
      continue;
    }
    std::vector<ExprId> atoms;
    factors(t.atom, atoms);
    const auto it = std::find(atoms.begin(), atoms.end(), atom);
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
  ValueMemo memo;
  return any_leaf_part(id, predicate, memo);
}

bool SymbolicExprs::any_leaf_part(ExprId id, const std::function<bool(ExprId)>& predicate,
                                  ValueMemo& memo) const {
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
  ValueMemo memo = {};
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
      const auto a = again(node.a);
      result = bits(node.op, a, again(node.b));
      break;
    }
  }
  rewriting.memo.set(id, result);
  return result;
}

}  // namespace warptime::analysis
