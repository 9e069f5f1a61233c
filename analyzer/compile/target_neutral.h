// Modules from which LLVM 19 makes the same code for every target since sm_32, so that it need be made once.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace warptime::compiling {

// What LLVM's NVPTX target asks its subtarget about is: half precision, bfloat16 and vectors of short
// integers (sm_53 to sm_90), atomics and memory orders (sm_60, sm_70), matrix, shuffle and other intrinsics,
// loads through the read-only cache, wide shifts and rotations (sm_32). A module is neutral where it is made
// of other things only; what is not known to be neutral is not.
bool is_target_neutral(const llvm::Module& module);

// sm_32 and newer, but sm_90a, which needs a newer PTX version.
bool is_neutral_target(const std::string& target);

}  // namespace warptime::compiling
