#include "simulator/model/extended/program_changes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/program/place.h"
#include "simulator/program/walk.h"
#include "simulator/program/warp_trace.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;

Expression both(Operator op, const Expression& a, const Expression& b) {
  return Expression::make(op, {a, b});
}

void execute_only_if(Item& item, const Expression& condition) {
  item.threads = item.threads ? both(Operator::logical_and, *item.threads, condition) : condition;
}

class LoadHalver {
 public:
  explicit LoadHalver(const std::string& where) : where_(where) {}
  bool changed() const { return changed_; }

  // Returns the loads without a partner.
  std::vector<Item*> halve(Items& items) {
    std::vector<Item*> single, adjacent;
    for (Item& item : items) {
      if (is_load(item)) {
        adjacent.push_back(&item);
      } else if (auto* when = std::get_if<When>(&item.what)) {
        for (Items* side : {&when->then_items, &when->else_items})
          for (Item* load : halve(*side)) single.push_back(load);
      } else if (auto* repeat = std::get_if<Repeat>(&item.what)) {
        halve(*repeat);
      }
    }
    for (std::size_t i = 1; i < adjacent.size(); i += 2) {
      execute_only_if(*adjacent[i], 0);
      changed_ = true;
    }
    if (adjacent.size() % 2 == 1) single.push_back(adjacent.back());
    return single;
  }

 private:
  void halve(Repeat& repeat) {
    const std::vector<Item*> once = halve(repeat.body);
    if (once.empty()) return;
    if (repeat.counter.empty()) repeat.counter = "iteration_" + std::to_string(++counters_);
    const Expression even =
        both(Operator::equal, both(Operator::modulo, Expression::name(repeat.counter), 2), 0);
    for (Item* load : once) execute_only_if(*load, even);
    changed_ = true;
  }

  bool is_load(const Item& item) const {
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    return access != nullptr && access->kind == MemoryAccess::Kind::load && !is_atomic(*access) &&
           place_of(item) == where_;
  }

  const std::string& where_;
  bool changed_ = false;
  int counters_ = 0;
};

void for_each_item_of(Items& items, const std::function<void(Item&)>& fn) {
  for (Item& item : items) {
    fn(item);
    for_each_inner(item, [&](Items& inner) { for_each_item_of(inner, fn); });
  }
}

bool is_at(const Item& item, const std::string& where) {
  return !is_nested(item) && place_of(item) == where;
}

// The program with its items changed, if `change` says of one that it did.
std::optional<KernelProgram> changed(const KernelProgram& program, const std::function<bool(Item&)>& change) {
  KernelProgram copy = program;
  bool any = false;
  for_each_item_of(copy.program, [&](Item& item) { any = change(item) || any; });
  return any ? std::optional(std::move(copy)) : std::nullopt;
}

// Of `row` threads that are `stride` bytes apart, which access row * stride bytes piece by piece, each access
// in this order takes a piece without gaps. Where they are not more than an element apart, the address stays.
Expression coalesced_address(const Expression& address, std::int64_t bytes, std::int64_t row) {
  const Expression in_row = both(Operator::modulo, Expression::name("laneid"), row);
  const auto at_thread = [&](std::int64_t of_row) {
    const Expression first = both(Operator::subtract, Expression::name("threadIdx.x"), in_row);
    return address.substitute({{"threadIdx.x", both(Operator::add, first, of_row)}});
  };
  const Expression first = at_thread(0);
  const Expression stride = both(Operator::subtract, at_thread(1), first);
  const Expression apart = both(Operator::maximum, stride, 1);
  const Expression piece = both(Operator::multiply, both(Operator::divide, first, apart), apart);
  const Expression within = both(Operator::multiply, both(Operator::modulo, first, apart), row);
  const Expression of_thread = both(Operator::multiply, bytes, in_row);
  return Expression::make(Operator::conditional,
                          {both(Operator::greater, stride, bytes),
                           both(Operator::add, both(Operator::add, piece, within), of_thread), address});
}

