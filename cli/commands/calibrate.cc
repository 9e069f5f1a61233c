// warptime calibrate: a plan and measurements → t_p, t_m and, on request, memory durations.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/kernel_plan.h"
#include "cli/commands/modelled.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/model_option.h"
#include "cli/options/options.h"
#include "cli/views/calibration_view.h"
#include "load/bundled.h"
#include "measure/statistics.h"
#include "simulator/base/csv.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/fit/fit.h"
#include "simulator/fit/shared_fit.h"

namespace warptime::cli {
namespace {

constexpr const char* kChosenByHeldOutRows = "auto";
constexpr double kHeldOutToChoose = 0.25;

Option calibrate_model_option() {
  Option option = model_option(false);
  option.help += fmt::format(
      "; or {}: {}, unless {} predicts rows better that neither was fitted to, a quarter of them or those of "
      "--hold-out",
      kChosenByHeldOutRows, default_model().name(), uncalibrated_model().name());
  option.choices.emplace_back(kChosenByHeldOutRows);
  return option;
}

CommandSyntax calibrate_syntax() {
  return {
      "calibrate",
      "fit t_p and t_m of a plan to measurements, and write a calibration file",
      "[OPTION...] PLAN|KERNEL MEASUREMENTS... [-- COMPILER-FLAG...]",
      "For each measured GPU, finds the t_p and t_m that give the smallest mean error over all "
      "measurements. PLAN is a plan or the name of a bundled one. MEASUREMENTS is what `warptime measure` "
      "writes (plan,gpu, the parameters, time_us) or a CSV of nsys, ncu or nvprof; - is standard input.\n"
      "The report is itself a calibration file. -o also writes that file, whatever the format of the "
      "report.",
      "  warptime calibrate mtx measured.csv -o mtx.calibration.yaml\n"
      "  warptime calibrate matrix data/stokfiszewski2022_rtx2080ti.csv --rows-of gpu_dwt_m1_ww_ref "
      "--hold-out N=2^21..2^23\n"
      "  warptime calibrate my.plan.yaml trace.csv --gpu rtx-2080 --param N=2^10..2^20 -o "
      "my.calibration.yaml\n",
      {{"What to fit",
        {{"t-p", "MICROSECONDS",
          "use this t_p and fit the rest; for a launch overhead that you have measured. "
          "cudaLaunchKernel: the median of that call in the profiles, as in section 5.3 of Puchala et al."},
         {"t-m", "CYCLES", "use this t_m and fit the rest"},
         {"durations", "BOUNDS",
          "also fit the memory durations that the kernels leave open, between LOW..HIGH cycles; "
          "load.coalesced=50..400,store.coalesced=20..200 fits only these, load.1=50..400 the kernel's first "
          "load"},
         {"share-durations", "",
          "with --durations and measurements of several GPUs: durations that are the same on all of them, as "
          "in "
          "section 5.3 of Puchala et al.; each GPU has its own t_p and t_m"},
         calibrate_model_option(),
         {"hold-out", "WHICH",
          "leave these rows out of the fit and report the error of their predictions: a fraction (0.25, "
          "spread evenly over the sizes) or values of a parameter (N=2^21..2^23)"}}},
       measurement_options(),
       kernel_plan_options(),
       program_options(),
       with_sarif({"General",
                   {{"format",
                     "FORMAT",
                     "the report's format: text (default; a calibration file with comments), json "
                     "or csv",
                     Names::no_file,
                     {"text", "json", "csv"}},
                    {"o,output", "FILE",
                     "write the calibration file to FILE, which is replaced only if the command "
                     "succeeds",
                     Names::output},
                    {"h,help", "", "this text"}}})},
      2,
      1 << 20,
      true,
      [] { return fmt::format("\nBundled plans: {}.", enumerate(bundled_plan_names())); },
      Inputs::files_or_plans};
}

// --hold-out: a fraction, or values of parameters.
struct HoldOut {
  std::optional<double> fraction;
  std::vector<NamedValues> values;
  bool given() const { return fraction || !values.empty(); }
};

struct Bounds {
  double low = 0, high = 0;
};

struct CalibrateSettings {
  std::string format;
  MeasuredSettings measured;
  KernelPlanOptions kernel;
  CompileOptions compile;
  const Model* model = nullptr;
  bool choose_model = false;  // between the default one and the uncalibrated one
  FitOptions fit;
  bool t_p_of_calls = false;  // the median of cudaLaunchKernel
  std::optional<Bounds> all_durations;
  HoldOut hold_out;
};

Diagnostic option_error(const char* option, std::string message, std::string hint = {}) {
  return error_at(option, 0, 0, std::move(message), std::move(hint));
}

Result<HoldOut> read_hold_out(const Arguments& arguments) {
  HoldOut hold_out;
  const auto text = arguments.value("hold-out");
  if (!text) return hold_out;
  if (text->find('=') != std::string::npos) {
    auto values = parse_parameters(*text);
    if (!values) return option_error("--hold-out", values.diagnostics().front().message);
    hold_out.values = std::move(*values);
    return hold_out;
  }
  double fraction = 0;
  if (!read_decimal(*text, fraction) || !(fraction > 0 && fraction < 1))
    return option_error("--hold-out", fmt::format("`{}` is not a fraction between 0 and 1", *text),
                        "0.25 holds out a quarter of the rows, N=2^20 those of that size");
  hold_out.fraction = fraction;
  return hold_out;
}

Result<Bounds> read_bounds(const std::string& text) {
  const auto dots = text.find("..");
  Bounds bounds;
  if (dots == std::string::npos || !read_decimal(text.substr(0, dots), bounds.low) ||
      !read_decimal(text.substr(dots + 2), bounds.high) || bounds.low < 0 || bounds.low >= bounds.high ||
      bounds.high > 1e9)
    return option_error("--durations", fmt::format("`{}` is not a range of cycles", text), "50..400, say");
  return bounds;
}

Diagnostics read_durations(const Arguments& arguments, CalibrateSettings& settings) {
  const auto text = arguments.value("durations");
  if (!text) return {};
  if (text->find('=') == std::string::npos) {
    const auto bounds = read_bounds(*text);
    if (!bounds) return bounds.diagnostics();
    settings.all_durations = *bounds;
    return {};
  }
  for (std::size_t begin = 0; begin <= text->size();) {
    const auto end = std::min(text->find(',', begin), text->size());
    const std::string one = text->substr(begin, end - begin);
    const auto equals = std::min(one.find('='), one.size());
    const auto name = find_duration_name(one.substr(0, equals));
    if (!name)
      return {option_error("--durations", fmt::format("`{}` is not a memory duration", one.substr(0, equals)),
                           fmt::format("the durations are {}", kDurationNames))};
    const auto bounds = read_bounds(equals < one.size() ? one.substr(equals + 1) : "");
    if (!bounds) return bounds.diagnostics();
    for (const auto& other : settings.fit.durations)
      if (other.name == *name)
        return {option_error("--durations", fmt::format("{} is given twice", to_string(*name)))};
    settings.fit.durations.push_back({*name, bounds->low, bounds->high});
    begin = end + 1;
  }
  return {};
}

Result<CalibrateSettings> read_calibrate_settings(const Arguments& arguments, const GpuCatalogue& catalogue) {
  CalibrateSettings settings;
  const auto format = read_choice(arguments, "format");
  if (!format) return format.diagnostics();
  settings.format = *format;
  auto measured = read_measured_settings(arguments, catalogue);
  if (!measured) return measured.diagnostics();
  settings.measured = std::move(*measured);
  auto kernel = read_kernel_plan_options(arguments);
  if (!kernel) return kernel.diagnostics();
  settings.kernel = std::move(*kernel);
  auto compile = read_compile_options(arguments);
  if (!compile) return compile.diagnostics();
  settings.compile = std::move(*compile);
  const auto name = read_choice(arguments, "model");
  if (!name) return name.diagnostics();
  settings.choose_model = *name == kChosenByHeldOutRows;
  settings.model = settings.choose_model ? &default_model() : find_model(*name);
  if (!settings.model->has_constants())
    return option_error("--model",
                        fmt::format("{} has no constants that could be fitted", settings.model->name()),
                        "`warptime compare --model` gives its errors");
  settings.t_p_of_calls = arguments.value_or("t-p", "") == "cudaLaunchKernel";
  if (!settings.t_p_of_calls) {
    const auto t_p = read_number(arguments, "t-p");
    if (!t_p) return t_p.diagnostics();
    settings.fit.t_p_us = *t_p;
  }
  const auto t_m = read_number(arguments, "t-m");
  if (!t_m) return t_m.diagnostics();
  settings.fit.t_m_cycles = *t_m;
  if (auto wrong = read_durations(arguments, settings); !wrong.empty()) return wrong;
  if (settings.model->has_scale() || settings.choose_model) {
    const Model& scaled = settings.choose_model ? uncalibrated_model() : *settings.model;
    for (const char* const option : {"t-m", "durations"})
      if (arguments.has(option))
        return option_error(fmt::format("--{}", option).c_str(),
                            fmt::format("the model {} has no such constants", scaled.name()),
                            "t_p and a scale are fitted to it");
  }
  if (arguments.has("t-p") && settings.fit.t_m_cycles && !arguments.has("durations"))
    return error("--t-p and --t-m leave nothing to fit", "omit one of them, or give --durations");
  if (arguments.has("share-durations") && !arguments.has("durations"))
    return option_error("--share-durations", "needs --durations", "--durations 50..400");
  auto hold_out = read_hold_out(arguments);
  if (!hold_out) return hold_out.diagnostics();
  settings.hold_out = std::move(*hold_out);
  return settings;
}

std::string files_of(const std::vector<Measured>& rows) {
  std::vector<std::string> files;
  for (const auto& row : rows)
    if (std::find(files.begin(), files.end(), row.file) == files.end()) files.push_back(row.file);
  return enumerate(files);
}

class GpuCalibration {
 public:
  GpuCalibration(const Plan& plan, const CalibrateSettings& settings, ModelledRows modelled)
      : plan_(plan), settings_(settings), modelled_(std::move(modelled)) {}

