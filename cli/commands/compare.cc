// warptime compare: predicted against measured times.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/commands/compare_counters.h"
#include "cli/commands/compare_times.h"
#include "cli/commands/kernel_plan.h"
#include "cli/commands/modelled.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/model_option.h"
#include "cli/options/options.h"
#include "cli/views/comparison.h"
#include "cli/views/comparison_svg.h"
#include "load/bundled.h"
#include "load/input.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/plan/calibration.h"

namespace warptime::cli {
namespace {

CommandSyntax compare_syntax() {
  return {
      "compare",
      "compare predicted with measured times: ratios, mean and maximum errors, plots",
      "[OPTION...] PLAN|KERNEL MEASUREMENTS...|--counters FILE [-- COMPILER-FLAG...]",
      "Compares predictions with measurements: the mean absolute percentage error and the maximum, of each "
      "experiment (rows that differ only in their size) and of all. PLAN is a plan or the name of a "
      "bundled one. MEASUREMENTS is what `warptime measure` writes or a CSV of nsys, ncu or nvprof; - is "
      "standard input. With --against, it also compares the ratios of the plans' times, measured and "
      "predicted. With --counters, it compares what `warptime counters` computes with what Nsight Compute "
      "counted.",
      "  warptime compare mtx measured.csv --calibration mtx.calibration.yaml\n"
      "  warptime compare gpu_dwt_m2_nw data/stokfiszewski2022_rtx2080ti.csv --against gpu_dwt_l2_nw\n"
      "  warptime compare matrix measured.csv --rows-of mtx --against lattice=ltt --svg plots\n"
      "  warptime compare mtx --counters data/samples/ncu_mtx_raw.csv --param K=8 --param N=2^12\n",
      {{"What to compare",
        {{"calibration", "FILE",
          "read t_p and t_m by GPU from this file; repeatable. A file that names a plan applies to that "
          "plan, one that names none to all",
          Names::input},
         {"t-p", "MICROSECONDS", "use this t_p, on all GPUs and for all plans"},
         {"t-m", "CYCLES", "use this t_m, on all GPUs and for all plans"},
         {"against", "PLAN",
          "also compare PLAN, and the ratio of the two plans' times; repeatable. PLAN=ROWS uses the rows "
          "of the plan ROWS for it",
          Names::input},
         model_option(false),
         {"over", "NAME", "let experiments run over this parameter (default: the one with the most values)"},
         {"svg", "DIR",
          "write plots to this folder: the ratio against the size, and times on logarithmic "
          "axes",
          Names::output_folder}}},
       compare_counters_options(),
       measurement_options(),
       kernel_plan_options(),
       program_options(),
       with_sarif(general_options({"text", "csv", "json"},
                                  "text (default), csv (a line for each measurement) or json"))},
      1,
      1 << 20,
      true,
      [] { return fmt::format("\nBundled plans: {}.", enumerate(bundled_plan_names())); },
      Inputs::files_or_plans};
}

struct CompareSettings {
  MeasuredSettings measured;
  KernelPlanOptions kernel;
  CompileOptions compile;
  const Model* model = nullptr;
  std::optional<double> t_p_us, t_m_cycles;
};

Result<CompareSettings> read_compare_settings(const Arguments& arguments, const GpuCatalogue& catalogue) {
  CompareSettings settings;
  const auto format = read_choice(arguments, "format");
  if (!format) return format.diagnostics();
  auto measured = read_measured_settings(arguments, catalogue);
  if (!measured) return measured.diagnostics();
  settings.measured = std::move(*measured);
  auto kernel = read_kernel_plan_options(arguments);
  if (!kernel) return kernel.diagnostics();
  settings.kernel = std::move(*kernel);
  auto compile = read_compile_options(arguments);
  if (!compile) return compile.diagnostics();
  settings.compile = std::move(*compile);
  const auto model = read_model(arguments);
  if (!model) return model.diagnostics();
  settings.model = *model;
  const auto t_p = read_number(arguments, "t-p");
  if (!t_p) return t_p.diagnostics();
  settings.t_p_us = *t_p;
  const auto t_m = read_number(arguments, "t-m");
  if (!t_m) return t_m.diagnostics();
  settings.t_m_cycles = *t_m;
  return settings;
}

Result<std::vector<CalibrationFile>> read_calibration_files(const Arguments& arguments) {
  std::vector<CalibrationFile> files;
  for (const auto& file : arguments.values("calibration")) {
    const auto text = read_text(file);
    if (!text) return text.diagnostics();
    auto calibration = read_calibration_file(*text, file);
    if (!calibration) return calibration.diagnostics();
    files.push_back(std::move(*calibration));
  }
  return files;
}

// One method: its plan, the rows that it is compared with, and its loader.
class Method {
 public:
  Method(const Arguments& arguments, const CompareSettings& settings, const GpuCatalogue& catalogue,
         const std::vector<CalibrationFile>& calibrations)
      : arguments_(arguments), settings_(settings), catalogue_(catalogue), calibrations_(calibrations) {}

