#include "analyzer/periods/items.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "simulator/program/walk.h"

namespace warptime::periods {
namespace {

bool same_period(const MemoryAccess& a, const MemoryAccess& b) {
  return a.kind == b.kind && a.cycles == b.cycles && a.access == b.access && a.bytes == b.bytes &&
         a.sectors == b.sectors && a.stride == b.stride && a.continues == b.continues && a.note == b.note;
}

// Accesses with the same pattern may be to different arrays, which only programs with detail name.
bool same_place(const MemoryAccess& a, const MemoryAccess& b) {
  return a.array == b.array && (a.array.empty() || a.address == b.address);
}

bool same_detail(const Item& a, const Item& b) {
  static const ItemDetail none;
  return (a.detail ? *a.detail : none) == (b.detail ? *b.detail : none);
}

bool is_for_all(const Item& item) {
  return !item.threads && item.shares.empty();
}

bool ends_at_barrier(const Item& item) {
  return item.detail && item.detail->barrier;
}

Expression both(const Expression& a, const Expression& b) {
  return Expression::make(Expression::Operator::logical_and, {a, b});
}

}  // namespace

void restrict_to(Items& items, const Expression& threads) {
  for (Item& item : items) item.threads = item.threads ? both(threads, *item.threads) : threads;
}

void restrict_to_share(Items& items, const std::string& share) {
  for (Item& item : items) item.shares.insert(item.shares.begin(), share);
}

void replace_counter(Items& items, const std::string& counter, const Expression& value) {
  const std::map<std::string, Expression, std::less<>> replacement{{counter, value}};
  const auto replace = [&](std::optional<Expression>& expression) {
    if (expression) expression = expression->substitute(replacement);
  };
  for (Item& item : items) {
    replace(item.threads);
    if (auto* access = std::get_if<MemoryAccess>(&item.what)) replace(access->address);
    if (item.detail && (item.detail->row || !item.detail->on_chip.empty())) {
      auto detail = std::make_shared<ItemDetail>(*item.detail);
      if (detail->row) detail->row->of = detail->row->of.substitute(replacement);
      if (detail->row) detail->row->at = detail->row->at.substitute(replacement);
      for (ChipAccess& access : detail->on_chip) replace(access.address);
      item.detail = std::move(detail);
    }
    if (auto* repeat = std::get_if<Repeat>(&item.what)) replace(repeat->per_thread);
    if (auto* when = std::get_if<When>(&item.what)) replace(when->then_threads);
    for_each_inner(item, [&](Items& inner) { replace_counter(inner, counter, value); });
  }
}

// Of a run that goes on with instructions that do not wait for loads. How long both take together is not known.
void extend_detail(Item& item, const std::shared_ptr<const ItemDetail>& more) {
  if (!more) return;
  if (!item.detail) {
    item.detail = more;
    return;
  }
  // Lists are copied for last iterations: these keep theirs.
  auto joined = item.detail.use_count() == 1 ? std::const_pointer_cast<ItemDetail>(item.detail)
                                             : std::make_shared<ItemDetail>(*item.detail);
  joined->made_of.insert(joined->made_of.end(), more->made_of.begin(), more->made_of.end());
  joined->on_chip.insert(joined->on_chip.end(), more->on_chip.begin(), more->on_chip.end());
  joined->barrier = joined->barrier || more->barrier;
  joined->shuffles += more->shuffles;
  joined->matches += more->matches;
  joined->floating = joined->floating || more->floating;
  joined->chain.reset();
  item.detail = std::move(joined);
}

// Of a run that goes on with other instructions.
void extend_classes(Instructions& run, const std::shared_ptr<const InstructionClasses>& more) {
  if (!more || !run.classes) {
    if (more) run.classes = more;
    return;
  }
  auto joined = std::make_shared<InstructionClasses>(*run.classes);
  joined->add(*more);
  run.classes = std::move(joined);
}

void add_instructions(Items& items, std::int64_t count, const LineSet& lines, const LineSet& ptx,
                      const std::shared_ptr<const ItemDetail>& detail,
                      const std::shared_ptr<const InstructionClasses>& classes) {
  if (count == 0) return;
  if (!items.empty() && is_for_all(items.back()) && !ends_at_barrier(items.back()) &&
      (!detail || detail->needs.empty()))
    if (auto* last = std::get_if<Instructions>(&items.back().what);
        last != nullptr && last->count.is_integer()) {
      last->count = Expression(last->count.integer_value() + count);
      extend_classes(*last, classes);
      items.back().lines.add(lines);
      items.back().ptx.add(ptx);
      extend_detail(items.back(), detail);
      return;
    }
  items.push_back({Instructions{Expression(count), classes}, lines, ptx});
  items.back().detail = detail;
}

void append(Items& items, Items more) {
  for (auto& item : more) {
    const auto* run = std::get_if<Instructions>(&item.what);
    if (run != nullptr && run->count.is_integer() && is_for_all(item))
      add_instructions(items, run->count.integer_value(), item.lines, item.ptx, item.detail, run->classes);
    else
      items.push_back(std::move(item));
  }
}

namespace {

bool same(const Items& a, const Items& b, bool with_detail) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].what.index() != b[i].what.index()) return false;
    if (a[i].threads != b[i].threads || a[i].predicated != b[i].predicated || a[i].shares != b[i].shares)
      return false;
    if (with_detail && !same_detail(a[i], b[i])) return false;
    if (const auto* x = std::get_if<Instructions>(&a[i].what)) {
      const auto& y = std::get<Instructions>(b[i].what);
      if (with_detail ? !(*x == y) : !(x->count == y.count)) return false;
    } else if (const auto* m = std::get_if<MemoryAccess>(&a[i].what)) {
      const auto& n = std::get<MemoryAccess>(b[i].what);
      if (!same_period(*m, n) || (with_detail && !same_place(*m, n))) return false;
    } else if (const auto* r = std::get_if<Repeat>(&a[i].what)) {
      const auto& s = std::get<Repeat>(b[i].what);
      if (!(r->count == s.count) || r->counter != s.counter || !same(r->body, s.body, with_detail))
        return false;
    } else if (const auto* w = std::get_if<When>(&a[i].what)) {
      const auto& s = std::get<When>(b[i].what);
      if (!(w->condition == s.condition) || !same(w->then_items, s.then_items, with_detail) ||
          !same(w->else_items, s.else_items, with_detail))
        return false;
    }
  }
  return true;
}

}  // namespace

bool same_items(const Items& a, const Items& b) {
  return same(a, b, true);
}

bool same_periods(const Items& a, const Items& b) {
  return same(a, b, false);
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
