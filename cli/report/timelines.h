// The timelines of a report: what the warps of one SM do over its cycles.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/report/report.h"

namespace warptime::cli {

// What warps do or wait for: key, title, and one of the groups issue, calculation, transaction and idle.
nlohmann::ordered_json timeline_states_json();

// Of the longest launch with the largest parameters, on each of these GPUs, by the model that takes whole launches. What cannot be
// drawn is said in `missing`.
nlohmann::ordered_json timelines_json(const ReportMethod& method, const std::vector<const Gpu*>& gpus,
                                      const ReportLimits& limits, nlohmann::ordered_json& missing);

}  // namespace warptime::cli
