// Registers, which PTX does not tell: the assembler of a CUDA Toolkit chooses them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compile/cubin.h"
#include "simulator/program/kernel_program.h"

namespace warptime {

// Runs ptxas, looked for where nvcc is, on the PTX for a target (sm_86): the bytes of the cubin. Costs a process, and
// time in proportion to the kernels. Errors: there is no ptxas, it refuses the PTX or the target (its own words).
Result<std::string> assemble(std::string_view ptx, const std::string& target,
                             const std::vector<std::string>& flags = {});

// What read_cubin reads of it. Errors: assemble()'s; what ptxas made is no cubin.
Result<std::map<std::string, CubinKernel>> registers_of(std::string_view ptx, const std::string& target);

// `resources` with what the cubin says: registers, and shared memory as it was laid out.
KernelResources with_registers(KernelResources resources, const CubinKernel& kernel);

}  // namespace warptime
