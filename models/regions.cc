#include "models/regions.h"

#include <fmt/format.h>

namespace warptime::models {
namespace {

int first_line(const LineSet& lines) {
  return lines.empty() ? 0 : lines.ranges().front().first;
}

void add_instructions(const Expression& count, Straight& into) {
  if (!count.is_integer() ||
      __builtin_add_overflow(into.instructions, count.integer_value(), &into.instructions))
    into.other_counts.push_back(fmt::format("instructions: {}", to_string(count)));
}

// `straight`: where items stand directly; `iteration`: of the loop around it.
void collect(const Items& items, Straight& straight, LoopRegion& iteration);

void collect_branch(const When& when, bool otherwise, int line, LoopRegion& iteration) {
  const Items& items = otherwise ? when.else_items : when.then_items;
  if (otherwise && items.empty()) return;
  const std::size_t index = iteration.branches.size();
  iteration.branches.push_back({to_string(when.condition), otherwise, line, {}});
  Straight straight;
  collect(items, straight, iteration);
  iteration.branches[index].straight = std::move(straight);
}

void collect(const Items& items, Straight& straight, LoopRegion& iteration) {
  for (const Item& item : items) {
    const int line = first_line(item.lines);
    if (const auto* calculation = std::get_if<Calculation>(&item.what)) {
      straight.other_counts.push_back(fmt::format("calc: {}", to_string(calculation->cycles)));
    } else if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
      add_instructions(instructions->count, straight);
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      straight.accesses.push_back({*access, line});
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      LoopRegion loop{to_string(repeat->count), line, {}, {}, {}};
      collect(repeat->body, loop.straight, loop);
      iteration.loops.push_back(std::move(loop));
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      collect_branch(*when, false, line, iteration);
      collect_branch(*when, true, line, iteration);
    }
  }
}

}  // namespace

LoopRegion regions_of(const Items& program) {
  LoopRegion whole{"1", 0, {}, {}, {}};
  collect(program, whole.straight, whole);
  return whole;
}

}  // namespace warptime::models
