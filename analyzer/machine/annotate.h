// The machine instructions of a kernel program's items.
#pragma once

#include <string_view>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "simulator/program/kernel_program.h"

namespace warptime::machine {

// Sets Item::machine of every item, from the table of the target (sm_90) or the nearest. An item of n instructions has
// those of its PTX lines; where n is another number than these lines have instructions, since code was copied or joined,
// in proportion. What a warp executes once, beside its instructions, is the first item's: what ptxas puts at the entry
// and before loops, and the exit. Gives the target whose table it used.
std::string annotate(KernelProgram& program, const analysis::KernelCode& code, const analysis::Cfg& cfg,
                     std::string_view target);

}  // namespace warptime::machine
