#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "analyzer/periods/items.h"
#include "analyzer/periods/lowering.h"

namespace warptime::periods {
namespace {

using analysis::ExprId;
using analysis::Facts;
using analysis::none;

constexpr int max_depth = 400;

// A rough weight, to choose the busier of two sides: cycles of one turn, loops counted ten times.
double weight_of(const Items& items) {
  double sum = 0;
  for (const auto& item : items) {
    if (const auto* i = std::get_if<Instructions>(&item.what))
      sum += i->count.is_integer() ? static_cast<double>(i->count.integer_value()) : 1;
    else if (std::holds_alternative<MemoryAccess>(item.what))
      sum += 100;
    else if (const auto* r = std::get_if<Repeat>(&item.what))
      sum += 10 * weight_of(r->body);
    else if (const auto* w = std::get_if<When>(&item.what))
      sum += std::max(weight_of(w->then_items), weight_of(w->else_items));
  }
  return sum;
}

bool same_access(const MemoryAccess& a, const MemoryAccess& b) {
  return a.kind == b.kind && a.cycles == b.cycles && a.access == b.access && a.bytes == b.bytes &&
         a.sectors == b.sectors && a.stride == b.stride && a.note == b.note;
}

// Whether two sides do the same, wherever it stands in the text.
bool same_items(const Items& a, const Items& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].what.index() != b[i].what.index()) return false;
    if (const auto* x = std::get_if<Instructions>(&a[i].what)) {
      if (!(x->count == std::get<Instructions>(b[i].what).count)) return false;
    } else if (const auto* m = std::get_if<MemoryAccess>(&a[i].what)) {
      if (!same_access(*m, std::get<MemoryAccess>(b[i].what))) return false;
    } else if (const auto* r = std::get_if<Repeat>(&a[i].what)) {
      const auto& s = std::get<Repeat>(b[i].what);
      if (!(r->count == s.count) || r->counter != s.counter || !same_items(r->body, s.body)) return false;
    } else if (const auto* w = std::get_if<When>(&a[i].what)) {
      const auto& s = std::get<When>(b[i].what);
      if (!(w->condition == s.condition) || !same_items(w->then_items, s.then_items) ||
          !same_items(w->else_items, s.else_items))
        return false;
    }
  }
  return true;
}

}  // namespace

// Compilers' output comes to each block once; 1.2 times is the most that was met.
bool Lowering::within_budget(std::uint32_t b, int depth) {
  if (failure_) return false;
  if (depth > max_depth || ++lowered_blocks_ > 8 * flow_.cfg.blocks.size() + 2000) {
    fail(fail_at(flow_.cfg.blocks[b].first,
                 "control flow too entangled: branches that share code without a common end"));
    return false;
  }
  return true;
}

// From block `b` until `stop` (not included) or the end of the kernel, within loop `loop`.
Items Lowering::region(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, Facts facts, int depth) {
  Items items;
  const auto& cfg = flow_.cfg;
  while (b != none && b != stop && b != cfg.exit()) {
    if (!within_budget(b, depth)) return items;
    const auto inner = cfg.blocks[b].loop;
    if (inner != loop) {
      if (inner == none || !cfg.contains(loop, b)) break;  // left the loop by another way
      auto child = inner;
      while (child != none && cfg.loops[child].parent != loop) child = cfg.loops[child].parent;
      b = loop_items(child, facts, depth + 1, items);
      continue;
    }
    block_items(b, loop, facts, items);
    b = after_block(b, stop, loop, facts, depth, items);
  }
  return items;
}

