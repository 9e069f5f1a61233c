#include "simulator/program/scheduled_loads.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/program/walk.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;
using Replacement = std::map<std::string, Expression, std::less<>>;

// What ptxas 13 and NVVM do for sm_90, by the loops of tests/development.
constexpr std::int64_t kUniformBytes = 8;        // that one ULDC loads
constexpr std::int64_t kMostUnrolled = 16;       // iterations of the source, by both together
constexpr std::int64_t kMostInstructions = 60;   // of a body that ptxas unrolls
constexpr std::int64_t kSmallInstructions = 12;  // of a body that both unroll
constexpr std::int64_t kShortBranch = 12;        // instructions that become predicated
constexpr std::int64_t kMostScheduled = 1000;    // instructions of a block whose loads ptxas lets rise
constexpr std::size_t kMostItems = 400;          // of an unrolled body
constexpr std::int64_t kMostInFlight =
    16;  // words of 32 bits that rise to the begin of a body: registers hold no more

const MemoryAccess* global_access(const Item& item, MemoryAccess::Kind kind) {
  const auto* access = std::get_if<MemoryAccess>(&item.what);
  return access != nullptr && access->kind == kind ? access : nullptr;
}

bool is_plain_store(const Item& item) {
  const MemoryAccess* store = global_access(item, MemoryAccess::Kind::store);
  return store != nullptr && !is_atomic(*store) && !is_asynchronous_copy(*store);
}

// Whether loads stay behind it.
bool holds_loads(const Item& item) {
  const auto* access = std::get_if<MemoryAccess>(&item.what);
  return is_nested(item) || (item.detail && item.detail->barrier) ||
         (access != nullptr && (access->kind == MemoryAccess::Kind::store || is_atomic(*access)));
}

// Whether both go to the same array, always the same number of bytes from each other, and do not meet.
bool are_apart(const MemoryAccess& a, const MemoryAccess& b) {
  if (!a.address || !b.address || a.array != b.array || !a.bytes || !b.bytes) return false;
  std::optional<double> distance;
  for (const std::int64_t first : {1'009, 4'999}) {
    Bindings values;
    std::int64_t value = first;
    for (const Expression* address : {&*a.address, &*b.address})
      for (const std::string& name : address->names())
        if (values.try_emplace(name, value).second) value += first / 7;
    const auto at = evaluate_number(*a.address, values), other = evaluate_number(*b.address, values);
    if (!at || !other || (distance && *distance != *at - *other)) return false;
    distance = *at - *other;
  }
  return *distance >= static_cast<double>(*b.bytes) || -*distance >= static_cast<double>(*a.bytes);
}

std::int64_t instructions_of(const Item& item) {
  const auto* run = std::get_if<Instructions>(&item.what);
  if (run == nullptr) return 1;
  return run->count.is_integer() ? run->count.integer_value() : kMostInstructions + 1;
}

// d of `n / d`, `n / d - 1`, …; nothing: there is none.
std::optional<std::int64_t> divided_by(const Expression& count, Operator how) {
  const auto& parts = count.operands();
  if (count.op() == how && parts[1].is_integer()) return parts[1].integer_value();
  if (count.op() == Operator::add || count.op() == Operator::subtract || count.op() == Operator::maximum) {
    for (const Expression& part : parts)
      if (const auto found = divided_by(part, how)) return found;
  }
  return std::nullopt;
}

class LoadScheduler {
 public:
  // order_known: the program has the order of the machine code, and need not be told which branches become predicates.
  explicit LoadScheduler(bool order_known) : order_known_(order_known) {}

  Items scheduled(const Items& items) {
    Items result;
    for (const Item& item : items) append(item, result);
    if (!order_known_) raise_guarded(result);
    return result;
  }

  // Gives all items the new numbers of the loads that they need.
  void renumber() {
    for (auto& [detail, of] : pending_) {
      std::vector<int> needs;
      for (const int needed : detail->needs) add_numbers(needed, of, needs);
      std::sort(needs.begin(), needs.end());
      needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
      detail->needs = std::move(needs);
    }
  }

