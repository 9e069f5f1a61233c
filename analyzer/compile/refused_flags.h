// The flags after `--` that a compiler is not given.
#pragma once

#include <string>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

// An error for each flag that makes clang or nvcc write a file of its own, run a plugin, read flags from a file
// or do something else than compile. Values of -Xclang, -Xcompiler, -mllvm and their like count, too.
Diagnostics check_flags(const std::vector<std::string>& flags);

}  // namespace warptime::compiling