// Lowers what the end of block `b` decides; gives the block that everything meets in again.
std::uint32_t Lowering::after_block(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, Facts& facts,
                                    int depth, Items& items) {
  const auto& block = flow_.cfg.blocks[b];
  std::vector<std::uint32_t> ways;
  for (const auto s : block.successors)
    if (flow_.cfg.contains(loop, s)) ways.push_back(s);
  const auto last = block.end - 1;
  if (ways.size() < block.successors.size() && !ways.empty())
    assume(last, "the loop may be left early here, which data or threads decide: taken to run to its end");
  if (ways.empty()) return none;
  if (ways.size() == 1) return ways[0];
  const auto join = meeting_point(b, loop);
  if (ways.size() > 2) return several_ways(b, ways, join, loop, facts, depth, items);
  const auto guard = condition(flow_.evaluator.guard(last), loop, facts);
  if (exprs_.is_constant(guard)) return exprs_[guard].number != 0 ? ways[0] : ways[1];
  Facts if_taken = facts, if_not = facts;
  if_taken.assume(guard, true);
  if_not.assume(guard, false);
  const auto end = join == none ? stop : join;
  const bool varies = (flow_.evaluator.dependence(guard) & (analysis::on_thread | analysis::on_block |
                                                            analysis::on_counter | analysis::on_data)) != 0;
  if (varies) path_.push_back({guard, true});
  auto taken = region(ways[0], end, loop, if_taken, depth + 1);
  if (varies) path_.back().holds = false;
  auto other = region(ways[1], end, loop, if_not, depth + 1);
  if (varies) path_.pop_back();
  if (failure_) return none;
  const bool at_end = end == flow_.cfg.exit() || only_returns(end);
  // A side that only jumps to the end is the empty side of a guard.
  if (at_end && (flow_.evaluator.dependence(guard) & analysis::on_thread) != 0) {
    if (!other.empty() && only_jumps(ways[0], end))
      taken.clear();
    else if (!taken.empty() && only_jumps(ways[1], end))
      other.clear();
  }
  join_sides(last, guard, std::move(taken), std::move(other), items, at_end);
  return join;
}

void Lowering::join_sides(std::uint32_t last, ExprId guard, Items taken, Items other, Items& items,
                          bool at_end) {
  const auto dependence = flow_.evaluator.dependence(guard);
  const bool divergent = (dependence & analysis::on_thread) != 0;
  if (same_items(taken, other) && (!divergent || taken.empty())) {
    append(items, std::move(other));
    return;
  }
  if (uniform(guard)) {
    if (when(last, guard, taken, other, items)) return;
  } else if (divergent) {
    if (taken.empty() || other.empty()) {
      const bool skips = taken.empty();
      if (at_end)
        assume(last,
               fmt::format("guard `{}`: taken to pass", readable(skips ? exprs_.logical_not(guard) : guard)));
      else
        assume(last, fmt::format("`{}` differs between the threads of a warp: taken to hold for some of each",
                                 readable(skips ? exprs_.logical_not(guard) : guard)));
    } else {
      assume(last, fmt::format("`{}` differs between the threads of a warp: both sides are executed",
                               readable(guard)));
    }
    append(items, std::move(other));
    append(items, std::move(taken));
    return;
  } else if ((dependence & analysis::on_block) != 0 && (dependence & analysis::on_data) == 0) {
    const bool take = weight_of(taken) > weight_of(other);
    assume(last, fmt::format("`{}` differs between blocks: taken as in the blocks that do more",
                             readable(take ? guard : exprs_.logical_not(guard))));
    append(items, take ? std::move(taken) : std::move(other));
    return;
  }
  // The same for all threads, but nothing here says which: the user must.
  const auto name = parameter_for(
      fmt::format("taken_at_{}", place_for_name(last)),
      fmt::format(
          "1 where the branch at {} is taken, 0 where not: `{}` is not a form of the kernel's arguments",
          place(last), readable(guard)));
  emit_when(Expression::make(Expression::Operator::not_equal, {Expression::name(name), Expression(0)}),
            std::move(taken), std::move(other), last, items);
}

bool Lowering::when(std::uint32_t last, ExprId guard, Items& taken, Items& other, Items& items) {
  auto expression = expression_of(guard, last);
  if (!expression) return false;
  // `then` is the side that does something; where both do, the one that reads `<`, `<=` or `==`.
  const auto op = expression->op();
  const bool reads_backwards = op == Expression::Operator::greater ||
                               op == Expression::Operator::greater_equal ||
                               op == Expression::Operator::not_equal;
  const bool swap = taken.empty() || (!other.empty() && reads_backwards);
  if (swap) expression = expression_of(exprs_.logical_not(guard), last);
  if (!expression) return false;
  if (swap)
    emit_when(*expression, std::move(other), std::move(taken), last, items);
  else
    emit_when(*expression, std::move(taken), std::move(other), last, items);
  return true;
}

void Lowering::emit_when(Expression condition, Items then_items, Items else_items, std::uint32_t last,
                         Items& items) {
  items.push_back({When{std::move(condition), std::move(then_items), std::move(else_items)},
                   source_lines(last), ptx_lines(last)});
}

