// A kernel with its launch on the command line, where a command takes a plan: the plan of that one launch.
#pragma once

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
  bool given() const { return launch.given() || !kernel.empty() || !arguments.empty(); }
};
// Errors: those of read_launch, an argument without a value.
Result<KernelPlanOptions> read_kernel_plan_options(const Arguments& arguments);

// The error where a kernel's launch is missing, and where a plan is given a launch.
Diagnostic no_launch();
Diagnostic launch_of_plan(const std::string& plan);

// For predictions. Parameters: those of the kernel's program for any of the GPUs, then the names that the
// launch and its arguments use. The name is the kernel's.
Result<Plan> plan_of_kernel(const std::string& file, const KernelPlanOptions& options,
                            const std::vector<NamedValues>& parameters, const std::vector<const Gpu*>& gpus,
                            KernelLoader& loader);

// The plan of the launches in a .cu's own host code, as `warptime plan` writes it; says what it could not
// read. Nothing where the input is no .cu, or launches nothing.
std::optional<Plan> plan_of_host_code(const Input& input, const CompileOptions& compile);

// The given values, and typical ones (each with a note) for parameters of a plan found in host code that were
// given none. Errors: a parameter that has neither.
Result<std::vector<NamedValues>> with_typical_values(const Plan& plan, std::vector<NamedValues> given);

// To run it. Parameters: those of --param. Arguments are bound as a plan's, arrays are those of --arg. The
// name is --kernel's, or empty. Errors: what read_plan says, of the plan that the options make.
Result<Plan> plan_to_run(const std::string& file, const KernelPlanOptions& options,
                         const std::vector<NamedValues>& parameters);

// How commands that compare with measurements load kernels.
struct KernelLoading {
  CompileOptions compile;
  bool skip_unsupported = false;
  std::vector<const Gpu*> gpus;  // that the parameters are found for; not empty
  std::vector<NamedValues> parameters;
};

KernelLoading kernel_loading(const MeasuredSettings& measured, const CompileOptions& compile,
                             bool skip_unsupported, const GpuCatalogue& catalogue);

// A plan, or plan_of_kernel() where the input is a kernel, or plan_of_host_code() where a kernel comes
// without a launch. Errors: those of read_plan_input, a kernel without any launch, a plan with one.
Result<PlanInput> read_plan_or_kernel(const std::string& input, const KernelPlanOptions& options,
                                      const KernelLoading& how);

// The same for plan_to_run().
Result<PlanInput> read_plan_or_kernel_to_run(const std::string& input, const KernelPlanOptions& options,
                                             const std::vector<NamedValues>& parameters,
                                             const CompileOptions& compile);

}  // namespace warptime::cli
