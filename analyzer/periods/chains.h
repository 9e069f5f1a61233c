// The length of the chains of dependent instructions in items.
#pragma once

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/register_uses.h"

namespace warptime::periods {

// Writes ItemDetail::chain of items that have their instructions (ItemDetail::made_of), needs and rises: the cycles from
// an item's begin until the last of its instructions can be issued, as their operands' latencies allow. What is left of
// a result behind the item is in the chain of the item that uses it. An item with a chain of 0 has none.
//
// ptxas mixes what lies in the same straight-line code and does not depend on each other, and so does
// this: an instruction begins as early in that code as its operands are there, those that were loaded
// together at the time when the first item waits for one of them. Waiting for loads takes longer than what
// has begun before. Of several like chains in neighbouring items, only the first shows.
void write_chains(const analysis::KernelFlow& flow, const RegisterUses& uses,
                  const std::vector<InstructionRole>& roles, Items& items);

}  // namespace warptime::periods
