// Values as the expressions of kernel programs, in the user's names.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyzer/symbolic/symbolic_exprs.h"
#include "simulator/program/expression/expression.h"

namespace warptime::analysis {

// Names of the leaves of values; an empty name: it has none, and the value is no expression.
struct Naming {
  std::function<std::string(std::uint32_t index, std::uint32_t offset)> argument;
  std::function<std::string(std::uint32_t loop)> counter;
  std::function<std::string(ExprId)> other;  // of opaque values that stand for a parameter
  bool threads_too =
      false;  // for texts that a person reads: threadIdx.x, blockIdx.x, and `data` for what has no closed form
};

// The dimension's name in CUDA C++: blockDim.x, gridDim.y, threadIdx.x, …; empty for others.
std::string special_name(Special which);

// What an expression stands on that no fact showed.
struct Assumptions {
  bool unsigned_as_signed = false;        // unsigned comparisons are written as signed ones
  bool division_of_not_negative = false;  // signed divisions round down here, to zero there
};

// Nothing where a part of it has no name, and of what is longer than anybody reads: `most_parts`.
std::optional<Expression> to_expression(SymbolicExprs& values, ExprId value, const Naming& naming,
                                        Assumptions* taken = nullptr, int most_parts = 400);

}  // namespace warptime::analysis
