// What the files of expression share among themselves.
#pragma once

#include "simulator/expression.h"

namespace warptime {

struct Expression::Node {
  Op op = Op::integer;
  std::int64_t integer = 0;
  double decimal = 0;
  std::string name;
  std::vector<Expression> operands;
  std::uint32_t depth = 1;
  std::uint64_t size = 1;  // nodes of the tree, shared ones counted each time; saturates
};

// Whether `op` takes that many operands.
bool operands_allowed(Expression::Op op, std::size_t count);

}  // namespace warptime
