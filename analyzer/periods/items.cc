#include "analyzer/periods/items.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace warptime::periods {
namespace {

bool same_access(const MemoryAccess& a, const MemoryAccess& b) {
  return a.kind == b.kind && a.cycles == b.cycles && a.access == b.access && a.bytes == b.bytes &&
         a.sectors == b.sectors && a.stride == b.stride && a.note == b.note;
}

}  // namespace

void add_instructions(Items& items, std::int64_t count, const LineSet& lines, const LineSet& ptx) {
  if (count == 0) return;
  if (!items.empty())
    if (auto* last = std::get_if<Instructions>(&items.back().what);
        last != nullptr && last->count.is_integer()) {
      last->count = Expression(last->count.integer_value() + count);
      items.back().lines.add(lines);
      items.back().ptx.add(ptx);
      return;
    }
  items.push_back({Instructions{Expression(count)}, lines, ptx});
}

void append(Items& items, Items more) {
  for (auto& item : more) {
    const auto* run = std::get_if<Instructions>(&item.what);
    if (run != nullptr && run->count.is_integer())
      add_instructions(items, run->count.integer_value(), item.lines, item.ptx);
    else
      items.push_back(std::move(item));
  }
}

bool same_items(const Items& a, const Items& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].what.index() != b[i].what.index()) return false;
    if (const auto* x = std::get_if<Instructions>(&a[i].what)) {
      if (!(x->count == std::get<Instructions>(b[i].what).count)) return false;
    } else if (const auto* m = std::get_if<MemoryAccess>(&a[i].what)) {
      if (!same_access(*m, std::get<MemoryAccess>(b[i].what))) return false;
    } else if (const auto* r = std::get_if<Repeat>(&a[i].what)) {
      const auto& s = std::get<Repeat>(b[i].what);
      if (!(r->count == s.count) || r->counter != s.counter || !same_items(r->body, s.body)) return false;
    } else if (const auto* w = std::get_if<When>(&a[i].what)) {
      const auto& s = std::get<When>(b[i].what);
      if (!(w->condition == s.condition) || !same_items(w->then_items, s.then_items) ||
          !same_items(w->else_items, s.else_items))
        return false;
    }
  }
  return true;
}

double weight_of(const Items& items) {
  double sum = 0;
  for (const auto& item : items) {
    if (const auto* i = std::get_if<Instructions>(&item.what))
      sum += i->count.is_integer() ? static_cast<double>(i->count.integer_value()) : 1;
    else if (std::holds_alternative<MemoryAccess>(item.what))
      sum += 100;
    else if (const auto* r = std::get_if<Repeat>(&item.what))
      sum += 10 * weight_of(r->body);
    else if (const auto* w = std::get_if<When>(&item.what))
      sum += std::max(weight_of(w->then_items), weight_of(w->else_items));
  }
  return sum;
}

std::size_t size_of(const Items& items) {
  auto size = items.size();
  for (const auto& item : items) {
    if (const auto* r = std::get_if<Repeat>(&item.what))
      size += size_of(r->body);
    else if (const auto* w = std::get_if<When>(&item.what))
      size += size_of(w->then_items) + size_of(w->else_items);
  }
  return size;
}

void compact(Items& items) {
  items.shrink_to_fit();
  for (auto& item : items) {
    if (auto* repeat = std::get_if<Repeat>(&item.what))
      compact(repeat->body);
    else if (auto* when = std::get_if<When>(&item.what))
      compact(when->then_items), compact(when->else_items);
  }
}

}  // namespace warptime::periods