 private:
  // Where an item stands: in which piece of which loop. Loop 0: in none that is unrolled.
  struct Place {
    int loop = 0, copy = 0;
    int loads_before = 0;  // the number of the last load before it in the original program
  };
  struct Emitted {
    Place place;
    int number = 0;  // in the new program
  };

  void append(const Item& item, Items& to) {
    const auto* repeat = std::get_if<Repeat>(&item.what);
    if (repeat != nullptr) {
      if (const std::int64_t times = unrolled(*repeat); times > 1)
        return append_unrolled(item, *repeat, times, to);
    }
    if (append_predicated(item, to)) return;
    to.push_back(copied(item, {}));
    if (auto* when = std::get_if<When>(&to.back().what)) {
      when->then_items = scheduled(when->then_items);
      when->else_items = scheduled(when->else_items);
    } else if (auto* inner = std::get_if<Repeat>(&to.back().what)) {
      enter(*inner);
      inner->body = scheduled(inner->body);
      loops_around_.pop_back();
    }
  }

  // Of a branch of some threads with short sides ptxas makes predicates.
  bool append_predicated(const Item& item, Items& to) {
    const auto* when = std::get_if<When>(&item.what);
    if (when == nullptr || !when->then_threads || !item.shares.empty()) return false;
    std::int64_t instructions = 0;
    for (const Items* side : {&when->then_items, &when->else_items})
      for (const Item& one : *side) {
        if (is_nested(one) || holds_loads(one) || !one.shares.empty()) return false;
        instructions += instructions_of(one);
      }
    if (instructions > kShortBranch) return false;
    const auto append_side = [&](const Items& side, const Expression& taken) {
      for (const Item& one : side) {
        to.push_back(copied(one, {}));
        Expression threads = taken;
        for (const auto& also : {item.threads, one.threads})
          if (also) threads = Expression::make(Operator::logical_and, {*also, threads});
        to.back().threads = std::move(threads);
      }
    };
    append_side(when->then_items, *when->then_threads);
    append_side(when->else_items, Expression::make(Operator::logical_not, {*when->then_threads}));
    return true;
  }

  // Whether no branch is left of the loop in the machine code.
  static bool is_whole(const Repeat& repeat) {
    return repeat.count.is_integer() && !repeat.unrolled.empty() &&
           repeat.unrolled.front().iterations >= repeat.count.integer_value();
  }

  void enter(const Repeat& repeat) {
    const bool straight = !repeat.per_thread && !repeat.spread &&
                          std::none_of(repeat.body.begin(), repeat.body.end(), [](const Item& item) {
                            return is_nested(item) || item.threads || !item.shares.empty();
                          });
    loops_around_.push_back({is_whole(repeat) ? std::string() : repeat.counter, straight});
  }

  // ptxas shares registers between threads where it sees no branch that may part them.
  ChipAccess::Index index_of(const ChipAccess& access) const {
    if (access.space != ChipAccess::Space::constant || !access.address || loops_around_.empty())
      return ChipAccess::Index::none;
    const auto names = access.address->names();
    const bool counted = std::any_of(loops_around_.begin(), loops_around_.end(), [&](const LoopAround& loop) {
      return std::find(names.begin(), names.end(), loop.counter) != names.end();
    });
    if (!counted) return ChipAccess::Index::none;
    return loops_around_.back().straight ? ChipAccess::Index::shared : ChipAccess::Index::own;
  }

  // Of a constant: what LDC loads, then what ULDC does, eight bytes at a time.
  void add_pieces(const ChipAccess& access, std::vector<ChipAccess>& into) const {
    into.push_back(access);
    into.back().index = index_of(access);
    if (into.back().index != ChipAccess::Index::shared) return;
    const std::int64_t own = std::min(access.own_bytes, access.bytes);
    if (own == 0 && access.bytes <= kUniformBytes) return;
    into.pop_back();
    for (std::int64_t at = 0; at < access.bytes;) {
      ChipAccess piece = access;
      piece.own_bytes = 0;
      piece.index = at < own ? ChipAccess::Index::own : ChipAccess::Index::shared;
      piece.bytes = at < own ? own : std::min(kUniformBytes, access.bytes - at);
      if (at > 0) piece.address = Expression::make(Expression::Operator::add, *access.address, at);
      at += piece.bytes;
      into.push_back(std::move(piece));
    }
  }

