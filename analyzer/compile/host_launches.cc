#include "analyzer/compile/host_launches.h"

#include <fmt/format.h>

#include "analyzer/compile/clang_guard.h"
#include "analyzer/compile/host_parse.h"

namespace warptime {

Result<HostProgram> find_host_launches(const std::vector<HostSource>& sources,
                                       const CompileOptions& options) {
  compiling::ClangRequest request;
  request.target = "sm_75";  // host code does not depend on it
  request.flags = options.flags;
  HostProgram program;
  Diagnostics errors;
  const std::string crash = compiling::run_guarded(
      sources.front().file, [&] { program = compiling::read_host(sources, request, errors); });
  if (!crash.empty())
    return error(fmt::format("clang failed on the host code of {}: {}", sources.front().file, crash));
  if (!errors.empty()) return errors;
  return program;
}

}  // namespace warptime
