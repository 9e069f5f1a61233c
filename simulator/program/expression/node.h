// Shared by the files of expression/, and by no others.
#pragma once

#include "simulator/program/expression/expression.h"

namespace warptime {

struct Expression::Node {
  Operator op = Operator::integer;
  std::int64_t integer = 0;
  double decimal = 0;
  std::string name;
  std::vector<Expression> operands;
  std::uint32_t depth = 1;
  std::uint64_t size = 1;  // nodes of the tree, shared ones counted each time; saturates
};

// Whether `op` takes that many operands.
bool operands_allowed(Expression::Operator op, std::size_t count);

}  // namespace warptime
