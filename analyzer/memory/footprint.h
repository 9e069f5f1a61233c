// The footprint of an access: the bytes that a whole launch moves in it, the union over all threads, blocks
// and iterations of loops.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/loops/trip_count.h"

namespace warptime::analysis {

// What must hold where the access is made, of what differs between threads, blocks or iterations.
struct PathCondition {
  ExprId condition;
  bool holds;
};

// The footprint in bytes, as a symbolic expression over arguments and launch dimensions. `address` has its
// loops' closed forms and stands in `block`; `bytes` is what one thread moves. Holds for launches in which
// the access is made at least once. Nothing where the address is no sum of indices, each times a step, or
// where the conditions are no upper bounds of these: an estimate would be wrong.
//
// An index with step s and range r makes a run of w bytes one of w + s·(r - 1), where s <= w; where s is
// beyond the whole run, r of them.
std::optional<ExprId> footprint_bytes(Evaluator& evaluator, LoopAnalysis& loops, ExprId address,
                                      std::uint32_t block, std::int64_t bytes,
                                      const std::vector<PathCondition>& conditions);

}  // namespace warptime::analysis
