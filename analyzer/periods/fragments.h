// The accesses of a warp's fragment of a matrix (wmma.load, wmma.store): requests of threads, as ptxas makes them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/symbolic/evaluate.h"

namespace warptime::periods {

struct FragmentAccess {
  int bytes = 4;                            // of a thread, in each request
  std::vector<analysis::ExprId> addresses;  // of a request each, over laneid
};

// `operand` is the address. Nothing: the instruction is no such load or store, or its elements are less than a byte.
std::optional<FragmentAccess> fragment_access(analysis::Evaluator& evaluator, std::uint32_t instruction,
                                              std::uint32_t operand);

// The same of a fragment in shared memory, which ptxas loads with ldmatrix where it can: each thread has the address of a row of
// 16 bytes of one of four matrices.
std::optional<FragmentAccess> shared_fragment_access(analysis::Evaluator& evaluator,
                                                     std::uint32_t instruction, std::uint32_t operand);

}  // namespace warptime::periods
