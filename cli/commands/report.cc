// warptime report: kernels or plans, GPUs and parameters → one page that shows their times and explains them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "cli/commands/commands.h"
#include "cli/commands/compare_times.h"
#include "cli/commands/predict_input.h"
#include "cli/commands/watch.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/model_option.h"
#include "cli/options/options.h"
#include "cli/report/page.h"
#include "cli/report/report.h"
#include "cli/views/comparison.h"
#include "cli/views/table.h"
#include "load/bundled.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/base/parallel.h"

namespace warptime::cli {
namespace {

constexpr int kMostInputs = 16;

CommandSyntax report_syntax() {
  return {
      "report",
      "write one HTML page that shows the times of kernels or plans and what they are spent on",
      "[OPTION...] INPUT... | --all-plans [-- COMPILER-FLAG...]",
      "Writes a page that a browser opens from disk, without a network: for each kernel its source beside "
      "its "
      "PTX, control flow, timeline and counters; for each GPU the times over the parameters, their parts, a "
      "roofline and the ranking. INPUT and its launch are what `predict` takes. Several inputs are "
      "compared: two methods, or a kernel before and after a change.",
      "  warptime report dwt_kernels/mtx.cu --threads N --param K=8 --param N=2^6..2^20 --gpu "
      "rtx-2080,h200 -o mtx.html\n"
      "  warptime report matrix lattice --gpu gtx-1070,rtx-2080 --param K=8,10,12,14 --param N=2^6..2^20 -o "
      "methods.html\n"
      "  warptime report mtx --gpu h200 --param K=8 --param N=2^10..2^20 --format json -o mtx.json\n"
      "  warptime report --all-plans -o plans.html\n"
      "  warptime report sum.cu --threads N --param N=2^20 --gpu h200 -o sum.html --watch\n",
      {{"What to show",
        {{"all-plans", "",
          "show all bundled plans: of a plan that is calibrated its GPUs and fifteen sizes, of another one "
          "the "
          "h200 and its typical size; --gpu and --param give others"},
         {"gpu", "NAME",
          "show this GPU; repeatable, or several with commas; all is the whole catalogue (default: all)"},
         {"measurements", "FILE",
          "also show predicted against measured times: what `warptime measure` writes, or a CSV of nsys, ncu "
          "or nvprof. Repeatable",
          Names::input},
         {"title", "TEXT", "the heading of the page (default: the names of the inputs)"},
         gpu_dir_option(),
         {"set", "FIGURE=VALUE",
          "change a figure of the GPUs for this run, such as clock=1900; repeatable, or several with commas"},
         param_option()}},
       {"The launch of a kernel (a plan has its own)", launch_of_kernel_options()},
       {"What loaded data decide",
        {{"assume", "NAME=VALUE",
          "the share of the warps that take a branch (0 to 1) or the iterations of a loop, by the name of "
          "the program's parameter. Repeatable"},
         {"profile", "FILE",
          "read these from a file that `warptime run --profile FILE` wrote; repeatable, a file for each "
          "kernel",
          Names::input}}},
       {"The model's constants (an option beats a file beats the plan beats the GPU's default)",
        {{"t-p", "MICROSECONDS", "launch overhead: what a launch costs beside the kernel itself"},
         t_m_option(),
         {"calibration", "FILE", "read t_p and t_m by GPU from a calibration file", Names::input}}},
       {"The model",
        {{"caches",
          "warm|cold",
          "for the extended model: what the caches hold when a launch begins: what the same launch left "
          "there (warm, the default), or nothing (cold)",
          Names::no_file,
          {"warm", "cold"}},
         {"machine", "",
          "take the machine instructions that ptxas makes in place of an estimate; needs a CUDA Toolkit"},
         {"registers", "",
          "ask ptxas for the registers of each kernel, which limit the blocks on an SM; needs a CUDA "
          "Toolkit"},
         model_option(true),
         {"jobs", "N", "compute with N threads (default: one per core)"}}},
       program_options(),
       with_watch(
           with_sarif(general_options({"html", "json"}, "html (default), or json: the data of the page")))},
      0,
      kMostInputs,
      true,
      [] { return fmt::format("\nBundled plans: {}.", enumerate(bundled_plan_names())); },
      Inputs::files_or_plans};
}

// An input, and the command line as it reads for it alone.
struct Word {
  std::string input;
  Arguments arguments;
};

// Of a plan that is calibrated, its GPUs and its last parameter up to the typical value; of another one, which takes longer to
// predict, one GPU.
Arguments with_defaults_of(const Plan& plan, const Arguments& arguments) {
  constexpr char other_gpu[] = "rtx-2080";
  constexpr int most_doublings = 14;
  std::vector<std::string> gpus;
  for (const auto& [gpu, calibration] : plan.calibrations)
    if (!calibration.scale) gpus.push_back(gpu);
  const bool calibrated = !gpus.empty();
  Arguments with = arguments;
  if (!arguments.has("gpu"))
    with = with.with("gpu", calibrated ? fmt::format("{}", fmt::join(gpus, ",")) : other_gpu);
  if (!calibrated || arguments.has("param") || plan.typical.empty()) return with;
  const auto& [name, typical] = plan.typical.back();
  const int last = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(typical, 1))) - 1;
  return with.with("param", fmt::format("{}=2^{}..2^{}", name, std::max(last - most_doublings, 0), last));
}

