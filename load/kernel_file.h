// The files of the kernels that a plan launches: where they are, how they are read and compiled, and which
// kernel of a file a launch means. Predictions, committed models and measurements all load kernels through
// these.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/kernel_names.h"
#include "load/input.h"
#include "simulator/plan/plan.h"

namespace warptime {

// How the text of a file is read: read_text, or bundled_text for bundled plans.
using FileReader = std::function<Result<std::string>(const std::string& file)>;

// A path of a plan: relative to `folder`, where the plan's file will stand (empty: the working folder), …
std::string path_in_plan(const std::string& path, const std::string& folder);
// … and from there.
std::string path_from_plan(const std::string& path, const Plan& plan);

// The file that a launch names, relative to the plan's own file.
std::string launched_file(const Plan& plan, const PlanLaunch& launch);
// Those of all launches of the plan.
std::set<std::string> launched_files(const Plan& plan);

// Reads a .cu, .ptx or kernel program. Errors: those of `read`; a plan.
Result<Input> read_kernel_file(const std::string& file, const FileReader& read);

// The PTX of a .ptx, or of a .cu, which is compiled. Errors: those of the compiler; a kernel program.
Result<Source> source_of(const Input& input, const CompileOptions& options);

// Where a kernel is chosen, for the hint: `--kernel NAME`, or `entry: NAME` in a plan.
enum class ChosenBy { option, plan };

// matching_kernel() of kernel_names.h, with a hint that says where a kernel is chosen.
Result<std::size_t> select_kernel(const std::vector<KernelName>& kernels, const std::string& wanted,
                                  const std::string& file, ChosenBy by);

}  // namespace warptime
