// Parts of a kernel's PTX that its data are hardly ever in.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::analysis {

// By block of cfg: whether CUDA's mathematical functions get there for extraordinary arguments only, such as
// the sine of an angle above 105615.
std::vector<bool> slow_paths(const KernelCode& code, const Cfg& cfg);

// Whether ptxas makes a branch of the instruction, to a subroutine for few of its arguments: divisions and roots
// that round correctly.
bool has_subroutine(const ptx::Instruction& one);

// Whether the loop of cfg is the long division of fmod, whose iterations are the bits of the quotient.
bool is_long_division(const KernelCode& code, const Cfg& cfg, std::uint32_t loop);

}  // namespace warptime::analysis
