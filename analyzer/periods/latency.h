// How long after an instruction is issued its result can be used.
#pragma once

#include <cstdint>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/register_uses.h"

namespace warptime::periods {

// In cycles, by what ptxas makes of the instruction: 0 where that is nothing (moves, kernel arguments, a product that
// becomes part of a sum, a constant that becomes part of an address). Global loads have none here: items wait for
// these (ItemDetail::needs).
double latency_of(const analysis::KernelFlow& flow, const RegisterUses& uses, std::uint32_t instruction);

// Between a comparison and the branch that it decides, beyond the latency of the comparison.
extern const double latency_before_branch;

}  // namespace warptime::periods
