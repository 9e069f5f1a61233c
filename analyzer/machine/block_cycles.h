// How long a warp on its own takes for straight-line machine code, by what ptxas writes into each instruction.
#pragma once

#include <cstddef>
#include <span>

#include "analyzer/machine/machine_code.h"

namespace warptime::machine {

// Cycles until the last instruction has been issued and its stall count has passed: each instruction is issued as many
// cycles after the one before it as that one's stall count says, and when the barriers that it waits for are open. How long
// barriers stay closed is known for results that the SM itself has (special functions, conversions, shared memory,
// constants, shuffles); for loads of memory they count as open, since items wait for these (ItemDetail::needs). On entry all
// are open. (Huerta et al. 2025, arXiv 2503.20481, describe stall counts and barriers.) Branches and the places where the ways of
// a warp's threads meet take some more. target: 90 of sm_90.
double cycles_of_block(std::span<const MachineInstruction> block, int target);

}  // namespace warptime::machine
