// The one walker over the items of a kernel program.
//
//   struct LoadCounter : ItemWalker<LoadCounter> {
//     using ItemWalker::on;
//     void on(const Item&, const MemoryAccess& access) { loads += access.kind == MemoryAccess::Kind::load; }
//     int loads = 0;
//   };
//
// A walker overrides on() for the kinds of items that it cares about. For other items, the default walks into
// them: the body of a repeat once, both branches of a condition.
#pragma once

#include <variant>

#include "simulator/program/kernel_program.h"

namespace warptime {

template <class Derived>
class ItemWalker {
 public:
  void walk(const Items& items) {
    for (const Item& item : items) visit(item);
  }
  void visit(const Item& item) {
    std::visit([&](const auto& what) { static_cast<Derived&>(*this).on(item, what); }, item.what);
  }

  void on(const Item&, const Calculation&) {}
  void on(const Item&, const Instructions&) {}
  void on(const Item&, const MemoryAccess&) {}
  void on(const Item&, const Repeat& repeat) { static_cast<Derived&>(*this).walk(repeat.body); }
  void on(const Item&, const When& when) {
    static_cast<Derived&>(*this).walk(when.then_items);
    static_cast<Derived&>(*this).walk(when.else_items);
  }
};

// Calls fn(item) for each item, those of bodies and branches after the item that contains them.
template <class Fn>
void for_each_item(const Items& items, Fn&& fn) {
  struct Each : ItemWalker<Each> {
    explicit Each(Fn& call) : call_(call) {}
    void walk(const Items& inner) {
      for (const Item& item : inner) {
        call_(item);
        this->visit(item);
      }
    }
    Fn& call_;
  };
  Each(fn).walk(items);
}

// Calls fn(access) for each load and store.
template <class Fn>
void for_each_access(const Items& items, Fn&& fn) {
  for_each_item(items, [&](const Item& item) {
    if (const auto* access = std::get_if<MemoryAccess>(&item.what)) fn(*access);
  });
}

// Whether there are items inside this one: it is a repeat or a condition.
inline bool is_nested(const Item& item) {
  return std::holds_alternative<Repeat>(item.what) || std::holds_alternative<When>(item.what);
}

// Calls fn(inner) for the items inside this one: the body of a repeat, the two branches of a condition.
// `item` may be const or not.
template <class AnyItem, class Fn>
void for_each_inner(AnyItem& item, Fn&& fn) {
  if (auto* repeat = std::get_if<Repeat>(&item.what)) {
    fn(repeat->body);
  } else if (auto* when = std::get_if<When>(&item.what)) {
    fn(when->then_items);
    fn(when->else_items);
  }
}

}  // namespace warptime