  // The durations that are to be fitted. Errors: none is left open; no calls whose median t_p would be.
  Result<FitOptions> options() const {
    FitOptions options = settings_.fit;
    if (settings_.t_p_of_calls) {
      if (modelled_.launch_calls_us.empty()) return no_calls();
      options.t_p_us = measuring::median(modelled_.launch_calls_us);
    }
    if (const auto& bounds = settings_.all_durations) {
      for (const auto& name : modelled_.times->open_durations())
        options.durations.push_back({name, bounds->low, bounds->high});
      if (options.durations.empty()) return no_durations();
    }
    return options;
  }

  // The rows to fit, for durations that GPUs share. Errors: --hold-out leaves none.
  Result<SharedFitRows> shared_rows() {
    if (auto wrong = split(); !wrong.empty()) return wrong;
    const auto chosen = this->options();
    if (!chosen) return chosen.diagnostics();
    return SharedFitRows{modelled_.times.get(), fitted_, measured(fitted_), chosen->t_p_us};
  }

  // shared: durations that were fitted for all GPUs; empty: none are shared.
  Result<GpuFit> run(const std::vector<FittedDuration>& shared) {
    if (auto wrong = split(); !wrong.empty()) return wrong;
    auto chosen = this->options();
    if (!chosen) return chosen.diagnostics();
    FitOptions options = std::move(*chosen);
    if (!shared.empty()) {
      options.durations.clear();
      options.base = modelled_.times->durations();
      for (const FittedDuration& one : shared) duration(*options.base, one.name) = one.cycles;
    }
    auto found =
        fit(*modelled_.times, fitted_, measured(fitted_), different_rows(modelled_.rows, fitted_), options);
    if (!found) return about_gpu(found.diagnostics());
    GpuFit result;
    result.gpu = modelled_.gpu->name;
    result.fit = std::move(*found);
    if (!shared.empty()) result.fit.durations = shared;
    result.files = files_of(modelled_.rows);
    result.worst = values_text(plan_, modelled_.rows[fitted_[result.fit.errors.worst]].values);
    result.notes = modelled_.notes;
    if (settings_.t_p_of_calls)
      result.notes.push_back(
          fmt::format("t_p is the median of {} calls of cudaLaunchKernel", modelled_.launch_calls_us.size()));
    if (result.fit.rows < fitted_.size())
      result.notes.push_back(
          fmt::format("the search looked at {} of {} rows, spread evenly: the errors are of all",
                      result.fit.rows, fitted_.size()));
    if (held_.empty()) return result;
    const auto predicted = predicted_us(*modelled_.times, held_, result.fit);
    if (!predicted) return predicted.diagnostics();
    const Errors errors = errors_of(*predicted, measured(held_));
    result.held_out = HeldOut{errors, values_text(plan_, modelled_.rows[held_[errors.worst]].values)};
    return result;
  }

