#include "analyzer/periods/rises.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "analyzer/periods/cut_runs.h"
#include "analyzer/periods/latency.h"
#include "analyzer/ptx/opcodes.h"
#include "simulator/program/walk.h"

namespace warptime::periods {
namespace {

using ptx::Category;

class Rises {
 public:
  Rises(const analysis::KernelFlow& flow, const RegisterUses& uses, const std::vector<InstructionRole>& roles,
        const MachinePlaces& places, const Notes& notes)
      : flow_(flow),
        uses_(uses),
        roles_(roles),
        machine_places_(places.of_instruction),
        expected_(places.expected),
        notes_(notes),
        stretches_(flow, places.chains),
        guards_(guards_of_blocks(flow, places.chains)),
        computes_address_(flow.code.function().instructions.size()),
        values_(flow.code.function().registers.size()) {}

  void write(Items& items) {
    for_each_item(items, [&](const Item& item) {
      if (is_load(item)) instruction_of_load_.push_back(access_of(item));
    });
    list(items);
  }

 private:
  static constexpr std::uint32_t none = analysis::none;

  // An item, as far as it matters to what is moved past it.
  struct Place {
    std::uint32_t stretch = none;  // of straight-line code, the item's alone; none: of several, or no code
    std::uint32_t access = none;   // the instruction of a load or store
    // In the machine code, of a load or of what a run begins with: of its first use of what it waits for.
    std::optional<std::uint32_t> machine_place = {};
    bool loads = false;
    bool is_run = false;
    bool is_slow = false;      // of a run: an instruction takes about as long as an access
    bool stops_loads = false;  // all but those of memory that nothing writes
    bool stops_all = false;    // a barrier
    bool splits = false;       // it is more than one basic block to ptxas
    bool read_only = false;    // of a load: ItemDetail::read_only
    bool stuck = false;        // of a load: it cannot pass the last store before it
    bool waits = false;        // for such a load
    bool is_idle = false;      // a run that waits for no load
    int number = 0;            // of a load
    int depth = 0;             // of a load: how many loads must complete one after the other before it
    std::vector<int> sources;  // of a load: the loads that its address needs
    double length = 0;         // of a load: cycles of the chain that computes its address, behind these loads
  };

  // ---- items

  static bool is_load(const Item& item) {
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    return access != nullptr && access->kind == MemoryAccess::Kind::load;
  }

  // The instruction of a load or store: what else its item is made of only passes registers on.
  std::uint32_t access_of(const Item& item) const {
    if (!item.detail) return none;
    for (const auto i : item.detail->made_of)
      if (roles_[i].kind == InstructionRole::Kind::load || roles_[i].kind == InstructionRole::Kind::store)
        return i;
    return none;
  }

  void list(Items& items) {
    cut_at_stretches(items);
    if (!machine_places_.empty()) find_addresses(items);
    std::vector<Place> places;
    places.reserve(items.size());
    forget_values();
    std::uint32_t stretch = none;
    std::vector<std::size_t> inner;
    for (std::size_t i = 0; i < items.size(); ++i) {
      places.push_back(place_of(items[i]));
      Place& place = places.back();
      if (place.splits && place.is_run) {
        auto detail = std::make_shared<ItemDetail>(*items[i].detail);
        detail->splits = true;
        items[i].detail = std::move(detail);
      }
      if (place.stretch == none || place.stretch != stretch) forget_values();
      stretch = place.stretch;
      if (stretch != none) follow(items[i], place);
      // In the order of the program, since loads are numbered in it.
      if (!is_nested(items[i])) continue;
      for_each_inner(items[i], [&](Items& more) { list(more); });
      forget_values();
    }
    raise(items, places);
  }

