#include "cli/commands/kernel_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/io/report.h"
#include "cli/options/options.h"
#include "load/host_plan.h"
#include "load/input.h"
#include "load/plan_flags.h"
#include "load/programs.h"
#include "simulator/plan/known_part.h"
#include "simulator/program/yaml_reader.h"

namespace warptime::cli {
namespace {

// Of a plan that the options make, in the errors about it.
constexpr char kMadePlan[] = "plan of the command line";

// "zeros:f32:N" as a plan's array; nothing: the text is no array.
Result<std::optional<std::string>> array_yaml(const std::string& name, const std::string& text) {
  const auto first = text.find(':');
  if (text.starts_with('@') || text.starts_with("raw:"))
    return error_at("--arg", 0, 0, fmt::format("{}={}: contents of a file are not measured with", name, text),
                    fmt::format("{}=random:f32:1024; `warptime run` takes files", name));
  if (first == std::string::npos) return std::optional<std::string>();
  const auto second = text.find(':', first + 1);
  if (second == std::string::npos)
    return error_at("--arg", 0, 0, fmt::format("{}={}: has no size", name, text),
                    fmt::format("{}={}:f32:1024", name, text.substr(0, first)));
  std::string fill = text.substr(0, first), type = text.substr(first + 1, second - first - 1);
  if (fill == "uninit") fill = "zeros";
  // Arrays are of bits: signed and unsigned ones are the same.
  if (type.starts_with('s') || type.starts_with('u')) type[0] = 'i';
  return std::optional(fmt::format("{{elements: {}, type: {}, fill: {}}}",
                                   yaml::scalar(text.substr(second + 1), true), yaml::scalar(type, true),
                                   yaml::scalar(fill, true)));
}

std::string dimensions_yaml(const Dim3Expressions& sizes) {
  std::vector<std::string> words;
  for (const Expression& size : sizes) words.push_back("\"" + to_string(size) + "\"");
  return fmt::format("[{}]", fmt::join(words, ", "));
}

std::string launch_yaml(const LaunchOptions& launch) {
  std::string text;
  if (launch.threads) text += fmt::format("    threads: {}\n", yaml::scalar(to_string(*launch.threads)));
  if (!launch.grid.empty()) text += fmt::format("    grid: {}\n", dimensions_yaml(launch.grid));
  if (!launch.block.empty()) text += fmt::format("    block: {}\n", dimensions_yaml(launch.block));
  if (launch.shared) text += fmt::format("    shared: {}\n", yaml::scalar(to_string(*launch.shared)));
  return text;
}

// The input that `-` or a file is read for once.
FileReader reader_of(const Input& input) {
  return [name = input.file, text = input.text](const std::string& file) -> Result<std::string> {
    return file == name ? Result<std::string>(text) : read_text(file);
  };
}

// The plan of the launches in a .cu's own host code, as `warptime plan` writes it; says what it could not
// read. Nothing where the input is no .cu, or launches nothing.
std::optional<Plan> plan_of_host_code(const Input& input, const CompileOptions& compile) {
  if (input.kind != InputKind::cuda) return std::nullopt;
  auto found = find_plan({{input.file, input.text}}, compile);
  if (!found) return std::nullopt;
  say(found->notes);
  say(found->unread);
  return std::move(found->plan);
}

// For predictions. Parameters: those of the kernel's program for any of the GPUs, then the names that the
// launch and its arguments use. The name is the kernel's.
Result<Plan> plan_of_kernel(const std::string& file, const KernelPlanOptions& options,
                            const std::vector<NamedValues>& parameters, const std::vector<const Gpu*>& gpus,
                            KernelLoader& loader) {
  PlanLaunch launch;
  launch.kernel = file;
  launch.entry = options.kernel;
  options.launch.apply(launch);
  for (const auto& [name, text] : options.arguments) {
    if (text.find(':') != std::string::npos || text.starts_with('@'))
      continue;  // an array: no prediction needs it
    auto value = parse_expression(text, "arg");
    if (!value) return value.diagnostics();
    launch.arguments.emplace_back(name, std::move(*value));
  }
  Plan plan;
  plan.steps.push_back({});
  plan.steps.front().launch = launch;
  loader.prepare(plan, gpus);

  const auto add = [&](Parameter parameter) {
    const auto same = [&](const Parameter& other) { return other.name == parameter.name; };
    if (std::none_of(plan.parameters.begin(), plan.parameters.end(), same))
      plan.parameters.push_back(std::move(parameter));
  };
  const auto answered = [&](const std::string& name) {
    const bool given =
        std::any_of(parameters.begin(), parameters.end(), [&](const auto& one) { return one.name == name; });
    return !given &&
           std::find(options.answered.begin(), options.answered.end(), name) != options.answered.end();
  };
  const auto is_argument = [&](const std::string& name) {
    return std::any_of(launch.arguments.begin(), launch.arguments.end(),
                       [&](const auto& one) { return one.first == name; });
  };
  for (const auto* gpu : gpus) {
    const auto loaded = loader.load(plan, launch, *gpu);
    if (!loaded) return loaded.diagnostics();
    if (plan.name.empty()) {
      plan.name = kernel_name(*loaded->program, file);
      // Profilers' rows are matched by the kernel's own name, not by the pattern that chose it.
      const Provenance& from = loaded->program->provenance;
      if (!launch.entry.empty() && launch.entry != from.kernel && !from.symbol.empty())
        plan.steps.front().launch->entry = from.symbol;
    }
    for (const auto& name : parameters_to_bind(*loaded->program, parameters))
      if (!is_launch_dimension(name) && !is_argument(name) && !answered(name))
        add({name, description_of(*loaded->program, name)});
  }
  const auto add_names = [&](const Expression& of) {
    for (const auto& name : of.names())
      if (!is_launch_dimension(name)) add({name, ""});
  };
  launch.for_each_size(add_names);
  if (launch.shared) add_names(*launch.shared);
  for (const auto& [name, value] : launch.arguments) add_names(value);
  return plan;
}

// To run it. Parameters: those of --param. Arguments are bound as a plan's, arrays are those of --arg. The name
// is empty: the kernel's is known when its code is.
Result<Plan> plan_to_run(const std::string& file, const KernelPlanOptions& options,
                         const std::vector<NamedValues>& parameters) {
  std::string names, arguments, arrays;
  for (const auto& one : parameters) names += (names.empty() ? "" : ", ") + one.name;
  for (const auto& [name, text] : options.arguments) {
    const auto array = array_yaml(name, text);
    if (!array) return array.diagnostics();
    if (*array)
      arrays += fmt::format("  {}: {}\n", name, **array);
    else
      arguments += fmt::format("      {}: {}\n", name, yaml::scalar(text));
  }
  std::string text = fmt::format("name: kernel\nparameters: [{}]\n", names);
  if (!arrays.empty()) text += "arrays:\n" + arrays;
  text += fmt::format("launches:\n  - kernel: {}\n", yaml::scalar(file));
  if (!options.kernel.empty()) text += fmt::format("    entry: {}\n", yaml::scalar(options.kernel));
  text += launch_yaml(options.launch);
  if (!arguments.empty()) text += "    arguments:\n" + arguments;
  auto plan = read_plan(text, kMadePlan);
  if (!plan) return plan.diagnostics();
  // It has no file: kernels are found from the current folder.
  plan->name.clear();
  plan->file.clear();
  return plan;
}

}  // namespace

OptionGroup kernel_plan_options() {
  auto options = launch_options(ShortForms::without);
  options.push_back({"arg", "NAME=VALUE",
                     "give an argument of the kernel its value: an expression over the parameters, or an "
                     "array that it points to as "
                     "FILL:TYPE:COUNT, random:f32:N or zeros:i32:1024, say. Repeatable; an argument that is "
                     "called as a --param needs none"});
  options.push_back(kernel_option());
  return {"A kernel (.cu or .ptx) in place of a plan: its launch", std::move(options)};
}

Result<KernelPlanOptions> read_kernel_plan_options(const Arguments& arguments) {
  KernelPlanOptions options;
  auto launch = read_launch(arguments, ShortForms::without);
  if (!launch) return launch.diagnostics();
  options.launch = std::move(*launch);
  auto kernel = read_kernel(arguments);
  if (!kernel) return kernel.diagnostics();
  options.kernel = std::move(*kernel);
  for (const auto& text : arguments.values("arg")) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return error_at("--arg", 0, 0, fmt::format("`{}` is not NAME=VALUE", text));
    options.arguments.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return options;
}

Result<LaunchedInput> read_launched_input(const std::string& input, const KernelPlanOptions& options,
                                          const CompileOptions& compile) {
  auto read = read_plan_or_kernel(input);
  if (!read) return read.diagnostics();
  LaunchedInput launched;
  launched.kernel = std::move(read->kernel);
  if (read->plan) {
    launched.source = LaunchSource::plan;
    launched.plan = std::move(*read->plan);
  } else if (!options.given()) {
    if (auto plan = plan_of_host_code(launched.kernel, compile)) {
      launched.source = LaunchSource::host_code;
      launched.plan = {std::move(*plan), reader_of(launched.kernel)};
    }
  }
  return launched;
}

Diagnostics check_launch(const LaunchedInput& launched, const KernelPlanOptions& options) {
  if (launched.source == LaunchSource::plan && options.given())
    return {error(fmt::format("{} is a plan, which has its own launches", launched.plan.plan.name),
                  "omit --threads, --grid, --block, --shared, --arg and --kernel")};
  if (launched.source == LaunchSource::options && !options.launch.sized())
    return {error_at(launched.kernel.file, 0, 0,
                     "--threads is missing: the input is not a plan, and a kernel needs its launch",
                     "give --threads EXPR, such as --threads N, or --grid X[,Y[,Z]] and --block X[,Y[,Z]]")};
  return {};
}

namespace {

struct DeviceProperty {
  std::string_view field;
  std::int64_t value;
};

// Of a parameter that `warptime plan` called after a field of cudaDeviceProp: OBJECT_FIELD, OBJECT_FIELD_2, cut to
// longest_made_name.
bool is_called(std::string_view name, std::string_view field) {
  constexpr std::size_t least = 9;  // letters of a field that is cut
  if (const std::size_t number = name.find_last_not_of("0123456789");
      number != std::string_view::npos && number + 1 < name.size() && name[number] == '_')
    name = name.substr(0, number);
  for (std::size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    const std::string_view rest = name.substr(at + 1);
    if (rest == field) return true;
    if (name.size() == longest_made_name && rest.size() >= least && field.starts_with(rest)) return true;
  }
  return false;
}

}  // namespace

std::vector<NamedValues> with_device_properties(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                                std::vector<NamedValues> given) {
  if (gpus.size() != 1) return given;
  const Gpu& gpu = *gpus.front();
  std::vector<DeviceProperty> properties = {
      {"multiProcessorCount", gpu.sms},
      {"maxThreadsPerMultiProcessor", std::int64_t{gpu.max_warps_per_sm} * gpu.warp_size},
      {"maxThreadsPerBlock", gpu.max_threads_per_block},
      {"warpSize", gpu.warp_size}};
  if (gpu.shared_bytes_per_sm) properties.push_back({"sharedMemPerMultiprocessor", *gpu.shared_bytes_per_sm});
  if (gpu.registers_per_sm) properties.push_back({"regsPerMultiprocessor", *gpu.registers_per_sm});
  if (gpu.l2_bytes) properties.push_back({"l2CacheSize", *gpu.l2_bytes});
  for (const Parameter& parameter : plan.parameters) {
    const auto named = [&](const NamedValues& one) { return one.name == parameter.name; };
    if (std::any_of(given.begin(), given.end(), named)) continue;
    const auto property = std::find_if(properties.begin(), properties.end(), [&](const DeviceProperty& one) {
      return is_called(parameter.name, one.field);
    });
    if (property == properties.end()) continue;
    auto value = ParameterValues::parse(fmt::format("{}", property->value));
    if (!value) continue;
    say_note(fmt::format("{} is {}, the {} of {}: --param {}=VALUE gives another value", parameter.name,
                         property->value, property->field, gpu.name, parameter.name));
    given.push_back({parameter.name, std::move(*value)});
  }
  return given;
}

Result<std::vector<NamedValues>> with_typical_values(const Plan& plan, std::vector<NamedValues> given,
                                                     bool copies, bool leave_out) {
  std::vector<std::string> missing, options;
  const std::vector<std::string> needed = needed_parameters(plan, copies);
  for (const auto& parameter : plan.parameters) {
    const auto named = [&](const auto& one) { return one.name == parameter.name; };
    if (std::any_of(given.begin(), given.end(), named)) continue;
    const auto typical = std::find_if(plan.typical.begin(), plan.typical.end(),
                                      [&](const auto& one) { return one.first == parameter.name; });
    if (typical == plan.typical.end()) {
      if (leave_out || std::find(needed.begin(), needed.end(), parameter.name) == needed.end()) continue;
      missing.push_back(parameter.description.empty()
                            ? parameter.name
                            : fmt::format("{} ({})", parameter.name, parameter.description));
      options.push_back(fmt::format("--param {}=VALUE", parameter.name));
      continue;
    }
    auto value = ParameterValues::parse(fmt::format("{}", typical->second));
    if (!value) return value.diagnostics();
    say_note(fmt::format("{} is {}, as in the source: --param {}=VALUE gives another value", parameter.name,
                         typical->second, parameter.name));
    given.push_back({parameter.name, std::move(*value)});
  }
  if (missing.empty()) return given;
  std::vector<std::string> kernels;
  for_each_launch(plan.steps, [&](const PlanStep& step) {
    const std::string& name = step.launch->entry;
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.push_back(name);
  });
  return error(fmt::format("the launches in the host code ({}) depend on parameters without a value: {}",
                           fmt::join(kernels, ", "), fmt::join(missing, "; ")),
               fmt::format("{}; `warptime plan` shows the launches", fmt::join(options, " ")));
}

KernelLoading kernel_loading(const MeasuredSettings& measured, const CompileOptions& compile,
                             bool skip_unsupported, const Model& model, const GpuCatalogue& catalogue) {
  KernelLoading how{compile, skip_unsupported, measured.gpus, measured.parameters, false};
  if (model.takes_whole_launches()) how.machine = AnalyzeOptions::Machine::estimated;
  how.classes = model.reads_instruction_classes();
  // The measurements say on which GPU they are; the parameters of a kernel are the same on all.
  if (how.gpus.empty()) how.gpus = {catalogue.with_core_packages().back()};
  return how;
}

KernelLoader loader_of(const LaunchedInput& launched, const KernelLoading& how) {
  const bool is_plan = launched.source == LaunchSource::plan;
  KernelLoader loader(is_plan ? launched.plan.read : reader_of(launched.kernel), say_each,
                      with_plan_flags(how.compile, launched.plan.plan), how.skip_unsupported, how.registers,
                      how.machine);
  loader.set_parameters(how.parameters);
  loader.set_classes(how.classes);
  loader.set_rearrange(how.rearrange);
  loader.share_sources(how.sources);
  if (!is_plan) loader.add(launched.kernel);
  return loader;
}

Result<Plan> plan_to_predict(const LaunchedInput& launched, const KernelPlanOptions& options,
                             const KernelLoading& how, KernelLoader& loader) {
  if (launched.source != LaunchSource::options) return launched.plan.plan;
  return plan_of_kernel(launched.kernel.file, options, how.parameters, how.gpus, loader);
}

Result<PlanInput> plan_to_measure(LaunchedInput launched, const KernelPlanOptions& options,
                                  const std::vector<NamedValues>& parameters) {
  if (launched.source != LaunchSource::options) return std::move(launched.plan);
  const Input& kernel = launched.kernel;
  if (kernel.kind == InputKind::kernel_program)
    return error_at(kernel.file, 0, 0, "is a kernel program, which has no code to run",
                    "give the .cu or .ptx itself");
  auto plan = plan_to_run(kernel.file, options, parameters);
  if (!plan) return plan.diagnostics();
  return PlanInput{std::move(*plan), reader_of(kernel)};
}

}  // namespace warptime::cli
