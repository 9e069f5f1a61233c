#include "analyzer/machine/machine_flow.h"

#include <algorithm>
#include <map>
#include <set>

namespace warptime::machine {
namespace {

constexpr std::uint32_t kNoBlock = 0xffffffff;
constexpr std::uint16_t kBranchCode = 0x147, kIndirectBranch = 0x149, kExit = 0x14d, kReturn = 0x150;

class FlowBuilder {
 public:
  FlowBuilder(const MachineKernel& kernel, int target) : instructions_(kernel.instructions), target_(target) {
    size_ = instructions_.size();
    for (std::size_t i = size_; i-- > 0;)
      if (instructions_[i].in_subroutine) size_ = i;
  }

  MachineFlow build() {
    split();
    connect();
    order();
    find_dominators();
    find_loops();
    mark_seldom();
    return std::move(flow_);
  }

 private:
  static bool ends_block(const MachineInstruction& one) {
    return one.code == kBranchCode || one.code == kIndirectBranch || one.code == kExit || one.code == kReturn;
  }

  // The instruction that a branch leads to; kNoBlock: none of the kernel's own.
  std::uint32_t destination(const MachineInstruction& one) const {
    const auto to = branch_target(one, target_);
    if (!to || *to < 0) return kNoBlock;
    const auto at = std::lower_bound(
        instructions_.begin(), instructions_.begin() + static_cast<std::ptrdiff_t>(size_), *to,
        [](const MachineInstruction& a, std::int64_t address) { return a.address < address; });
    const auto index = static_cast<std::size_t>(at - instructions_.begin());
    return index < size_ && at->address == *to ? static_cast<std::uint32_t>(index) : kNoBlock;
  }

  void split() {
    std::set<std::uint32_t> begins;
    if (size_ > 0) begins.insert(0);
    for (std::uint32_t i = 0; i < size_; ++i) {
      const std::uint32_t to = destination(instructions_[i]);
      if (to != kNoBlock) begins.insert(to);
      if (ends_block(instructions_[i]) && i + 1 < size_) begins.insert(i + 1);
    }
    for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
      const auto next = std::next(begin);
      block_at_[*begin] = static_cast<std::uint32_t>(flow_.blocks.size());
      MachineBlock block;
      block.first = *begin;
      block.end = next == begins.end() ? static_cast<std::uint32_t>(size_) : *next;
      flow_.blocks.push_back(std::move(block));
    }
  }

  void connect(std::uint32_t from, std::uint32_t to) {
    flow_.blocks[from].successors.push_back(to);
    flow_.blocks[to].predecessors.push_back(from);
  }

  void connect() {
    std::vector<std::uint32_t> indirect;
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      const MachineInstruction& last = instructions_[flow_.blocks[b].end - 1];
      if (const std::uint32_t to = destination(last); to != kNoBlock) connect(b, block_at_[to]);
      if (last.code == kIndirectBranch) indirect.push_back(b);
      if ((!ends_block(last) || is_conditional(last) || is_taken_on_divergence(last)) &&
          b + 1 < flow_.blocks.size())
        connect(b, b + 1);
    }
    for (const std::uint32_t from : indirect)
      for (std::uint32_t b = 1; b < flow_.blocks.size(); ++b)
        if (flow_.blocks[b].predecessors.empty() || flow_.blocks[b].predecessors.front() == from)
          connect(from, b);
  }

