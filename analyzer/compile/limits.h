// What a compilation may take of time and memory: of the built-in clang, and of the tools that run as
// processes (nvcc, ptxas, git).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

struct CompilerLimits {
  double seconds = 60;                                  // of one compilation, or of one process
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // of this process while clang works, or of a tool's
};

// Clang cannot be stopped halfway and its memory given back: where it exceeds a limit, `end` is called with
// the error, on the thread that waits for it, and is to end the process. Without this call clang has no limit,
// and processes have the default ones. To be called before the first compilation.
void limit_compilers(const CompilerLimits& limits, std::function<void(const Diagnostic&)> end);

CompilerLimits compiler_limits();

// Looks at what clang takes while another thread runs it.
class ClangWatch {
 public:
  // `file`: what it compiles.
  explicit ClangWatch(std::string file) : file_(std::move(file)) {}
  // Calls `end` of limit_compilers() where a limit is exceeded.
  void check() const;

 private:
  std::string file_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// "nvcc takes longer than 60 s"; the hint names the option that allows more.
Diagnostic takes_too_long(const std::string& what, double seconds);

}  // namespace warptime::compiling