// The inputs of the command line. Errors: none, too many, or --all-plans with what it excludes.
Result<std::vector<Word>> read_words(const Arguments& arguments) {
  const auto& given = arguments.positionals();
  std::vector<Word> words;
  if (!arguments.has("all-plans")) {
    if (given.empty()) return error("no input given", "warptime report [OPTION...] INPUT...");
    if (std::count(given.begin(), given.end(), "-") > 1) return error("standard input can be one input only");
    for (const std::string& word : given) words.push_back({word, arguments});
    return words;
  }
  if (!given.empty()) return error(fmt::format("--all-plans takes no input beside: {}", given.front()));
  for (const char* const excluded : {"watch", "measurements"})
    if (arguments.has(excluded))
      return error(fmt::format("--all-plans excludes --{}", excluded),
                   fmt::format("warptime report INPUT... --{}", excluded));
  for (const std::string& name : bundled_plan_names()) {
    const auto plan = bundled_plan(name);
    if (!plan) return plan.diagnostics();
    words.push_back({name, with_defaults_of(*plan, arguments)});
  }
  return words;
}

// What one input needs as long as the report is made.
struct LoadedInput {
  std::unique_ptr<PredictInput> predicted;
  std::unique_ptr<PredictInput> estimated;  // null: `predicted` has machine instructions itself
  Calibrations calibration;
};

// Of the values of the command line, those of the plan's parameters; of a parameter without any, the plan's typical value, which
// is said where `noting`.
Result<std::vector<NamedValues>> values_of(const Plan& plan, const std::vector<NamedValues>& given,
                                           bool noting) {
  std::vector<NamedValues> values;
  for (const Parameter& parameter : plan.parameters) {
    const auto named = [&](const NamedValues& one) { return one.name == parameter.name; };
    if (const auto found = std::find_if(given.begin(), given.end(), named); found != given.end()) {
      values.push_back(*found);
      continue;
    }
    const auto typical = std::find_if(plan.typical.begin(), plan.typical.end(),
                                      [&](const auto& one) { return one.first == parameter.name; });
    if (typical == plan.typical.end())
      return error(
          fmt::format("{} has no values for its parameter {}{}", plan.name, parameter.name,
                      parameter.description.empty() ? "" : fmt::format(" ({})", parameter.description)),
          fmt::format("--param {0}=VALUES, such as --param {0}=64 or {0}=2^6..2^20", parameter.name));
    auto value = ParameterValues::parse(std::to_string(typical->second));
    if (!value) return value.diagnostics();
    if (noting)
      say_note(fmt::format("{}: {} is {}, its typical value", plan.name, parameter.name, typical->second),
               fmt::format("--param {}=VALUES gives others", parameter.name));
    values.push_back({parameter.name, std::move(*value)});
  }
  return values;
}

Diagnostics check_parameters(const std::vector<LoadedInput>& inputs, const std::vector<NamedValues>& given) {
  for (const NamedValues& one : given) {
    const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const LoadedInput& input) {
      const auto& parameters = input.predicted->plan.parameters;
      return std::any_of(parameters.begin(), parameters.end(),
                         [&](const Parameter& parameter) { return parameter.name == one.name; });
    });
    if (!known) return {error_at("--param", 0, 0, fmt::format("no input has a parameter `{}`", one.name))};
  }
  return {};
}