bool without_gaps(Item& item, std::int64_t row) {
  auto* access = std::get_if<MemoryAccess>(&item.what);
  if (access == nullptr || is_atomic(*access)) return false;
  const std::int64_t bytes = access->bytes.value_or(4);
  if (access->access == Access::uniform || access->access == Access::coalesced) return false;
  if (access->address) access->address = coalesced_address(*access->address, bytes, row);
  access->access = Access::coalesced;
  access->sectors = std::max<std::int64_t>(bytes * static_cast<std::int64_t>(kLanes) / kSectorBytes, 1);
  access->stride.clear();
  return true;
}

// The item's accesses on the chip, where `change` returns whether it changed them.
bool change_chip_accesses(Item& item, const std::function<bool(std::vector<ChipAccess>&)>& change) {
  if (!item.detail) return false;
  auto detail = std::make_shared<ItemDetail>(*item.detail);
  if (!change(detail->on_chip)) return false;
  item.detail = std::move(detail);
  return true;
}

}  // namespace

std::optional<KernelProgram> without_every_second_load(const KernelProgram& program,
                                                       const std::string& where) {
  KernelProgram copy = program;
  LoadHalver halver(where);
  halver.halve(copy.program);
  return halver.changed() ? std::optional(std::move(copy)) : std::nullopt;
}

std::optional<KernelProgram> with_coalesced_accesses(const KernelProgram& program, const std::string& where,
                                                     std::int64_t row) {
  return changed(program, [&](Item& item) { return is_at(item, where) && without_gaps(item, row); });
}

std::optional<KernelProgram> without_bank_conflicts(const KernelProgram& program, const std::string& where) {
  return changed(program, [&](Item& item) {
    if (!is_at(item, where)) return false;
    return change_chip_accesses(item, [](std::vector<ChipAccess>& accesses) {
      bool any = false;
      for (ChipAccess& access : accesses) {
        if (access.space != ChipAccess::Space::shared || !access.address) continue;
        access.address = both(Operator::multiply, access.bytes, Expression::name("laneid"));
        any = true;
      }
      return any;
    });
  });
}

std::optional<KernelProgram> without_local_memory(const KernelProgram& program, const std::string& where) {
  return changed(program, [&](Item& item) {
    if (!is_at(item, where)) return false;
    return change_chip_accesses(item, [](std::vector<ChipAccess>& accesses) {
      return std::erase_if(accesses, [](const ChipAccess& access) {
               return access.space == ChipAccess::Space::local;
             }) > 0;
    });
  });
}

namespace {

// Walks the items of the program and of its copy side by side.
void take_together(const Items& of, Items& copy, const TogetherShares& shares, KernelProgram& program) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (const auto found = shares.find(&of[i]); found != shares.end()) {
      Parameter share;
      share.name = "together_" + std::to_string(program.parameters.size());
      share.share = found->second;
      copy[i].threads.reset();
      copy[i].predicated = false;
      copy[i].shares.push_back(share.name);
      program.parameters.push_back(std::move(share));
    }
    std::vector<const Items*> inner;
    for_each_inner(of[i], [&](const Items& items) { inner.push_back(&items); });
    std::size_t next = 0;
    for_each_inner(copy[i], [&](Items& items) { take_together(*inner[next++], items, shares, program); });
  }
}

}  // namespace

std::optional<KernelProgram> without_divergence(const KernelProgram& program, const TogetherShares& shares) {
  if (shares.empty()) return std::nullopt;
  KernelProgram copy = program;
  take_together(program.program, copy.program, shares, copy);
  return copy;
}

std::optional<KernelProgram> in_single_precision(const KernelProgram& program) {
  return changed(program, [](Item& item) {
    if (!item.machine || (*item.machine)[Pipe::fp64] == 0) return false;
    auto machine = std::make_shared<MachineWork>(*item.machine);
    (*machine)[Pipe::fma] += std::exchange((*machine)[Pipe::fp64], 0);
    item.machine = std::move(machine);
    return true;
  });
}

}  // namespace warptime
