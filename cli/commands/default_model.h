// Which model predicts where --model is not given: puchala with constants of the kernel, and for programs
// that say nothing of dependences and machine instructions; else extended (docs/predicting.md,
// docs/accuracy.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands/kernel_plan.h"
#include "cli/options/arguments.h"
#include "simulator/gpu/gpu.h"
#include "simulator/model/model.h"

namespace warptime::cli {

struct DefaultModel {
  const Model* model = nullptr;
  std::string why;  // "the plan has a calibration for it"
};

// Of a command line without --model. A run has one model, so that its rows compare: all GPUs need a
// calibration for puchala. rows: of the run. Reads the files of launches and of --calibration and --against as
// far as it can; whoever uses them reports what is wrong with them.
DefaultModel choose_default_model(const Arguments& arguments, const LaunchedInput& launched,
                                  const std::vector<const Gpu*>& gpus, std::uint64_t rows);

}  // namespace warptime::cli
