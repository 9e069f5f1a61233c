// The explanations of predictions:
//
//   mtx on rtx-2080, K = 8, N = 1048576: 37.33 µs
//
//     - compute-bound: 75.0% of 37.33 µs
//     - …
//
//   where      time      of it   calc  issue   wait  tail  accesses
//   line 12    20.1 µs   53.8%  …
#pragma once

#include <string>
#include <vector>

#include "simulator/predict/explanation.h"

namespace warptime::cli {

std::string explanations_text(const std::vector<Explanation>& explanations);
// Only what lines ask the levels of memory for: a table for each row.
std::string traffic_text(const std::vector<Explanation>& explanations);
// An array: each row's plan, gpu, parameters and time_us as in `predict`, `claims` (kind, text, time_us) and
// `lines` (kernel, where, and microseconds of the model's parts). Of a model that tells, also `limits`, which sum to the
// time, and of each line its `limits` and `traffic`.
std::string explanations_json(const std::vector<Explanation>& explanations);

}  // namespace warptime::cli
