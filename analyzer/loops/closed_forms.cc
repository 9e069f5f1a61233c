#include "analyzer/loops/closed_forms.h"

#include <algorithm>

namespace warptime::analysis {
namespace {

constexpr std::size_t max_open_phis = 64;
constexpr std::size_t max_closed_form_depth = 150;  // closed forms within closed forms
// Closed forms that are looked for in one kernel, in all and for each register that changes; beyond,
// registers stay without one. (Registers that form a cycle are looked at again and again, from every one of
// them.)
constexpr std::uint64_t least_steps = 1000, steps_per_phi = 32;

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

}  // namespace

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

ExprId ClosedForms::recurrence(std::uint32_t phi, std::uint32_t loop) {
  const auto& cfg = evaluator_.cfg();
  const auto self = exprs_.phi(phi);
  const auto block = evaluator_.phi(phi).block;
  const auto& predecessors = cfg.blocks[block].predecessors;
  const auto incoming = evaluator_.incoming(phi);  // a copy
  std::optional<ExprId> start, next;
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const bool inside = i < predecessors.size() && cfg.contains(loop, predecessors[i]);
    auto& place = inside ? next : start;
    const auto value = resolve(incoming[i], inside ? loop : cfg.loops[loop].parent);
    if (place && *place != value) return self;
    place = value;
  }
  if (!start) return self;
  if (!next || *next == self) return *start;
  const auto counter = exprs_.counter(loop);
  const auto step = exprs_.subtract(*next, self);
  if (is_invariant(evaluator_, step, loop)) return exprs_.add(*start, exprs_.multiply(step, counter));
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
  const auto node = exprs_[*next];
  if (node.op == SymbolicOp::floor_divide && node.a == self && exprs_.is_constant(node.b)) {
    const auto n = exprs_[node.b].number;
    if (n > 1 && (n & (n - 1)) == 0)
      return exprs_.floor_divide(*start,
                                 exprs_.power_of_two(exprs_.multiply(exprs_.log2_floor(node.b), counter)));
  }
  return self;
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
