// What the partitions of an SM issue and wait for, and its warps if they are few, as text, SVG or a trace:
//
//   1234 cycles of one SM: mtx on h100-sxm, K = 8: grid 128x1x1, block 32x1x1
//
//   cycle        0         100       200
//                |----+----|----+----|----
//   partition 1  ##....=##11..
//   …
//     # issues: 70 cycles of its partitions (22.1%)
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "simulator/predict/sm_timeline.h"

namespace warptime::cli {

// The cycles to draw, from the first to before the second. Nothing: as many from the begin on as can be told
// apart.
using DrawnCycles = std::optional<std::pair<double, double>>;

// Views are bounded in size, and say what they leave out.
std::string sm_timeline_text(const SmTimeline& timeline, const DrawnCycles& cycles, std::size_t columns);
std::string sm_timeline_svg(const SmTimeline& timeline, const DrawnCycles& cycles);
// A trace in the JSON of the Trace Event Format; a cycle is a microsecond.
std::string sm_timeline_perfetto(const SmTimeline& timeline, const DrawnCycles& cycles);

}  // namespace warptime::cli
