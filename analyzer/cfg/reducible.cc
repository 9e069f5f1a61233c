#include "analyzer/cfg/reducible.h"

#include <algorithm>
#include <utility>

namespace warptime::analysis {
namespace {

using BlockList = std::vector<std::uint32_t>;
using Edge = std::pair<std::uint32_t, std::uint32_t>;

class Splitter {
 public:
  Splitter(std::vector<Block>& blocks, KernelCode& code, const std::vector<Loop::Exit>& retreating,
           std::size_t most_copies)
      : blocks_(blocks), code_(code), copies_left_(most_copies) {
    for (const auto& edge : retreating) retreating_.emplace_back(edge.from, edge.to);
    std::sort(retreating_.begin(), retreating_.end());
    grow();
  }

  bool run() {
    const auto reachable = reachable_blocks();
    for (const auto b : reachable)
      for (const auto s : blocks_[b].successors) predecessors_[s].push_back(b);
    const auto before = blocks_.size();
    add_cycles_in(reachable, false);
    while (!work_.empty()) {
      const auto cycle = std::move(work_.back());
      work_.pop_back();
      one_entry(cycle);
    }
    return blocks_.size() != before;
  }

 private:
  struct Cycle {
    BlockList blocks;
    bool within_split = false;  // in what was split, or copied: `retreating_` says nothing of it any more
  };

  BlockList reachable_blocks() const {
    std::vector<bool> seen(blocks_.size(), false);
    BlockList order{0};
    seen[0] = true;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const auto s : blocks_[order[i]].successors)
        if (!seen[s]) {
          seen[s] = true;
          order.push_back(s);
        }
    return order;
  }

  void grow() {
    const auto count = blocks_.size();
    predecessors_.resize(count);
    mark_.resize(count, 0);
    number_.resize(count, none);
    low_.resize(count, none);
    copy_of_.resize(count, none);
  }

  void one_entry(const Cycle& cycle) {
    const auto inside = ++marks_;
    for (const auto b : cycle.blocks) mark_[b] = inside;
    // A cycle is entered at several places only where an edge of it retreats to a block that does not
    // dominate where it comes from.
    if (!cycle.within_split && !retreats_within(cycle.blocks, inside)) return;
    const auto entries = entries_of(cycle.blocks, inside);
    if (entries.empty()) return;
    auto header = entries[0];
    bool within_split = cycle.within_split;
    if (entries.size() > 1) {
      BlockList copies;
      if (!split(cycle.blocks, entries, inside, header, copies)) return;
      within_split = true;
      add_cycles_in(copies, true);
    }
    if (cycle.blocks.size() < 2) return;
    BlockList rest;
    for (const auto b : cycle.blocks)
      if (b != header) rest.push_back(b);
    add_cycles_in(rest, within_split);
  }

  bool retreats_within(const BlockList& cycle, std::uint32_t inside) const {
    for (const auto b : cycle) {
      auto edge = std::lower_bound(retreating_.begin(), retreating_.end(), Edge{b, 0});
      for (; edge != retreating_.end() && edge->first == b; ++edge)
        if (mark_[edge->second] == inside) return true;
    }
    return false;
  }

  // Blocks of the cycle that are entered from outside, or at the kernel's start; ascending.
  BlockList entries_of(const BlockList& cycle, std::uint32_t inside) const {
    BlockList entries;
    for (const auto b : cycle) {
      const auto& from = predecessors_[b];
      if (b == 0 ||
          std::any_of(from.begin(), from.end(), [&](std::uint32_t p) { return mark_[p] != inside; }))
        entries.push_back(b);
    }
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  // What the other entries reach within the cycle without passing `header`.
  BlockList bypass(const BlockList& cycle, const BlockList& entries, std::uint32_t header) {
    const auto open = ++marks_;
    for (const auto b : cycle)
      if (b != header) mark_[b] = open;
    BlockList reached;
    const auto reach = [&](std::uint32_t b) {
      if (mark_[b] != open) return;
      mark_[b] = 0;
      reached.push_back(b);
    };
    for (const auto e : entries) reach(e);
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const auto s : blocks_[reached[i]].successors) reach(s);
    return reached;
  }

