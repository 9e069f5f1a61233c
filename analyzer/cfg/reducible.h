// Loops that are entered at several places (irreducible flow) get one entry, by copies of what the other
// entries reach first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::analysis {

// Splits nodes (Cocke and Miller 1969) until every cycle has one entry, cycles within cycles too, and appends
// the copies to `blocks` and their instructions to `code`. retreating: the edges that show that there is
// something to do, Cfg::irreducible. Cycles for which more than most_copies instructions would be copied, all
// together, stay as they are. Only `first`, `end` and `successors` of blocks are read and written. Takes time
// in proportion to blocks, for each level of nested cycles. False: nothing was split.
bool make_reducible(std::vector<Block>& blocks, KernelCode& code, const std::vector<Loop::Exit>& retreating,
                    std::size_t most_copies);

}  // namespace warptime::analysis
