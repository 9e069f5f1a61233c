// warptime predict: a kernel or a plan, GPUs and parameters → times.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>

#include "cli/bundled.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/kernel_loader.h"
#include "cli/options.h"
#include "cli/predict_explain.h"
#include "cli/predict_plan.h"
#include "cli/programs.h"
#include "cli/report.h"
#include "simulator/calibration.h"
#include "simulator/luo_suda.h"

namespace warptime::cli {
namespace {

CommandSyntax syntax() {
  return {
      "predict",
      "the time of a kernel or a plan on each GPU, for each combination of parameters",
      "[OPTION...] INPUT [-- COMPILER-FLAG...]",
      "Predicts times. INPUT is a .cu or .ptx, a kernel program, a plan, the name of a bundled plan, or "
      "- for standard input (any of "
      "these, told by its text). A kernel also needs its launch (--threads, or --blocks and "
      "--threads-per-block); a plan has its own.",
      "  warptime predict dwt_kernels/mtx.cu --threads N --param K=8 --param N=2^20\n"
      "  warptime predict dwt_kernels/mtx.cu --blocks 256 --threads-per-block 128 --param K=8,10,12 "
      "--gpu rtx-2080,h200\n"
      "  warptime predict matrix --gpu gt-720m --gpu rtx-2080 --param K=8,10,12,14 --param N=2^6..2^20 "
      "--format csv -o matrix.csv\n",
      {{"What to predict",
        {{"gpu", "NAME",
          "on this GPU; repeatable, or several with commas; all is the whole catalogue, fastest first "
          "(default: all)"},
         gpu_dir_option(),
         {"set", "FIGURE=VALUE",
          "what if: a GPU's figure for this run, clock=1900 or l2_bytes=0, say; repeatable, or several "
          "with commas. The names are those of `warptime gpus NAME`"},
         param_option()}},
       {"The launch of a kernel (a plan has its own)",
        {{"threads", "EXPR", "that many threads, N or N / 2, say, in blocks that Algorithm 3 chooses"},
         {"blocks", "EXPR", "that many blocks instead: to predict a launch as your code makes it"},
         {"threads-per-block", "EXPR", "goes with --blocks"},
         {"best-launch", "",
          "look for the quickest blocks of whole warps instead of Algorithm 3's, and say what they gain"},
         kernel_option()}},
       {"The model's constants (an option beats a file beats the plan beats the GPU's default)",
        {{"t-p", "MICROSECONDS",
          "what a launch costs before the kernel runs, where you have measured or fitted it"},
         t_m_option(),
         {"calibration", "FILE", "t_p and t_m by GPU from a calibration file"}}},
       {"The model",
        {{"explain", "",
          "say why: what bounds the kernel, where its time goes by line of the source, and what would "
          "shorten it"},
         {"model", "NAME", "puchala (default), luo-suda, or all: the first with the other's times beside it"},
         {"disagree", "FACTOR", "with --model all: mark rows where they differ by more (default: 2)"},
         {"jobs", "N", "compute with N threads (default: one per core)"}}},
       compiler_options(),
       general_options("text (default), csv or json")},
      1,
      1,
      true,
      [] { return fmt::format("\nBundled plans: {}.", enumerate(bundled_plan_names())); }};
}

// What the command line alone says of the launch.
struct LaunchOptions {
  std::optional<Expression> threads, blocks, threads_per_block;
  bool given() const { return threads || blocks || threads_per_block; }
};

struct Settings {
  std::string format;
  std::vector<const Gpu*> gpus;
  std::deque<Gpu> changed;  // those that `gpus` has in place of the catalogue's
  bool ranks = false;
  std::vector<NamedValues> parameters;
  LaunchOptions launch;
  CompileOptions compile;
  PredictionOptions prediction;
  double disagreement = 2;
  unsigned threads = 0;
};

Result<LaunchOptions> read_launch(const Arguments& arguments) {
  const auto threads = read_expression(arguments, "threads");
  if (!threads) return threads.diagnostics();
  const auto blocks = read_expression(arguments, "blocks");
  if (!blocks) return blocks.diagnostics();
  const auto threads_per_block = read_expression(arguments, "threads-per-block");
  if (!threads_per_block) return threads_per_block.diagnostics();
  if (*threads && (*blocks || *threads_per_block))
    return error("--threads does not go with --blocks and --threads-per-block", "give the one or the others");
  if (blocks->has_value() != threads_per_block->has_value())
    return error(fmt::format("--{} is missing", *blocks ? "threads-per-block" : "blocks"),
                 "--blocks and --threads-per-block go together");
  return LaunchOptions{*threads, *blocks, *threads_per_block};
}

Result<Model> read_model(const Arguments& arguments) {
  const auto model = read_choice(arguments, "model", {"puchala", "luo-suda", "all"});
  if (!model) return model.diagnostics();
  return *model == "puchala" ? Model::puchala : *model == "luo-suda" ? Model::luo_suda : Model::all;
}

// Whether a GPU can be predicted with the model.
Diagnostics check_gpu(const Gpu& gpu, Model model) {
  if (model != Model::luo_suda) {
    if (auto wrong = check_core_packages(gpu); !wrong.empty()) return wrong;
  }
  return model == Model::puchala ? Diagnostics{} : check_luo_suda(gpu);
}

// The catalogue without those that the model cannot have, which are named where it was asked for.
std::vector<const Gpu*> all_gpus(const GpuCatalogue& catalogue, Model model, bool asked) {
  std::vector<const Gpu*> gpus;
  std::vector<std::string> left_out;
  for (const Gpu& gpu : catalogue.gpus()) {
    const bool known = model == Model::puchala || gpu.memory_bandwidth_gb_s.has_value();
    const bool good = known && (model == Model::luo_suda || check_core_packages(gpu).empty());
    if (good) {
      gpus.push_back(&gpu);
    } else {
      left_out.push_back(gpu.name);
    }
  }
  if (!left_out.empty() && asked)
    say_note(fmt::format("left out of all GPUs, as the model does not hold there: {}", enumerate(left_out)),
             "`--gpu NAME` says why");
  return gpus;
}

// The GPUs that were asked for; sets `ranks` where that is the whole catalogue.
Result<std::vector<const Gpu*>> choose_gpus(const Arguments& arguments, const GpuCatalogue& catalogue,
                                            Model model, bool& ranks) {
  const auto asked = arguments.values("gpu");
  ranks = asked.empty() || std::find(asked.begin(), asked.end(), "all") != asked.end();
  if (ranks) return all_gpus(catalogue, model, !asked.empty());
  return read_gpus(arguments, catalogue);
}

// `--set clock=1900`, for each GPU.
Diagnostics set_figures(const Arguments& arguments, Settings& settings) {
  for (const auto& all : arguments.values("set")) {
    for (const auto& text : split_at_commas(all)) {
      const auto equals = text.find('=');
      double value = 0;
      const char* const end = text.data() + text.size();
      const bool good = equals != std::string::npos && equals > 0 &&
                        std::from_chars(text.data() + equals + 1, end, value).ptr == end &&
                        equals + 1 < text.size();
      if (!good)
        return {error_at("--set", 0, 0, fmt::format("`{}` is no figure of a GPU with its value", text),
                         "--set clock=1900, say; `warptime gpus NAME` lists the figures")};
      const std::string name = text.substr(0, equals);
      for (const Gpu*& gpu : settings.gpus) {
        auto changed = with_figure(*gpu, name, value);
        if (!changed) return changed.diagnostics();
        settings.changed.push_back(std::move(*changed));
        gpu = &settings.changed.back();
        settings.prediction.gpu_notes[gpu->name].push_back(fmt::format("{} by --set", text));
      }
    }
  }
  return {};
}

// Luo and Suda measured their figures on one GPU. Others are predicted with those, and say so.
Diagnostics borrow_luo_suda_figures(const GpuCatalogue& catalogue, Settings& settings) {
  const auto from = catalogue.find("gtx-260");
  for (const Gpu*& gpu : settings.gpus) {
    if (gpu->luo_suda || !from || !(*from)->luo_suda) continue;
    Gpu borrowing = *gpu;
    borrowing.luo_suda = (*from)->luo_suda;
    if (auto wrong = check_luo_suda(borrowing); !wrong.empty()) return wrong;
    settings.changed.push_back(std::move(borrowing));
    gpu = &settings.changed.back();
    settings.prediction.gpu_notes[gpu->name].push_back(
        "Luo and Suda's figures are those of the GTX 260: nobody has measured them on this GPU");
  }
  return {};
}

Diagnostics read_gpu_settings(const Arguments& arguments, const GpuCatalogue& catalogue, Settings& settings) {
  const auto model = read_model(arguments);
  if (!model) return model.diagnostics();
  settings.prediction.model = *model;
  auto gpus = choose_gpus(arguments, catalogue, *model, settings.ranks);
  if (!gpus) return gpus.diagnostics();
  settings.gpus = std::move(*gpus);
  if (auto wrong = set_figures(arguments, settings); !wrong.empty()) return wrong;
  if (*model != Model::puchala) {
    if (auto wrong = borrow_luo_suda_figures(catalogue, settings); !wrong.empty()) return wrong;
  }
  for (const Gpu* gpu : settings.gpus) {
    if (auto wrong = check_gpu(*gpu, *model); !wrong.empty()) return wrong;
  }
  return {};
}

Result<Settings> read_settings(const Arguments& arguments, const GpuCatalogue& catalogue) {
  Settings settings;
  const auto format = read_choice(arguments, "format", {"text", "csv", "json"});
  if (!format) return format.diagnostics();
  settings.format = *format;
  if (auto wrong = read_gpu_settings(arguments, catalogue, settings); !wrong.empty()) return wrong;
  auto parameters = read_parameters(arguments);
  if (!parameters) return parameters.diagnostics();
  settings.parameters = std::move(*parameters);
  auto launch = read_launch(arguments);
  if (!launch) return launch.diagnostics();
  settings.launch = std::move(*launch);
  settings.prediction.best_launch = arguments.has("best-launch");
  if (settings.prediction.best_launch && settings.launch.blocks)
    return error("--best-launch does not go with --blocks and --threads-per-block",
                 "give the threads that are needed in all with --threads");
  auto compile = read_compile_options(arguments);
  if (!compile) return compile.diagnostics();
  settings.compile = std::move(*compile);
  const auto t_p = read_number(arguments, "t-p");
  if (!t_p) return t_p.diagnostics();
  settings.prediction.t_p_us = *t_p;
  const auto t_m = read_number(arguments, "t-m");
  if (!t_m) return t_m.diagnostics();
  settings.prediction.t_m_cycles = *t_m;
  const auto disagreement = read_number(arguments, "disagree");
  if (!disagreement) return disagreement.diagnostics();
  settings.disagreement = disagreement->value_or(2);
  if (settings.disagreement < 1) return error_at("--disagree", 0, 0, "a factor of 1 or more is needed");
  const auto jobs = read_number(arguments, "jobs");
  if (!jobs) return jobs.diagnostics();
  if (*jobs && (**jobs < 1 || **jobs > 1024 || **jobs != std::floor(**jobs)))
    return error_at("--jobs", 0, 0, "1 to 1024 threads can be had");
  settings.threads = static_cast<unsigned>(jobs->value_or(0));
  return settings;
}

// A plan of the one launch that the command line describes. Its parameters: those of the kernel's program for
// any of the GPUs, then the names that the launch uses.
Result<Plan> plan_of_kernel(const std::string& file, const std::string& kernel, const Settings& settings,
                            KernelLoader& loader) {
  PlanLaunch launch;
  launch.kernel = file;
  launch.entry = kernel;
  launch.threads = settings.launch.threads;
  launch.blocks = settings.launch.blocks;
  launch.threads_per_block = settings.launch.threads_per_block;
  Plan plan;
  plan.steps.push_back({});
  plan.steps.front().launch = launch;
  loader.prepare(plan, settings.gpus);

  const auto add = [&](Parameter parameter) {
    const auto same = [&](const Parameter& other) { return other.name == parameter.name; };
    if (std::none_of(plan.parameters.begin(), plan.parameters.end(), same))
      plan.parameters.push_back(std::move(parameter));
  };
  for (const auto* gpu : settings.gpus) {
    const auto loaded = loader.load(plan, launch, *gpu);
    if (!loaded) return loaded.diagnostics();
    if (plan.name.empty()) plan.name = kernel_name(*loaded->program, file);
    for (const auto& name : parameters_to_bind(*loaded->program, settings.parameters))
      if (!is_launch_dimension(name)) add({name, description_of(*loaded->program, name)});
  }
  for (const auto& size : {launch.threads, launch.blocks, launch.threads_per_block})
    if (size)
      for (const auto& name : size->names()) add({name, ""});
  return plan;
}

// What --calibration gives; one that was fitted with another plan is used, and said to be.
Result<Calibrations> read_calibration(const Arguments& arguments, const Plan& plan) {
  const auto file = arguments.value("calibration");
  if (!file) return Calibrations();
  const auto text = read_text(*file);
  if (!text) return text.diagnostics();
  const auto calibration = read_calibration_file(*text, *file);
  if (!calibration) return calibration.diagnostics();
  if (!calibration->plan.empty() && calibration->plan != plan.name)
    say_note(fmt::format("{} was fitted with the plan {}, not with {}", *file, calibration->plan, plan.name));
  return calibration->calibrations;
}

int run_plan(const Arguments& arguments, const Plan& plan, const Settings& settings, KernelLoader& loader) {
  const auto calibration = read_calibration(arguments, plan);
  if (!calibration) return fail(wrong_input, calibration.diagnostics());
  PredictionJob job{plan, settings.gpus, settings.parameters, settings.prediction, {}, settings.format};
  job.options.calibration_file = *calibration;
  job.loader = [&](const Plan& of, const PlanLaunch& launch, const Gpu& gpu) {
    return loader.load(of, launch, gpu);
  };
  job.ranks = settings.ranks;
  job.disagreement = settings.disagreement;
  job.threads = settings.threads;
  return arguments.has("explain") ? run_explanation(arguments, job) : run_prediction(arguments, job);
}

// A plan, and how the files that it names are read.
struct FoundPlan {
  Plan plan;
  KernelLoader::Reader read;
};

int run_found_plan(const Arguments& arguments, const FoundPlan& found, const Settings& settings) {
  if (settings.launch.given() || arguments.has("kernel"))
    return fail(wrong_command_line,
                {error(fmt::format("{} is a plan and has launches of its own", found.plan.name),
                       "leave out --threads, --blocks, --threads-per-block and --kernel")});
  KernelLoader loader(found.read, settings.compile, arguments.has("skip-unsupported"));
  loader.prepare(found.plan, settings.gpus);
  return run_plan(arguments, found.plan, settings, loader);
}

int run_kernel(const Arguments& arguments, Input input, const Settings& settings) {
  if (!settings.launch.given())
    return fail(wrong_command_line, {error("--threads is missing: how many threads are launched",
                                           "give it with --threads EXPR (--threads N, say), or --blocks EXPR "
                                           "and --threads-per-block EXPR")});
  KernelLoader loader(read_text, settings.compile, arguments.has("skip-unsupported"));
  const std::string file = input.file;
  loader.add(std::move(input));
  const auto plan = plan_of_kernel(file, arguments.value_or("kernel", ""), settings, loader);
  if (!plan) return fail(wrong_input, plan.diagnostics());
  return run_plan(arguments, *plan, settings, loader);
}

int run(const Arguments& arguments) {
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto settings = read_settings(arguments, *catalogue);
  if (!settings) return fail(wrong_command_line, settings.diagnostics());

  const std::string& file = arguments.positionals().front();
  if (is_plan_name(file)) {
    const auto plan = bundled_plan(file);
    if (!plan) return fail(wrong_input, plan.diagnostics());
    return run_found_plan(arguments, {*plan, bundled_text}, *settings);
  }
  auto input = read_input(file);
  if (!input) return fail(wrong_input, input.diagnostics());
  if (input->kind != InputKind::plan) return run_kernel(arguments, std::move(*input), *settings);
  const auto plan = read_plan(input->text, file);
  if (!plan) return fail(wrong_input, plan.diagnostics());
  return run_found_plan(arguments, {*plan, read_text}, *settings);
}

}  // namespace

Command predict_command() {
  return {syntax(), run};
}

}  // namespace warptime::cli
