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

// `arguments[0]` is the path of the program; its standard input is empty. `variables` are set on top of the
// environment. Errors: it cannot be started.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& variables = {});

}  // namespace warptime::compiling
