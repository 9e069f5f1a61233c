// What ptxas makes of single PTX operations whose cost hardly depends on what is around them: functions such as sin.approx,
// conversions, wide products. For the lines `OPERATION,alone,*` of a table (cost_table.h).
#pragma once

#include <string>

#include "simulator/base/diagnostic.h"

namespace warptime::machine {

// Those lines for a target such as sm_90: ptxas assembles a kernel of 16 copies of each operation, and the machine instructions
// of their lines are averaged by pipe. Slow paths for exceptional operands do not count. Operations that the target lacks are
// left out. Errors: ptxas cannot be run.
Result<std::string> alone_lines(const std::string& target);

}  // namespace warptime::machine
