// What ptxas makes of each PTX instruction where that can be told without it: which instructions become part
// of others, vanish, or are executed once before a loop. It follows the uses of each register, as an
// instruction selector does: a product that only feeds sums becomes part of them (IMAD), a sum that only
// feeds addresses becomes their offset. What no rule decides has the mean of a CostTable.
#pragma once

#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/context.h"
#include "analyzer/machine/cost_table.h"

namespace warptime::machine {

// target: 90 of sm_90. `contexts` are of the code, `slow` is by its blocks.
Estimate lower(const analysis::KernelCode& code, const analysis::Cfg& cfg, const Contexts& contexts,
               const std::vector<bool>& slow, const CostTable& table, int target);

}  // namespace warptime::machine
