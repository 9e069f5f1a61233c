// Which loads the items of a kernel program wait for, how far loads rise, and how long chains of instructions are.
#pragma once

#include <vector>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/notes.h"

namespace warptime::periods {

// Writes ItemDetail::needs, rises and chain of `items`, the whole program, whose details say what each item is made of
// (ItemDetail::made_of, which is emptied). Runs of calculation are cut where they use the result of a load that may not
// have completed; the parts still are one period of the paper's model. `roles`: by instruction. `places`: where
// ptxas put the instructions, if that is known or expected.
void write_dependences(const analysis::KernelFlow& flow, const std::vector<InstructionRole>& roles,
                       const MachinePlaces& places, const Notes& notes, Items& items);

}  // namespace warptime::periods
