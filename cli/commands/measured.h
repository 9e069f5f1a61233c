// The measurements that commands read: measurements CSVs and the profilers' own, for a plan, by GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "simulator/fit/measurements.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

// For CommandSyntax::groups.
OptionGroup measurement_options();

// The options for them.
struct MeasuredSettings {
  std::vector<const Gpu*> gpus;  // empty: all in the files
  std::vector<NamedValues> parameters;
  MeasurementSelection selection;
  std::string from;  // a format; empty: detected from the content
  bool says_notes = true;
};
// Errors: wrong options.
Result<MeasuredSettings> read_measured_settings(const Arguments& arguments, const GpuCatalogue& catalogue);

// Read once, so that several plans can take their rows from standard input.
struct MeasuredFile {
  std::string file;
  std::string text;
};
// Errors: those of read_text.
Result<std::vector<MeasuredFile>> read_measured_files(const std::vector<std::string>& files);

struct MeasuredRows {
  const Gpu* gpu = nullptr;
  std::vector<Measured> rows;                // by their values, then in the order of the files
  std::string what;                          // "kernels" or "plan"; of the first file's rows
  std::vector<double> launch_calls_us = {};  // of cudaLaunchKernel, where profiles have them
};

// The rows of `plan` in all files together, by GPU. Notes on stderr name the omitted lines. Errors: those of
// reading, a GPU that is not in the catalogue (with the line), no rows, a profiler's CSV without values of
// the parameters.
Result<std::vector<MeasuredRows>> read_measured(const std::vector<MeasuredFile>& files, const Plan& plan,
                                                const MeasuredSettings& settings,
                                                const GpuCatalogue& catalogue, const ProgramLoader& loader);

// "K = 8, N = 1024"
std::string values_text(const Plan& plan, const std::vector<std::int64_t>& values);

// The rows whose parameters have one of the values in `chosen`. Errors: a name that is not a parameter of the
// plan, more than 2^20 values.
Result<std::vector<bool>> rows_with(const Plan& plan, const std::vector<Measured>& rows,
                                    const std::vector<NamedValues>& chosen, std::string_view option);

}  // namespace warptime::cli
