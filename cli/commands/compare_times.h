// Predicted against measured times of several inputs: what `compare` and `report` show.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands/measured.h"
#include "cli/options/arguments.h"
#include "cli/views/comparison.h"

namespace warptime::cli {

// Compares each of the inputs (plans, names of bundled ones, kernels with the launch of the command line) with its rows of the
// files, and the first with the others, if there are several. `arguments`: the options of `compare`, as far as the command has
// them. Says what is wrong; `status` is then the exit status, and the result is empty.
std::optional<Comparison> compare_times(const Arguments& arguments, const std::vector<std::string>& inputs,
                                        const std::vector<MeasuredFile>& files, int& status);

}  // namespace warptime::cli
