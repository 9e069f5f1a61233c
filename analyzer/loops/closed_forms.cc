#include "analyzer/loops/closed_forms.h"

#include <algorithm>

namespace warptime::analysis {
namespace {

constexpr std::size_t max_open_phis = 64;
constexpr std::size_t max_closed_form_depth = 150;  // closed forms within closed forms
// Closed forms that are looked for in one kernel, in all and for each register that changes; beyond,
// registers stay without one. (Registers that form a cycle are looked at again and again, from every one of
// them.)
constexpr std::uint64_t least_steps = 10'000, steps_per_phi = 32;

// Counts the depth of a recursion.
class Deeper {
 public:
  explicit Deeper(std::size_t& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  std::size_t& depth_;
};

// m · z of `expr` = x + m · z, divided by m: of an m that is one term.
ExprId multiples_in(SymbolicExprs& exprs, ExprId expr, ExprId modulus) {
  std::vector<Term> divisor, terms;
  auto multiple = exprs.constant(0);
  if (exprs.is_constant(modulus) || exprs.linear_terms(modulus, divisor) != 0 || divisor.size() != 1)
    return multiple;
  exprs.linear_terms(expr, terms);
  for (const auto& term : terms) {
    if (term.coefficient % divisor[0].coefficient != 0) continue;
    const auto whole = exprs.scale(term.atom, term.coefficient);
    const auto quotient = exprs.floor_divide(
        exprs.scale(term.atom, term.coefficient / divisor[0].coefficient), divisor[0].atom);
    if (exprs.multiply(quotient, modulus) == whole) multiple = exprs.add(multiple, quotient);
  }
  return multiple;
}

}  // namespace

ExprId without_nested_remainders(SymbolicExprs& exprs, ExprId expr) {
  constexpr std::uint16_t most_nesting = 64;
  const auto node = exprs[expr];
  if (node.depth > most_nesting) return expr;
  const auto of_terms = [&](ExprId from, const TermList& terms, auto combine) {
    for (const auto& term : terms)
      from = combine(from, exprs.scale(without_nested_remainders(exprs, term.atom), term.coefficient));
    return from;
  };
  switch (node.op) {
    case SymbolicOp::sum:
      return of_terms(exprs.constant(node.number), exprs.terms(expr),
                      [&](ExprId a, ExprId b) { return exprs.add(a, b); });
    case SymbolicOp::product:
      return of_terms(exprs.constant(1), exprs.terms(expr),
                      [&](ExprId a, ExprId b) { return exprs.multiply(a, b); });
    case SymbolicOp::select: {
      const auto then_value = without_nested_remainders(exprs, node.b);
      return exprs.select(node.a, then_value, without_nested_remainders(exprs, node.c));
    }
    case SymbolicOp::floor_divide:
    case SymbolicOp::truncated_divide: {
      const auto a = without_nested_remainders(exprs, node.a);
      const auto multiple = multiples_in(exprs, a, node.b);
      const auto rest = exprs.subtract(a, exprs.multiply(multiple, node.b));
      return exprs.add(multiple, exprs.floor_divide(rest, node.b));
    }
    default:
      return expr;
  }
}

bool is_invariant(const Evaluator& evaluator, ExprId expr, std::uint32_t loop) {
  const auto& cfg = evaluator.cfg();
  const auto& exprs = evaluator.exprs();
  return !exprs.any_leaf(expr, [&](ExprId leaf) {
    const auto node = exprs[leaf];
    switch (node.op) {
      case SymbolicOp::counter:
        return cfg.encloses(loop, node.a);
      case SymbolicOp::phi:
        return cfg.contains(loop, evaluator.phi(node.a).block);
      case SymbolicOp::opaque:
        return true;
      case SymbolicOp::result: {  // an instruction of the loop makes a new value in each iteration
        for (const auto b : cfg.loops[loop].blocks)
          if (node.a >= cfg.blocks[b].first && node.a < cfg.blocks[b].end) return true;
        return false;
      }
      default:
        return false;
    }
  });
}

ExprId ClosedForms::resolve(ExprId expr, std::uint32_t context) {
  if (exprs_[expr].has_phi)
    expr = exprs_.rewrite(
        expr, [](const SymbolicExprs::Node& node) { return node.has_phi; },
        [&](ExprId leaf) {
          const auto node = exprs_[leaf];
          return node.op == SymbolicOp::phi ? closed_form(node.a, context) : leaf;
        });
  return leave_loops(expr, context);
}

ExprId ClosedForms::leave_loops(ExprId expr, std::uint32_t context) {
  const auto& cfg = evaluator_.cfg();
  if ((exprs_[expr].dependence & on_counter) == 0) return expr;
  return exprs_.rewrite(
      expr, [](const SymbolicExprs::Node& node) { return (node.dependence & on_counter) != 0; },
      [&](ExprId leaf) {
        const auto node = exprs_[leaf];
        if (node.op != SymbolicOp::counter || cfg.encloses(node.a, context)) return leaf;
        const auto last = last_iteration_(node.a);
        return last == leaf ? leaf : leave_loops(last, context);
      });
}

ExprId ClosedForms::closed_form(std::uint32_t phi, std::uint32_t context) {
  const auto self = exprs_.phi(phi);
  if (const auto at = std::find(open_.begin(), open_.end(), phi); at != open_.end()) {
    lowest_met_ = std::min(lowest_met_, static_cast<std::size_t>(at - open_.begin()));
    return self;
  }
  const auto memo = found_.find(pair_key(phi, context));
  if (memo != found_.end()) return memo->second;
  if (open_.size() > max_open_phis || depth_ > max_closed_form_depth ||
      ++steps_ > least_steps + steps_per_phi * evaluator_.phi_count())
    return self;
  const Deeper deeper(depth_);
  if (const auto only = evaluator_.copy_of(phi)) {
    return resolve(*only, context);
  }
  const auto& cfg = evaluator_.cfg();
  const auto block = evaluator_.phi(phi).block;
  const auto loop = cfg.blocks[block].loop;
  if (loop != none && cfg.loops[loop].header == block && cfg.loops[loop].parent != none) {
    resolve_start(phi, loop);
    if (const auto now = found_.find(pair_key(phi, context)); now != found_.end()) return now->second;
  }
  const auto met_before = std::exchange(lowest_met_, none_met);
  const auto depth = open_.size();
  open_.push_back(phi);
  const auto closed =
      loop != none && cfg.loops[loop].header == block ? recurrence(phi, loop) : merge(phi, loop);
  open_.pop_back();
  const auto result = closed == self ? self : leave_loops(closed, context);
  // What met a phi that is still open is not final.
  if (lowest_met_ >= depth) {
    found_[pair_key(phi, context)] = result;
    lowest_met_ = met_before;
  } else {
    lowest_met_ = std::min(lowest_met_, met_before);
  }
  return result;
}

// Registers of enclosing loops first: what an inner loop starts from goes round the outer one through the
// inner one.
void ClosedForms::resolve_start(std::uint32_t phi, std::uint32_t loop) {
  const auto& cfg = evaluator_.cfg();
  const auto& predecessors = cfg.blocks[cfg.loops[loop].header].predecessors;
  const auto incoming = evaluator_.incoming(phi);  // a copy
  for (std::size_t i = 0; i < incoming.size() && i < predecessors.size(); ++i)
    if (!cfg.contains(loop, predecessors[i]) && exprs_[incoming[i]].has_phi)
      resolve(incoming[i], cfg.loops[loop].parent);
}

std::optional<ClosedForms::Around> ClosedForms::around(std::uint32_t phi, std::uint32_t loop) {
  const auto& cfg = evaluator_.cfg();
  const auto& predecessors = cfg.blocks[cfg.loops[loop].header].predecessors;
  const auto incoming = evaluator_.incoming(phi);  // a copy
  std::optional<ExprId> start, next;
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const bool inside = i < predecessors.size() && cfg.contains(loop, predecessors[i]);
    auto& place = inside ? next : start;
    const auto value = resolve(incoming[i], inside ? loop : cfg.loops[loop].parent);
    if (place && *place != value) return std::nullopt;
    place = value;
  }
  if (!start) return std::nullopt;
  return Around{*start, next};
}

ExprId ClosedForms::recurrence(std::uint32_t phi, std::uint32_t loop) {
  const auto self = exprs_.phi(phi);
  const auto values = around(phi, loop);
  if (!values) return self;
  const std::optional<ExprId> start = values->start, next = values->next;
  if (!next || *next == self) return *start;
  const auto counter = exprs_.counter(loop);
  const auto step = exprs_.subtract(*next, self);
  if (is_invariant(evaluator_, step, loop)) return exprs_.add(*start, exprs_.multiply(step, counter));
  if (facts_ != nullptr)
    if (const auto index = periodic_index(*start, *next, self, loop)) return *index;
  // next = factor · self
  ExprId factor = 0, rest = 0;
  if (exprs_.split_linear(*next, self, factor, rest) && exprs_.is_constant(rest, 0)) {
    if (exprs_.is_constant(factor)) {
      const auto n = exprs_[factor].number;
      if (n > 1 && (n & (n - 1)) == 0) {
        const auto bits = exprs_.log2_floor(factor);
        return exprs_.multiply(*start, exprs_.power_of_two(exprs_.multiply(bits, counter)));
      }
    }
  }
  if (const auto follower = follower_of_counter(*start, *next, loop)) return *follower;
  // A predicate that holds in the first iteration only, or in all others.
  const auto reg = evaluator_.phi(phi).reg;
  if (exprs_.is_constant(*start) && exprs_.is_constant(*next) &&
      evaluator_.function().registers[reg].type == "pred")
    return exprs_.compare(exprs_.is_constant(*start, 0) ? SymbolicOp::not_equal : SymbolicOp::equal, counter,
                          exprs_.constant(0));
  // One number in the first iteration, another in those behind it: nvcc's counter of two iterations.
  if (exprs_.is_constant(*start) && exprs_.is_constant(*next))
    return exprs_.add(
        *start, exprs_.multiply(exprs_.subtract(*next, *start), exprs_.minimum(counter, exprs_.constant(1))));
  const auto node = exprs_[*next];
  if (node.op == SymbolicOp::floor_divide && node.a == self && exprs_.is_constant(node.b)) {
    const auto n = exprs_[node.b].number;
    if (n > 1 && (n & (n - 1)) == 0)
      return exprs_.floor_divide(*start,
                                 exprs_.power_of_two(exprs_.multiply(exprs_.log2_floor(node.b), counter)));
  }
  return self;
}

// Of a register that is computed anew from the counter at the end of each iteration, as nvcc does it with `i` plus what does not
// change: its value in the iteration before, where the first iteration's follows the same rule.
std::optional<ExprId> ClosedForms::follower_of_counter(ExprId start, ExprId next, std::uint32_t loop) {
  if (exprs_[next].has_phi || (exprs_[next].dependence & on_counter) == 0) return std::nullopt;
  const auto counter = exprs_.counter(loop);
  const auto with = [&](ExprId expr, ExprId value) {
    return exprs_.rewrite(
        expr, [](const SymbolicExprs::Node& node) { return (node.dependence & on_counter) != 0; },
        [&](ExprId leaf) { return leaf == counter ? value : leaf; });
  };
  const auto before = with(next, exprs_.add(counter, exprs_.constant(-1)));
  if (before == next || exprs_.subtract(with(before, exprs_.constant(0)), start) != exprs_.constant(0))
    return std::nullopt;
  return before;
}

// Takes `next` = ((self + a) mod m + b) mod m … apart, as loops that read an array periodically have it, unrolled or not:
// in iteration i, the register is (start + i · (a + b + …)) mod m.
std::optional<ExprId> ClosedForms::periodic_index(ExprId start, ExprId next, ExprId self,
                                                  std::uint32_t loop) {
  constexpr int most_steps = 64;
  std::optional<ExprId> modulus;
  auto step = exprs_.constant(0);
  start = without_nested_remainders(exprs_, facts_->simplify(start));
  for (int i = 0; i < most_steps; ++i) {
    if (const auto last = exprs_.subtract(next, self); is_invariant(evaluator_, last, loop)) {
      if (!modulus || !is_step(last, *modulus) || !is_index(start, *modulus)) return std::nullopt;
      return exprs_.modulo(exprs_.add(start, exprs_.multiply(exprs_.add(step, last), exprs_.counter(loop))),
                           *modulus);
    }
    const auto division = remainder_in(next, loop);
    if (!division || (modulus && *modulus != exprs_[*division].b)) return std::nullopt;
    const auto node = exprs_[*division];
    modulus = node.b;
    const auto remainder = exprs_.subtract(node.a, exprs_.multiply(node.b, *division));
    const auto added = exprs_.subtract(next, remainder);
    if (!is_step(added, *modulus)) return std::nullopt;
    step = exprs_.add(step, added);
    next = node.a;
  }
  return std::nullopt;
}

// The division a / m of `expr` = a mod m + c, where m and c are the same in all iterations of `loop`.
std::optional<ExprId> ClosedForms::remainder_in(ExprId expr, std::uint32_t loop) {
  std::vector<Term> terms;
  exprs_.linear_terms(expr, terms);
  for (const auto& term : terms)
    for (const auto& part : exprs_.parts(term.atom)) {
      const auto node = exprs_[part.atom];
      if ((node.op != SymbolicOp::floor_divide && node.op != SymbolicOp::truncated_divide) ||
          !is_invariant(evaluator_, node.b, loop))
        continue;
      const auto remainder = exprs_.subtract(node.a, exprs_.multiply(node.b, part.atom));
      if (is_invariant(evaluator_, exprs_.subtract(expr, remainder), loop)) return part.atom;
    }
  return std::nullopt;
}

// Whether an index to which `added` is added stays above 0: whoever goes back by c adds m - c.
bool ClosedForms::is_step(ExprId added, ExprId modulus) {
  return facts_->not_negative(added) || exprs_.is_constant(exprs_.subtract(added, modulus));
}

// Whether 0 <= `expr` < `modulus`.
bool ClosedForms::is_index(ExprId expr, ExprId modulus) {
  const auto node = exprs_[expr];
  if (exprs_.is_constant(expr, 0)) return true;
  if (node.op == SymbolicOp::select) return is_index(node.b, modulus) && is_index(node.c, modulus);
  std::vector<Term> terms;
  exprs_.linear_terms(expr, terms);
  for (const auto& term : terms)
    for (const auto& part : exprs_.parts(term.atom))
      if (const auto quotient = exprs_[part.atom];
          quotient.op == SymbolicOp::floor_divide && quotient.b == modulus &&
          exprs_.subtract(quotient.a, exprs_.multiply(modulus, part.atom)) == expr)
        return true;
  const auto below = [&](ExprId end) {
    return facts_->not_negative(exprs_.add(exprs_.subtract(end, expr), exprs_.constant(-1)));
  };
  if (!facts_->not_negative(expr)) return false;
  if (below(modulus)) return true;
  // Below a part of the modulus, such as N of 4 · N.
  std::vector<Term> parts;
  return exprs_.linear_terms(modulus, parts) == 0 && parts.size() == 1 && parts[0].coefficient > 0 &&
         below(parts[0].atom);
}

// Where paths join: the same value from everywhere, or one that the branches' conditions select.
ExprId ClosedForms::merge(std::uint32_t phi, std::uint32_t context) {
  const auto& cfg = evaluator_.cfg();
  const auto self = exprs_.phi(phi);
  const auto block = evaluator_.phi(phi).block;
  const auto& predecessors = cfg.blocks[block].predecessors;
  const auto incoming = evaluator_.incoming(phi);  // a copy
  if (incoming.size() != predecessors.size()) return self;
  std::vector<IncomingEdge> edges;
  for (std::size_t i = 0; i < incoming.size(); ++i)
    if (cfg.blocks[predecessors[i]].reachable)
      edges.push_back({predecessors[i], resolve(incoming[i], context)});
  return selected(block, edges, 0).value_or(self);
}

// The value that the branches between the common dominator of `edges` and `block` select.
std::optional<ExprId> ClosedForms::selected(std::uint32_t block, const std::vector<IncomingEdge>& edges,
                                            int depth) {
  const auto& cfg = evaluator_.cfg();
  if (edges.empty() || edges.size() > 16 || depth > 16) return std::nullopt;
  if (std::all_of(edges.begin(), edges.end(),
                  [&](const IncomingEdge& edge) { return edge.value == edges[0].value; }))
    return edges[0].value;
  auto up = edges[0].from;
  for (const auto& edge : edges)
    while (up != none && !cfg.dominates(up, edge.from)) up = cfg.blocks[up].dominator;
  if (up == none || cfg.blocks[up].successors.size() != 2) return std::nullopt;
  std::vector<IncomingEdge> sides[2];
  for (const auto& edge : edges) {
    int side = -1;
    for (int i = 0; i < 2; ++i) {
      const auto next = cfg.blocks[up].successors[i];
      const bool by = edge.from == up ? next == block : next != block && cfg.dominates(next, edge.from);
      if (by) side = side == -1 ? i : 2;
    }
    if (side != 0 && side != 1) return std::nullopt;
    sides[side].push_back(edge);
  }
  if (sides[0].empty() || sides[1].empty()) return std::nullopt;
  const auto then_value = selected(block, sides[0], depth + 1),
             else_value = selected(block, sides[1], depth + 1);
  if (!then_value || !else_value) return std::nullopt;
  const auto condition = resolve(evaluator_.guard(cfg.blocks[up].end - 1), cfg.blocks[up].loop);
  return exprs_.select(condition, *then_value, *else_value);
}

}  // namespace warptime::analysis
