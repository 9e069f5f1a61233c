#include "measure/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/pipeline.h"
#include "load/plan_flags.h"

namespace warptime::measuring {
namespace {

std::string word(std::string type) {
  if (type.starts_with("const ")) type.erase(0, 6);
  while (!type.empty() && type.back() == ' ') type.pop_back();
  return type;
}

Result<KernelParameter> parameter_of(const execute::ParameterInfo& info, const KernelArgument* argument,
                                     const std::string& symbol, const std::string& file) {
  using Kind = KernelParameter::Kind;
  KernelParameter parameter;
  const auto prefix = symbol + "_";
  parameter.name = argument != nullptr             ? argument->name
                   : info.name.starts_with(prefix) ? info.name.substr(prefix.size())
                                                   : info.name;
  parameter.type = argument != nullptr ? argument->type : "." + info.type;
  parameter.bytes = info.bytes;
  const bool whole = info.type == "u8" || info.type == "s8" || info.type == "u16" || info.type == "s16" ||
                     info.type == "u32" || info.type == "s32" || info.type == "u64" || info.type == "s64" ||
                     info.type == "b8" || info.type == "b16" || info.type == "b32" || info.type == "b64";
  const bool structure = info.type == "b8" && info.bytes != 1;
  const bool scalar =
      !structure && (info.bytes == 1 || info.bytes == 2 || info.bytes == 4 || info.bytes == 8);
  if (argument != nullptr && (argument->type.find('*') != std::string::npos)) {
    parameter.kind = Kind::pointer;
  } else if (info.type == "f32" || info.type == "f64" ||
             (argument != nullptr && (word(argument->type) == "float" || word(argument->type) == "double"))) {
    parameter.kind = Kind::real;
  } else if (whole && scalar) {
    parameter.kind = Kind::integer;  // of a PTX file perhaps a pointer: what it is given decides
  } else {
    return error_at(
        file, 0, 0,
        fmt::format("the argument `{}` of {} is {} ({} bytes), which a plan cannot give a value to",
                    parameter.name, symbol, parameter.type, parameter.bytes));
  }
  return parameter;
}

Result<Kernel> make_kernel(const CodeModule& module, std::uint32_t index, const KernelSignature* signature) {
  Kernel kernel;
  kernel.symbol = std::string(module.module.functions[index].name);
  kernel.name = signature != nullptr ? signature->name : kernel.symbol;
  auto code = execute::load(module.module, index, module.file + " (PTX)");
  if (!code) return code.diagnostics();
  kernel.code = *code;
  std::size_t place = 0;
  for (const auto& info : execute::parameters(*kernel.code)) {
    const bool known = signature != nullptr && place < signature->arguments.size();
    auto parameter =
        parameter_of(info, known ? &signature->arguments[place] : nullptr, kernel.symbol, module.file);
    if (!parameter) return parameter.diagnostics();
    kernel.parameters.push_back(std::move(*parameter));
    ++place;
  }
  return kernel;
}

}  // namespace

Result<std::size_t> PlanKernels::add(const std::string& file, const FileReader& read,
                                     const CompileOptions& compile) {
  for (std::size_t i = 0; i < modules_.size(); ++i)
    if (modules_[i]->file == file) return i;
  const auto input = read_kernel_file(file, read);
  if (!input) return input.diagnostics();
  auto source = source_of(*input, compile);
  if (!source) return source.diagnostics();
  auto module = std::make_unique<CodeModule>();
  module->file = file;
  module->source = std::move(*source);
  auto parsed = ptx::parse(module->source.ptx, file);
  if (!parsed) return parsed.diagnostics();
  module->module = std::move(*parsed);
  for (std::uint32_t i = 0; i < module->module.functions.size(); ++i) {
    const auto& function = module->module.functions[i];
    if (!function.entry || function.declaration) continue;
    const auto& known = module->source.kernels;
    const auto signature = std::find_if(known.begin(), known.end(),
                                        [&](const auto& one) { return one.symbol == function.name; });
    auto kernel = make_kernel(*module, i, signature == known.end() ? nullptr : &*signature);
    if (!kernel) return kernel.diagnostics();
    module->kernels.push_back(std::move(*kernel));
  }
  modules_.push_back(std::move(module));
  return modules_.size() - 1;
}

Diagnostics PlanKernels::add_launch(const Plan& plan, const PlanLaunch& launch, const FileReader& read,
                                    const CompileOptions& compile) {
  const auto module = add(launched_file(plan, launch), read, compile);
  if (!module) return module.diagnostics();
  std::vector<KernelName> names;
  for (const auto& kernel : modules_[*module]->kernels) names.push_back({kernel.name, kernel.symbol});
  const auto kernel = select_kernel(names, launch.entry, modules_[*module]->file,
                                    plan.file.empty() ? ChosenBy::option : ChosenBy::plan);
  if (!kernel) return kernel.diagnostics();
  by_launch_.push_back({{launch.kernel, launch.entry}, {*module, *kernel}});
  return {};
}

Result<PlanKernels> PlanKernels::load(const Plan& plan, const FileReader& read,
                                      const CompileOptions& compile) {
  PlanKernels kernels;
  Diagnostics wrong;
  const CompileOptions with_flags = with_plan_flags(compile, plan);
  for_each_launch(plan.steps, [&](const PlanStep& step) {
    if (wrong.empty()) wrong = kernels.add_launch(plan, *step.launch, read, with_flags);
  });
  if (!wrong.empty()) return wrong;
  return kernels;
}

KernelReference PlanKernels::of(const PlanLaunch& launch) const {
  for (const auto& [names, kernel] : by_launch_)
    if (names.first == launch.kernel && names.second == launch.entry) return kernel;
  return {};
}

}  // namespace warptime::measuring