  // A copy of the item, of which loads are counted, and details are to be renumbered.
  Item copied(const Item& item, Place place) {
    Item copy = item;
    place.loads_before = original_loads_;
    if (is_load(item)) emitted_[++original_loads_].push_back({place, ++loads_});
    if (item.detail) {
      auto detail = std::make_shared<ItemDetail>(*item.detail);
      detail->on_chip.clear();
      for (const ChipAccess& access : item.detail->on_chip) add_pieces(access, detail->on_chip);
      pending_.emplace_back(detail, place);
      copy.detail = std::move(detail);
    }
    return copy;
  }

  static std::int64_t unrolled(const Repeat& repeat) {
    std::int64_t instructions = 0;
    std::int64_t loads = 0, words = 0;
    double machine = 0;
    const bool stores = std::any_of(repeat.body.begin(), repeat.body.end(), is_plain_store);
    for (const Item& item : repeat.body) {
      if (item.machine) machine += item.machine->total();
      if (is_nested(item) || (item.detail && item.detail->barrier)) return 1;
      if (const MemoryAccess* load = global_access(item, MemoryAccess::Kind::load)) {
        ++loads;
        if (!stores || (item.detail && item.detail->read_only))  // others stay with their iteration
          words += std::max<std::int64_t>(load->bytes.value_or(4) / 4, 1);
      }
      instructions += instructions_of(item);
    }
    if (loads == 0) return 1;
    std::int64_t times = 1;
    if (!repeat.unrolled.empty()) {
      times = repeat.unrolled.front().iterations;
      if (times * instructions > kMostScheduled) return 1;
    } else if (machine > 0) {
      return 1;  // the estimate says that ptxas leaves it as it is
    } else if (const auto already = divided_by(repeat.count, Operator::divide);
               already && *already > 1 && *already < kMostUnrolled && instructions <= kMostInstructions) {
      times = kMostUnrolled / *already;
    } else if (divided_by(repeat.count, Operator::ceil_div) && instructions <= kSmallInstructions) {
      times = kMostUnrolled;
    }
    return std::min<std::int64_t>(
        std::min(times, std::max<std::int64_t>(kMostInFlight / std::max<std::int64_t>(words, 1), 1)),
        static_cast<std::int64_t>(kMostItems / std::max<std::size_t>(repeat.body.size(), 1)));
  }

  // `times` iterations at once, and what is left of them.
  void append_unrolled(const Item& item, const Repeat& repeat, std::int64_t times, Items& to) {
    const auto with = [&](Operator op, const Expression& count) {
      return Expression::make(op, {count, Expression(times)});
    };
    const auto counted = [&](const Expression& value) {
      return repeat.counter.empty() ? Replacement() : Replacement{{repeat.counter, value}};
    };
    const auto counter = [&] { return Expression::name(repeat.counter); };
    const int loop = ++loops_, first_load = original_loads_;
    enter(repeat);
    Item main = copied(item, {});
    auto& pieces = std::get<Repeat>(main.what);
    pieces.count = with(Operator::divide, repeat.count);
    if (repeat.per_thread) pieces.per_thread = with(Operator::divide, *repeat.per_thread);
    if (repeat.spread) pieces.spread = of_pieces(*repeat.spread, times);
    pieces.unrolled.clear();
    pieces.body.clear();
    if (!repeat.unrolled.empty()) {
      Item beside{Instructions{0}, item.lines, item.ptx};
      beside.machine = std::make_shared<MachineWork>(repeat.unrolled.front().machine);
      pieces.body.push_back(std::move(beside));
    }
    for (std::int64_t copy = 0; copy < times; ++copy) {
      original_loads_ = first_load;
      const Replacement at =
          repeat.counter.empty()
              ? Replacement()
              : counted(Expression::make(Operator::add,
                                         {Expression::make(Operator::multiply, {times, counter()}), copy}));
      for (const Item& one : repeat.body)
        pieces.body.push_back(substituted(copied(one, {loop, static_cast<int>(copy), 0}), at));
    }
    copies_[loop] = static_cast<int>(times);
    first_loads_[loop] = {first_load, original_loads_};
    raise_all(pieces.body);
    to.push_back(std::move(main));

    original_loads_ = first_load;
    Item rest = item;
    rest.machine = nullptr;
    auto& left = std::get<Repeat>(rest.what);
    left.count = with(Operator::modulo, repeat.count);
    if (repeat.per_thread) left.per_thread = with(Operator::modulo, *repeat.per_thread);
    if (repeat.spread) left.spread = left_of_pieces(times);
    left.unrolled.clear();
    left.body.clear();
    const Expression& all = repeat.per_thread ? *repeat.per_thread : repeat.count;
    const Replacement behind =
        repeat.counter.empty()
            ? Replacement()
            : counted(Expression::make(
                  Operator::add,
                  {Expression::make(Operator::multiply, {times, with(Operator::divide, all)}), counter()}));
    for (const Item& one : repeat.body)
      left.body.push_back(substituted(copied(one, {loop, static_cast<int>(times), 0}), behind));
    to.push_back(std::move(rest));
    loops_around_.pop_back();
  }

