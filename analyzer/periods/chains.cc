#include "analyzer/periods/chains.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "analyzer/periods/classify.h"
#include "analyzer/periods/latency.h"
#include "analyzer/periods/rises.h"
#include "analyzer/ptx/addresses.h"
#include "analyzer/ptx/opcodes.h"
#include "simulator/program/walk.h"

namespace warptime::periods {
namespace {

// Goes over the items a few times, so that what a loop's iteration leaves reaches the next one, then writes.
class Chains {
 public:
  Chains(const analysis::KernelFlow& flow, const RegisterUses& uses,
         const std::vector<InstructionRole>& roles)
      : flow_(flow), uses_(uses), roles_(roles), stretches_(flow), latencies_(roles.size(), -1) {}

  void write(Items& items) {
    for_each_item(items, [&](const Item& item) {
      const auto* access = std::get_if<MemoryAccess>(&item.what);
      if (access == nullptr || access->kind != MemoryAccess::Kind::load) return;
      number_of_[&item] = static_cast<int>(written_by_.size()) + 1;
      written_by_.emplace_back();
      if (item.detail)
        for (const auto i : item.detail->made_of)
          if (roles_[i].kind == InstructionRole::Kind::load) written_by_.back() = {i};
    });
    // The loops around a loop see what it leaves one pass later.
    constexpr int passes = 3;
    for (int i = 0; i < passes; ++i) {
      writes_ = i + 1 == passes;
      Time time;
      list(items, time);
    }
  }

 private:
  // In cycles from a place between items. What waiting for loads takes counts as nothing.
  struct Time {
    double now = 0;    // the end of the last item
    double begin = 0;  // of the straight-line code
    std::uint32_t stretch = analysis::none;
    std::map<std::uint32_t, double> ready;  // by register; others: at the begin
    std::map<std::uint32_t, int> holds;     // by register: the load whose result it will have
    // The last time at which something waited for loads. That takes longer than whatever else has begun.
    double waited = -1;
    // Loads between two waits are a batch, which completes as one. By the number of a load: its batch.
    std::map<int, std::size_t> batch_of;
    std::vector<double> completed{-1};  // by batch; negative: not yet
    // When the last store to shared memory was issued: loads from there stay behind it.
    double stored = 0;
    std::uint32_t store = analysis::none;
  };

  // Of a time: only what is still to come.
  static void start_anew(Time& time) {
    Time from_here;
    for (const auto& [reg, when] : time.ready)
      if (when > time.now) from_here.ready.emplace(reg, when - time.now);
    time = std::move(from_here);
  }
  static void join(Time& time, const Time& other) {
    for (const auto& [reg, when] : other.ready) {
      auto& latest = time.ready[reg];
      latest = std::max(latest, when);
    }
  }

  void list(Items& items, Time& time) {
    for (const auto i : risen_order(items)) visit(items[i], time);
    start_anew(time);
  }

  void visit(Item& item, Time& time) {
    if (auto* repeat = std::get_if<Repeat>(&item.what)) {
      start_anew(time);
      auto& behind_body = behind_bodies_[&item];
      join(time, behind_body);
      list(repeat->body, time);
      behind_body = time;
    } else if (auto* when = std::get_if<When>(&item.what)) {
      start_anew(time);
      Time other = time;
      list(when->then_items, time);
      list(when->else_items, other);
      join(time, other);
    } else if (item.detail) {
      one(item, time);
    }
  }

  void one(Item& item, Time& time) {
    enter(stretches_.of(item.detail->made_of.front()), time.now, time);
    const double completed = wait(item.detail->needs, time);
    const double begin = time.now;
    // A load that rises passes instructions that compute its address: how long these take was found before.
    const bool risen = item.detail->rises > 0;
    double last = begin, executed = 0;
    if (risen) last = std::max(completed, time.begin) + item.detail->chain.value_or(0);
    if (risen) last = std::max(last, begin);
    for (const auto i : item.detail->made_of) {
      enter(stretches_.of(i), std::max(last, begin + executed), time);
      const double issued = issue(i, time);
      if (!risen) last = std::max(last, issued);
      executed += roles_[i].kind != InstructionRole::Kind::none;
    }
    if (const auto number = number_of_.find(&item); number != number_of_.end()) {
      time.batch_of[number->second] = time.completed.size() - 1;
      for (const auto by : written_by_[static_cast<std::size_t>(number->second) - 1])
        for (const auto reg : uses_.writes(by)) time.holds[reg] = number->second;
    }
    time.now = begin + std::max(executed, last - begin);
    if (item.detail->barrier) {
      time.ready.clear();
      time.begin = time.now;
    }
    if (!writes_) return;
    const double chain = std::round((last - begin) * 10) / 10;
    if (chain <= 0 && !item.detail->chain) return;
    auto detail = *item.detail;
    detail.chain = chain > 0 ? std::optional(chain) : std::nullopt;
    item.detail = std::make_shared<const ItemDetail>(std::move(detail));
  }