std::optional<LoadedInput> load_input(const Arguments& arguments, const std::string& name,
                                      const std::shared_ptr<CompiledSources>& sources, int& status) {
  LoadedInput input;
  // An estimate of machine instructions leaves times by other models as they are, but keeps loads from being rearranged.
  const auto machine = arguments.has("rearrange") ? WithoutMachine::by_model : WithoutMachine::estimated;
  input.predicted = read_predict_input(arguments, name, machine, status, WithoutModel::by_input, sources);
  if (!input.predicted) return std::nullopt;
  if (arguments.has("rearrange") && input.predicted->settings.machine == AnalyzeOptions::Machine::none) {
    input.estimated = read_predict_input(arguments, name, WithoutMachine::estimated, status,
                                         WithoutModel::by_input, sources);
    if (!input.estimated) return std::nullopt;
  }
  auto calibration = read_calibration_option(arguments, input.predicted->plan);
  if (!calibration) {
    status = fail(wrong_input, calibration.diagnostics());
    return std::nullopt;
  }
  input.calibration = std::move(*calibration);
  return input;
}

// On all cores; what is said of them is in their order. Nothing, with the status, if one cannot be loaded.
std::optional<std::vector<LoadedInput>> load_inputs(const std::vector<Word>& words, bool all_plans,
                                                    int& status) {
  struct Loading {
    std::optional<LoadedInput> input;
    int status = done;
    Diagnostics said;
  };
  // Files of the user's own could be read twice with different texts.
  const auto sources = all_plans ? std::make_shared<CompiledSources>() : nullptr;
  std::vector<Loading> loading(words.size());
  for_each_index(words.size(), threads_for(0), [&](std::size_t i) {
    HeldMessages held;
    loading[i].input = load_input(words[i].arguments, words[i].input, sources, loading[i].status);
    loading[i].said = held.end();
  });
  std::vector<LoadedInput> inputs;
  for (Loading& one : loading) {
    say(one.said);
    status = one.status;
    if (!one.input) return std::nullopt;
    inputs.push_back(std::move(*one.input));
  }
  return inputs;
}

// The plans' names; where two are the same, with the inputs that they are from.
std::vector<std::string> names_of(const std::vector<LoadedInput>& inputs, const std::vector<Word>& words) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::string name = inputs[i].predicted->plan.name;
    const auto same = [&](const LoadedInput& other) { return other.predicted->plan.name == name; };
    if (std::count_if(inputs.begin(), inputs.end(), same) > 1)
      name = fmt::format("{} ({})", name, words[i].input);
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number)
      name = fmt::format("{} ({}, {})", inputs[i].predicted->plan.name, words[i].input, number);
    names.push_back(std::move(name));
  }
  return names;
}

ReportMethod method_of(LoadedInput& input, std::string name, const std::string& word,
                       std::vector<NamedValues> values) {
  PredictInput& of = *input.predicted;
  ReportMethod method;
  method.name = std::move(name);
  method.input = word;
  method.plan = &of.plan;
  method.gpus = of.settings.gpus;
  method.parameters = std::move(values);
  method.options = of.settings.prediction;
  method.options.constants.calibration_file = input.calibration;
  method.why_model = of.why_model;
  method.catalogue = of.catalogue.get();
  method.loader = of.loader.get();
  method.estimated = input.estimated ? input.estimated->loader.get() : of.loader.get();
  return method;
}

// No other process, and no other run of this one, has it.
std::string new_revision() {
  return fmt::format("{}-{}", std::chrono::system_clock::now().time_since_epoch().count(), ::getpid());
}

// The answer of a run of --watch: the times of the report's rows, of a long sweep the first ones, and the programs behind them.
void take_answer(const std::vector<std::vector<PredictionRow>>& rows, const Report& report,
                 const std::vector<LoadedInput>& inputs, WatchedAnswer& answer) {
  constexpr std::size_t kMostWatchedRows = 10'000;
  answer = {};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const PredictionRow& row : rows[i])
      if (answer.times.size() < kMostWatchedRows)
        answer.times.push_back({report.methods[i].name, row.gpu, row.parameters, {}, row.time.total_us});
  for (const LoadedInput& input : inputs) {
    for (KernelProgram& program : input.predicted->loader->programs())
      answer.programs.push_back(std::move(program));
    for (std::string& header : input.predicted->loader->headers())
      answer.headers.push_back(std::move(header));
  }
}