  // Gives the cycle one entry, `header`: the one for which least must be copied. False: too much.
  bool split(const BlockList& cycle, const BlockList& entries, std::uint32_t inside, std::uint32_t& header,
             BlockList& copies) {
    constexpr std::size_t most_candidates = 8;
    const std::size_t candidates =
        entries[0] == 0 ? 1 : std::min(entries.size(), most_candidates);  // the kernel's start cannot move
    BlockList best;
    std::size_t best_size = ~std::size_t{0};
    for (std::size_t i = 0; i < candidates; ++i) {
      auto copied = bypass(cycle, entries, entries[i]);
      std::size_t size = 0;
      for (const auto b : copied) size += blocks_[b].end - blocks_[b].first + 1;
      if (size < best_size) {
        best_size = size;
        best = std::move(copied);
        header = entries[i];
      }
    }
    for (const auto b : cycle) mark_[b] = inside;
    if (best_size > copies_left_) return false;
    copies_left_ -= best_size;
    for (const auto b : best) {
      copy_of_[b] = static_cast<std::uint32_t>(blocks_.size());
      Block copy;
      copy.first = code_.duplicate(blocks_[b].first, blocks_[b].end);
      copy.end = copy.first + (blocks_[b].end - blocks_[b].first);
      copy.successors = blocks_[b].successors;
      copies.push_back(copy_of_[b]);
      blocks_.push_back(std::move(copy));
    }
    grow();
    for (const auto c : copies)
      for (auto& s : blocks_[c].successors) {
        if (copy_of_[s] != none) s = copy_of_[s];
        predecessors_[s].push_back(c);
      }
    // Who entered elsewhere enters the copy.
    for (const auto e : best) {
      BlockList stay;
      for (const auto p : predecessors_[e]) {
        if (mark_[p] == inside) {
          stay.push_back(p);
          continue;
        }
        std::replace(blocks_[p].successors.begin(), blocks_[p].successors.end(), e, copy_of_[e]);
        predecessors_[copy_of_[e]].push_back(p);
      }
      predecessors_[e] = std::move(stay);
    }
    for (const auto b : best) copy_of_[b] = none;
    return true;
  }

  // Adds the strongly connected parts of `nodes` with more than one block or an edge to itself (Tarjan 1972,
  // without recursion).
  void add_cycles_in(const BlockList& nodes, bool within_split) {
    const auto inside = ++marks_;  // and not yet in a part
    for (const auto b : nodes) {
      mark_[b] = inside;
      number_[b] = none;
    }
    BlockList stack;
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    std::uint32_t next = 0;
    for (const auto root : nodes) {
      if (number_[root] != none) continue;
      path.emplace_back(root, 0);
      while (!path.empty()) {
        auto& [b, at] = path.back();
        if (at == 0 && number_[b] == none) {
          number_[b] = low_[b] = next++;
          stack.push_back(b);
        }
        const auto& successors = blocks_[b].successors;
        bool descended = false;
        while (at < successors.size()) {
          const auto s = successors[at++];
          if (mark_[s] != inside) continue;
          if (number_[s] == none) {
            path.emplace_back(s, 0);
            descended = true;
            break;
          }
          low_[b] = std::min(low_[b], number_[s]);
        }
        if (descended) continue;
        const auto done = b;
        path.pop_back();
        if (!path.empty()) low_[path.back().first] = std::min(low_[path.back().first], low_[done]);
        if (low_[done] != number_[done]) continue;
        BlockList part;
        for (std::uint32_t member = none; member != done;) {
          member = stack.back();
          stack.pop_back();
          mark_[member] = 0;
          part.push_back(member);
        }
        const auto& own = blocks_[done].successors;
        if (part.size() > 1 || std::find(own.begin(), own.end(), done) != own.end())
          work_.push_back({std::move(part), within_split});
      }
    }
  }

  std::vector<Block>& blocks_;
  KernelCode& code_;
  std::vector<Edge> retreating_;
  std::size_t copies_left_;  // instructions that may still be copied
  std::vector<Cycle> work_;
  // By block:
  std::vector<BlockList> predecessors_;  // those that are reachable; one with two edges stands twice
  std::vector<std::uint32_t> mark_;      // of the set that was marked last
  std::uint32_t marks_ = 0;
  std::vector<std::uint32_t> number_, low_;
  std::vector<std::uint32_t> copy_of_;  // while a cycle is split
};

}  // namespace

bool make_reducible(std::vector<Block>& blocks, KernelCode& code, const std::vector<Loop::Exit>& retreating,
                    std::size_t most_copies) {
  return Splitter(blocks, code, retreating, most_copies).run();
}

}  // namespace warptime::analysis