  // Runs are cut where the stretch of a load that follows them begins.
  void cut_at_stretches(Items& items) {
    Items made;
    made.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto* run = std::get_if<Instructions>(&items[i].what);
      const bool follows = run != nullptr && items[i].detail && i + 1 < items.size() && is_load(items[i + 1]);
      const auto load = follows ? access_of(items[i + 1]) : none;
      const auto at = load == none ? 0 : stretch_begins(items[i], stretches_.of(load));
      if (at == 0) {
        made.push_back(std::move(items[i]));
        continue;
      }
      auto parts = cut(items[i], {at}, roles_, notes_);
      auto first = *parts[0].detail;
      first.needs = items[i].detail->needs;
      parts[0].detail = std::make_shared<const ItemDetail>(std::move(first));
      for (auto& part : parts) made.push_back(std::move(part));
    }
    items = std::move(made);
  }

  // Where in the run the stretch begins that it ends with; 0: with the run itself, or nowhere, or what would be cut off
  // executes nothing.
  std::size_t stretch_begins(const Item& run, std::uint32_t stretch) const {
    const auto& made_of = run.detail->made_of;
    auto at = made_of.size();
    while (at > 0 && stretches_.of(made_of[at - 1]) == stretch) --at;
    const auto executes = [&](std::size_t from, std::size_t end) {
      return std::any_of(made_of.begin() + static_cast<std::ptrdiff_t>(from),
                         made_of.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](const auto i) { return roles_[i].kind != InstructionRole::Kind::none; });
    };
    return executes(0, at) && executes(at, made_of.size()) ? at : 0;
  }

  Place place_of(const Item& item) {
    Place place;
    place.loads = is_load(item);
    if (place.loads) place.number = ++loads_;
    if (!item.detail || item.detail->made_of.empty()) return place;
    place.stretch = stretches_.of(item.detail->made_of.front());
    for (const auto i : item.detail->made_of) {
      if (stretches_.of(i) != place.stretch) place.stretch = none;
      look_at(i, place);
      if (roles_[i].kind == InstructionRole::Kind::calculation)
        place.is_slow = place.is_slow || latency_of(flow_, uses_, i) > slow_latency;
    }
    place.read_only = item.detail->read_only;
    place.is_run = std::holds_alternative<Instructions>(item.what);
    place.is_idle = place.is_run && item.detail->needs.empty();
    if (item.detail->barrier) place.stops_all = true;
    place.machine_place = machine_place_of(item, place);
    return place;
  }

  std::optional<std::uint32_t> machine_place_of(const Item& item, const Place& place) const {
    if (machine_places_.empty()) return std::nullopt;
    const auto at = [&](std::uint32_t i) -> std::optional<std::uint32_t> {
      if (machine_places_[i] == none) return std::nullopt;
      return machine_places_[i];
    };
    if (place.access != none) return at(place.access);
    // An instruction of a run may have become part of another. What computes an address of a load behind it rises with that.
    const auto users = users_of_loads(item);
    std::optional<std::uint32_t> first;
    for (const auto i : users.empty() ? item.detail->made_of : users) {
      if (computes_address_[i]) continue;
      const auto found = at(i);
      if (!found || (first && *first <= *found)) continue;
      first = found;
      if (users.empty()) break;
    }
    return first;
  }

