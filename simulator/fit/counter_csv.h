// What Nsight Compute counted, kernel by kernel:
//
//   ncu --csv --page raw       a line for each launch, a column for each metric, units in the line below the heading
//   ncu --csv                  a line for each metric of a launch: metrics by name (--metrics), or by the titles of sections
//   warptime counters --format csv, and tables made of ncu's such as data/hardware/h100_counters.csv
//                              a line for each launch with the columns kernel, grid, block and the metrics
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/plan/launch.h"

namespace warptime {

// Launches of one kernel with one grid and block on one device.
struct CountedKernel {
  std::string name;    // as written: mangled, demangled, with or without its arguments
  std::string device;  // "NVIDIA H200"; empty if the file does not say
  GridAndBlock size;
  std::int64_t launches = 0;
  // By metric, as raw pages name it: the mean over the launches that have it. Bytes, not Kbyte; ns.
  std::map<std::string, double> values;
  int line = 0;  // of the first launch
};

// In the order of their first launches. Errors: no heading of these, a launch without grid or block, malformed CSV, no
// kernel. What is no number (`CachePreferNone`, `n/a`) is skipped.
Result<std::vector<CountedKernel>> read_counter_csv(std::string_view text, const std::string& file);

}  // namespace warptime
