// The footprint of an access: the bytes that a whole launch moves in it, the union over all threads, blocks
// and iterations of loops.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/loops/trip_count.h"

namespace warptime::analysis {

// The conditions of the access on values that differ between threads, blocks or iterations.
struct PathCondition {
  ExprId condition;
  bool holds;
};

// The footprint in bytes, as a symbolic expression over arguments and launch dimensions. `address` has its
// loops' closed forms; the access is in `block`; `bytes` is what one thread moves. Holds for launches in
// which the access is made at least once. Nothing if the address is not a sum of indices, each times a step,
// or if the conditions do not bound these from above: an estimate would be wrong.
//
// An index with step s and range r extends a run of w bytes to w + s·(r - 1) bytes if s <= w. If s exceeds
// the whole run, it makes r such runs.
std::optional<ExprId> footprint_bytes(Evaluator& evaluator, LoopAnalysis& loops, ExprId address,
                                      std::uint32_t block, std::int64_t bytes,
                                      const std::vector<PathCondition>& conditions);

}  // namespace warptime::analysis
