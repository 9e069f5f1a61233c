#include "analyzer/periods/region_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "analyzer/periods/items.h"
#include "analyzer/periods/loop_lowering.h"

namespace warptime::periods {
namespace {

constexpr int max_depth = 400;

}  // namespace

using analysis::ExprId;
using analysis::Facts;
using analysis::none;

// Compilers' output comes to each block once; 1.2 times is the most that was seen.
bool RegionLowering::within_budget(std::uint32_t b, int depth) {
  if (notes_.failure()) return false;
  if (depth > 2 * max_depth || ++lowered_blocks_ > 32 * flow_.cfg.blocks.size() + 1'000) {
    notes_.fail(
        notes_.error_about(flow_.cfg.blocks[b].first,
                           "control flow too entangled: branches that share code without a common end"));
    return false;
  }
  return true;
}

Items RegionLowering::region(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, Facts facts,
                             int depth) {
  Items items;
  const auto& cfg = flow_.cfg;
  while (b != none && b != stop && b != cfg.exit()) {
    if (!within_budget(b, depth)) return items;
    const auto inner = cfg.blocks[b].loop;
    if (inner != loop) {
      if (inner == none || !cfg.contains(loop, b)) break;  // the path has left the loop
      auto child = inner;
      while (child != none && cfg.loops[child].parent != loop) child = cfg.loops[child].parent;
      b = loops_.append_loop(child, facts, depth + 1, items);
      continue;
    }
    blocks_.append_block(b, loop, facts, items);
    b = after_block(b, stop, loop, facts, depth, items);
  }
  return items;
}

std::string_view RegionLowering::why_left_early(std::uint32_t b, std::uint32_t loop, const Facts& facts) {
  const auto& block = flow_.cfg.blocks[b];
  const auto raw = flow_.evaluator.guard(block.end - 1);
  if ((flow_.evaluator.dependence(raw) & analysis::on_data) == 0) return kMayBeLeftEarlyHere;
  auto leaves = conditions_.resolve(raw, loop, facts);
  if (flow_.cfg.contains(loop, block.successors[0])) leaves = exprs_.logical_not(leaves);
  const auto condition = Expression::parse(conditions_.readable(leaves));
  if (!condition || condition->op() != Expression::Operator::not_equal) return kDataMayLeaveHere;
  const auto is_zero = [](const Expression& one) { return one.is_integer() && one.integer_value() == 0; };
  const auto compared = condition->operands();
  const bool flag = std::any_of(compared.begin(), compared.end(), is_zero);  // what is set, not what differs
  return flag ? kDataMayLeaveHere : kDifferentDataLeaveHere;
}

std::uint32_t RegionLowering::after_block(std::uint32_t b, std::uint32_t stop, std::uint32_t loop,
                                          Facts& facts, int depth, Items& items) {
  const auto& block = flow_.cfg.blocks[b];
  std::vector<std::uint32_t> targets;
  for (const auto s : block.successors)
    if (flow_.cfg.contains(loop, s)) targets.push_back(s);
  const auto last = block.end - 1;
  const auto heeded = [&] {
    const auto& blocks = flow_.loops.trip_count(loop).heeded;
    return std::find(blocks.begin(), blocks.end(), b) != blocks.end();
  };
  if (targets.size() < block.successors.size() && !targets.empty() && !heeded())
    notes_.assume(last, std::string(why_left_early(b, loop, facts)));
  if (targets.empty()) return none;
  if (targets.size() == 1) return targets[0];
  if (depth > max_depth || lowered_blocks_ > 8 * flow_.cfg.blocks.size() + 2000) {
    // Branches that share code without a common end double what is written with each.
    if (!std::exchange(entangled_, true))
      notes_.assume(
          last,
          "control flow too entangled: from here on, branches that share code are taken in one direction "
          "only, as if their conditions did not hold");
    return targets.back();
  }
  const auto join = joins_in_.join_of(b, loop);
  if (targets.size() > 2) return after_switch(b, targets, join, loop, facts, depth, items);
  const auto guard = conditions_.resolve(flow_.evaluator.guard(last), loop, facts);
  if (exprs_.is_constant(guard)) return exprs_[guard].number != 0 ? targets[0] : targets[1];
  Facts if_taken = facts, if_not = facts;
  if_taken.assume(guard, true);
  if_not.assume(guard, false);
  const auto end = join == none ? stop : join;
  const bool varies = (flow_.evaluator.dependence(guard) & (analysis::on_thread | analysis::on_block |
                                                            analysis::on_counter | analysis::on_data)) != 0;
  if (varies) conditions_.enter_taken_side(guard);
  auto taken = region(targets[0], end, loop, if_taken, depth + 1);
  if (varies) conditions_.enter_other_side();
  auto other = region(targets[1], end, loop, if_not, depth + 1);
  if (varies) conditions_.leave_branch();
  if (notes_.failure()) return none;
  const bool at_end = end == flow_.cfg.exit() || only_returns(end);
  // A side that only jumps to the end is the empty side of a guard.
  Items jumps;
  bool taken_jumps = false;
  if (at_end && (flow_.evaluator.dependence(guard) & analysis::on_thread) != 0) {
    taken_jumps = !other.empty() && only_jumps(targets[0], end);
    if (taken_jumps)
      jumps = std::exchange(taken, {});
    else if (!taken.empty() && only_jumps(targets[1], end))
      jumps = std::exchange(other, {});
  }
  sides_.append(last, guard, std::move(taken), std::move(other), at_end, items);
  if (!jumps.empty())
    append_jumps(last, taken_jumps ? guard : exprs_.logical_not(guard), std::move(jumps), items);
  return join;
}

// What the threads execute that a guard turns away: of a launch alone, as a program without one is of a warp whose
// threads all pass.
void RegionLowering::append_jumps(std::uint32_t last, ExprId guard, Items jumps, Items& items) {
  auto threads = conditions_.of_threads(guard);
  if (!threads) return;
  When when{Expression(0), std::move(jumps), {}};
  when.then_threads = std::move(*threads);
  items.push_back({std::move(when), notes_.source_lines(last), notes_.ptx_lines(last)});
}

// A branch with more than two targets (brx.idx): which one is taken is not known; the one that does most
// stands for it.
std::uint32_t RegionLowering::after_switch(std::uint32_t b, const std::vector<std::uint32_t>& targets,
                                           std::uint32_t join, std::uint32_t loop, const Facts& facts,
                                           int depth, Items& items) {
  const auto last = flow_.cfg.blocks[b].end - 1;
  std::set<std::uint32_t> distinct(targets.begin(), targets.end());
  distinct.erase(join);
  notes_.assume(last,
                fmt::format("a branch with {} targets: the one that does most is taken", distinct.size()));
  Items most;
  for (const auto target : distinct) {
    auto side = region(target, join == none ? flow_.cfg.exit() : join, loop, facts, depth + 1);
    if (weight_of(side) > weight_of(most)) most = std::move(side);
  }
  append(items, std::move(most));
  return join;
}

bool RegionLowering::only_jumps(std::uint32_t b, std::uint32_t end) const {
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

bool RegionLowering::only_returns(std::uint32_t b) const {
  if (b == none) return true;
  const auto& block = flow_.cfg.blocks[b];
  if (block.successors.size() != 1 || block.successors[0] != flow_.cfg.exit()) return false;
  for (auto i = block.first; i < block.end; ++i)
    if (out_.roles[i].kind != InstructionRole::Kind::none) return false;
  return true;
}

}  // namespace warptime::periods