  // Reverse postorder.
  void order() {
    number_.assign(flow_.blocks.size(), kNoBlock);
    if (flow_.blocks.empty()) return;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{0, 0}};
    flow_.blocks[0].reachable = true;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& successors = flow_.blocks[block].successors;
      if (next == successors.size()) {
        order_.push_back(block);
        stack.pop_back();
        continue;
      }
      const std::uint32_t to = successors[next++];
      if (flow_.blocks[to].reachable) continue;
      flow_.blocks[to].reachable = true;
      stack.emplace_back(to, 0);
    }
    std::reverse(order_.begin(), order_.end());
    for (std::uint32_t i = 0; i < order_.size(); ++i) number_[order_[i]] = i;
  }

  // Cooper, Harvey and Kennedy: "A Simple, Fast Dominance Algorithm".
  void find_dominators() {
    dominator_.assign(flow_.blocks.size(), kNoBlock);
    if (flow_.blocks.empty()) return;
    dominator_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t block : order_) {
        if (block == 0) continue;
        std::uint32_t common = kNoBlock;
        for (const std::uint32_t from : flow_.blocks[block].predecessors) {
          if (dominator_[from] == kNoBlock) continue;
          common = common == kNoBlock ? from : meet(common, from);
        }
        changed = changed || dominator_[block] != common;
        dominator_[block] = common;
      }
    }
  }

  std::uint32_t meet(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (number_[a] > number_[b]) a = dominator_[a];
      while (number_[b] > number_[a]) b = dominator_[b];
    }
    return a;
  }

  bool dominates(std::uint32_t a, std::uint32_t b) const {
    while (number_[b] > number_[a]) b = dominator_[b];
    return a == b;
  }

  void find_loops() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> latches;  // by header
    for (const std::uint32_t block : order_)
      for (const std::uint32_t to : flow_.blocks[block].successors)
        if (dominates(to, block)) latches[to].push_back(block);
    for (auto& [header, from] : latches) {
      MachineLoop loop;
      loop.header = header;
      loop.latches = from;
      std::set<std::uint32_t> inside = {header};
      std::vector<std::uint32_t> open(from);
      while (!open.empty()) {
        const std::uint32_t block = open.back();
        open.pop_back();
        if (!inside.insert(block).second) continue;
        for (const std::uint32_t before : flow_.blocks[block].predecessors)
          if (flow_.blocks[before].reachable) open.push_back(before);
      }
      loop.blocks.assign(inside.begin(), inside.end());
      flow_.loops.push_back(std::move(loop));
    }
    std::stable_sort(flow_.loops.begin(), flow_.loops.end(), [](const MachineLoop& a, const MachineLoop& b) {
      return a.blocks.size() > b.blocks.size();
    });
    for (std::uint32_t i = 0; i < flow_.loops.size(); ++i) {
      flow_.loops[i].parent = flow_.blocks[flow_.loops[i].header].loop;
      for (const std::uint32_t block : flow_.loops[i].blocks) flow_.blocks[block].loop = i;
    }
  }

  bool calls_slow_path(const MachineBlock& block) const {
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const auto to = call_target(instructions_[i], target_);
      if (!to || *to < 0) continue;
      const auto at = std::lower_bound(
          instructions_.begin(), instructions_.end(), *to,
          [](const MachineInstruction& a, std::int64_t address) { return a.address < address; });
      if (at != instructions_.end() && at->in_slow_path) return true;
    }
    return false;
  }

  // And what only such blocks lead to.
  void mark_seldom() {
    for (MachineBlock& block : flow_.blocks) {
      const MachineInstruction& last = instructions_[block.end - 1];
      const std::uint32_t to = is_taken_on_divergence(last) ? destination(last) : kNoBlock;
      if (to != kNoBlock) flow_.blocks[block_at_[to]].seldom = true;
      // A block that calls it unconditionally, as where every operand is exceptional, is as frequent as it
      // looks.
      if (block.predecessors.size() == 1 && calls_slow_path(block)) block.seldom = true;
    }
    for (const std::uint32_t block : order_) {
      const auto& from = flow_.blocks[block].predecessors;
      if (!from.empty() && std::all_of(from.begin(), from.end(),
                                       [this](std::uint32_t before) { return flow_.blocks[before].seldom; }))
        flow_.blocks[block].seldom = true;
    }
  }

  const std::vector<MachineInstruction>& instructions_;
  int target_;
  std::size_t size_ = 0;  // of the kernel's own instructions
  MachineFlow flow_;
  std::map<std::uint32_t, std::uint32_t> block_at_;  // by first instruction
  std::vector<std::uint32_t> order_, number_;        // the reachable blocks; by block: its place among them
  std::vector<std::uint32_t> dominator_;             // by block, immediate
};

}  // namespace

MachineFlow flow_of(const MachineKernel& kernel, int target) {
  return FlowBuilder(kernel, target).build();
}

}  // namespace warptime::machine
