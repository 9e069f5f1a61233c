#include "measure/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/pipeline.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::measuring {
namespace {

std::string beside(const Plan& plan, const std::string& kernel) {
  if (plan.file.empty() || std::filesystem::path(kernel).is_absolute()) return kernel;
  return (std::filesystem::path(plan.file).parent_path() / kernel).lexically_normal().string();
}

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
  const bool scalar = info.bytes == 1 || info.bytes == 2 || info.bytes == 4 || info.bytes == 8;
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

Result<KernelReference> find(const std::vector<std::unique_ptr<CodeModule>>& modules, std::size_t module,
                             const std::string& entry) {
  const auto& kernels = modules[module]->kernels;
  if (entry.empty() && kernels.size() == 1) return KernelReference{module, 0};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].name == entry || kernels[i].symbol == entry) return KernelReference{module, i};
    names.push_back(kernels[i].name);
  }
  const auto& file = modules[module]->file;
  if (entry.empty())
    return error_at(file, 0, 0, fmt::format("has {} kernels, and the plan names none", kernels.size()),
                    fmt::format("entry: {}", fmt::join(names, " or ")));
  const auto near = nearest(entry, names);
  return error_at(file, 0, 0, fmt::format("has no kernel `{}`", entry),
                  near.empty() ? "" : fmt::format("did you mean `{}`?", near));
}

}  // namespace

Result<std::size_t> PlanKernels::add(const std::string& file, const Reader& read,
                                     const CompileOptions& compile) {
  for (std::size_t i = 0; i < modules_.size(); ++i)
    if (modules_[i]->file == file) return i;
  const auto extension = std::filesystem::path(file).extension();
  if (extension != ".cu" && extension != ".cuh" && extension != ".ptx")
    return error_at(file, 0, 0, "is no kernel's code: there is nothing that a GPU could run",
                    "a plan that is to be measured names .cu or .ptx files");
  auto text = read(file);
  if (!text) return text.diagnostics();
  auto module = std::make_unique<CodeModule>();
  module->file = file;
  if (extension == ".ptx") {
    module->source = ptx_source(file, std::move(*text));
  } else {
    auto source = compile_cuda(file, *text, compile);
    if (!source) return source.diagnostics();
    module->source = std::move(*source);
  }
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

Diagnostics PlanKernels::add_steps(const Plan& plan, const std::vector<PlanStep>& steps, const Reader& read,
                                   const CompileOptions& compile) {
  for (const auto& step : steps) {
    if (auto wrong = add_steps(plan, step.steps, read, compile); !wrong.empty()) return wrong;
    if (!step.launch) continue;
    const auto module = add(beside(plan, step.launch->kernel), read, compile);
    if (!module) return module.diagnostics();
    const auto kernel = find(modules_, *module, step.launch->entry);
    if (!kernel) return kernel.diagnostics();
    by_launch_.push_back({{step.launch->kernel, step.launch->entry}, *kernel});
  }
  return {};
}

Result<PlanKernels> PlanKernels::load(const Plan& plan, const Reader& read, const CompileOptions& compile) {
  PlanKernels kernels;
  if (auto wrong = kernels.add_steps(plan, plan.steps, read, compile); !wrong.empty()) return wrong;
  return kernels;
}

KernelReference PlanKernels::of(const PlanLaunch& launch) const {
  for (const auto& [names, kernel] : by_launch_)
    if (names.first == launch.kernel && names.second == launch.entry) return kernel;
  return {};
}

}  // namespace warptime::measuring
