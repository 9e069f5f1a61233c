#include "analyzer/periods/dependences.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/periods/chains.h"
#include "analyzer/periods/cut_runs.h"
#include "analyzer/periods/register_uses.h"
#include "analyzer/periods/rises.h"
#include "simulator/program/walk.h"

namespace warptime::periods {
namespace {

// Which registers hold results of loads that nothing has waited for: on some path, so the union where paths meet.
class Pending {
 public:
  using Fact = std::pair<std::uint32_t, int>;  // a register, and the number of a load

  void add_loads_of(std::uint32_t reg, std::vector<int>& loads) const {
    for (auto at = first_of(reg); at != facts_.end() && at->first == reg; ++at) loads.push_back(at->second);
  }
  void erase(std::uint32_t reg) {
    const auto first = first_of(reg);
    auto end = first;
    while (end != facts_.end() && end->first == reg) ++end;
    facts_.erase(first, end);
  }
  void add(std::uint32_t reg, int load) {
    const auto at = std::lower_bound(facts_.begin(), facts_.end(), Fact{reg, load});
    if (at == facts_.end() || *at != Fact{reg, load}) facts_.insert(at, {reg, load});
  }
  void complete(const std::vector<int>& loads) {
    std::erase_if(facts_, [&](const Fact& fact) {
      return std::find(loads.begin(), loads.end(), fact.second) != loads.end();
    });
  }
  void join(const Pending& other) {
    if (other.facts_.empty()) return;
    std::vector<Fact> both;
    std::set_union(facts_.begin(), facts_.end(), other.facts_.begin(), other.facts_.end(),
                   std::back_inserter(both));
    facts_ = std::move(both);
  }
  bool empty() const { return facts_.empty(); }
  const std::vector<Fact>& facts() const { return facts_; }
  friend bool operator==(const Pending&, const Pending&) = default;

