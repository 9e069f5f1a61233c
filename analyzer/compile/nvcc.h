// From .cu to PTX with the user's nvcc, run as a process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compile/compile.h"

namespace warptime::compiling {

struct Nvcc {
  std::string path;
  std::string version;  // "nvcc 13.0.88"
};

// Looked for in the PATH, $CUDA_HOME/bin, $CUDA_PATH/bin and /usr/local/cuda/bin, once per value of these.
// Errors: there is none, or it does not say its version.
Result<Nvcc> find_nvcc();
Result<Nvcc> find_nvcc_in(const std::vector<std::string>& folders);

// Ascending, with the architecture-specific variants (sm_90a) that nvcc takes beside those that it lists.
Result<std::vector<std::string>> nvcc_targets();

// Fills in the PTX, the kernels and the warnings of `source`, whose file and target are set.
Result<Source> compile_with_nvcc(Source source, std::string_view text, const CompileOptions& options);

}  // namespace warptime::compiling
