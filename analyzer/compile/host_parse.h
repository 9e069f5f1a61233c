// The host side of a program through the embedded clang: parsed, with errors let pass, and interpreted.
#pragma once

#include <vector>

#include "analyzer/compile/clang_compiler.h"
#include "analyzer/compile/host_launches.h"

namespace warptime::compiling {

// `request` has the flags and the target; its file and text are those of the sources. Appends to `errors`
// where the flags are wrong. To be called within run_guarded.
HostProgram read_host(const std::vector<HostSource>& sources, ClangRequest request, Diagnostics& errors);

}  // namespace warptime::compiling