  // Notes which instructions of runs compute addresses of loads that come behind them in their stretch, or the predicates
  // that the loads have in place of branches.
  void find_addresses(const Items& items) {
    std::unordered_set<std::uint32_t> wanted;  // registers
    std::uint32_t stretch = none;
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
      if (!item->detail || item->detail->made_of.empty()) {
        wanted.clear();
        continue;
      }
      if (const auto of = stretches_.of(item->detail->made_of.back()); of != stretch) {
        wanted.clear();
        stretch = of;
      }
      const auto load = is_load(*item) ? access_of(*item) : none;
      for (auto i = item->detail->made_of.rbegin(); i != item->detail->made_of.rend(); ++i) {
        const auto writes = uses_.writes(*i), reads = uses_.reads(*i);
        const bool computes =
            std::any_of(writes.begin(), writes.end(), [&](const auto reg) { return wanted.contains(reg); });
        for (const auto reg : writes) wanted.erase(reg);
        computes_address_[*i] = computes && *i != load;
        if (computes || *i == load) wanted.insert(reads.begin(), reads.end());
        if (*i == load) {
          const auto guards = guards_of(load);
          wanted.insert(guards.begin(), guards.end());
        }
      }
    }
  }

  // The predicates of the branches before an instruction that ptxas makes predicates of, in its stretch.
  std::span<const std::uint32_t> guards_of(std::uint32_t instruction) const {
    const auto b = flow_.evaluator.block_of(instruction);
    return b < guards_.size() ? std::span<const std::uint32_t>(guards_[b]) : std::span<const std::uint32_t>();
  }

  static std::vector<std::vector<std::uint32_t>> guards_of_blocks(const analysis::KernelFlow& flow,
                                                                  const std::vector<std::uint32_t>& chains) {
    std::vector<std::vector<std::uint32_t>> guards(chains.size());
    const auto& blocks = flow.cfg.blocks;
    for (std::uint32_t b = 0; b < chains.size(); ++b) {
      const auto before = blocks[b].dominator;
      if (chains[b] >= b || before >= b) continue;
      guards[b] = guards[before];
      const auto& last = flow.code.function().instructions[blocks[before].end - 1];
      if (blocks[b].predecessors.size() == 1 && last.guard != ptx::no_index)
        guards[b].push_back(flow.code.operands()[last.guard].symbol);
    }
    return guards;
  }

  // The instructions of a run that use what it waits for.
  std::vector<std::uint32_t> users_of_loads(const Item& item) const {
    std::vector<std::uint32_t> users, loaded;
    const auto add = [&](std::uint32_t i) {
      loaded.insert(loaded.end(), uses_.writes(i).begin(), uses_.writes(i).end());
    };
    for (const int load : item.detail->needs)
      if (const auto by = instruction_of_load_[static_cast<std::size_t>(load) - 1]; by != none) add(by);
    if (loaded.empty()) return users;
    for (const auto i : item.detail->made_of) {
      const auto reads = uses_.reads(i);
      if (std::none_of(reads.begin(), reads.end(), [&](const auto reg) {
            return std::find(loaded.begin(), loaded.end(), reg) != loaded.end();
          }))
        continue;
      users.push_back(i);
      add(i);
    }
    return users;
  }

  void look_at(std::uint32_t i, Place& place) const {
    const auto& ins = flow_.code.function().instructions[i];
    if (roles_[i].kind == InstructionRole::Kind::load || roles_[i].kind == InstructionRole::Kind::store)
      place.access = i;
    if (ins.info == nullptr || ins.info->category == Category::call) {
      place.stops_all = true;
      return;
    }
    switch (ins.info->category) {
      case Category::barrier:
      case Category::atomic:
      case Category::reduction:
      case Category::async_copy:
        place.stops_all = true;
        break;
      case Category::store:
        // A store to shared or local memory is none to what the load reads.
        if (roles_[i].kind == InstructionRole::Kind::store) place.stops_loads = true;
        break;
      default:
        break;
    }
    if (ends_block(ins)) place.stops_all = place.splits = true;
    // Other instructions stop all loads already, or have no such words.
    const bool accesses = ins.info->category == Category::load || ins.info->category == Category::store;
    if (accesses && (ptx::has_part(ins.opcode, "volatile") || ptx::has_part(ins.opcode, "acquire")))
      place.stops_all = true;
  }

  // ptxas makes a branch to a slow path of divisions and roots.
  bool ends_block(const ptx::Instruction& ins) const {
    if (!ins.info->is(ptx::slow) || ptx::has_part(ins.opcode, "approx") || ptx::has_part(ins.opcode, "full"))
      return false;
    const auto& last = flow_.code.operands()[ins.first_operand + ins.operand_count - 1];
    return ptx::has_part(ins.opcode, "rn") || ptx::has_part(ins.opcode, "f64") ||
           (ins.opcode.ends_with("64") && last.kind != ptx::Operand::Kind::integer);
  }

  // ---- what addresses depend on, within a stretch

  struct Value {
    std::vector<int> loads;  // that it is made of, those of the stretch and those that it waits for
    int depth = 0;
    double length = 0;          // of the chain that computes it, from these loads or the stretch's begin on
    std::uint32_t made_in = 0;  // the value of `time_` then
  };
  const Value* find_value(std::uint32_t reg) const {
    return values_[reg].made_in == time_ ? &values_[reg] : nullptr;
  }
  void forget_values() { ++time_; }

  void follow(const Item& item, Place& place) {
    // What it waits for that was loaded before the stretch.
    for (const int load : item.detail->needs) {
      const auto by = instruction_of_load_[static_cast<std::size_t>(load) - 1];
      if (by == none) continue;
      for (const auto reg : uses_.writes(by))
        if (find_value(reg) == nullptr) values_[reg] = {{load}, 0, 0, time_};
    }
    for (const auto i : item.detail->made_of) {
      Value value;
      const auto add = [&](std::uint32_t reg) {
        const auto* found = find_value(reg);
        if (found == nullptr) return;
        value.depth = std::max(value.depth, found->depth);
        value.length = std::max(value.length, found->length);
        value.loads.insert(value.loads.end(), found->loads.begin(), found->loads.end());
      };
      for (const auto reg : uses_.reads(i)) add(reg);
      if (place.loads && i == place.access)
        for (const auto reg : guards_of(i)) add(reg);
      std::sort(value.loads.begin(), value.loads.end());
      value.loads.erase(std::unique(value.loads.begin(), value.loads.end()), value.loads.end());
      if (place.loads && i == place.access) {
        place.depth = value.depth;
        place.sources = value.loads;
        place.length = value.length;
        value = {{place.number}, value.depth + 1, 0, 0};
      } else {
        value.length += latency_of(flow_, uses_, i);
      }
      // Sums of many loads are no addresses.
      constexpr std::size_t most_sources = 8;
      if (value.loads.size() > most_sources) value.loads.resize(most_sources);
      value.made_in = time_;
      for (const auto reg : uses_.writes(i)) values_[reg] = value;
    }
  }

  // ---- moving

  void raise(Items& items, std::vector<Place>& places) {
    note_waits(items, places);
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      std::size_t at = order.size();
      if (places[i].loads && !places[i].stops_all && (places[i].stretch != none || is_known(places[i])))
        at = passed_until(places, i, order);
      if (at < order.size()) at = behind_idle(items, places, i, order, at);
      if (const auto rises = order.size() - at; rises > 0) {
        auto detail = *items[i].detail;
        detail.rises = static_cast<std::int64_t>(rises);
        add_needs(places[i], items, order, at, detail.needs);
        if (places[i].length > 0) detail.chain = places[i].length;
        items[i].detail = std::make_shared<const ItemDetail>(std::move(detail));
      }
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), i);
    }
  }

  // How far up a load may go. Where other loads must wait for each of the stores that it passes, it does so for one of them:
  // ptxas keeps no more registers for it.
  std::size_t passed_until(const std::vector<Place>& places, std::uint32_t load,
                           const std::vector<std::uint32_t>& order) const {
    bool passed_store = false;
    std::size_t passed = order.size();
    for (std::size_t at = order.size(); at > 0 && order.size() - at < most_passed; --at) {
      const Place& before = places[order[at - 1]];
      if (!passes(places[load], before)) {
        // In the machine code what computes the address has risen, too, past what is before it.
        if (places[load].machine_place && before.is_idle && !before.stops_all) continue;
        break;
      }
      if (passed_store && before.waits && !places[load].read_only && !is_known(places[load])) break;
      passed_store = passed_store || before.stops_loads;
      passed = at - 1;
    }
    return passed;
  }

  // The first place from `at` on where the load gains by being: before something that waits or takes long, and not before
  // what does nothing but compute the load's address. A load that waits for others gains only before what waits.
  std::size_t behind_idle(const Items& items, const std::vector<Place>& places, std::uint32_t load,
                          const std::vector<std::uint32_t>& order, std::size_t at) const {
    constexpr std::size_t most_instructions = 512;
    std::vector<std::uint32_t> wanted(uses_.reads(access_of(items[load])).begin(),
                                      uses_.reads(access_of(items[load])).end());
    const auto guards = guards_of(access_of(items[load]));
    wanted.insert(wanted.end(), guards.begin(), guards.end());
    const auto is_wanted = [&](const auto reg) {
      return std::find(wanted.begin(), wanted.end(), reg) != wanted.end();
    };
    std::size_t instructions = 0;
    std::vector<bool> only_address(order.size() - at);
    for (auto o = order.size(); o-- > at;) {
      const auto& made_of = items[order[o]].detail->made_of;
      only_address[o - at] = true;
      for (auto i = made_of.rbegin(); i != made_of.rend(); ++i) {
        if (++instructions > most_instructions) return at;
        const auto writes = uses_.writes(*i);
        if (std::none_of(writes.begin(), writes.end(), is_wanted)) {
          only_address[o - at] = false;
          continue;
        }
        std::erase_if(wanted, [&](const auto reg) {
          return std::find(writes.begin(), writes.end(), reg) != writes.end();
        });
        wanted.insert(wanted.end(), uses_.reads(*i).begin(), uses_.reads(*i).end());
      }
    }
    const auto idle = [&](std::size_t o) {
      if (only_address[o + only_address.size() - order.size()]) return true;
      const auto& before = items[order[o]];
      if (!std::holds_alternative<Instructions>(before.what)) return false;
      return before.detail->needs.empty() && (!places[load].sources.empty() || !places[order[o]].is_slow);
    };
    while (at < order.size() && idle(at)) ++at;
    return at;
  }

  // Which loads cannot pass the last store before them, and what waits for those.
  void note_waits(const Items& items, std::vector<Place>& places) const {
    std::vector<int> behind_stores;
    std::uint32_t store = none;
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      Place& place = places[i];
      place.stuck = place.loads && store != none && !passes(place, places[store]);
      if (place.stuck) behind_stores.push_back(place.number);
      if (place.stops_loads) store = i;
      if (!items[i].detail || behind_stores.empty()) continue;
      const auto& needs = items[i].detail->needs;
      place.waits = std::any_of(needs.begin(), needs.end(), [&](const int load) {
        return std::find(behind_stores.begin(), behind_stores.end(), load) != behind_stores.end();
      });
    }
  }

  // Where the machine code has the load.
  bool is_known(const Place& load) const { return load.machine_place && !expected_; }

  bool passes(const Place& load, const Place& before) const {
    if (before.stops_all) return false;
    if (is_known(load) && before.machine_place) return *load.machine_place < *before.machine_place;
    if (is_known(load) && before.is_run) return true;  // of which nothing is left
    if (before.stretch != load.stretch) return false;
    // An estimate's order holds among calculation and loads; stores are passed as below.
    if ((before.is_run || before.loads) && load.machine_place && before.machine_place)
      return *load.machine_place < *before.machine_place;
    if (before.loads) return before.depth > load.depth || (before.stuck && !load.stuck);
    return !before.stops_loads || load.read_only || are_apart(load.access, before.access);
  }

  // Whether both addresses are the same register with offsets that keep them apart. The register may have another value
  // in between, which compilers do not make of it.
  bool are_apart(std::uint32_t a, std::uint32_t b) const {
    const auto from = [&](std::uint32_t i) -> std::pair<std::uint32_t, std::int64_t> {
      const auto& ins = flow_.code.function().instructions[i];
      if (roles_[i].operand == none) return {none, 0};
      const auto& operands = flow_.code.operands();
      const auto& address = operands[ins.first_operand + roles_[i].operand];
      if (address.part_count != 1 || operands[address.first_part].kind != ptx::Operand::Kind::reg)
        return {none, 0};
      return {operands[address.first_part].symbol, static_cast<std::int64_t>(address.value)};
    };
    const auto [base, place] = from(a);
    const auto [other_base, other_place] = from(b);
    if (base == none || base != other_base) return false;
    const auto bytes = [&](std::uint32_t i) {
      return ptx::access_bytes(flow_.code.function().instructions[i]);
    };
    return place + bytes(a) <= other_place || other_place + bytes(b) <= place;
  }

  // What the address needs, but for what is waited for before.
  static void add_needs(const Place& load, const Items& items, const std::vector<std::uint32_t>& order,
                        std::size_t at, std::vector<int>& needs) {
    for (const int source : load.sources) {
      // An item of those that it passes waited for it first: now the load does.
      const bool waited_behind =
          std::any_of(order.begin() + static_cast<std::ptrdiff_t>(at), order.end(), [&](const auto passed) {
            const auto& detail = items[passed].detail;
            return detail &&
                   std::find(detail->needs.begin(), detail->needs.end(), source) != detail->needs.end();
          });
      if (waited_behind) needs.push_back(source);
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  }

  static constexpr std::size_t most_passed = 256;  // items
  static constexpr double slow_latency = 20;       // cycles

  const analysis::KernelFlow& flow_;
  const RegisterUses& uses_;
  const std::vector<InstructionRole>& roles_;
  const std::vector<std::uint32_t>& machine_places_;  // by instruction; empty: not known
  const bool expected_;                               // they are
  const Notes& notes_;
  Stretches stretches_;
  std::vector<std::vector<std::uint32_t>> guards_;  // by block; empty: no chains are known
  std::vector<bool> computes_address_;              // by instruction, where places are known
  std::vector<std::uint32_t> instruction_of_load_;  // by the load's number, less 1
  std::vector<Value> values_;                       // by register
  std::uint32_t time_ = 1;                          // grows where values are forgotten
  int loads_ = 0;
};

}  // namespace

