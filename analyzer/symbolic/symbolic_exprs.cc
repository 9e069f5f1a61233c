#include "analyzer/symbolic/symbolic_exprs.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace warptime::analysis {
namespace {

constexpr std::size_t max_terms = 32;  // a longer polynomial says nothing to a reader, and costs
constexpr std::uint16_t max_nesting =
    200;  // deeper expressions become opaque: recursion over them stays shallow

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccdULL;
  return h ^ (h >> 32);
}

// The careful answer where phis and results hide what it depends on.
std::uint8_t known_dependence(const SymbolicExprs::Node& node) {
  return node.indirect ? std::uint8_t{on_thread} : node.dependence;
}

}  // namespace

namespace {

constexpr std::size_t first_index_size = 512;

}  // namespace

// Kernels are analysed one after the other, and their tables are as large: each thread uses the last kernel's again.
struct SymbolicExprs::Tables {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> hashes;
  std::vector<Term> terms;
  std::vector<ExprId> index;
};

SymbolicExprs::Tables& SymbolicExprs::spare_tables() {
  thread_local Tables tables;
  return tables;
}

SymbolicExprs::SymbolicExprs() {
  auto& spare = spare_tables();
  nodes_ = std::exchange(spare.nodes, {});
  hashes_ = std::exchange(spare.hashes, {});
  terms_ = std::exchange(spare.terms, {});
  index_ = std::exchange(spare.index, {});
  index_.assign(first_index_size, 0);
  intern({.op = SymbolicOp::constant});
}

SymbolicExprs::~SymbolicExprs() {
  constexpr std::size_t most_kept = 1 << 16;
  if (nodes_.size() > most_kept || nodes_.capacity() == 0) return;
  nodes_.clear();
  hashes_.clear();
  terms_.clear();
  auto& spare = spare_tables();
  spare.nodes = std::move(nodes_);
  spare.hashes = std::move(hashes_);
  spare.terms = std::move(terms_);
  spare.index = std::move(index_);
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

std::int64_t SymbolicExprs::linear_terms(ExprId id, std::vector<Term>& into) const {
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
  const auto before = [](const Term& x, const Term& y) { return x.atom < y.atom; };
  if (!std::is_sorted(list.begin(), list.end(), before)) std::sort(list.begin(), list.end(), before);
  std::size_t out = 0;
  for (std::size_t i = 0; i < list.size();) {
    Term sum = list[i++];
    for (; i < list.size() && list[i].atom == sum.atom; ++i)
      if (__builtin_add_overflow(sum.coefficient, list[i].coefficient, &sum.coefficient))
        return opaque(on_data | on_thread);
    if (sum.coefficient != 0) list[out++] = sum;
  }
  return from_sorted(number, std::span(list).first(out));
}

ExprId SymbolicExprs::from_sorted(std::int64_t number, std::span<const Term> list) {
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

std::int64_t SymbolicExprs::linear_span(ExprId id, Term& single, std::span<const Term>& terms) const {
  const auto& node = nodes_[id];
  if (node.op == SymbolicOp::constant) {
    terms = {};
    return node.number;
  }
  if (node.op == SymbolicOp::sum) {
    terms = term_span(id);
    return node.number;
  }
  single = {id, 1};
  terms = {&single, 1};
  return 0;
}

bool SymbolicExprs::merge(ExprId a, ExprId b, std::int64_t sign, Linear& result) const {
  static_assert(std::tuple_size_v<decltype(result.list_)> == 2 * max_terms);  // a sum has max_terms at most
  Term single_a, single_b;
  std::span<const Term> x, y;
  const auto p = linear_span(a, single_a, x), q = linear_span(b, single_b, y);
  if (__builtin_mul_overflow(q, sign, &result.number) ||
      __builtin_add_overflow(p, result.number, &result.number))
    return false;
  auto* out = result.list_.data();
  auto i = x.begin(), j = y.begin();
  while (i != x.end() || j != y.end()) {
    if (j == y.end() || (i != x.end() && i->atom < j->atom)) {
      *out++ = *i++;
      continue;
    }
    Term term{j->atom, 0};
    if (__builtin_mul_overflow(j->coefficient, sign, &term.coefficient)) return false;
    if (i != x.end() && i->atom == j->atom) {
      if (__builtin_add_overflow(i->coefficient, term.coefficient, &term.coefficient)) return false;
      ++i;
    }
    ++j;
    if (term.coefficient != 0) *out++ = term;
  }
  result.count_ = static_cast<std::size_t>(out - result.list_.data());
  return true;
}

std::optional<ExprId> SymbolicExprs::add_scaled(ExprId a, ExprId b, std::int64_t sign) {
  Linear sum;
  if (!merge(a, b, sign, sum)) return std::nullopt;
  return from_sorted(sum.number, sum.terms());
}

bool SymbolicExprs::difference(ExprId a, ExprId b, Linear& result) const {
  if (!merge(a, b, -1, result) || result.count_ > max_terms) return false;
  const auto terms = result.terms();
  return std::none_of(terms.begin(), terms.end(),
                      [&](const Term& t) { return nodes_[t.atom].depth > max_nesting; });
}

ExprId SymbolicExprs::add(ExprId a, ExprId b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (const auto sum = add_scaled(a, b, 1)) return *sum;
  std::int64_t number = 0;
  const bool number_overflows = __builtin_add_overflow(number_of(a), number_of(b), &number);
  return number_overflows ? opaque_of({a, b}) : opaque(on_data | on_thread);
}

ExprId SymbolicExprs::subtract(ExprId a, ExprId b) {
  if (b == 0) return a;
  if (a == b) return 0;
  const auto difference = add_scaled(a, b, -1);
  return difference ? *difference : add(a, scale(b, -1));
}

ExprId SymbolicExprs::scale(ExprId a, std::int64_t factor) {
  if (factor == 1) return a;
  Scratch scratch(*this);
  auto number = linear_terms(a, scratch.list);
  bool overflow = __builtin_mul_overflow(number, factor, &number);
  for (auto& t : scratch.list)
    overflow = __builtin_mul_overflow(t.coefficient, factor, &t.coefficient) || overflow;
  if (overflow) return opaque_of({a});
  return factor == 0 ? 0 : from_sorted(number, scratch.list);
}

void SymbolicExprs::factors(ExprId atom, Factors& into) const {
  if (nodes_[atom].op == SymbolicOp::product) {
    for (const auto& t : term_span(atom)) into.push_back(t.atom);
  } else {
    into.push_back(atom);
  }
}

ExprId SymbolicExprs::product_of(Factors& atoms) {
  if (atoms.size() == 1) return *atoms.begin();
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
  const auto p = linear_terms(a, x);
  const auto q = linear_terms(b, y);
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
      Factors atoms;
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

}  // namespace warptime::analysis
