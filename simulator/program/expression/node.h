// Shared by the files of expression/, and by no others.
#pragma once

#include "simulator/program/expression/expression.h"

namespace warptime {

// Whether `op` takes that many operands.
bool operands_allowed(Expression::Operator op, std::size_t count);

}  // namespace warptime
