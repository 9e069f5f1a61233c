#include "cli/commands/predict_input.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "cli/commands/default_model.h"
#include "cli/commands/kernel_plan.h"
#include "cli/io/report.h"
#include "cli/options/options.h"

namespace warptime::cli {
namespace {

Diagnostics read_profile_option(const Arguments& arguments, PredictSettings& settings) {
  std::map<std::string, std::string> files;  // by kernel
  for (const std::string& file : arguments.values("profile")) {
    const auto text = read_text(file);
    if (!text) return text.diagnostics();
    auto profile = read_profile(*text, file);
    if (!profile) return profile.diagnostics();
    for (KernelProfile& kernel : profile->kernels) {
      const auto other = files.emplace(kernel.kernel, file).first;
      if (other->second != file)
        return {error(fmt::format("--profile: {} and {} are both of {}", other->second, file,
                                  kernel.kernel.empty() ? "any kernel" : kernel.kernel),
                      "a kernel has one profile; give the launches that differ a prediction each")};
      settings.prediction.profile.kernels.push_back(std::move(kernel));
    }
  }
  return {};
}

}  // namespace

Result<CacheState> read_caches(const Arguments& arguments, CacheState otherwise) {
  const auto caches = arguments.value("caches");
  if (!caches) return otherwise;
  if (*caches == "warm") return CacheState::warm;
  if (*caches == "cold") return CacheState::cold;
  return error(fmt::format("--caches must be warm or cold, not `{}`", *caches));
}

Result<Calibrations> read_calibration_option(const Arguments& arguments, const Plan& plan) {
  const auto file = arguments.value("calibration");
  if (!file) return Calibrations();
  const auto text = read_text(*file);
  if (!text) return text.diagnostics();
  const auto calibration = read_calibration_file(*text, *file);
  if (!calibration) return calibration.diagnostics();
  if (!calibration->plan.empty() && calibration->plan != plan.name)
    say_note(fmt::format("{} was fitted to the plan {}, not to {}", *file, calibration->plan, plan.name));
  return calibration->calibrations;
}

Result<std::vector<CounterRow>> count_launches(const PredictInput& input, CacheState caches) {
  constexpr std::uint64_t kMostCounted = 100'000;
  const PredictSettings& settings = input.settings;
  PredictionOptions prediction = settings.prediction;
  prediction.model_options.caches = caches;
  const auto total = sweep_size(settings.gpus, settings.parameters);
  if (!total) return total.diagnostics();
  if (*total > kMostCounted)
    return error(fmt::format("at most {} rows; these are {}", kMostCounted, *total),
                 "choose fewer with --gpu and --param");
  return count_all(input.plan, settings.gpus, settings.parameters, prediction, input.loader->as_function());
}

std::vector<Option> launch_of_kernel_options() {
  auto options = launch_options(ShortForms::with);
  options.push_back({"best-launch", "",
                     "look for the quickest blocks of whole warps instead of Algorithm 3's, or instead of a "
                     "--block in two dimensions, and say what they gain"});
  options.push_back(kernel_option());
  return options;
}

std::unique_ptr<PredictInput> read_predict_input(const Arguments& arguments, WithoutMachine machine,
                                                 int& status, WithoutModel otherwise, WithoutValue without) {
  return read_predict_input(arguments, arguments.positionals().front(), machine, status, otherwise, nullptr,
                            without);
}

std::unique_ptr<PredictInput> read_predict_input(const Arguments& arguments, const std::string& of_input,
                                                 WithoutMachine machine, int& status, WithoutModel otherwise,
                                                 std::shared_ptr<CompiledSources> sources,
                                                 WithoutValue without) {
  const auto failed = [&](ExitStatus with, const Diagnostics& diagnostics) {
    status = fail(with, diagnostics);
    return nullptr;
  };
  auto catalogue = read_catalogue(arguments);
  if (!catalogue) return failed(wrong_input, catalogue.diagnostics());
  auto input = std::make_unique<PredictInput>();
  input->catalogue = std::make_unique<GpuCatalogue>(std::move(*catalogue));
  const bool by_input = otherwise == WithoutModel::by_input && !arguments.has("model");
  // Where the input decides: the model that takes all GPUs, until the input is known.
  auto read =
      read_predict_settings(arguments, *input->catalogue, by_input ? uncalibrated_model() : default_model());
  if (!read) return failed(wrong_command_line, read.diagnostics());
  PredictSettings& settings = input->settings = std::move(*read);
  const auto kernel = read_kernel(arguments);
  if (!kernel) return failed(wrong_command_line, kernel.diagnostics());
  if (const auto wrong = read_profile_option(arguments, settings); !wrong.empty())
    return failed(wrong_input, wrong);
  KernelPlanOptions options{settings.launch, *kernel, {}};
  for (const auto& [name, value] : settings.prediction.assumed) options.answered.push_back(name);
  for (const KernelProfile& profile : settings.prediction.profile.kernels)
    for (const auto& [name, iterations] : profile.iterations) options.answered.push_back(name);

  auto launched = read_launched_input(of_input, options, settings.compile);
  if (!launched) return failed(wrong_input, launched.diagnostics());
  if (const auto wrong = check_launch(*launched, options); !wrong.empty())
    return failed(wrong_command_line, wrong);
  if (by_input) {
    const auto size = sweep_size(settings.gpus, settings.parameters);
    const DefaultModel chosen = choose_default_model(arguments, *launched, settings.gpus, size ? *size : 0);
    if (chosen.model != settings.prediction.model)
      if (const auto wrong = change_model(arguments, *input->catalogue, *chosen.model, settings);
          !wrong.empty())
        return failed(wrong_command_line, wrong);
    input->why_model = chosen.why;
  }
  if (launched->source != LaunchSource::options)
    settings.parameters =
        with_device_properties(launched->plan.plan, settings.gpus, std::move(settings.parameters));
  if (launched->source == LaunchSource::host_code) {
    auto parameters = with_typical_values(launched->plan.plan, std::move(settings.parameters),
                                          settings.prediction.transfers, without == WithoutValue::left_out);
    if (!parameters) return failed(wrong_input, parameters.diagnostics());
    settings.parameters = std::move(*parameters);
  }
  const bool estimates = machine == WithoutMachine::estimated || takes_whole_launches(settings.prediction);
  settings.machine = arguments.has("machine") ? AnalyzeOptions::Machine::assembled
                     : estimates              ? AnalyzeOptions::Machine::estimated
                                              : AnalyzeOptions::Machine::none;
  const auto caches = read_caches(arguments, CacheState::warm);
  if (!caches) return failed(wrong_command_line, caches.diagnostics());
  settings.prediction.model_options.caches = *caches;
  KernelLoading how{settings.compile,
                    arguments.has("skip-unsupported"),
                    settings.gpus,
                    settings.parameters,
                    arguments.has("registers"),
                    settings.machine,
                    reads_instruction_classes(settings.prediction)};
  how.rearrange = arguments.has("rearrange");
  how.sources = std::move(sources);
  input->loader = std::make_unique<KernelLoader>(loader_of(*launched, how));
  auto plan = plan_to_predict(*launched, options, how, *input->loader);
  if (!plan) return failed(wrong_input, plan.diagnostics());
  input->plan = std::move(*plan);
  input->loader->prepare(input->plan, settings.gpus);
  return input;
}

}  // namespace warptime::cli
