// The input of commands that take what `predict` takes: settings, a plan, and the loader of its kernels.
#pragma once

#include <memory>

#include "cli/options/arguments.h"
#include "cli/options/predict_settings.h"
#include "load/kernel_loader.h"
#include "simulator/gpu/gpu.h"
#include "simulator/plan/calibration.h"
#include "simulator/plan/plan.h"
#include "simulator/predict/counters.h"

namespace warptime::cli {

struct PredictInput {
  std::unique_ptr<GpuCatalogue> catalogue;  // that `settings` points into
  PredictSettings settings;
  Plan plan;
  std::unique_ptr<KernelLoader> loader;
  std::string why_model;  // where the user named no model; DefaultModel::why
};

// The model where the command line names none.
enum class WithoutModel { puchala, by_input };

// Which of the kernels' machine instructions are needed without --machine: an estimate, or what the models
// need.
enum class WithoutMachine { estimated, by_model };

// Launches in host code that depend on a parameter without a value: an error, or PreparedPlan::left_out says why those have
// no answer, where others have one.
enum class WithoutValue { refused, left_out };

// Reads the command line, finds the plan and compiles its kernels. Says what is wrong; `status` then is the
// exit status, and the result is null.
std::unique_ptr<PredictInput> read_predict_input(const Arguments& arguments, WithoutMachine machine,
                                                 int& status, WithoutModel otherwise = WithoutModel::puchala,
                                                 WithoutValue without = WithoutValue::refused);

// The same of one of several inputs, in place of the command line's first. `sources`: of inputs whose files are read alike.
std::unique_ptr<PredictInput> read_predict_input(const Arguments& arguments, const std::string& input,
                                                 WithoutMachine machine, int& status, WithoutModel otherwise,
                                                 std::shared_ptr<CompiledSources> sources = nullptr,
                                                 WithoutValue without = WithoutValue::refused);

// --caches; `otherwise` where it is not given. Errors: neither warm nor cold.
Result<CacheState> read_caches(const Arguments& arguments, CacheState otherwise);

// What --calibration gives; one that was fitted with another plan is used, and said to be.
// Errors: those of reading the file.
Result<Calibrations> read_calibration_option(const Arguments& arguments, const Plan& plan);

// What `counters` gives for the input. Errors: too many rows, those of count_all().
Result<std::vector<CounterRow>> count_launches(const PredictInput& input, CacheState caches);

// The groups of options that such commands have in common, first those of what to predict: `gpu` and `param` among them.
std::vector<Option> launch_of_kernel_options();

}  // namespace warptime::cli
