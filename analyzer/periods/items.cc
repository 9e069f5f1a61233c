#include "analyzer/periods/items.h"

#include <utility>
#include <variant>

namespace warptime::periods {

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

}  // namespace warptime::periods
