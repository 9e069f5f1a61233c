// Values as the expressions of kernel programs, in the user's names.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyzer/flow/values.h"
#include "simulator/expression.h"

namespace warptime::flow {

// Names of the leaves of values; an empty name: it has none, and the value is no expression.
struct Naming {
  std::function<std::string(std::uint32_t index, std::uint32_t offset)> argument;
  std::function<std::string(std::uint32_t loop)> counter;
  bool threads_too = false;  // for texts that a person reads: threadIdx.x, blockIdx.x, and `data` for what has no closed form
};

// The dimension's name in CUDA C++: blockDim.x, gridDim.y, threadIdx.x, …; empty for others.
std::string special_name(Special which);

// Nothing where a part of it has no name. Unsigned comparisons that no fact decides are written as signed ones:
// `took_unsigned_as_signed` is then set.
std::optional<Expression> to_expression(Values& values, ValueId value, const Naming& naming,
                                        bool* took_unsigned_as_signed = nullptr);

}  // namespace warptime::flow