 private:
  std::vector<Fact>::const_iterator first_of(std::uint32_t reg) const {
    return std::lower_bound(facts_.begin(), facts_.end(), Fact{reg, 0});
  }
  std::vector<Fact> facts_;  // sorted
};

void sort_and_unite(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// Goes over the items until what is pending at the beginning of each loop's body is stable, then once more to write.
class Needs {
 public:
  Needs(RegisterUses& uses, const std::vector<InstructionRole>& roles, const Notes& notes)
      : uses_(uses), roles_(roles), notes_(notes) {}

  void write(Items& items) {
    do {
      changed_ = false;
      pass(items);
    } while (changed_);
    writes_ = true;
    pass(items);
  }

 private:
  // What restricts the items of a list to some threads or to a share of the warps: numbers of conditions, by item.
  using Restrictions = std::vector<std::vector<int>>;

  void pass(Items& items) {
    loads_ = 0;
    repeats_ = lists_ = 0;
    Pending pending;
    list(items, pending);
  }

  void list(Items& items, Pending& pending) {
    const auto number = lists_++;
    if (number == restrictions_.size()) restrictions_.push_back(restrictions_of(items));
    Items made;
    range(items, 0, items.size(), restrictions_[number], {}, pending, made);
    if (writes_) items = std::move(made);
  }

  // A warp without threads for which a condition holds goes past all the items that have it: what it waited for before
  // is what it has waited for behind them.
  void range(Items& items, std::size_t first, std::size_t end, const Restrictions& restrictions,
             const std::vector<int>& inside, Pending& pending, Items& made) {
    while (first < end) {
      std::size_t behind = first;
      int restriction = -1;
      for (const int candidate : restrictions[first]) {
        if (std::find(inside.begin(), inside.end(), candidate) != inside.end()) continue;
        std::size_t last = first + 1;
        while (last < end && std::find(restrictions[last].begin(), restrictions[last].end(), candidate) !=
                                 restrictions[last].end())
          ++last;
        if (last > behind) behind = last, restriction = candidate;
      }
      if (restriction < 0) {
        visit(items[first++], pending, made);
        continue;
      }
      const Pending before = pending;
      auto all = inside;
      all.push_back(restriction);
      range(items, first, behind, restrictions, all, pending, made);
      pending.join(before);
      first = behind;
    }
  }

  Restrictions restrictions_of(const Items& items) {
    Restrictions all(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto add = [&](const std::string& text) {
        all[i].push_back(
            condition_numbers_.emplace(text, static_cast<int>(condition_numbers_.size())).first->second);
      };
      auto threads = items[i].threads;
      // restrict_to() puts the outer condition in front.
      while (threads && threads->op() == Expression::Operator::logical_and) {
        add(to_string(threads->operands()[0]));
        threads = Expression(threads->operands()[1]);
      }
      if (threads) add(to_string(*threads));
      for (const auto& share : items[i].shares) add("share " + share);
    }
    return all;
  }

  void visit(Item& item, Pending& pending, Items& made) {
    if (std::holds_alternative<Instructions>(item.what)) {
      run(item, pending, made);
      return;
    }
    if (const auto* access = std::get_if<MemoryAccess>(&item.what))
      memory_access(item, access->kind == MemoryAccess::Kind::load ? ++loads_ : 0, pending);
    if (auto* repeat = std::get_if<Repeat>(&item.what)) iterations(*repeat, pending);
    if (auto* when = std::get_if<When>(&item.what)) {
      Pending other = pending;
      list(when->then_items, pending);
      list(when->else_items, other);
      pending.join(other);
    }
    if (writes_) made.push_back(std::move(item));
  }

  void iterations(Repeat& repeat, Pending& pending) {
    const auto number = repeats_++;
    if (number == behind_bodies_.size()) behind_bodies_.emplace_back();
    const bool at_least_one =
        !repeat.per_thread && repeat.count.is_integer() && repeat.count.integer_value() > 0;
    const Pending before = pending;
    pending.join(behind_bodies_[number]);
    list(repeat.body, pending);
    Pending behind = behind_bodies_[number];
    behind.join(pending);
    if (!(behind == behind_bodies_[number])) {
      behind_bodies_[number] = std::move(behind);
      changed_ = true;
    }
    if (!at_least_one) pending.join(before);
  }

  void memory_access(Item& item, int load, Pending& pending) {
    if (!item.detail) return;
    std::vector<int> needs;
    for (const auto i : item.detail->made_of) {
      const bool loads = load != 0 && roles_[i].kind == InstructionRole::Kind::load;
      const auto more = step(i, loads ? load : 0, pending);
      needs.insert(needs.end(), more.begin(), more.end());
    }
    if (!writes_ || needs.empty()) return;
    auto detail = *item.detail;
    sort_and_unite(needs);
    detail.needs = std::move(needs);
    item.detail = std::make_shared<const ItemDetail>(std::move(detail));
  }

  // A run of calculation, which is cut where it waits.
  void run(Item& item, Pending& pending, Items& made) {
    if (!item.detail) {
      if (writes_) made.push_back(std::move(item));
      return;
    }
    const auto& made_of = item.detail->made_of;
    std::vector<std::size_t> cuts;           // where parts begin, but for the first
    std::vector<std::vector<int>> needs(1);  // by part
    std::int64_t executed = 0;               // of the last part
    for (std::size_t k = 0; k < made_of.size(); ++k) {
      const auto found = step(made_of[k], 0, pending);
      if (!found.empty() && executed > 0) {
        cuts.push_back(k);
        needs.emplace_back();
        executed = 0;
      }
      needs.back().insert(needs.back().end(), found.begin(), found.end());
      executed += roles_[made_of[k]].kind != InstructionRole::Kind::none;
    }
    if (!writes_) return;
    for (auto& part : needs) sort_and_unite(part);
    if (cuts.empty()) {
      if (!needs[0].empty()) {
        auto detail = *item.detail;
        detail.needs = std::move(needs[0]);
        item.detail = std::make_shared<const ItemDetail>(std::move(detail));
      }
      made.push_back(std::move(item));
      return;
    }
    cut_run(item, cuts, std::move(needs), made);
  }

  void cut_run(const Item& item, const std::vector<std::size_t>& cuts, std::vector<std::vector<int>> needs,
               Items& made) {
    auto parts = cut(item, cuts, roles_, notes_);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      auto detail = *parts[p].detail;
      detail.needs = std::move(needs[p]);
      parts[p].detail = std::make_shared<const ItemDetail>(std::move(detail));
      made.push_back(std::move(parts[p]));
    }
  }

  // What instruction `i` waits for. `load`: the number of the load that it is; 0: none.
  std::vector<int> step(std::uint32_t i, int load, Pending& pending) {
    std::vector<int> found;
    const auto reads = uses_.reads(i), writes = uses_.writes(i);
    if (!pending.empty())
      for (const auto reg : reads) pending.add_loads_of(reg, found);
    if (load != 0) add_copies(i, load, pending, found);
    if (load == 0 && uses_.only_moves(i)) {
      for (const auto reg : writes) pending.erase(reg);
      for (const auto reg : writes)
        for (const int l : found) pending.add(reg, l);
      return {};
    }
    if (!found.empty()) pending.complete(found);
    if (!pending.empty())
      for (const auto reg : writes) pending.erase(reg);
    if (load != 0)
      for (const auto reg : writes) pending.add(reg, load);
    return found;
  }

  // Where another register still has the result of the load's last execution, ptxas makes the move that put it there an
  // instruction, which waits: say that the load waits for its own last execution.
  void add_copies(std::uint32_t i, int load, const Pending& pending, std::vector<int>& found) {
    const auto writes = uses_.writes(i);
    for (const auto& [reg, of] : pending.facts())
      if (of == load && std::find(writes.begin(), writes.end(), reg) == writes.end() &&
          uses_.live_behind(i, reg)) {
        found.push_back(load);
        return;
      }
  }

  RegisterUses& uses_;
  const std::vector<InstructionRole>& roles_;
  const Notes& notes_;
  std::map<std::string, int> condition_numbers_;
  std::deque<Restrictions> restrictions_;  // by list, in the order in which they are visited
  std::vector<Pending> behind_bodies_;     // by repeat, in the order in which they are visited
  std::size_t lists_ = 0, repeats_ = 0;
  int loads_ = 0;
  bool changed_ = false, writes_ = false;
};

void forget_instructions(Items& items) {
  for (Item& item : items) {
    if (item.detail && !item.detail->made_of.empty()) {
      auto detail = *item.detail;
      detail.made_of = {};
      item.detail = detail.empty() ? nullptr : std::make_shared<const ItemDetail>(std::move(detail));
    }
    for_each_inner(item, [](Items& inner) { forget_instructions(inner); });
  }
}

}  // namespace

void write_dependences(const analysis::KernelFlow& flow, const std::vector<InstructionRole>& roles,
                       const MachinePlaces& places, const Notes& notes, Items& items) {
  RegisterUses uses(flow);
  Needs(uses, roles, notes).write(items);
  write_rises(flow, uses, roles, places, notes, items);
  write_chains(flow, uses, roles, items);
  forget_instructions(items);
}

}  // namespace warptime::periods
