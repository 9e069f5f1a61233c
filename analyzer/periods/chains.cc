#include "analyzer/periods/chains.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "analyzer/periods/latency.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

// Goes over the items a few times, so that what a loop's iteration leaves reaches the next one, then writes.
class Chains {
 public:
  Chains(const analysis::KernelFlow& flow, const RegisterUses& uses,
         const std::vector<InstructionRole>& roles)
      : flow_(flow), uses_(uses), roles_(roles) {}

  void write(Items& items) {
    // The loops around a loop see what it leaves one pass later.
    constexpr int passes = 3;
    for (int i = 0; i < passes; ++i) {
      writes_ = i + 1 == passes;
      repeats_ = 0;
      Ready ready;
      list(items, ready);
    }
  }

 private:
  // Cycles from the beginning of the item that follows until a register has its value; those that have it are missing.
  using Ready = std::map<std::uint32_t, double>;

  static void join(Ready& ready, const Ready& other) {
    for (const auto& [reg, when] : other) ready[reg] = std::max(ready[reg], when);
  }

  void list(Items& items, Ready& ready) {
    for (Item& item : items) visit(item, ready);
  }

  void visit(Item& item, Ready& ready) {
    if (auto* repeat = std::get_if<Repeat>(&item.what)) {
      const auto number = repeats_++;
      if (number == behind_bodies_.size()) behind_bodies_.emplace_back();
      join(ready, behind_bodies_[number]);
      list(repeat->body, ready);
      behind_bodies_[number] = ready;
    } else if (auto* when = std::get_if<When>(&item.what)) {
      Ready other = ready;
      list(when->then_items, ready);
      list(when->else_items, other);
      join(ready, other);
    } else if (item.detail) {
      one(item, ready);
    }
  }

  void one(Item& item, Ready& ready) {
    if (!item.detail->needs.empty()) ready.clear();
    double last = 0;
    for (const auto i : item.detail->made_of) last = std::max(last, issue(i, ready));
    const auto* run = std::get_if<Instructions>(&item.what);
    const double issued =
        run != nullptr && run->count.is_integer() ? static_cast<double>(run->count.integer_value()) : 1;
    const double length = std::max(issued, last);
    for (auto at = ready.begin(); at != ready.end();) {
      at->second -= length;
      at = at->second <= 0 ? ready.erase(at) : std::next(at);
    }
    if (item.detail->barrier) ready.clear();
    if (!writes_ || last <= 0) return;
    auto detail = *item.detail;
    detail.chain = std::round(last * 10) / 10;
    item.detail = std::make_shared<const ItemDetail>(std::move(detail));
  }

  // When instruction `i` can be issued; 0: ptxas makes none of it.
  double issue(std::uint32_t i, Ready& ready) const {
    double start = 0;
    for (const auto reg : uses_.reads(i))
      if (const auto found = ready.find(reg); found != ready.end()) start = std::max(start, found->second);
    const auto& ins = flow_.code.function().instructions[i];
    const bool decides =
        ins.guard != ptx::no_index && ins.info != nullptr && ins.info->is(ptx::ends_block) && start > 0;
    if (decides) start += latency_before_branch;
    const bool is_global = roles_[i].kind == InstructionRole::Kind::load;
    const double latency = is_global ? 0 : latency_of(flow_, uses_, i);
    for (const auto reg : uses_.writes(i)) {
      if (start + latency > 0 && !is_global)
        ready[reg] = start + latency;
      else
        ready.erase(reg);
    }
    const bool vanishes = latency <= 0 && !uses_.writes(i).empty() && !is_global;
    return vanishes ? 0 : start;
  }

  const analysis::KernelFlow& flow_;
  const RegisterUses& uses_;
  const std::vector<InstructionRole>& roles_;
  std::vector<Ready> behind_bodies_;  // by repeat, in the order in which they are visited
  std::size_t repeats_ = 0;
  bool writes_ = false;
};

}  // namespace

void write_chains(const analysis::KernelFlow& flow, const RegisterUses& uses,
                  const std::vector<InstructionRole>& roles, Items& items) {
  Chains(flow, uses, roles).write(items);
}

}  // namespace warptime::periods
