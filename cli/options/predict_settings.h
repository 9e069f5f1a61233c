// The command line of `warptime predict`, read and checked.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/pipeline.h"
#include "cli/options/arguments.h"
#include "cli/options/launch_options.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

struct PredictSettings {
  std::string format;
  std::vector<const Gpu*> gpus;
  std::vector<std::string> excluded;  // GPUs of the catalogue for which the model does not hold
  std::deque<Gpu> changed;            // those that `gpus` has in place of the catalogue's
  bool ranks = false;
  std::vector<NamedValues> parameters;
  LaunchOptions launch;
  CompileOptions compile;
  AnalyzeOptions::Machine machine = AnalyzeOptions::Machine::none;  // that kernels are analysed with
  PredictionOptions prediction;
  double disagreement = 2;
  unsigned threads = 0;
};

// model: where the command line names none. Errors: those of the command line.
Result<PredictSettings> read_predict_settings(const Arguments& arguments, const GpuCatalogue& catalogue,
                                              const Model& model);

// Puts another model, and the GPUs as it takes them, into the settings of a command line that names none.
// Errors: a GPU that the model does not take.
Diagnostics change_model(const Arguments& arguments, const GpuCatalogue& catalogue, const Model& model,
                         PredictSettings& settings);

}  // namespace warptime::cli