Stretches::Stretches(const analysis::KernelFlow& flow, const std::vector<std::uint32_t>& chains)
    : flow_(flow) {
  const auto& blocks = flow.cfg.blocks;
  first_.resize(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (!chains.empty() && chains[b] < b) {
      first_[b] = first_[chains[b]];
      continue;
    }
    auto first = b;
    for (std::size_t steps = 0; steps < blocks.size(); ++steps) {
      const auto& before = blocks[first].predecessors;
      if (before.size() != 1 || blocks[before[0]].successors.size() != 1 || before[0] == b) break;
      first = before[0];
      if (first > b) continue;
      first = first_[first];
      break;
    }
    first_[b] = first;
  }
}

std::uint32_t Stretches::of(std::uint32_t instruction) const {
  const auto b = flow_.evaluator.block_of(instruction);
  return b == analysis::none ? b : first_[b];
}

void write_rises(const analysis::KernelFlow& flow, const RegisterUses& uses,
                 const std::vector<InstructionRole>& roles, const MachinePlaces& places, const Notes& notes,
                 Items& items) {
  Rises(flow, uses, roles, places, notes).write(items);
}

std::vector<std::uint32_t> risen_order(const Items& items) {
  std::vector<std::uint32_t> order;
  order.reserve(items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const auto rises = items[i].detail ? static_cast<std::size_t>(items[i].detail->rises) : 0;
    order.insert(order.end() - static_cast<std::ptrdiff_t>(std::min(rises, order.size())), i);
  }
  return order;
}

}  // namespace warptime::periods
