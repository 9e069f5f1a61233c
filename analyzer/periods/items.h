// Lists of items: growing them, with runs of calculation counted together, comparing and weighing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "simulator/program/kernel_program.h"

namespace warptime::periods {

// Adds `count` instructions, of these lines, to the run at the end of the list, or as a new run: behind a
// barrier, and where they wait for loads. `detail` and `classes` are theirs.
void add_instructions(Items& items, std::int64_t count, const LineSet& lines, const LineSet& ptx,
                      const std::shared_ptr<const ItemDetail>& detail = {},
                      const std::shared_ptr<const InstructionClasses>& classes = {});
void append(Items& items, Items more);
// The instructions and the accesses on the chip of `more` follow the item's.
void extend_detail(Item& item, const std::shared_ptr<const ItemDetail>& more);

// Whether two lists do the same, ignoring their lines.
bool same_items(const Items& a, const Items& b);
// The same without what only models of single instructions read: the arrays of accesses, and ItemDetail.
bool same_periods(const Items& a, const Items& b);

// A rough weight, to choose the side of a branch that does more: the instructions of one iteration, 100 for a
// memory access, and ten times its body for a loop.
double weight_of(const Items& items);

// Only these threads execute the items.
void restrict_to(Items& items, const Expression& threads);
// Only this share of the warps executes them.
void restrict_to_share(Items& items, const std::string& share);
// In what threads execute and access, `counter` is replaced by `value`.
void replace_counter(Items& items, const std::string& counter, const Expression& value);

// The items with all that are nested in them.
std::size_t size_of(const Items& items);

// Frees the unused capacity of the lists.
void compact(Items& items);

}  // namespace warptime::periods
