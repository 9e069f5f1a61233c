// The length of the chains of dependent instructions in items.
#pragma once

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/register_uses.h"

namespace warptime::periods {

// Writes ItemDetail::chain of items that have their instructions (ItemDetail::made_of): the cycles from an item's begin
// until the last of its instructions can be issued, as far as they depend on each other and on results of items before
// it that are still to come. An item with a chain of 0 has none. What items before it have left is taken to be there
// where an item waits for loads or behind a barrier.
void write_chains(const analysis::KernelFlow& flow, const RegisterUses& uses,
                  const std::vector<InstructionRole>& roles, Items& items);

}  // namespace warptime::periods
