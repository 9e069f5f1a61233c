// The two halves of a compilation by the embedded clang: source to optimised LLVM module, and that to PTX.
// The first half is nearly all of the time, and the same for every target unless the source asks which one it
// is.
#pragma once

#include <clang/Frontend/CompilerInvocation.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/compile/clang_compiler.h"
#include "analyzer/compile/clang_signatures.h"
#include "analyzer/compile/clang_sources.h"

namespace warptime::compiling {

struct FileStamp {
  std::string path;
  std::int64_t size = 0;
  std::int64_t modified = 0;
};

std::optional<FileStamp> stamp_of(const std::string& path);

struct OptimisedModule {
  std::string bitcode;  // empty: signatures alone were asked for, or there are errors
  std::shared_ptr<clang::CompilerInvocation> invocation;
  std::string data_layout;
  SourceFacts facts;
  bool target_dependent = false;  // the source asked for the target: good for this one alone
  bool target_neutral = false;    // even the code is the same for all targets that are `is_neutral_target`
  std::vector<FileStamp> files;   // of the user's file system, that went into it
  Diagnostics errors;
  Diagnostics warnings;
  // That may mend the errors, and those that the module was made with.
  SourceInsertions helpful_insertions;
  std::set<std::string> names_called_from_device;
  std::set<std::string> kernels_launched_from_device;
  bool host_errors = false;  // that did not matter: `warnings` has a note about them
};

// `parts`: of our headers, see header_parts.h. Both functions are to be called within run_guarded.
OptimisedModule make_module(const ClangRequest& request, int parts, const SourceInsertions& insertions = {});
// Appends to `errors` where LLVM cannot make code.
std::string make_ptx(const OptimisedModule& module, const std::string& target, Diagnostics& errors);

}  // namespace warptime::compiling
