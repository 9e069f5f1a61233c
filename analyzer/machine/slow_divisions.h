// Divisions in floating point that take ptxas' slow way: its check of the operands (FCHK) refuses a numerator of 0.
#pragma once

#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/cost_table.h"

namespace warptime::machine {

// Adds to each div.rn whose numerator the code itself makes 0 for some threads (selp with a 0, max or min with 0, a product of
// those) what the slow way takes, for three quarters of the warps: one thread is enough, and the others wait. Which
// data are 0 is not known.
void add_slow_divisions(Estimate& work, const analysis::KernelCode& code);

}  // namespace warptime::machine
