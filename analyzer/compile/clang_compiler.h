// One run of the embedded clang over one CUDA source, device side: parsing alone, or all the way to PTX.
// Everything that clang reads comes from the caller, from our own headers (compiled in) and from the user's
// file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compile/compile.h"

namespace warptime::compiling {

struct ClangRequest {
  std::string file;  // as the user named it; "-" for standard input
  std::string_view text;
  std::string target;  // sm_75: one that clang has
  bool rolled = false;
  std::vector<std::string> flags;
  bool signatures_only = false;  // parse, but make no PTX
  // Parse for the launches in host code: as `signatures_only`, and the launches are read from the tree.
  bool host_launches = false;
  // Errors in host code are errors, and headers that are not found too. For the messages of a source that
  // clang fails on otherwise.
  bool strict = false;
};

struct ClangOutcome {
  std::string ptx;
  std::vector<KernelSignature> kernels;
  std::vector<std::string> math_functions;  // used by the source, written in software in our headers, sorted
  Diagnostics warnings;            // and notes: about errors in host code, and headers that are not found
  Diagnostics errors;              // not empty: there is no PTX
  std::vector<std::string> files;  // of the user's file system, that were read
};

// Thread-safe. A crash inside clang or LLVM is an error like others; what it had allocated is then lost.
ClangOutcome run_clang(const ClangRequest& request);

}  // namespace warptime::compiling
