#include "analyzer/machine/spills.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/machine/live_values.h"
#include "analyzer/ptx/opcodes.h"
#include "simulator/program/walk.h"

namespace warptime::machine {
namespace {

constexpr int kSlotBytes = 4;  // in local memory, for a register

// Walks the blocks in their order, and keeps those values in registers whose next use is nearest.
class Spiller {
 public:
  Spiller(const analysis::KernelCode& code, const analysis::Cfg& cfg, int registers)
      : function_(code.function()),
        code_(code),
        cfg_(cfg),
        registers_(registers),
        values_(code, cfg),
        live_(live_sets(cfg, values_)),
        at_begin_(cfg.blocks.size()),
        at_end_(cfg.blocks.size()),
        seen_(cfg.blocks.size(), false),
        place_(values_.count(), -1),
        stored_(values_.count(), false) {}

  std::vector<Spill> find() {
    for (std::uint32_t b = 0; b < cfg_.exit(); ++b)
      if (cfg_.blocks[b].reachable) walk(b);
    return std::move(spills_);
  }

 private:
  using Values = std::set<std::uint32_t>;

  void walk(std::uint32_t b) {
    const analysis::Block& block = cfg_.blocks[b];
    find_uses(block);
    begin(b);
    at_begin_[b].assign(resident_.begin(), resident_.end());
    for (at_ = block.first; at_ < block.end; ++at_) execute(b);
    at_end_[b].assign(resident_.begin(), resident_.end());
    seen_[b] = true;
    // What a block that was walked before expects in registers, as a loop's first does at its end.
    at_ = block.end > block.first ? block.end - 1 : block.end;
    for (const std::uint32_t next : block.successors)
      if (next != cfg_.exit() && seen_[next])
        for (const std::uint32_t value : at_begin_[next])
          if (live_.in[next].has(value) && !resident_.contains(value) && block.end > block.first)
            reload(value);
  }

  void find_uses(const analysis::Block& block) {
    uses_.clear();
    for (std::uint32_t i = block.end; i-- > block.first;)
      values_.for_each_use(i, [&](std::uint32_t value) { uses_[value].push_back(i); });  // the last first
  }

  // What is in registers where the block begins: what was at the end of a block before it.
  void begin(std::uint32_t b) {
    resident_.clear();
    occupied_ = 0;
    const std::vector<std::uint32_t>* before = nullptr;
    for (const std::uint32_t from : cfg_.blocks[b].predecessors)
      if (seen_[from] && before == nullptr) before = &at_end_[from];
    if (before == nullptr) return;
    for (const std::uint32_t value : *before)
      if (live_.in[b].has(value)) hold(value);
    at_ = cfg_.blocks[b].first;
    make_room(0, {});
  }

  void execute(std::uint32_t b) {
    Values needed;
    values_.for_each_use(at_, [&](std::uint32_t value) { needed.insert(value); });
    for (const std::uint32_t value : needed) {
      if (resident_.contains(value)) continue;
      if (stored_[value]) reload(value);
      make_room(values_.width(value), needed);
      hold(value);
    }
    for (const std::uint32_t value : needed) {
      auto& left = uses_[value];
      while (!left.empty() && left.back() <= at_) left.pop_back();
      if (left.empty() && !live_.out[b].has(value)) release(value);
    }
    Values made;
    values_.for_each_definition(at_, [&](std::uint32_t value) { made.insert(value); });
    for (const std::uint32_t value : made) {
      stored_[value] = false;
      if (!resident_.contains(value)) {
        make_room(values_.width(value), made);
        hold(value);
      }
      const auto left = uses_.find(value);
      if ((left == uses_.end() || left->second.empty()) && !live_.out[b].has(value)) release(value);
    }
  }

  void hold(std::uint32_t value) {
    if (resident_.insert(value).second) occupied_ += values_.width(value);
  }
  void release(std::uint32_t value) {
    if (resident_.erase(value) != 0) occupied_ -= values_.width(value);
    free_place(value);
  }

  void make_room(int width, const Values& needed) {
    while (occupied_ + width > registers_) {
      std::uint32_t farthest = ptx::no_index, when = 0;
      for (const std::uint32_t value : resident_) {
        if (needed.contains(value)) continue;
        const auto left = uses_.find(value);
        const std::uint32_t next = left == uses_.end() || left->second.empty()
                                       ? std::numeric_limits<std::uint32_t>::max()
                                       : left->second.back();
        if (farthest == ptx::no_index || next > when) farthest = value, when = next;
      }
      if (farthest == ptx::no_index) return;  // an instruction needs more than there are
      if (!stored_[farthest]) add(farthest, true);
      stored_[farthest] = true;
      resident_.erase(farthest);
      occupied_ -= values_.width(farthest);
    }
  }

