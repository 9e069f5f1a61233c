// warptime predict: a kernel or a plan, GPUs and parameters → times.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/commands/predict_against.h"
#include "cli/commands/predict_explain.h"
#include "cli/commands/predict_input.h"
#include "cli/commands/predict_plan.h"
#include "cli/commands/predict_timeline.h"
#include "cli/commands/watch.h"
#include "cli/io/report.h"
#include "cli/options/launch_options.h"
#include "cli/options/model_option.h"
#include "cli/options/options.h"
#include "cli/options/predict_settings.h"
#include "cli/views/style.h"
#include "load/bundled.h"
#include "load/kernel_loader.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/plan/known_part.h"

namespace warptime::cli {
namespace {

CommandSyntax predict_syntax() {
  return {
      "predict",
      "predict the time of a kernel or a plan on each GPU, for each combination of parameters",
      "[OPTION...] INPUT [-- COMPILER-FLAG...]",
      "Predicts times. INPUT is a .cu or .ptx, a kernel program, a plan, the name of a bundled plan, or - "
      "for standard input (any of these, detected from its content). A kernel takes its launch from the "
      "command line (--threads, or --grid and --block); without one, a .cu takes the launches in its host "
      "code, which `warptime plan` shows. A plan has its own launches.",
      "  warptime predict dwt_kernels/mtx.cu --threads N --param K=8 --param N=2^20\n"
      "  warptime predict dwt_kernels/mtx.cu --grid 256 --block 128 --param K=8,10,12 "
      "--gpu rtx-2080,h200\n"
      "  warptime predict matrix --gpu gt-720m --gpu rtx-2080 --param K=8,10,12,14 --param N=2^6..2^20 "
      "--format csv -o matrix.csv\n",
      {{"What to predict",
        {{"gpu", "NAME",
          "predict for this GPU; repeatable, or several with commas; all is the whole catalogue, fastest "
          "first (default: all)"},
         {"against", "PLAN",
          "also predict this plan; show the ratio of the two times, and the sizes at which the other plan "
          "becomes the faster one",
          Names::input},
         gpu_dir_option(),
         {"set", "FIGURE=VALUE",
          "change a figure of the GPUs for this run, such as clock=1900 or load.coalesced=300; repeatable, "
          "or several with commas. `warptime gpus NAME` lists the names"},
         param_option()}},
       {"The launch of a kernel (a plan has its own)", launch_of_kernel_options()},
       {"What loaded data decide",
        {{"assume", "NAME=VALUE",
          "the share of the warps that take a branch (0 to 1, or a range 0.2..0.6, which gives a range of "
          "times) or the "
          "iterations of a loop, by the name of the program's parameter. Repeatable"},
         {"profile", "FILE",
          "read these from a file that `warptime run --profile FILE` wrote; repeatable, a file for each "
          "kernel",
          Names::input}}},
       {"The model's constants (an option beats a file beats the plan beats the GPU's default)",
        {{"t-p", "MICROSECONDS",
          "launch overhead: what a launch costs beside the kernel itself, if you have measured or fitted it"},
         t_m_option(),
         {"calibration", "FILE", "read t_p and t_m by GPU from a calibration file", Names::input}}},
       {"The model",
        {{"caches",
          "warm|cold",
          "for the extended model: what the caches hold when a launch begins: what the same launch left "
          "there "
          "(warm, the default), or nothing (cold)",
          Names::no_file,
          {"warm", "cold"}},
         {"machine", "",
          "for the extended model: take the machine instructions that ptxas makes in place of an estimate; "
          "needs a CUDA Toolkit"},
         {"registers", "",
          "ask ptxas for the registers of each kernel, which limit the blocks on an SM; needs a CUDA "
          "Toolkit"},
         {"transfers", "",
          "also the time with the plan's copies between host and device, overlapping where its streams do; "
          "needs the GPU's figures of copies"},
         {"explain", "",
          "explain each row: what bounds the kernel, which source lines take its time, and what would "
          "shorten it"},
         model_option(true),
         {"disagree", "FACTOR",
          "with --model all: mark rows in which the models differ by more than this "
          "factor (default: 2)"},
         {"sparklines", "",
          "below the table, draw the times over a swept parameter as one line for each GPU, on a logarithmic "
          "scale; on a "
          "terminal they are there without it"},
         {"jobs", "N", "compute with N threads (default: one per core)"},
         {"shard", "NUMBER/COUNT",
          "predict only this part of the rows: 3/16 is the third of 16 parts, which are contiguous and "
          "follow "
          "each other in the order of the whole; for the jobs of a batch system"}}},
       sm_timeline_options(),
       program_options(),
       with_watch(with_sarif(general_options({"text", "csv", "json"})))},
      1,
      1,
      true,
      [] { return fmt::format("\nBundled plans: {}.", enumerate(bundled_plan_names())); },
      Inputs::files_or_plans};
}

int run_plan(const Arguments& arguments, const PredictInput& input) {
  const PredictSettings& settings = input.settings;
  const KnownPart known = known_part(input.plan, settings.parameters, settings.prediction.transfers, false);
  const Plan& plan = known.plan;
  for (const std::string& note : known.notes) say_note(note);
  for (const char* option : {"cycles", "width"})
    if (arguments.has(option) && !arguments.has("timeline"))
      return fail(wrong_command_line,
                  {error(fmt::format("--{} applies only to a timeline", option), "add --timeline text")});
  const auto shard = read_shard(arguments);
  if (!shard) return fail(wrong_command_line, shard.diagnostics());
  for (const char* option : {"against", "timeline", "explain"})
    if (*shard && arguments.has(option))
      return fail(wrong_command_line, {error(fmt::format("--shard cannot be used with --{}", option))});
  for (const char* option : {"against", "timeline", "explain"})
    if (arguments.has("transfers") && arguments.has(option))
      return fail(wrong_command_line, {error(fmt::format("--transfers cannot be used with --{}", option),
                                             fmt::format("--{} shows the kernels alone", option))});
  const auto calibration = read_calibration_option(arguments, plan);
  if (!calibration) return fail(wrong_input, calibration.diagnostics());
  PredictionJob job{plan, settings.gpus, settings.parameters, settings.prediction, {}, settings.format};
  job.options.constants.calibration_file = *calibration;
  job.loader = input.loader->as_function();
  job.why_model = input.why_model;
  job.ranks = settings.ranks;
  job.disagreement = settings.disagreement;
  job.threads = settings.threads;
  job.shard = *shard;
  job.sparklines = arguments.has("sparklines") || text_style().width > 0;
  const auto against = arguments.value("against");
  const int status = against                     ? run_against(arguments, job, *against, settings)
                     : arguments.has("timeline") ? run_timeline(arguments, job)
                     : arguments.has("explain")  ? run_explanation(arguments, job)
                                                 : run_prediction(arguments, job);
  if (status == done) say_excluded_gpus(settings.excluded);
  return status;
}

// The rows' times, for what changes them; of a long sweep the first ones.
int add_times(const PredictInput& input, WatchedAnswer& answer) {
  constexpr std::uint64_t kMostWatchedRows = 10'000;
  const auto rows =
      predict(input.plan, input.settings.gpus, input.settings.parameters, input.settings.prediction,
              input.loader->as_function(), [&](const PredictionRow& row) {
                answer.times.push_back({row.plan, row.gpu, row.parameters, {}, row.time.total_us});
                return answer.times.size() < kMostWatchedRows;
              });
  return rows ? done : fail(wrong_input, rows.diagnostics());
}

int watched_prediction(const Arguments& arguments, const WatchedRun& run) {
  int status = done;
  const auto input = read_predict_input(arguments, WithoutMachine::by_model, status, WithoutModel::by_input);
  if (!input) return status;
  if (run.whole) status = run_plan(arguments, *input);
  if (status == done) status = add_times(*input, *run.answer);
  run.answer->programs = input->loader->programs();
  run.answer->headers = input->loader->headers();
  return status;
}

int run_predict(const Arguments& arguments) {
  if (arguments.has("watch")) return watch(arguments, watched_prediction);
  int status = done;
  const auto input = read_predict_input(arguments, WithoutMachine::by_model, status, WithoutModel::by_input);
  if (!input) return status;
  return run_plan(arguments, *input);
}

}  // namespace

Command predict_command() {
  return {predict_syntax(), run_predict};
}

}  // namespace warptime::cli
