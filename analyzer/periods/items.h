// Lists of items as they grow: runs of calculation are counted together.
#pragma once

#include <cstdint>

#include "simulator/program/kernel_program.h"

namespace warptime::periods {

void add_instructions(Items& items, std::int64_t count, const LineSet& lines, const LineSet& ptx);
void append(Items& items, Items more);

}  // namespace warptime::periods