  static Item substituted(Item item, const Replacement& replacement) {
    if (replacement.empty()) return item;
    if (item.threads) item.threads = item.threads->substitute(replacement);
    if (auto* run = std::get_if<Instructions>(&item.what)) run->count = run->count.substitute(replacement);
    if (auto* access = std::get_if<MemoryAccess>(&item.what); access != nullptr && access->address)
      access->address = access->address->substitute(replacement);
    if (item.detail && (item.detail->row || !item.detail->on_chip.empty())) {
      // copied() has made it, for this item alone
      auto& detail = const_cast<ItemDetail&>(*item.detail);
      if (detail.row) detail.row->of = detail.row->of.substitute(replacement);
      if (detail.row) detail.row->at = detail.row->at.substitute(replacement);
      for (ChipAccess& access : detail.on_chip)
        if (access.address) access.address = access.address->substitute(replacement);
    }
    return item;
  }

  // Data may decide it: what has waited for them is before it.
  static bool has_unknown_address(const Item& load) {
    return !std::get<MemoryAccess>(load.what).address && !(load.detail && load.detail->near);
  }

  // A load stays where it is with 0.
  static void raise(Item& item, std::int64_t by) {
    if (item.detail) {
      const_cast<ItemDetail&>(*item.detail).rises = by;
    } else if (by > 0) {
      auto detail = std::make_shared<ItemDetail>();
      detail->rises = by;
      item.detail = std::move(detail);
    }
  }

  // Of an unrolled body: loads that need none of it rise to its begin, or to behind the last branch of ptxas' before them.
  // Those that the body's stores may change stay behind the item that they stand behind now.
  static void raise_all(Items& body) {
    const bool stores = std::any_of(body.begin(), body.end(), is_plain_store);
    if (std::any_of(body.begin(), body.end(),
                    [](const Item& item) { return holds_loads(item) && !is_plain_store(item); }))
      return;
    std::vector<std::size_t> was, order;  // the items behind what rises, as they were and now
    std::vector<bool> at_begin(body.size());
    std::size_t begin = 0;  // in `order`: behind the loads that have risen to the begin
    bool waited = false;    // for a load, by what may compute an address of it
    const auto insert = [](std::vector<std::size_t>& into, std::size_t place, std::size_t item) {
      into.insert(into.begin() + static_cast<std::ptrdiff_t>(place), item);
    };
    for (std::size_t i = 0; i < body.size(); ++i) {
      Item& item = body[i];
      const auto rises = item.detail ? static_cast<std::size_t>(item.detail->rises) : 0;
      std::size_t place = was.size() - std::min(rises, was.size());
      const bool needs = item.detail && !item.detail->needs.empty();
      at_begin[i] = is_load(item) && !needs && !(waited && has_unknown_address(item)) &&
                    (!stores || (item.detail && item.detail->read_only));
      std::size_t at = begin;
      if (at_begin[i]) {
        ++begin;
      } else {
        std::size_t before = place;
        while (before > 0 && at_begin[was[before - 1]]) --before;
        if (before > 0)
          at = static_cast<std::size_t>(std::find(order.begin(), order.end(), was[before - 1]) -
                                        order.begin()) +
               1;
        at = std::max(at, begin);
        if (const auto store = before_store(body, order, at, begin, i); store && !needs) {
          at = *store;
          place = static_cast<std::size_t>(std::find(was.begin(), was.end(), order[at]) - was.begin());
        }
      }
      raise(item, static_cast<std::int64_t>(order.size() - at));
      insert(was, place, i);
      insert(order, at, i);
      if (item.detail && item.detail->splits) begin = order.size();
      waited = waited || needs;
    }
  }