// watched: null without --watch.
int write_report(const Arguments& arguments, const Report& report, const WatchedRun* watched) {
  auto json = report_json(report, report_limits(report.methods.size()));
  if (!json) return fail(wrong_input, json.diagnostics());
  const bool as_json = arguments.value_or("format", "html") == "json";
  return write_result(arguments.value("output"),
                      as_json ? json_text(*json) + "\n"
                      : watched != nullptr
                          ? watched_report_page(std::move(*json), new_revision(), time_of_day())
                          : report_page(std::move(*json)));
}

// The page that is there says that it is older than its source.
void mark_stale(const Arguments& arguments, const std::string& said) {
  const std::string file = *arguments.value("output");
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return;
  std::ifstream stream(file, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return;
  stream.close();
  // The first message, without the line of the source below it.
  if (const auto stale = stale_report_page(page, time_of_day(), said.substr(0, said.find('\n'))))
    write_result(file, *stale);
}

int make_report(const Arguments& arguments, const WatchedRun* watched) {
  const auto format = read_choice(arguments, "format");
  if (!format) return fail(wrong_command_line, format.diagnostics());
  if (*format == "html" && !arguments.has("output") && ::isatty(STDOUT_FILENO) != 0)
    return fail(wrong_command_line,
                {error("a page is not for a terminal", "write it to a file: -o report.html")});
  const auto words = read_words(arguments);
  if (!words) return fail(wrong_command_line, words.diagnostics());
  const bool all_plans = arguments.has("all-plans");
  int loaded = done;
  auto all = load_inputs(*words, all_plans, loaded);
  if (!all) return loaded;
  std::vector<LoadedInput>& inputs = *all;
  const auto given = read_parameters(arguments);
  if (!given) return fail(wrong_command_line, given.diagnostics());
  if (const auto wrong = check_parameters(inputs, *given); !wrong.empty())
    return fail(wrong_command_line, wrong);

  Report report;
  report.threads = inputs.front().predicted->settings.threads;
  const auto names = names_of(inputs, *words);
  report.title = arguments.value_or(
      "title", all_plans ? "The bundled plans" : fmt::format("{}", fmt::join(names, ", ")));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PredictInput& of = *inputs[i].predicted;
    auto values = values_of(of.plan, of.settings.parameters, !all_plans);
    if (!values) return fail(wrong_input, values.diagnostics());
    report.methods.push_back(method_of(inputs[i], names[i], (*words)[i].input, std::move(*values)));
  }
  if (arguments.has("measurements")) {
    const auto files = read_measured_files(arguments.values("measurements"));
    if (!files) return fail(wrong_input, files.diagnostics());
    const Model& model = *report.methods.front().options.model;
    int status = done;
    const auto comparison =
        compare_times(arguments.with("model", model.name()), arguments.positionals(), *files, status);
    if (!comparison) return status;
    report.comparison = nlohmann::ordered_json::parse(comparison_json(*comparison));
  }
  if (watched != nullptr)
    report.predicted = [&](const std::vector<std::vector<PredictionRow>>& rows) {
      take_answer(rows, report, inputs, *watched->answer);
      watched->answered();
    };
  const int status = write_report(arguments, report, watched);
  if (status == done) {
    std::set<std::string> excluded;
    for (const LoadedInput& input : inputs)
      excluded.insert(input.predicted->settings.excluded.begin(), input.predicted->settings.excluded.end());
    say_excluded_gpus({excluded.begin(), excluded.end()});
  }
  return status;
}

int run_report(const Arguments& arguments) {
  if (!arguments.has("watch")) return make_report(arguments, nullptr);
  if (arguments.value_or("output", "-") == "-")
    return fail(wrong_command_line, {error("--watch needs a file for the page, which a browser has open",
                                           "give one: -o report.html")});
  const auto run = [](const Arguments& given, const WatchedRun& one) { return make_report(given, &one); };
  return watch(arguments, run, [&](const std::string& said) { mark_stale(arguments, said); });
}

}  // namespace

Command report_command() {
  return {report_syntax(), run_report};
}

}  // namespace warptime::cli
