#include "cli/commands/complete_input.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/pipeline.h"
#include "cli/options/options.h"
#include "load/host_plan.h"
#include "load/kernel_file.h"
#include "load/plan_input.h"
#include "load/programs.h"

namespace warptime::cli {
namespace {

std::optional<PlanOrKernel> read_named_input(const Arguments& given) {
  if (given.positionals().empty() || given.positionals().front() == "-") return std::nullopt;
  auto read = read_plan_or_kernel(given.positionals().front());
  return read ? std::optional(std::move(*read)) : std::nullopt;
}

CompileOptions compile_options_of(const Arguments& given) {
  auto options = read_compile_options(given);
  return options ? std::move(*options) : CompileOptions();
}

// The programs of the kernels in a .cu, .ptx or kernel program, or of the one that `kernel` means.
std::vector<KernelProgram> programs_of(const Input& input, const Arguments& given,
                                       const std::string& kernel) {
  if (input.kind == InputKind::kernel_program) {
    auto programs = read_kernel_programs(input.text, input.file);
    if (!programs) return {};
    auto selected = select_kernels(std::move(*programs), kernel, input.file);
    return selected ? std::move(*selected) : std::vector<KernelProgram>();
  }
  auto source = source_of(input, compile_options_of(given));
  if (!source) return {};
  AnalyzeOptions options;
  options.kernel = kernel;
  options.skip_unsupported = true;
  options.keep_steps = false;
  auto analysis = analyze(std::move(*source), options);
  std::vector<KernelProgram> programs;
  if (analysis)
    for (auto& one : analysis->kernels) programs.push_back(std::move(one.program));
  return programs;
}

std::vector<KernelProgram> programs_of(const Input& input, const Arguments& given) {
  return programs_of(input, given, given.value_or("kernel", ""));
}

void add_entries(const std::vector<PlanStep>& steps, std::set<std::string>& names) {
  for (const auto& step : steps) {
    if (step.launch && !step.launch->entry.empty()) names.insert(step.launch->entry);
    add_entries(step.steps, names);
  }
}

void add_once(std::vector<NamedParameter>& all, NamedParameter one) {
  const bool known =
      std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.name == one.name; });
  if (!known) all.push_back(std::move(one));
}

void add_parameters(const Plan& plan, std::vector<NamedParameter>& all) {
  for (const auto& parameter : plan.parameters) {
    NamedParameter one{parameter.name, parameter.description};
    for (const auto& [name, value] : plan.typical)
      if (name == parameter.name) one.typical = value;
    add_once(all, std::move(one));
  }
}

// Whether --assume takes it in place of --param.
bool is_share(const KernelProgram& program, const std::string& parameter) {
  return std::any_of(program.parameters.begin(), program.parameters.end(),
                     [&](const auto& one) { return one.name == parameter && one.share; });
}

// A launch on the command line takes the place of the host code's.
bool gives_launch(const Arguments& given) {
  for (const char* option : {"threads", "grid", "block", "blocks", "threads-per-block"})
    if (given.has(option)) return true;
  return false;
}

}  // namespace

std::vector<Candidate> kernels_of_input(const Arguments& given) {
  std::vector<Candidate> names;
  const auto input = read_named_input(given);
  if (!input) return names;
  if (input->plan) {
    std::set<std::string> entries;
    add_entries(input->plan->plan.steps, entries);
    for (const auto& entry : entries) names.push_back({entry, ""});
    return names;
  }
  for (const auto& program : programs_of(input->kernel, given, ""))
    names.push_back({kernel_name(program, input->kernel.file), program.description});
  return names;
}

std::vector<NamedParameter> parameters_of_input(const Arguments& given) {
  std::vector<NamedParameter> all;
  const auto input = read_named_input(given);
  if (!input) return all;
  if (input->plan) {
    add_parameters(input->plan->plan, all);
    return all;
  }
  const bool host_code = input->kernel.kind == InputKind::cuda && !gives_launch(given);
  if (host_code)
    if (const auto found = find_plan({{input->kernel.file, input->kernel.text}}, compile_options_of(given)))
      add_parameters(found->plan, all);
  if (!all.empty()) return all;
  for (const auto& program : programs_of(input->kernel, given))
    for (const auto& name : parameter_names(program))
      if (!is_share(program, name)) add_once(all, {name, description_of(program, name)});
  return all;
}

std::vector<NamedParameter> shares_of_input(const Arguments& given) {
  std::vector<NamedParameter> all;
  const auto input = read_named_input(given);
  if (!input || input->plan) return all;
  for (const auto& program : programs_of(input->kernel, given))
    for (const auto& parameter : program.parameters)
      if (parameter.share) add_once(all, {parameter.name, parameter.description});
  return all;
}

std::vector<NamedParameter> arguments_of_input(const Arguments& given) {
  std::vector<NamedParameter> all;
  const auto input = read_named_input(given);
  if (!input || input->plan || input->kernel.kind == InputKind::kernel_program) return all;
  const auto source = source_of(input->kernel, compile_options_of(given));
  if (!source) return all;
  for (const auto& kernel : source->kernels)
    for (const auto& parameter : kernel.arguments) add_once(all, {parameter.name, parameter.type});
  return all;
}

}  // namespace warptime::cli