  void reload(std::uint32_t value) { add(value, false); }

  void add(std::uint32_t value, bool store) {
    if (at_ >= function_.instructions.size()) return;
    std::uint32_t i = at_;
    while (i > 0 && code_.silent(i)) --i;
    spills_.push_back({function_.instructions[i].line, store, kSlotBytes * values_.width(value),
                       kSlotBytes * place_of(value), 1});
  }

  // The lowest place in local memory that is free.
  int place_of(std::uint32_t value) {
    int& place = place_[value];
    if (place >= 0) return place;
    const int width = values_.width(value);
    for (place = 0; !is_free(place, width); place += width) {
    }
    for (int k = 0; k < width; ++k) occupied_places_.insert(place + k);
    return place;
  }
  bool is_free(int place, int width) const {
    for (int k = 0; k < width; ++k)
      if (occupied_places_.contains(place + k)) return false;
    return true;
  }
  void free_place(std::uint32_t value) {
    if (place_[value] < 0) return;
    for (int k = 0; k < values_.width(value); ++k) occupied_places_.erase(place_[value] + k);
    place_[value] = -1;
    stored_[value] = false;
  }

  const ptx::Function& function_;
  const analysis::KernelCode& code_;
  const analysis::Cfg& cfg_;
  int registers_;
  LiveValues values_;
  LiveSets live_;
  std::vector<std::vector<std::uint32_t>> at_begin_, at_end_;  // by block: what is in registers
  std::vector<bool> seen_;                                     // by block
  std::vector<int> place_;    // by value: in local memory, in words; -1: none
  std::vector<bool> stored_;  // by value: local memory has it
  std::set<int> occupied_places_;
  // Of the block that is walked:
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>
      uses_;  // by value: what reads it, the last first
  Values resident_;
  int occupied_ = 0;
  std::uint32_t at_ = 0;
  std::vector<Spill> spills_;
};

class SpillPlacer {
 public:
  SpillPlacer(const std::vector<Spill>& spills, bool slots) : slots_(slots) {
    for (const Spill& spill : spills) by_line_[static_cast<int>(spill.line)].push_back(spill);
  }

  // Items that access global memory leave theirs to the calculation before or after them.
  void place(Items& items) {
    Item* last = nullptr;
    std::vector<Spill> waiting;
    for (Item& item : items) {
      for_each_inner(item, [&](Items& inner) { place(inner); });
      const bool calculates = std::holds_alternative<Instructions>(item.what);
      if (!calculates && !std::holds_alternative<MemoryAccess>(item.what)) continue;
      take(item.ptx, waiting);
      if (calculates && !waiting.empty()) add(item, std::exchange(waiting, {}));
      if (calculates) last = &item;
    }
    if (!waiting.empty() && last != nullptr) add(*last, waiting);
  }

 private:
  void take(const LineSet& lines, std::vector<Spill>& to) {
    for (const auto& [first, end] : lines.ranges())
      for (auto at = by_line_.lower_bound(first); at != by_line_.end() && at->first <= end;) {
        to.insert(to.end(), at->second.begin(), at->second.end());
        at = by_line_.erase(at);
      }
  }

  void add(Item& item, const std::vector<Spill>& spills) const {
    auto detail = std::make_shared<ItemDetail>(item.detail ? *item.detail : ItemDetail());
    MachineWork work = item.machine ? *item.machine : MachineWork();
    double due = 0;
    for (const Spill& spill : spills) {
      due += spill.times;
      if (due < 0.999) continue;
      due -= 1;
      ChipAccess access;
      access.kind = spill.store ? ChipAccess::Kind::store : ChipAccess::Kind::load;
      access.space = ChipAccess::Space::local;
      access.bytes = spill.bytes;
      access.address = Expression(spill.offset);
      detail->on_chip.push_back(std::move(access));
      if (slots_) work[Pipe::lsu] += 1;
      if (slots_) work.cycles += 1;
    }
    item.detail = std::move(detail);
    if (slots_) item.machine = std::make_shared<const MachineWork>(work);
  }

  bool slots_;
  std::map<int, std::vector<Spill>> by_line_;
};

}  // namespace

std::vector<Spill> expected_spills(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                                   int registers) {
  if (!is_small(code.function(), cfg)) return {};
  return Spiller(code, cfg, registers).find();
}

void add_spills(KernelProgram& program, const std::vector<Spill>& spills, bool slots) {
  if (!spills.empty()) SpillPlacer(spills, slots).place(program.program);
}

}  // namespace warptime::machine
