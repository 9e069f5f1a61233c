// The rows of one `warptime predict`: a plan on its GPUs, from the loader to the output.
#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

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
};

// Predicts all rows on all cores and writes them as they are ready. Ctrl-C ends it with the rows so far.
// Returns the exit status.
int run_prediction(const Arguments& arguments, const PredictionJob& job);

}  // namespace warptime::cli
