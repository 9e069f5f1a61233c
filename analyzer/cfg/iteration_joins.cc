#include "analyzer/cfg/iteration_joins.h"

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace warptime::analysis {
namespace {

using Edges = std::map<std::uint32_t, std::vector<std::uint32_t>>;

// The blocks from which `end` can be reached, each after those that precede it: the postorder of the reversed
// graph.
std::vector<std::uint32_t> reverse_postorder(std::uint32_t end, Edges& predecessors) {
  std::vector<std::uint32_t> order;
  std::set<std::uint32_t> seen{end};
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    const auto& before = predecessors[b];
    if (next == before.size()) {
      order.push_back(b);
      stack.pop_back();
    } else if (const auto p = before[next++]; seen.insert(p).second) {
      stack.emplace_back(p, 0);
    }
  }
  return order;
}

}  // namespace

std::uint32_t IterationJoins::join_of(std::uint32_t block, std::uint32_t loop) {
  if (loop == none) return cfg_.blocks[block].post_dominator;
  auto& found = by_loop_[loop];
  if (found.empty()) found = post_dominators_in(loop);
  const auto it = found.find(block);
  return it == found.end() ? none : it->second;
}

// Edges to the loop's header end the iteration, edges out of the loop do not count where there is another.
// Cooper, Harvey and Kennedy, A simple, fast dominance algorithm (2001).
IterationJoins::ByBlock IterationJoins::post_dominators_in(std::uint32_t loop_index) const {
  const auto& loop = cfg_.loops[loop_index];
  Edges successors, predecessors;
  const std::uint32_t end = cfg_.exit();
  for (const auto b : loop.blocks) {
    auto& list = successors[b];
    for (const auto s : cfg_.blocks[b].successors)
      if (cfg_.contains(loop_index, s)) list.push_back(s == loop.header ? end : s);
    if (list.empty()) list.push_back(end);
    for (const auto s : list) predecessors[s].push_back(b);
  }
  const auto order = reverse_postorder(end, predecessors);
  std::map<std::uint32_t, std::uint32_t> number;
  for (const auto b : order) number.emplace(b, static_cast<std::uint32_t>(number.size()));
  ByBlock immediate{{end, end}};
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

}  // namespace warptime::analysis
