// warptime counters: a kernel or a plan, GPUs and parameters → what the hardware counts for each launch.
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/kernel_plan.h"
#include "cli/commands/predict_input.h"
#include "cli/commands/watch.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "cli/views/counters_view.h"
#include "cli/views/explanation_view.h"
#include "cli/views/table.h"
#include "load/bundled.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/plan/known_part.h"
#include "simulator/predict/explanation.h"

namespace warptime::cli {
namespace {

CommandSyntax counters_syntax() {
  return {
      "counters",
      "estimate what the hardware counts for each launch, as Nsight Compute names it",
      "[OPTION...] INPUT [-- COMPILER-FLAG...]",
      "Estimates what a profiler would count, for one launch of each kind: instructions of warps by pipe, "
      "requests and "
      "sectors of L1, occupancy, waves. INPUT and its launch are what `predict` takes.",
      "  warptime counters dwt_kernels/mtx.cu --grid 4096 --block 256 --param K=8 --param N=2^20 --gpu "
      "h100-sxm\n"
      "  warptime counters matrix --gpu h200 --param K=8 --param N=2^16 --format csv\n",
      {{"What to count",
        {{"gpu", "NAME",
          "count for this GPU; repeatable, or several with commas; all is the whole catalogue (default: "
          "all)"},
         gpu_dir_option(),
         {"set", "FIGURE=VALUE", "change a figure of the GPUs for this run, such as sms=66; repeatable"},
         param_option()}},
       {"The launch of a kernel (a plan has its own)", launch_of_kernel_options()},
       {"What loaded data decide",
        {{"assume", "NAME=VALUE",
          "the share of the warps that take a branch (0 to 1) or the iterations of a loop, by the name of "
          "the "
          "program's parameter. Repeatable"},
         {"profile", "FILE",
          "read these from a file that `warptime run --profile FILE` wrote; repeatable, a file for each "
          "kernel",
          Names::input},
         {"caches",
          "warm|cold",
          "what the caches hold when a launch begins: what the same launch left there (warm, the default), "
          "or "
          "nothing (cold: how Nsight Compute measures by default)",
          Names::no_file,
          {"warm", "cold"}},
         {"explain", "",
          "also show, as text, what each source line asks L1, L2 and the memory for: its sectors, hits and "
          "bytes"},
         {"machine", "",
          "count the machine instructions that ptxas makes in place of an estimate; needs a CUDA Toolkit"},
         {"registers", "",
          "ask ptxas for the registers of each kernel, which limit the blocks on an SM; needs a CUDA "
          "Toolkit"}}},
       compiler_options(),
       with_watch(with_sarif(general_options({"text", "csv", "json"})))},
      1,
      1,
      true,
      [] { return fmt::format("\nBundled plans: {}.", enumerate(bundled_plan_names())); },
      Inputs::files_or_plans};
}

int write_counters(const Arguments& arguments, const PredictInput& of,
                   const std::vector<CounterRow>& counted);

std::vector<WatchedAnswer::Number> numbers_of(const std::vector<CounterRow>& rows) {
  std::vector<WatchedAnswer::Number> numbers;
  for (const CounterRow& row : rows)
    for (const LaunchCounters& launch : row.launches)
      for (std::size_t i = 0; i < launch.values.size(); ++i)
        if (launch.values[i])
          numbers.push_back(
              {fmt::format("{} on {}{}, {} x {}", launch.kernel, row.row.gpu, with_values(row.row.parameters),
                           to_string(launch.size.grid), to_string(launch.size.block)),
               std::string(counter_metrics()[i].name), *launch.values[i]});
  return numbers;
}

int watched_counters(const Arguments& arguments, const WatchedRun& run) {
  int status = done;
  const auto input = read_predict_input(arguments, WithoutMachine::estimated, status, WithoutModel::puchala,
                                        WithoutValue::left_out);
  if (!input) return status;
  const auto rows = count_launches(*input, input->settings.prediction.model_options.caches);
  if (!rows) return fail(wrong_input, rows.diagnostics());
  if (run.whole) status = write_counters(arguments, *input, *rows);
  run.answer->numbers = numbers_of(*rows);
  run.answer->programs = input->loader->programs();
  run.answer->headers = input->loader->headers();
  return status;
}

int run_counters(const Arguments& arguments) {
  if (arguments.has("watch")) return watch(arguments, watched_counters);
  int status = done;
  const auto input = read_predict_input(arguments, WithoutMachine::estimated, status, WithoutModel::puchala,
                                        WithoutValue::left_out);
  if (!input) return status;
  const auto rows = count_launches(*input, input->settings.prediction.model_options.caches);
  if (!rows) return fail(wrong_input, rows.diagnostics());
  return write_counters(arguments, *input, *rows);
}

int write_counters(const Arguments& arguments, const PredictInput& of,
                   const std::vector<CounterRow>& counted) {
  const auto* input = &of;
  const auto* rows = &counted;
  const bool explains = arguments.has("explain");
  if (explains && input->settings.format != "text")
    return fail(wrong_command_line,
                {error(fmt::format("--explain has no {} here", input->settings.format),
                       fmt::format("`warptime predict --model {} --explain --format json` has what it shows",
                                   uncalibrated_model().name()))});
  std::string lines;
  if (explains) {
    PredictionOptions prediction = input->settings.prediction;
    prediction.model = &uncalibrated_model();
    const auto explained = explain_lines_of_all(input->plan, input->settings.gpus, input->settings.parameters,
                                                prediction, input->loader->as_function());
    if (!explained) return fail(wrong_input, explained.diagnostics());
    lines = "\n" + traffic_text(*explained);
  }
  const KnownPart known = known_part(input->plan, input->settings.parameters, false, true);
  for (const std::string& note : known.notes) say_note(note);
  const int written = write_result(arguments.value("output"),
                                   input->settings.format == "json"  ? counters_json(*rows)
                                   : input->settings.format == "csv" ? counters_csv(known.plan, *rows)
                                                                     : counters_text(*rows) + lines);
  if (written == done) say_excluded_gpus(input->settings.excluded);
  if (written == done && !rows->empty() && !rows->front().left_out.empty())
    return fail(wrong_input, rows->front().left_out);
  return written;
}

}  // namespace

Command counters_command() {
  return {counters_syntax(), run_counters};
}

}  // namespace warptime::cli
