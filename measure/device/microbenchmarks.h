// The micro-benchmarks: which kernels run on which memory, and how their cycles and times become the timing
// figures of a GPU (simulator/gpu/timing_figures.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "measure/device/bench_session.h"
#include "simulator/gpu/timing_figures.h"

namespace warptime::measuring {

struct MeasuredTiming {
  TimingFigures figures;                               // medians
  std::map<std::string, double, std::less<>> spreads;  // interquartile ranges, by the figure's name
  std::vector<std::string> notes;                      // what could not be measured, and why
};

inline constexpr int kMicrobenchmarkGroups = 11;

// Runs all micro-benchmarks, each `repetitions` times, at least once. `group_done` is called after each of
// kMicrobenchmarkGroups. Errors: what the driver reports.
Result<MeasuredTiming> run_microbenchmarks(BenchSession& session, int repetitions,
                                           const std::function<void()>& group_done);

}  // namespace warptime::measuring