 private:
  Diagnostics split() {
    held_.clear();
    fitted_.clear();
    std::vector<bool> held(modelled_.rows.size(), false);
    if (settings_.hold_out.fraction) held = hold_out(held.size(), *settings_.hold_out.fraction);
    if (!settings_.hold_out.values.empty()) {
      auto with = rows_with(plan_, modelled_.rows, settings_.hold_out.values, "hold-out");
      if (!with) return with.diagnostics();
      held = std::move(*with);
    }
    for (std::size_t i = 0; i < held.size(); ++i) (held[i] ? held_ : fitted_).push_back(i);
    if (settings_.hold_out.given() && held_.empty())
      return about_gpu({option_error("--hold-out", "holds out no rows")});
    if (fitted_.empty()) return about_gpu({option_error("--hold-out", "leaves no rows to fit to")});
    return {};
  }

  Diagnostic no_durations() const {
    return option_error("--durations",
                        fmt::format("the kernels of {} leave no durations open: all are given", plan_.name));
  }

  Diagnostic no_calls() const {
    return option_error(
        "--t-p", fmt::format("the profiles of {} have no calls of cudaLaunchKernel", modelled_.gpu->name),
        "give what `nsys stats --report cuda_api_trace --format csv` writes as well, with one GPU");
  }

