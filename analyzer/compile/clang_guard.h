// Runs clang so that what goes wrong inside it (a fatal error of LLVM, a crash, a stack that runs out) comes
// back as a message.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

// Calls `work` on a thread of its own with a large stack, and waits, within the limits of limits.h. `file`: what
// is compiled, for messages about these. Returns an empty string, or what went wrong. The first call sets LLVM
// up for the process: the NVPTX target and the handlers.
std::string run_guarded(const std::string& file, const std::function<void()>& work);

// Sets LLVM's own options (`-mllvm …`). They are the process's: the ones of an earlier call no longer hold,
// and two threads should not ask for different ones at the same time.
Diagnostics apply_llvm_arguments(const std::vector<std::string>& arguments);

}  // namespace warptime::compiling