// A branch with more than two targets (brx.idx): which one is taken is not known; the one that does most
// stands for it.
std::uint32_t Lowering::several_ways(std::uint32_t b, const std::vector<std::uint32_t>& ways,
                                     std::uint32_t join, std::uint32_t loop, const Facts& facts, int depth,
                                     Items& items) {
  const auto last = flow_.cfg.blocks[b].end - 1;
  std::set<std::uint32_t> distinct(ways.begin(), ways.end());
  distinct.erase(join);
  assume(last, fmt::format("a branch with {} targets: the one that does most is taken", distinct.size()));
  Items busiest;
  for (const auto way : distinct) {
    auto side = region(way, join == none ? flow_.cfg.exit() : join, loop, facts, depth + 1);
    if (weight_of(side) > weight_of(busiest)) busiest = std::move(side);
  }
  append(items, std::move(busiest));
  return join;
}

bool Lowering::only_jumps(std::uint32_t b, std::uint32_t end) const {
  for (std::size_t steps = 0; b != end && steps < flow_.cfg.blocks.size(); ++steps) {
    const auto& block = flow_.cfg.blocks[b];
    if (block.successors.size() != 1) return false;
    for (auto i = block.first; i < block.end; ++i)
      if (!function_.instructions[i].opcode.starts_with("bra") &&
          out_.roles[i].kind != InstructionRole::Kind::none)
        return false;
    b = block.successors[0];
  }
  return true;
}

bool Lowering::only_returns(std::uint32_t b) const {
  if (b == none) return true;
  const auto& block = flow_.cfg.blocks[b];
  if (block.successors.size() != 1 || block.successors[0] != flow_.cfg.exit()) return false;
  for (auto i = block.first; i < block.end; ++i)
    if (out_.roles[i].kind != InstructionRole::Kind::none) return false;
  return true;
}

// Where the ways out of `b` meet again within the loop; none: only at the loop's next turn, or nowhere.
std::uint32_t Lowering::meeting_point(std::uint32_t b, std::uint32_t loop) {
  const auto global = flow_.cfg.blocks[b].post_dominator;
  if (loop == none) return global;
  auto& local = local_post_dominators_[loop];
  if (local.empty()) local = post_dominators_in(loop);
  const auto it = local.find(b);
  return it == local.end() ? none : it->second;
}

// Post-dominators within one turn of a loop: edges to its header end the turn, edges out of it do not count
// where there is another. Cooper, Harvey and Kennedy, A simple, fast dominance algorithm (2001).
std::map<std::uint32_t, std::uint32_t> Lowering::post_dominators_in(std::uint32_t loop_index) const {
  const auto& loop = flow_.cfg.loops[loop_index];
  std::map<std::uint32_t, std::vector<std::uint32_t>> successors, predecessors;
  const std::uint32_t end = flow_.cfg.exit();
  for (const auto b : loop.blocks) {
    auto& list = successors[b];
    for (const auto s : flow_.cfg.blocks[b].successors)
      if (flow_.cfg.contains(loop_index, s)) list.push_back(s == loop.header ? end : s);
    if (list.empty()) list.push_back(end);
    for (const auto s : list) predecessors[s].push_back(b);
  }
  std::vector<std::uint32_t> order;  // postorder of the reversed graph
  std::map<std::uint32_t, std::uint32_t> number;
  std::set<std::uint32_t> seen{end};
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    const auto& before = predecessors[b];
    if (next == before.size()) {
      number[b] = static_cast<std::uint32_t>(order.size());
      order.push_back(b);
      stack.pop_back();
    } else if (const auto p = before[next++]; seen.insert(p).second) {
      stack.emplace_back(p, 0);
    }
  }
  std::map<std::uint32_t, std::uint32_t> immediate{{end, end}};
  const auto intersect = [&](std::uint32_t x, std::uint32_t y) {
    while (x != y) {
      while (number[x] < number[y]) x = immediate[x];
      while (number[y] < number[x]) y = immediate[y];
    }
    return x;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == end) continue;
      std::uint32_t best = none;
      for (const auto s : successors[*it])
        if (immediate.contains(s)) best = best == none ? s : intersect(s, best);
      if (best == none) continue;
      const auto found = immediate.find(*it);
      if (found == immediate.end() || found->second != best) {
        immediate[*it] = best;
        changed = true;
      }
    }
  }
  for (auto& [b, p] : immediate)
    if (p == end) p = none;
  return immediate;
}

}  // namespace warptime::periods