  // Where the store stands, of the iteration before, that a load at `at` may pass: nothing may be between them that waits.
  static std::optional<std::size_t> before_store(const Items& body, const std::vector<std::size_t>& order,
                                                 std::size_t at, std::size_t begin, std::size_t load) {
    for (std::size_t before = at; before > begin; --before) {
      const Item& item = body[order[before - 1]];
      if (is_plain_store(item)) {
        if (!is_load(body[load]) ||
            !are_apart(std::get<MemoryAccess>(body[load].what), std::get<MemoryAccess>(item.what)))
          return std::nullopt;
        return before - 1;
      }
      if (!std::holds_alternative<Instructions>(item.what) || (item.detail && !item.detail->needs.empty()))
        return std::nullopt;
    }
    return std::nullopt;
  }

  // Whether it waits for a load and writes to shared memory, as where a tile is filled.
  static bool fills_shared_memory(const Item& item) {
    return item.detail && !item.detail->needs.empty() &&
           std::any_of(item.detail->on_chip.begin(), item.detail->on_chip.end(),
                       [](const ChipAccess& one) { return one.kind != ChipAccess::Kind::load; });
  }

  // A load behind a short branch of its own rises past what is before it, as far as it may: not past what fills shared memory
  // behind another branch.
  static void raise_guarded(Items& items) {
    for (std::size_t at = 0; at < items.size(); ++at) {
      Item& item = items[at];
      if (!is_load(item) || !item.threads || !item.shares.empty()) continue;
      if (item.detail && !item.detail->needs.empty()) continue;
      std::int64_t rises = 0, run = 0;
      for (std::size_t i = at; i-- > 0;) {
        const Item& before = items[i];
        if (holds_loads(before) || !before.shares.empty() || (before.detail && before.detail->splits)) break;
        if (has_unknown_address(item) && before.detail && !before.detail->needs.empty()) break;
        if (before.threads != item.threads && fills_shared_memory(before)) break;
        if (is_load(before)) continue;
        run = i + 1 < at && before.threads != items[i + 1].threads ? 0 : run;
        run += instructions_of(before);
        if (run > kShortBranch) break;
        ++rises;
      }
      raise(item, std::max(rises, item.detail ? item.detail->rises : 0));
    }
  }

  void add_numbers(int original, const Place& of, std::vector<int>& needs) const {
    const auto found = emitted_.find(original);
    if (found == emitted_.end()) return;
    const auto range = first_loads_.find(of.loop);
    const bool inside = of.loop > 0 && range != first_loads_.end() && original > range->second.first &&
                        original <= range->second.second;
    int copy = of.copy;
    if (inside && copy < copies_.at(of.loop) && original > of.loads_before)
      copy = (copy + copies_.at(of.loop) - 1) % copies_.at(of.loop);  // of the iteration before
    for (const Emitted& one : found->second)
      if (!inside || (one.place.loop == of.loop && one.place.copy == copy)) needs.push_back(one.number);
  }

  bool order_known_;
  int original_loads_ = 0, loads_ = 0, loops_ = 0;
  struct LoopAround {
    std::string counter;    // empty: it has none, or the machine code has no such loop
    bool straight = false;  // all threads execute all of each iteration
  };
  std::vector<LoopAround> loops_around_;
  std::map<int, std::vector<Emitted>> emitted_;  // by the number in the original program
  std::map<int, std::pair<int, int>>
      first_loads_;            // of a loop: the loads after the first number, to the second
  std::map<int, int> copies_;  // of a loop
  std::vector<std::pair<std::shared_ptr<ItemDetail>, Place>> pending_;
};

}  // namespace

void schedule_loads(KernelProgram& program) {
  LoadScheduler scheduler(program.resources.has_value() && !program.estimated_registers);
  program.program = scheduler.scheduled(program.program);
  scheduler.renumber();
}

}  // namespace warptime
