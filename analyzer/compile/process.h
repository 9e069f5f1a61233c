// Running another program and reading what it prints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

struct ProcessResult {
  int status = 0;  // as exit() was given it; 128 + the signal where one ended it
  std::string output;
  std::string errors;
};

// What a program may print before it is stopped.
inline constexpr std::size_t longest_process_output = std::size_t{64} << 20;

// `arguments[0]` is the path of the program; its standard input is empty. `variables` are set on top of the
// environment. It gets a process group of its own, and the memory of compiler_limits(). Errors: it cannot be
// started, it takes longer than compiler_limits() allow, it prints more than longest_process_output: all of
// its group is then killed.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& variables = {});

// For a process that ends at once: kills what run_process() runs now, and starts nothing any more.
void stop_processes();

}  // namespace warptime::compiling
