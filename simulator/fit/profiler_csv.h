// What NVIDIA's profilers write about kernels, read and matched to a plan's launches:
//
//   nsys stats --report cuda_gpu_trace --format csv      a line for each kernel, with its grid and its device
//   nsys stats --report cuda_gpu_kern_sum --format csv   a line for each kernel's name: means only
//   ncu --csv                                            a line for each metric of a kernel
//   ncu --csv --page raw                                 a line for each kernel
//   nvprof --csv --print-gpu-trace                       a line for each kernel (Puchala et al. 2022, Listing 5)
//   nvprof --csv                                         a summary: means only
//   nsys stats --report cuda_api_trace --format csv      no kernels: the durations of cudaLaunchKernel alone
//
// Columns are found by their titles, units where the profiler writes them (in the title, in a second heading,
// in a column of their own). Text before the heading is skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/fit/measurements.h"
#include "simulator/predict/prediction.h"

namespace warptime {

enum class Profiler : std::uint8_t { nsys, ncu, nvprof };
std::string_view to_string(Profiler profiler);  // "nsys", …

struct ProfiledKernel {
  std::string name;    // as written: mangled, demangled, with or without its arguments
  std::string device;  // "NVIDIA H200"; empty if the file does not say
  double duration_us = 0;
  std::int64_t instances = 1;                             // of a summary, of which duration_us is the mean
  std::optional<std::int64_t> blocks, threads_per_block;  // of all three dimensions
  int line = 0;
};

struct ProfilerCsv {
  Profiler profiler = Profiler::nsys;
  std::string file;
  bool summary = false;                 // means by name, not launch by launch
  std::vector<ProfiledKernel> kernels;  // in the order in which they started
  // Lines that are not kernels (copies, API calls) or not lines of the table: by name, with their number and
  // the first place.
  struct Other {
    std::string name;
    std::size_t count = 0;
    int line = 0;
  };
  std::vector<Other> others;
  // How long each call of cudaLaunchKernel took the host, in the order of the lines (they are in `others`, too).
  std::vector<double> launch_calls_us;
};

// Where the table begins in what a profiler printed: bytes and lines before its heading, the first line whose fields are one.
struct HeadingPlace {
  std::size_t offset = 0;
  int lines = 0;
};
std::optional<HeadingPlace> find_heading(std::string_view text,
                                         const std::function<bool(const std::vector<std::string>&)>& is_one);

// Detects the profiler by its heading in `text`; nothing if no line is a profiler's heading.
std::optional<Profiler> recognise_profiler(std::string_view text);
// Errors: no heading of that profiler, a heading without durations (the hint says what to ask the profiler
// for), a duration that is not a positive number, an unknown unit, malformed CSV, neither kernels nor calls that launch.
Result<ProfilerCsv> read_profiler_csv(std::string_view text, const std::string& file, Profiler profiler);

// The launches of one run of a plan with given parameters.
struct RunShape {
  struct Kernel {
    std::vector<std::string> names;  // base names, any of which is this kernel
    std::int64_t count = 0;          // launches
  };
  std::vector<std::int64_t> values;
  std::vector<Kernel> kernels;
  std::int64_t launches = 0;
  Launch first;  // as the plan launches it
};
// Errors: those of predict(), with the row's parameters.
Result<std::vector<RunShape>> run_shapes(const Plan& plan, const Gpu& gpu,
                                         const std::vector<std::vector<std::int64_t>>& rows,
                                         const ProgramLoader& loader);

struct MatchedRuns {
  std::vector<Measured> rows;  // one for each shape: median and interquartile range of its runs
  Diagnostics notes;  // warnings: launches that differ from the plan's, kernels that are not the plan's
};
// The launches of `device` in `csv`, divided into runs: the first shape's runs, then the second's, …, each
// shape equally often. Errors: no kernel of the plan (lists those in the file), launches that are not a whole
// number of runs, a run whose kernels are not the plan's, a summary and several shapes.
Result<MatchedRuns> match_runs(const ProfilerCsv& csv, const std::string& device, const Plan& plan,
                               const std::vector<RunShape>& shapes);

}  // namespace warptime