  Diagnostics about_gpu(Diagnostics wrong) const {
    wrong.front().message += fmt::format(" ({} on {})", plan_.name, modelled_.gpu->name);
    return wrong;
  }

  std::vector<double> measured(const std::vector<std::size_t>& which) const {
    std::vector<double> times;
    for (const std::size_t index : which) times.push_back(modelled_.rows[index].time_us);
    return times;
  }

  const Plan& plan_;
  const CalibrateSettings& settings_;
  ModelledRows modelled_;
  std::vector<std::size_t> fitted_, held_;  // indices of modelled_.rows
};

Result<std::vector<FittedDuration>> share_durations(std::vector<GpuCalibration>& gpus) {
  std::vector<SharedFitRows> rows;
  for (GpuCalibration& gpu : gpus) {
    auto of_gpu = gpu.shared_rows();
    if (!of_gpu) return of_gpu.diagnostics();
    rows.push_back(std::move(*of_gpu));
  }
  if (gpus.empty()) return std::vector<FittedDuration>();
  const auto options = gpus.front().options();
  if (!options) return options.diagnostics();
  return fit_shared_durations(rows, *options);
}

// Fits the same measurements with --rearrange.
class RearrangedFit {
 public:
  // How to load the plan's programs; not with --rearrange, which this would be.
  RearrangedFit(const LaunchedInput& input, KernelLoading how)
      : how_(with_rearrange(std::move(how))), kernels_(loader_of(input, how_)) {}

