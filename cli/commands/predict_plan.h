// The rows of one `warptime predict`: a plan on its GPUs, from the loader to the output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

// `--shard 3/16`: the third of 16 contiguous parts of the rows.
struct Shard {
  std::uint64_t number = 1, count = 1;  // 1 <= number <= count
};

// Empty: not given. Errors: not NUMBER/COUNT, a number that is not 1 to COUNT.
Result<std::optional<Shard>> read_shard(const Arguments& arguments);

struct RowRange {
  std::uint64_t first = 0, rows = 0;
};
// The rows of a part of `total`. Rows that are ranked among each other (`together` of equal parameters, at least 1) stay together, and
// otherwise the lengths of the parts differ by one at most.
RowRange rows_of(const Shard& shard, std::uint64_t total, std::uint64_t together);

struct PredictionJob {
  const Plan& plan;
  std::vector<const Gpu*> gpus;
  std::vector<NamedValues> parameters;
  PredictionOptions options;
  ProgramLoader loader;
  std::string format;
  bool ranks = false;          // order the GPUs by their times for each combination of parameters
  double disagreement = 2;     // of two models, as a factor
  std::string why_model = {};  // where the user named none
  unsigned threads = 0;
  std::optional<Shard> shard = {};
  bool sparklines = false;  // in text: times over a swept parameter, as one line for each GPU
};

// Predicts all rows, or those of the shard, on all cores and writes them as they are ready. Ctrl-C ends it with the rows so far.
// Returns the exit status.
int run_prediction(const Arguments& arguments, const PredictionJob& job);

}  // namespace warptime::cli
