// The machine instructions of a kernel program's items.
#pragma once

#include "analyzer/machine/cost_table.h"
#include "simulator/program/kernel_program.h"

namespace warptime::machine {

// Sets Item::machine of every item. An item of n instructions has those of its PTX lines; where n is another
// number than these lines have instructions, since code was copied or joined, in proportion. What a warp
// executes once, beside its instructions, is the first item's: what ptxas puts at the entry, and the exit. A
// repeat has what is executed each time that its loop is reached, and the pieces in which ptxas unrolled it.
void annotate(KernelProgram& program, const analysis::KernelCode& code, const analysis::Cfg& cfg,
              const Estimate& work);

}  // namespace warptime::machine
