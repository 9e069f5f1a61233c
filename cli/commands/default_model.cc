#include "cli/commands/default_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options/options.h"
#include "load/input.h"
#include "load/kernel_file.h"
#include "load/plan_input.h"
#include "simulator/plan/calibration.h"
#include "simulator/predict/models.h"
#include "simulator/program/kernel_program.h"
#include "simulator/program/walk.h"

namespace warptime::cli {
namespace {

constexpr std::uint64_t kMostRows = 10'000;

// What uncalibrated_model() goes by: the code, or a program that says what its items need.
bool has_detail(const Input& input) {
  if (input.kind != InputKind::kernel_program) return true;
  const auto programs = read_kernel_programs(input.text, input.file);
  if (!programs) return false;
  return std::all_of(programs->begin(), programs->end(), [](const KernelProgram& program) {
    bool found = false;
    for_each_item(program.program, [&](const Item& item) { found = found || item.detail || item.machine; });
    return found;
  });
}

bool has_detail(const PlanInput& input) {
  const auto files = launched_files(input.plan);
  return std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    const auto kernel = read_kernel_file(file, input.read);
    return !kernel || has_detail(*kernel);
  });
}

// The calibrations that count: none where a GPU has none.
std::vector<Calibration> of_all(const Calibrations& calibrations, const std::vector<const Gpu*>& gpus) {
  std::vector<Calibration> found;
  for (const Gpu* gpu : gpus) {
    const auto one = calibrations.find(gpu->name);
    if (one == calibrations.end()) return {};
    found.push_back(one->second);
  }
  return found;
}

// Before Volta: the simulated SM has latencies and rates of later ones, and differs from the paper's
// measurements by factors of two to four.
bool is_older(const Gpu* gpu) {
  return gpu->compute_capability.major < 7;
}

// Whether it was fitted to uncalibrated_model(), whose second constant is a scale.
bool has_scale(const Calibration& calibration) {
  return calibration.scale.has_value();
}

DefaultModel of_calibration_file(const std::string& file) {
  DefaultModel chosen{&default_model(), "--calibration gives its constants"};
  const auto text = read_text(file);
  if (!text) return chosen;
  const auto calibration = read_calibration_file(*text, file);
  if (calibration && std::all_of(calibration->calibrations.begin(), calibration->calibrations.end(),
                                 [](const auto& one) { return has_scale(one.second); }))
    chosen.model = &uncalibrated_model();
  return chosen;
}

}  // namespace

DefaultModel choose_default_model(const Arguments& arguments, const LaunchedInput& launched,
                                  const std::vector<const Gpu*>& gpus, std::uint64_t rows) {
  const Model *const paper = &default_model(), *const uncalibrated = &uncalibrated_model();
  for (const char* const option : {"t-p", "t-m"})
    if (arguments.has(option)) return {paper, fmt::format("--{} is one of its constants", option)};
  if (const auto file = arguments.value("calibration"); file && *file != "-")
    return of_calibration_file(*file);
  const bool is_kernel = launched.source == LaunchSource::options;
  std::vector<Calibration> fitted;
  if (!is_kernel) fitted = of_all(launched.plan.plan.calibrations, gpus);
  bool detail = is_kernel ? has_detail(launched.kernel) : has_detail(launched.plan);
  if (const auto against = arguments.value("against"); against && *against != "-") {
    if (const auto other = read_plan_input(*against)) {
      detail = detail && has_detail(*other);
      if (of_all(other->plan.calibrations, gpus).empty()) fitted.clear();
    }
  }
  if (!detail) return {paper, "a kernel program says nothing of dependences and machine instructions"};
  if (fitted.empty() && !asks_for_all_gpus(arguments) && std::any_of(gpus.begin(), gpus.end(), is_older))
    return {paper, fmt::format("no time of a GPU before compute capability 7.0 was compared with {}",
                               uncalibrated->name())};
  if (fitted.empty() && rows > kMostRows)
    return {paper, fmt::format("{} takes long for more than {} rows", uncalibrated->name(), kMostRows)};
  if (fitted.empty()) return {uncalibrated, "nothing was fitted to these kernels on these GPUs"};
  if (std::all_of(fitted.begin(), fitted.end(), has_scale))
    return {uncalibrated, "the plan has a calibration for it"};
  return {paper, "the plan has a calibration for it"};
}

}  // namespace warptime::cli