  // rows_of: empty for the plan's own. kernel: the launch, where `launched` is a kernel.
  Result<ComparedMethod> compare(const LaunchedInput& launched, const KernelPlanOptions& kernel,
                                 const std::string& rows_of, const std::vector<MeasuredFile>& files) {
    auto how = kernel_loading(settings_.measured, settings_.compile, arguments_.has("skip-unsupported"),
                              *settings_.model, catalogue_);
    how.rearrange = arguments_.has("rearrange");
    KernelLoader kernels = loader_of(launched, how);
    const auto plan = plan_to_predict(launched, kernel, how, kernels);
    if (!plan) return plan.diagnostics();
    const ProgramLoader loader = kernels.as_function();
    MeasuredSettings measured_settings = settings_.measured;
    measured_settings.selection.rows_of = rows_of;
    auto measured = read_measured(files, *plan, measured_settings, catalogue_, loader);
    if (!measured) return measured.diagnostics();

    ComparedMethod method;
    method.plan = *plan;
    method.rows_of = rows_of.empty() ? plan->name : rows_of;
    std::vector<ComparedRow> rows;
    PredictionOptions options;
    options.model = settings_.model;
    options.constants = {settings_.t_p_us, settings_.t_m_cycles, calibrations_of(plan->name)};
    for (auto& on : *measured) {
      const auto borrowed = options.model->borrow(*on.gpu, catalogue_);
      if (borrowed) {
        on.gpu = &borrowed->gpu;
        method.notes.push_back(fmt::format("{}: {}", on.gpu->name, borrowed->note));
      }
      if (auto wrong = options.model->check(*on.gpu); !wrong.empty()) return wrong;
      auto modelled = model_rows(*plan, std::move(on), options, loader);
      if (!modelled) return modelled.diagnostics();
      if (auto wrong = add(*modelled, method, rows); !wrong.empty()) return wrong;
    }
    const auto over = size_of(*plan, rows);
    if (!over) return over.diagnostics();
    method.size_parameter = *over;
    method.experiments = experiments_of(rows, *over);
    method.global = global_errors(method.experiments);
    return method;
  }

 private:
  // What the files say of the plan, by GPU; of a GPU that several name, the last one.
  Calibrations calibrations_of(const std::string& plan) const {
    Calibrations found;
    for (const auto& file : calibrations_) {
      if (!file.plan.empty() && file.plan != plan) continue;
      for (const auto& [gpu, calibration] : file.calibrations) found[gpu] = calibration;
    }
    return found;
  }

  static Diagnostics add(const ModelledRows& modelled, ComparedMethod& method,
                         std::vector<ComparedRow>& rows) {
    const std::string& gpu = modelled.gpu->name;
    const RowTimes& times = *modelled.times;
    const auto predicted = times.times_us();
    if (!predicted) return predicted.diagnostics();
    const auto took = times.prediction_us();
    for (std::size_t i = 0; i < modelled.rows.size(); ++i)
      rows.push_back({gpu, modelled.rows[i].values, modelled.rows[i].time_us, (*predicted)[i], took[i]});
    const bool used = times.t_p_source() != ConstantSource::not_used;
    method.constants.push_back({gpu, times.t_p_us(), times.t_m_cycles(),
                                std::string(to_string(times.t_p_source())),
                                std::string(to_string(times.t_m_source())), used, times.scale()});
    for (const auto& note : modelled.notes) method.notes.push_back(note);
    return {};
  }