  static void enter(std::uint32_t stretch, double when, Time& time) {
    if (stretch == time.stretch) return;
    time.stretch = stretch;
    time.begin = when;
    std::erase_if(time.ready, [&](const auto& one) { return one.second <= when; });
  }

  // The results of loads are there from when the first of their batch was waited for. Gives the latest of these times.
  double wait(const std::vector<int>& loads, Time& time) const {
    double latest = 0;
    for (const int load : loads) {
      const auto found = time.batch_of.find(load);
      double when = time.now;
      if (found != time.batch_of.end()) {
        if (time.completed[found->second] < 0) {
          time.completed[found->second] = time.now;
          time.waited = time.now;
          for (auto& [reg, ready] : time.ready) ready = std::min(ready, time.now);
          time.completed.push_back(-1);
        }
        when = time.completed[found->second];
      }
      latest = std::max(latest, when);
      if (found == time.batch_of.end())
        for (const auto by : written_by_[static_cast<std::size_t>(load) - 1])
          for (const auto reg : uses_.writes(by)) time.ready[reg] = when;
      for (const auto& [reg, held] : time.holds)
        if (held == load) time.ready[reg] = when;
      std::erase_if(time.holds, [&](const auto& one) { return one.second == load; });
    }
    return latest;
  }

  // When instruction `i` can be issued; the straight-line code's begin where ptxas makes none of it.
  double issue(std::uint32_t i, Time& time) const {
    double start = time.begin;
    for (const auto reg : uses_.reads(i))
      if (const auto found = time.ready.find(reg); found != time.ready.end())
        start = std::max(start, found->second);
    const auto& ins = flow_.code.function().instructions[i];
    if (ins.guard != ptx::no_index && ins.info != nullptr && ins.info->is(ptx::ends_block) &&
        start > std::max(time.begin, time.waited))
      start += latency_before_branch;
    if (const auto of_shared = shared_access(ins); of_shared != Shared::none) {
      if (of_shared == Shared::load && time.store != analysis::none && !apart(i, time.store))
        start = std::max(start, time.stored);
      if (of_shared == Shared::store) {
        time.stored = std::max(time.stored, start);
        time.store = i;
      }
    }
    const bool is_access =
        roles_[i].kind == InstructionRole::Kind::load || roles_[i].kind == InstructionRole::Kind::store;
    const double latency = is_access ? 0 : latency_at(i);
    const double ready = start < time.waited ? std::min(start + latency, time.waited) : start + latency;
    for (const auto reg : uses_.writes(i)) time.ready[reg] = ready;
    if (!time.holds.empty()) pass_on(i, time);
    const bool vanishes = !is_access && latency <= 0 && !uses_.writes(i).empty();
    return vanishes ? time.begin : start;
  }

  enum class Shared : std::uint8_t { none, load, store };
  static Shared shared_access(const ptx::Instruction& ins) {
    if (ins.info == nullptr || ptx::space_of(ins) != ptx::StateSpace::shared) return Shared::none;
    if (ins.info->category == ptx::Category::load) return Shared::load;
    return ins.info->category == ptx::Category::store || ins.info->category == ptx::Category::atomic
               ? Shared::store
               : Shared::none;
  }

  // Whether two accesses of shared memory are at different distances from one register, so that ptxas can tell.
  bool apart(std::uint32_t one, std::uint32_t other) const {
    const auto& function = flow_.code.function();
    const auto& operands = flow_.evaluator.operands();
    const auto place = [&](std::uint32_t i) -> const ptx::Operand& {
      const auto& ins = function.instructions[i];
      return operands[ins.first_operand + address_operand(operands, ins, ins.info->category)];
    };
    return ptx::have_different_offsets(operands, place(one), place(other));
  }

  double latency_at(std::uint32_t i) const {
    double& known = latencies_[i];
    if (known < 0) known = latency_of(flow_, uses_, i);
    return known;
  }

  // What a move writes will have the result of a load, too.
  void pass_on(std::uint32_t i, Time& time) const {
    const auto reads = uses_.reads(i);
    const auto from = uses_.only_moves(i) && !reads.empty() ? time.holds.find(reads[0]) : time.holds.end();
    const int load = from == time.holds.end() ? 0 : from->second;
    for (const auto reg : uses_.writes(i)) {
      if (load != 0)
        time.holds[reg] = load;
      else
        time.holds.erase(reg);
    }
  }

  const analysis::KernelFlow& flow_;
  const RegisterUses& uses_;
  const std::vector<InstructionRole>& roles_;
  Stretches stretches_;
  mutable std::vector<double> latencies_;  // by instruction: the same in each pass; negative: not yet
  std::map<const Item*, int> number_of_;   // of loads
  std::vector<std::vector<std::uint32_t>> written_by_;  // by the number of a load, less 1: its instruction
  std::map<const Item*, Time> behind_bodies_;           // of repeats
  bool writes_ = false;
};

}  // namespace

void write_chains(const analysis::KernelFlow& flow, const RegisterUses& uses,
                  const std::vector<InstructionRole>& roles, Items& items) {
  Chains(flow, uses, roles).write(items);
}

}  // namespace warptime::periods
