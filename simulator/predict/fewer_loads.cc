#include <algorithm>
#include <set>

#include "simulator/predict/explanation.h"
#include "simulator/program/place.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;
using Replacements = std::map<std::string, Expression, std::less<>>;

Items substituted(const Items& items, const Replacements& replacements) {
  Items result = items;
  for (Item& item : result) {
    if (auto* calculation = std::get_if<Calculation>(&item.what)) {
      calculation->cycles = calculation->cycles.substitute(replacements);
    } else if (auto* instructions = std::get_if<Instructions>(&item.what)) {
      instructions->count = instructions->count.substitute(replacements);
    } else if (auto* access = std::get_if<MemoryAccess>(&item.what)) {
      if (access->cycles) access->cycles = access->cycles->substitute(replacements);
    } else if (auto* repeat = std::get_if<Repeat>(&item.what)) {
      repeat->count = repeat->count.substitute(replacements);
      Replacements inside = replacements;
      inside.erase(repeat->counter);  // it hides an outer name
      repeat->body = substituted(repeat->body, inside);
    } else if (auto* when = std::get_if<When>(&item.what)) {
      when->condition = when->condition.substitute(replacements);
      when->then_items = substituted(when->then_items, replacements);
      when->else_items = substituted(when->else_items, replacements);
    }
  }
  return result;
}

Items without(const Items& items, const std::set<const Item*>& left_out) {
  Items result;
  for (const Item& item : items) {
    if (left_out.count(&item) > 0) continue;
    Item copy = item;
    if (auto* when = std::get_if<When>(&copy.what)) {
      const When& original = std::get<When>(item.what);
      when->then_items = without(original.then_items, left_out);
      when->else_items = without(original.else_items, left_out);
    }
    result.push_back(std::move(copy));
  }
  return result;
}

class Halving {
 public:
  explicit Halving(const std::string& where) : where_(where) {}
  bool changed() const { return changed_; }

  Items halved(const Items& items) {
    std::set<const Item*> ignored;
    return halved(items, ignored);
  }

 private:
  // Removes every second one of adjacent loads. A load without a partner goes to `single`; it stays in place
  // when the items are moved.
  Items halved(const Items& items, std::set<const Item*>& single) {
    Items result;
    std::size_t found = 0, last = 0;
    for (const Item& item : items) {
      if (is_load(item)) {
        if (++found % 2 == 0) continue;
        last = result.size();
      }
      append(result, item, single);
    }
    if (found > 1) changed_ = true;
    if (found % 2 == 1) single.insert(&result[last]);
    return result;
  }

  bool is_load(const Item& item) const {
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    return access != nullptr && access->kind == MemoryAccess::Kind::load && place_of(item) == where_;
  }

  void append(Items& result, const Item& item, std::set<const Item*>& single) {
    if (const auto* when = std::get_if<When>(&item.what)) {
      result.push_back(
          {When{when->condition, halved(when->then_items, single), halved(when->else_items, single)},
           item.lines, item.ptx});
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      append_repeat(result, item, *repeat);
    } else {
      result.push_back(item);
    }
  }

  // Of loads that occur once in an iteration, those of every second iteration are removed.
  void append_repeat(Items& result, const Item& item, const Repeat& repeat) {
    std::set<const Item*> once;
    const Items body = halved(repeat.body, once);
    if (once.empty()) {
      result.push_back({Repeat{repeat.count, repeat.counter, body}, item.lines, item.ptx});
      return;
    }
    changed_ = true;
    const auto of_counter = [&](const Expression& value, const Items& items) {
      return repeat.counter.empty() ? items : substituted(items, {{repeat.counter, value}});
    };
    const Expression twice = Expression::make(Operator::multiply, {2, Expression::name(repeat.counter)});
    Items pair = of_counter(twice, body);
    for (Item& one : of_counter(Expression::make(Operator::add, {twice, 1}), without(body, once)))
      pair.push_back(std::move(one));
    result.push_back(
        {Repeat{Expression::make(Operator::divide, {repeat.count, 2}), repeat.counter, std::move(pair)},
         item.lines, item.ptx});
    const Expression odd =
        Expression::make(Operator::equal, {Expression::make(Operator::modulo, {repeat.count, 2}), 1});
    const Expression last = Expression::make(Operator::subtract, {repeat.count, 1});
    result.push_back({When{odd, of_counter(last, body), {}}, item.lines, item.ptx});
  }

  const std::string& where_;
  bool changed_ = false;
};

}  // namespace

std::optional<KernelProgram> with_half_the_loads(const KernelProgram& program, const std::string& where) {
  Halving halving(where);
  KernelProgram halved = program;
  halved.program = halving.halved(program.program);
  if (!halving.changed()) return std::nullopt;
  return halved;
}

}  // namespace warptime
