// A kernel with its launch on the command line, where a command takes a plan: the plan of that one launch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/measured.h"
#include "cli/options/arguments.h"
#include "cli/options/launch_options.h"
#include "load/kernel_loader.h"
#include "load/plan_input.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

// The launch, --kernel and --arg; for CommandSyntax::groups of commands other than `predict`.
OptionGroup kernel_plan_options();

struct KernelPlanOptions {
  LaunchOptions launch;
  std::string kernel;                                          // empty: the only one
  std::vector<std::pair<std::string, std::string>> arguments;  // as --arg gives them: "N", "zeros:f32:N"
  std::vector<std::string> answered = {};                      // parameters that --assume and --profile give
  bool given() const { return launch.given() || !kernel.empty() || !arguments.empty(); }
};
// Errors: those of read_launch, an argument without a value.
Result<KernelPlanOptions> read_kernel_plan_options(const Arguments& arguments);

// Where the launches come from.
enum class LaunchSource {
  plan,       // the input is a plan
  host_code,  // a .cu that makes launches, without one on the command line
  options     // the launch of a kernel on the command line, if check_launch() finds it there
};

struct LaunchedInput {
  LaunchSource source = LaunchSource::options;
  PlanInput plan;  // of a plan, and of host code
  Input kernel;    // the input itself, where it is no plan
};

// Says what it could not read of host code. Errors (of the input): no such file or bundled plan, those of
// read_plan.
Result<LaunchedInput> read_launched_input(const std::string& input, const KernelPlanOptions& options,
                                          const CompileOptions& compile);

// What is wrong with the command line, for this input: a kernel without a launch, a plan with one.
Diagnostics check_launch(const LaunchedInput& launched, const KernelPlanOptions& options);

// The given values, and typical ones (each with a note) for parameters of a plan found in host code that were
// given none. Errors: a parameter that has neither, and that the launches need, or with `copies` the copies
// (needed_parameters). With `leave_out` these are no errors: known_part() leaves out the steps.
Result<std::vector<NamedValues>> with_typical_values(const Plan& plan, std::vector<NamedValues> given,
                                                     bool copies, bool leave_out);

// The given values, and those of a plan's parameters that host code reads from cudaDeviceProp (each with a note), where
// they were given none: they bear the field's name, such as `prop_multiProcessorCount`. Several GPUs have no one value:
// nothing is added then.
std::vector<NamedValues> with_device_properties(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                                std::vector<NamedValues> given);

// How the kernels of a plan are loaded.
struct KernelLoading {
  CompileOptions compile;
  bool skip_unsupported = false;
  std::vector<const Gpu*> gpus;  // that the parameters are found for; not empty
  std::vector<NamedValues> parameters;
  bool registers = false;  // ask ptxas for them
  AnalyzeOptions::Machine machine = AnalyzeOptions::Machine::none;
  bool classes = false;                                // of instructions, in programs
  bool rearrange = false;                              // AnalyzeOptions::rearrange
  std::shared_ptr<CompiledSources> sources = nullptr;  // KernelLoader::share_sources
};

// For commands that compare a model with measurements.
KernelLoading kernel_loading(const MeasuredSettings& measured, const CompileOptions& compile,
                             bool skip_unsupported, const Model& model, const GpuCatalogue& catalogue);

KernelLoader loader_of(const LaunchedInput& launched, const KernelLoading& how);

// The plan to predict or to compare with. Of a kernel with its launch on the command line: the plan of that
// launch, called as the kernel; its parameters are those of the kernel's program for any of the GPUs, then the
// names that the launch and its arguments use. Errors: those of loading the kernel.
Result<Plan> plan_to_predict(const LaunchedInput& launched, const KernelPlanOptions& options,
                             const KernelLoading& how, KernelLoader& loader);

// The plan to run. Of a kernel with its launch on the command line: the parameters are those of --param, the
// arrays and arguments those of --arg; the name is empty until the code is known. Errors: a kernel program, what
// read_plan says of the plan that the options make.
Result<PlanInput> plan_to_measure(LaunchedInput launched, const KernelPlanOptions& options,
                                  const std::vector<NamedValues>& parameters);

}  // namespace warptime::cli
