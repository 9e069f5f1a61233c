// Whether a kernel may be launched with other blocks than it is.
#pragma once

#include <string>

#include "simulator/program/kernel_program.h"

namespace warptime {

// Why it may not: "it is compiled for blocks of 256 threads". Empty: nothing says so.
std::string why_block_is_fixed(const KernelProgram& program);
// Whether it has static shared memory, and the program does not say how it is indexed.
bool may_have_fixed_block(const KernelProgram& program);
// Whether it computes addresses, iterations or conditions from blockDim.x.
bool uses_block_size(const KernelProgram& program);

}  // namespace warptime