  // Adds a note to a fit where the same rows and options give a clearly smaller mean error with --rearrange.
  void compare(const Plan& plan, const CalibrateSettings& settings, MeasuredRows measured, GpuFit& fit) {
    PredictionOptions options;
    options.model = settings.model;
    auto modelled = model_rows(plan, std::move(measured), options, kernels_.as_function());
    if (!modelled) return;
    const auto rearranged = GpuCalibration(plan, settings, std::move(*modelled)).run({});
    if (!rearranged || rearranged->fit.errors.count != fit.fit.errors.count) return;
    const double mean = fit.fit.errors.mean, other = rearranged->fit.errors.mean;
    if (other > mean - kClearlyLess || other > kClearlySmaller * mean) return;
    fit.notes.push_back(
        fmt::format("with --rearrange the mean error is {:.2f}%: adjacent loads, as ptxas may place them, "
                    "fit these times better",
                    other * 100));
  }

 private:
  static KernelLoading with_rearrange(KernelLoading how) {
    how.rearrange = true;
    return how;
  }
  static constexpr double kClearlyLess = 0.01, kClearlySmaller = 0.8;  // of mean errors
  KernelLoading how_;
  KernelLoader kernels_;
};

// What the command line names, whichever model it is fitted with.
struct CalibrateInput {
  const Arguments& arguments;
  const GpuCatalogue& catalogue;
  LaunchedInput launched;
  std::vector<MeasuredFile> files;
};

struct Calibrated {
  Plan plan;
  std::vector<GpuFit> fits;
};

Result<Calibrated> calibrate(const CalibrateInput& input, const CalibrateSettings& settings) {
  const Arguments& arguments = input.arguments;
  auto how = kernel_loading(settings.measured, settings.compile, arguments.has("skip-unsupported"),
                            *settings.model, input.catalogue);
  how.rearrange = arguments.has("rearrange");
  KernelLoader kernels = loader_of(input.launched, how);
  auto found = plan_to_predict(input.launched, settings.kernel, how, kernels);
  if (!found) return found.diagnostics();
  Calibrated calibrated{std::move(*found), {}};
  const Plan& plan = calibrated.plan;
  const ProgramLoader loader = kernels.as_function();
  auto measured = read_measured(input.files, plan, settings.measured, input.catalogue, loader);
  if (!measured) return measured.diagnostics();

  // To say where a fit of rearranged programs is better.
  std::vector<MeasuredRows> measured_again;
  if (!how.rearrange && !arguments.has("durations") &&
      settings.model->fitted_constants() == FittedConstants::t_p_and_t_m)
    measured_again = *measured;
  std::vector<GpuCalibration> gpus;
  std::deque<BorrowedFigures> borrowed_figures;  // that `gpus` refer to
  PredictionOptions options;
  options.model = settings.model;
  for (auto& on : *measured) {
    if (auto borrowed = options.model->borrow(*on.gpu, input.catalogue))
      on.gpu = &borrowed_figures.emplace_back(std::move(*borrowed)).gpu;
    auto modelled = model_rows(plan, std::move(on), options, loader);
    if (!modelled) return modelled.diagnostics();
    gpus.emplace_back(plan, settings, std::move(*modelled));
  }
  std::vector<FittedDuration> shared;
  if (arguments.has("share-durations")) {
    auto found_durations = share_durations(gpus);
    if (!found_durations) return found_durations.diagnostics();
    shared = std::move(*found_durations);
  }
  for (GpuCalibration& gpu : gpus) {
    auto fitted = gpu.run(shared);
    if (!fitted) return fitted.diagnostics();
    calibrated.fits.push_back(std::move(*fitted));
  }
  if (!measured_again.empty()) {
    RearrangedFit rearranged(input.launched, how);
    for (std::size_t i = 0; i < calibrated.fits.size(); ++i)
      rearranged.compare(plan, settings, std::move(measured_again[i]), calibrated.fits[i]);
  }
  return calibrated;
}

// Of all GPUs' rows that were held out. Nothing: there are none.
std::optional<double> held_out_error(const Result<Calibrated>& calibrated) {
  if (!calibrated) return std::nullopt;
  double sum = 0, count = 0;
  for (const GpuFit& one : calibrated->fits)
    if (one.held_out) {
      sum += one.held_out->errors.mean * static_cast<double>(one.held_out->errors.count);
      count += static_cast<double>(one.held_out->errors.count);
    }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// With the model whose predictions of held-out rows are better: all GPUs with the same one, so that the rows of a run compare.
// Without --hold-out it is fitted to all rows in the end.
Result<Calibrated> calibrate_with_better_model(const CalibrateInput& input, CalibrateSettings settings) {
  const HoldOut wanted = settings.hold_out;
  if (!wanted.given()) settings.hold_out.fraction = kHeldOutToChoose;
  const Model& usual = default_model();
  const Model& other = uncalibrated_model();
  settings.model = &usual;
  auto of_usual = calibrate(input, settings);
  settings.measured.says_notes = false;  // once is enough
  settings.model = &other;
  auto of_other = calibrate(input, settings);
  const auto usual_error = held_out_error(of_usual), other_error = held_out_error(of_other);
  const bool takes_other = other_error && (!usual_error || *other_error < *usual_error);
  settings.model = takes_other ? &other : &usual;
  settings.hold_out = wanted;
  auto chosen = wanted.given() ? std::move(takes_other ? of_other : of_usual) : calibrate(input, settings);
  if (!chosen) return chosen;
  const auto text = [](const Model& model, std::optional<double> error) {
    return error ? fmt::format("{} {:.2f}%", model.name(), *error * 100)
                 : fmt::format("{} could not be tried", model.name());
  };
  const std::string why =
      usual_error || other_error
          ? fmt::format("the model is {}; mean errors of rows that were held out: {}, {}",
                        settings.model->name(), text(usual, usual_error), text(other, other_error))
          : fmt::format("the model is {}: there are too few rows to choose by", settings.model->name());
  for (GpuFit& one : chosen->fits) one.notes.insert(one.notes.begin(), why);
  return chosen;
}

int run_calibrate(const Arguments& arguments) {
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto settings = read_calibrate_settings(arguments, *catalogue);
  if (!settings) return fail(wrong_command_line, settings.diagnostics());
  auto launched = read_launched_input(arguments.positionals().front(), settings->kernel, settings->compile);
  if (!launched) return fail(wrong_input, launched.diagnostics());
  if (const auto wrong = check_launch(*launched, settings->kernel); !wrong.empty())
    return fail(wrong_command_line, wrong);
  auto files = read_measured_files({arguments.positionals().begin() + 1, arguments.positionals().end()});
  if (!files) return fail(wrong_input, files.diagnostics());
  const CalibrateInput input{arguments, *catalogue, std::move(*launched), std::move(*files)};
  const auto calibrated =
      settings->choose_model ? calibrate_with_better_model(input, *settings) : calibrate(input, *settings);
  if (!calibrated) return fail(wrong_input, calibrated.diagnostics());
  const Plan& plan = calibrated->plan;
  const std::vector<GpuFit>& fits = calibrated->fits;
  const auto file = arguments.value("output");
  std::vector<ResultFile> results;
  if (file) results.push_back({file, calibration_yaml(plan, fits, true)});
  if (!file || *file != "-")
    results.push_back({std::nullopt, settings->format == "json"  ? calibration_json(plan, fits)
                                     : settings->format == "csv" ? calibration_csv(plan, fits)
                                                                 : calibration_yaml(plan, fits, true)});
  return write_results(results);
}

}  // namespace

Command calibrate_command() {
  return {calibrate_syntax(), run_calibrate};
}

}  // namespace warptime::cli
