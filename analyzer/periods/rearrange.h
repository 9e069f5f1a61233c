// The rearrangement of Puchala et al. (2022), section 5.3: independent calculation moves across a load that does not
// feed it, so that loads become adjacent, and stores likewise.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/register_uses.h"

namespace warptime::periods {

// The instructions of basic block `b` in an order that computes the same. Loads and stores of global memory keep their
// order. What a load's address needs moves in front of the loads before it, if none of them feeds it, and the load then
// follows them; what else stands between them follows the load. Stores are treated alike: what the value and the address
// of a store need moves in front of the stores before it. Nothing moves across a barrier, an atomic, a call or a branch.
// The work is at most proportional to the square of the block's instructions, and a block of more than
// `most_rearranged` keeps its order.
std::vector<std::uint32_t> rearranged(const analysis::KernelFlow& flow, const RegisterUses& uses,
                                      std::uint32_t b, const std::vector<InstructionRole>& roles);
inline constexpr std::size_t most_rearranged = 4096;

}  // namespace warptime::periods
