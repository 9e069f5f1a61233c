// Symbolic expressions as the expressions of kernel programs, in the user's names.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyzer/symbolic/symbolic_exprs.h"
#include "simulator/program/expression/expression.h"

namespace warptime::analysis {

// Names for the leaves of symbolic expressions. An empty name: the leaf has none, and an expression that
// contains it cannot be written.
struct Naming {
  std::function<std::string(std::uint32_t index, std::uint32_t offset)> argument;
  std::function<std::string(std::uint32_t loop)> counter;
  std::function<std::string(ExprId)> other;  // of opaque leaves that stand for a parameter
  // For texts: threadIdx.x, blockIdx.x, and `data` for what has no closed form.
  bool threads_too = false;
  // For conditions over threads: threadIdx.x, blockIdx.x, laneid, … have their names, and unsigned comparisons are
  // written modulo 2^32 where their smaller side may be negative.
  bool of_threads = false;
};

// The dimension's name in CUDA C++: blockDim.x, gridDim.y, threadIdx.x, …; empty for others.
std::string special_name(Special which);

// Assumptions of an expression that no fact shows.
struct Assumptions {
  bool unsigned_as_signed = false;        // unsigned comparisons are written as signed ones
  bool division_of_not_negative = false;  // signed divisions round down here, to zero there
};

// `id` as an expression. Nothing if a part of it has no name, or if it has more than `most_parts` parts,
// which is too long to read. Sets `assumed` to its assumptions.
std::optional<Expression> to_expression(SymbolicExprs& exprs, ExprId id, const Naming& naming,
                                        Assumptions* assumed = nullptr, int most_parts = 400);

}  // namespace warptime::analysis
