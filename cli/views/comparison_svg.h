// Plots of a comparison, like Figures 9 to 15 of Puchala et al. (2022): for each experiment the ratio of the
// predicted to the measured time against the size, and both times on logarithmic axes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/views/comparison.h"

namespace warptime::cli {

// File names (letters, digits, `.`, `-`, `_`) with their SVG: PLAN_GPU.svg for each method and GPU, and
// PLAN_to_OTHER_GPU.svg for each pair of methods.
std::vector<std::pair<std::string, std::string>> comparison_plots(const Comparison& comparison);

}  // namespace warptime::cli
