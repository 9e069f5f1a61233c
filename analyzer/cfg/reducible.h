// Gives loops with several entries (irreducible control flow) a single entry, by copying the blocks that the
// other entries reach first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::analysis {

// Splits nodes (Cocke and Miller 1969) until every cycle has one entry, cycles within cycles too, and appends
// the copies to `blocks` and their instructions to `code`. retreating: the edges of irreducible control flow,
// Cfg::irreducible. Cycles stay as they are if they need more than most_copies copied instructions in total.
// Only `first`, `end` and `successors` of blocks are read and written. Takes linear time for each level of
// nested cycles. False: nothing was split.
bool make_reducible(std::vector<Block>& blocks, KernelCode& code, const std::vector<Loop::Exit>& retreating,
                    std::size_t most_copies);

}  // namespace warptime::analysis
