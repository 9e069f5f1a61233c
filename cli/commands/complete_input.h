// What the input on a command line holds: its kernels and their parameters, for completions. Errors are silent,
// and standard input is not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/arguments.h"

namespace warptime::cli {

struct Candidate {
  std::string word;
  std::string meaning;  // may be empty
};

struct NamedParameter {
  std::string name;
  std::string meaning;                       // may be empty
  std::optional<std::int64_t> typical = {};  // of a plan
};

// The kernels' names, for --kernel.
std::vector<Candidate> kernels_of_input(const Arguments& given);
// Those of the plan, or of the kernels (of --kernel, if it is given) and of the launches in the host code.
std::vector<NamedParameter> parameters_of_input(const Arguments& given);
// The parameters of the kernels that --assume takes.
std::vector<NamedParameter> shares_of_input(const Arguments& given);
// The kernel's arguments, for --arg.
std::vector<NamedParameter> arguments_of_input(const Arguments& given);

}  // namespace warptime::cli