  Result<std::size_t> size_of(const Plan& plan, const std::vector<ComparedRow>& rows) const {
    const auto over = arguments_.value("over");
    if (!over) return size_parameter(rows, plan.parameters.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
      if (plan.parameters[i].name == *over) return i;
      names.push_back(plan.parameters[i].name);
    }
    return error_at("--over", 0, 0, fmt::format("{} has no parameter `{}`", plan.name, *over),
                    fmt::format("it has {}", enumerate(names)));
  }

  const Arguments& arguments_;
  const CompareSettings& settings_;
  const GpuCatalogue& catalogue_;
  const std::vector<CalibrationFile>& calibrations_;
};

// The plans' first letters as in the paper (M for matrix, L for lattice) where these tell them apart; R is
// for ratios.
void give_letters(std::vector<ComparedMethod>& methods) {
  std::string letters;
  for (const auto& method : methods)
    letters += method.plan.name.empty()
                   ? '?'
                   : static_cast<char>(std::toupper(static_cast<unsigned char>(method.plan.name.front())));
  std::string sorted = letters;
  std::sort(sorted.begin(), sorted.end());
  const bool clear = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
                     std::all_of(letters.begin(), letters.end(),
                                 [](unsigned char c) { return std::isalpha(c) != 0 && c != 'R'; });
  for (std::size_t i = 0; i < methods.size(); ++i)
    methods[i].letter =
        clear ? std::string(1, letters[i]) : fmt::format("{}", static_cast<char>('A' + i % 17));
}

Diagnostics check_same_parameters(const Plan& first, const Plan& other) {
  const auto names = [](const Plan& plan) {
    std::vector<std::string> all;
    for (const auto& parameter : plan.parameters) all.push_back(parameter.name);
    return all;
  };
  if (names(first) == names(other)) return {};
  return {error_at("--against", 0, 0,
                   fmt::format("{} has the parameters {}, {} has {}: there is no pair to compare", first.name,
                               enumerate(names(first)), other.name, enumerate(names(other))))};
}

std::vector<ComparedRow> rows_of(const ComparedMethod& method) {
  std::vector<ComparedRow> rows;
  for (const auto& experiment : method.experiments)
    rows.insert(rows.end(), experiment.rows.begin(), experiment.rows.end());
  return rows;
}

void compare_methods(Comparison& comparison) {
  give_letters(comparison.methods);
  std::vector<GlobalErrors> globals;
  for (const auto& method : comparison.methods) globals.push_back(method.global);
  comparison.overall = total(globals);
  const auto& first = comparison.methods.front();
  for (std::size_t i = 1; i < comparison.methods.size(); ++i) {
    const auto& other = comparison.methods[i];
    const auto ratios = method_ratios(rows_of(first), rows_of(other));
    auto experiments = experiments_of(ratios, first.size_parameter);
    const auto global = global_errors(experiments);
    comparison.ratios.push_back({first.plan.name, other.plan.name, std::move(experiments), global});
  }
}

Diagnostic missing_measurements() {
  return error("missing MEASUREMENTS", "usage: warptime compare [OPTION...] PLAN|KERNEL MEASUREMENTS...");
}

Result<std::vector<ResultFile>> plot_files(const std::string& folder, const Comparison& comparison) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return error_at(folder, 0, 0, fmt::format("cannot be created: {}", failure.message()));
  std::vector<ResultFile> files;
  for (auto& [name, svg] : comparison_plots(comparison))
    files.push_back({(std::filesystem::path(folder) / name).string(), std::move(svg)});
  return files;
}

// Of PLAN or PLAN=ROWS.
struct ComparedInput {
  std::string input, rows_of;
};

// Of which GPUs.
enum class MeasuredGpus : std::uint8_t { given, all };

// The launch on the command line is that of kernels among the first `launched_by_options` inputs; other inputs are plans.
std::optional<Comparison> compare_all(const Arguments& arguments, const std::vector<ComparedInput>& inputs,
                                      std::size_t launched_by_options, MeasuredGpus gpus,
                                      const std::vector<MeasuredFile>& files, int& status) {
  const auto failed = [&](ExitStatus with, const Diagnostics& diagnostics) {
    status = fail(with, diagnostics);
    return std::nullopt;
  };
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return failed(wrong_input, catalogue.diagnostics());
  auto settings = read_compare_settings(arguments, *catalogue);
  if (settings && gpus == MeasuredGpus::all) settings->measured.gpus.clear();
  if (!settings) return failed(wrong_command_line, settings.diagnostics());
  const auto calibrations = read_calibration_files(arguments);
  if (!calibrations) return failed(wrong_input, calibrations.diagnostics());
  Comparison comparison;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto kernel = i < launched_by_options ? settings->kernel : KernelPlanOptions();
    const auto launched = read_launched_input(inputs[i].input, kernel, settings->compile);
    if (!launched) return failed(wrong_input, launched.diagnostics());
    if (const auto wrong = check_launch(*launched, kernel); !wrong.empty())
      return failed(wrong_command_line, wrong);
    auto method = Method(arguments, *settings, *catalogue, *calibrations)
                      .compare(*launched, kernel, inputs[i].rows_of, files);
    if (!method) return failed(wrong_input, method.diagnostics());
    if (!comparison.methods.empty()) {
      const auto wrong = check_same_parameters(comparison.methods.front().plan, method->plan);
      if (!wrong.empty()) return failed(wrong_input, wrong);
    }
    comparison.methods.push_back(std::move(*method));
  }
  compare_methods(comparison);
  return comparison;
}

