#include "analyzer/cfg/iteration_joins.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace warptime::analysis {
std::uint32_t IterationJoins::join_of(std::uint32_t block, std::uint32_t loop) {
  if (loop == none) return cfg_.blocks[block].post_dominator;
  if (by_loop_.empty()) by_loop_.resize(cfg_.loops.size());
  auto& joins = by_loop_[loop];
  if (joins.empty()) joins = post_dominators_in(loop);
  const auto& blocks = cfg_.loops[loop].blocks;
  const auto at = std::lower_bound(blocks.begin(), blocks.end(), block);
  return at != blocks.end() && *at == block ? joins[static_cast<std::size_t>(at - blocks.begin())] : none;
}

// The loop's blocks by their places in Loop::blocks, which ascend, and one more for the end of the iteration.
// Edges to the loop's header end the iteration, edges out of the loop do not count where there is another.
// Cooper, Harvey and Kennedy, A simple, fast dominance algorithm (2001).
std::vector<std::uint32_t> IterationJoins::post_dominators_in(std::uint32_t loop_index) const {
  const auto& loop = cfg_.loops[loop_index];
  const auto end = static_cast<std::uint32_t>(loop.blocks.size());
  if (end == 1) return {none};  // most loops
  const auto place_of = [&](std::uint32_t block) {
    return static_cast<std::uint32_t>(std::lower_bound(loop.blocks.begin(), loop.blocks.end(), block) -
                                      loop.blocks.begin());
  };
  std::vector<std::vector<std::uint32_t>> successors(end), predecessors(end + 1);
  for (std::uint32_t b = 0; b < end; ++b) {
    auto& list = successors[b];
    for (const auto s : cfg_.blocks[loop.blocks[b]].successors)
      if (s == loop.header)
        list.push_back(end);
      else if (cfg_.contains(loop_index, s))
        list.push_back(place_of(s));
    if (list.empty()) list.push_back(end);
    for (const auto s : list) predecessors[s].push_back(b);
  }
  // The blocks from which the end can be reached, each after those that precede it: the postorder of the
  // reversed graph.
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> number(end + 1, none);  // in `order`
  std::vector<bool> seen(end + 1, false);
  seen[end] = true;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    const auto& before = predecessors[b];
    if (next == before.size()) {
      number[b] = static_cast<std::uint32_t>(order.size());
      order.push_back(b);
      stack.pop_back();
    } else if (const auto p = before[next++]; !seen[p]) {
      seen[p] = true;
      stack.emplace_back(p, 0);
    }
  }
  std::vector<std::uint32_t> immediate(end + 1, none);
  immediate[end] = end;
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
        if (immediate[s] != none) best = best == none ? s : intersect(s, best);
      if (best == none || immediate[*it] == best) continue;
      immediate[*it] = best;
      changed = true;
    }
  }
  immediate.pop_back();
  for (auto& p : immediate) p = p == end || p == none ? none : loop.blocks[p];
  return immediate;
}

}  // namespace warptime::analysis
