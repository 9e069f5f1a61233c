// A source's flags from the compile_commands.json that CMake and other build systems write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compile/compile.h"

namespace warptime::compiling {

struct BuildFlags {
  std::vector<std::string> taken;    // as our compilers take them, relative folders made absolute
  std::vector<std::string> dropped;  // that may change the code, and that we have no use for: -G, -rdc=true
};

// What the command of one entry says: of nvcc or of clang, from the folder that it ran in.
BuildFlags translate_flags(const std::vector<std::string>& command, const std::string& folder);

// The words of a command line as a POSIX shell splits them, without expansions.
std::vector<std::string> split_command(std::string_view command);

// `options` for `file`, with the flags of its entry in `options.build_folder` before those of the user.
// Nothing changes where no such folder is given. Adds to `notes` what was dropped. Errors: no such file, no
// JSON, no entry for this source.
Result<CompileOptions> with_build_flags(CompileOptions options, const std::string& file,
                                        std::vector<std::string>& notes);

}  // namespace warptime::compiling