int run_compare(const Arguments& arguments) {
  if (arguments.has("counters")) return compare_counters(arguments);
  if (arguments.positionals().size() < 2) return fail(wrong_command_line, {missing_measurements()});
  // The command line is looked at before any file.
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  if (const auto settings = read_compare_settings(arguments, *catalogue); !settings)
    return fail(wrong_command_line, settings.diagnostics());
  const auto& words = arguments.positionals();
  const auto files = read_measured_files({words.begin() + 1, words.end()});
  if (!files) return fail(wrong_input, files.diagnostics());
  std::vector<ComparedInput> inputs = {{words.front(), arguments.value_or("rows-of", "")}};
  for (const auto& against : arguments.values("against")) {
    const auto equals = std::min(against.find('='), against.size());
    const std::string rows = equals < against.size() ? against.substr(equals + 1) : "";
    inputs.push_back({against.substr(0, equals), rows});
  }
  int status = done;
  const auto comparison = compare_all(arguments, inputs, 1, MeasuredGpus::given, *files, status);
  if (!comparison) return status;
  std::vector<ResultFile> results;
  if (const auto folder = arguments.value("svg")) {
    auto plots = plot_files(*folder, *comparison);
    if (!plots) return fail(wrong_input, plots.diagnostics());
    results = std::move(*plots);
  }
  const std::string format = arguments.value_or("format", "text");
  results.push_back({arguments.value("output"), format == "csv"    ? comparison_csv(*comparison)
                                                : format == "json" ? comparison_json(*comparison)
                                                                   : comparison_text(*comparison)});
  return write_results(results);
}

}  // namespace

std::optional<Comparison> compare_times(const Arguments& arguments, const std::vector<std::string>& inputs,
                                        const std::vector<MeasuredFile>& files, int& status) {
  std::vector<ComparedInput> all;
  for (const std::string& input : inputs) all.push_back({input, ""});
  return compare_all(arguments, all, all.size(), MeasuredGpus::all, files, status);
}

Command compare_command() {
  return {compare_syntax(), run_compare};
}

}  // namespace warptime::cli
