// The order of the machine instructions of an estimate, and how long a warp on its own takes for them.
#pragma once

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/cost_table.h"

namespace warptime::machine {

// Sets MachineWork::cycles of `made.each`, `made.places` and `made.chains`. Each basic block, with those behind short branches
// (`made.predicated`), is scheduled as ptxas does it: a list scheduler that issues, of the instructions whose operands are
// there, the one with the longest chain behind it (Cooper and Torczon, Engineering a Compiler, section 12.3), as long as there
// are registers for its result. A loop that ptxas unrolls is scheduled with its copies side by side. The cycles are spread over
// the instructions alike. Results of loads of memory count as there: items wait for them. target: 90 of sm_90.
void schedule_blocks(const analysis::KernelCode& code, const analysis::Cfg& cfg, int target, Estimate& made);

}  // namespace warptime::machine
