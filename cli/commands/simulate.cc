// warptime simulate: a kernel program → the cycles of one core package (Algorithm 2).
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cli/commands/commands.h"
#include "cli/commands/simulate_timeline.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "cli/views/simulation_view.h"
#include "load/input.h"
#include "load/programs.h"
#include "simulator/program/schedule.h"

namespace warptime::cli {
namespace {

CommandSyntax simulate_syntax() {
  return {"simulate",
          "simulate a kernel program on one core package: its cycles, and where they go",
          "--warps N --t-m CYCLES [OPTION...] INPUT",
          "Runs a kernel program through the Round-Robin simulation of one core package (32 cores). The "
          "result is in cycles of the "
          "GPU's clock, without launch overhead; `warptime predict` turns cycles into times.\n"
          "INPUT is one or more kernel programs as `warptime analyze` writes them, or - for standard input.",
          "  warptime simulate samples/puchala2022/listing_1_load.yaml --warps 3 --t-m 2\n"
          "  warptime simulate samples/puchala2022/listing_7.yaml --warps 1..16 --gpu rtx-2080 --param K=8\n"
          "  warptime analyze dwt_kernels/mtx.cu | warptime simulate - --warps 8 --t-m 10 --param K=8\n"
          "  warptime simulate samples/puchala2022/listing_1_load.yaml --warps 3 --t-m 2 --timeline text\n"
          "  warptime simulate samples/puchala2022/listing_7.yaml --warps 4 --t-m 6 --param K=8 --timeline "
          "svg -o "
          "figure.svg\n"
          "  warptime simulate samples/puchala2022/listing_7.yaml --warps 4 --t-m 6 --param K=8 --timeline "
          "perfetto -o trace.json\n",
          {{"What to simulate",
            {{"warps", "VALUES", "warps on the core package: one number, or several, given as for --param"},
             t_m_option(),
             param_option(),
             kernel_option()}},
           timeline_options(),
           {"The GPU",
            {{"gpu", "NAME",
              "use this GPU's durations for memory accesses that the program leaves open, and its t_m unless "
              "--t-m is given"},
             gpu_dir_option()}},
           with_sarif(general_options({"text", "json", "csv"}))}};
}

constexpr std::uint64_t row_limit = 1'000'000;

struct SimulateSettings {
  ParameterValues warps;
  std::vector<NamedValues> parameters;
  std::string format;
  double t_m_cycles = 0;
  MemoryDurations durations;
  bool gpu_given = false;
  TimelineOptions timeline;
};

Result<ParameterValues> read_warps(const Arguments& arguments) {
  const auto text = arguments.value("warps");
  if (!text) return error("--warps is missing", "give the warps on one core package with --warps N");
  auto values = ParameterValues::parse(*text);
  if (!values) {
    auto wrong = values.diagnostics();
    for (auto& diagnostic : wrong) diagnostic.file = "--warps";
    return wrong;
  }
  for (std::uint64_t i = 0; i < std::min(values->size(), row_limit); ++i)
    if (values->at(i) < 1)
      return error_at("--warps", 0, 0,
                      fmt::format("{}: the number of warps must be at least 1", values->at(i)));
  return values;
}

Result<SimulateSettings> read_simulate_settings(const Arguments& arguments, const GpuCatalogue& catalogue) {
  auto warps = read_warps(arguments);
  if (!warps) return warps.diagnostics();
  auto parameters = read_parameters(arguments);
  if (!parameters) return parameters.diagnostics();
  const auto format = read_choice(arguments, "format");
  if (!format) return format.diagnostics();
  const auto timeline = read_timeline_options(arguments);
  if (!timeline) return timeline.diagnostics();
  const auto t_m = read_number(arguments, "t-m");
  if (!t_m) return t_m.diagnostics();
  const auto gpus = read_gpus(arguments, catalogue);
  if (!gpus) return gpus.diagnostics();
  if (gpus->size() > 1)
    return error_at("--gpu", 0, 0, "`simulate` takes one GPU", "warptime predict takes several");
  const Gpu* gpu = gpus->empty() ? nullptr : gpus->front();
  if (!*t_m && !gpu)
    return error(
        "--t-m is missing",
        "give the cycles of one memory access with --t-m CYCLES, or a GPU's default with --gpu NAME");
  return SimulateSettings{std::move(*warps),
                          std::move(*parameters),
                          *format,
                          t_m->value_or(gpu ? gpu->t_m_cycles : 0),
                          gpu ? gpu->durations : paper_durations(),
                          gpu != nullptr,
                          *timeline};
}

Result<std::vector<KernelProgram>> read_programs(const Arguments& arguments, const std::string& kernel) {
  auto input = read_input(arguments.positionals().front());
  if (!input) return input.diagnostics();
  if (input->kind == InputKind::plan)
    return error_at(input->file, 0, 0, "is a plan, not a kernel program",
                    fmt::format("warptime predict {}", input->file));
  if (input->kind != InputKind::kernel_program && input->file != "-")
    return error_at(input->file, 0, 0, "is code, not a kernel program",
                    fmt::format("warptime analyze {} | warptime simulate - …", input->file));
  auto programs = read_kernel_programs(input->text, input->file);
  if (!programs) return programs.diagnostics();
  return select_kernels(std::move(*programs), kernel, input->file);
}

using Parameters = std::vector<std::pair<std::string, std::int64_t>>;
using Each =
    std::function<Diagnostics(const Schedule& schedule, const Parameters& parameters, std::int64_t warps)>;

// Every combination of the program's parameters and the warps.
Diagnostics for_each_row(const KernelProgram& program, const SimulateSettings& settings, const Each& each) {
  const auto sweep = ParameterSweep::of(program, settings.parameters);
  if (!sweep) return sweep.diagnostics();
  if (sweep->size() > row_limit || settings.warps.size() > row_limit ||
      sweep->size() * settings.warps.size() > row_limit)
    return {error(fmt::format("more than {} combinations of parameters and warps", row_limit),
                  "`warptime predict` takes longer sweeps")};
  for (std::uint64_t i = 0; i < sweep->size(); ++i) {
    const auto parameters = sweep->at(i);
    const auto schedule = make_schedule(program, {parameters.begin(), parameters.end()}, settings.durations);
    if (!schedule) return schedule.diagnostics();
    for (std::uint64_t w = 0; w < settings.warps.size(); ++w) {
      if (auto wrong = each(*schedule, parameters, settings.warps.at(w)); !wrong.empty()) return wrong;
    }
  }
  return {};
}

Diagnostics simulate(const KernelProgram& program, const std::string& name, const SimulateSettings& settings,
                     std::vector<SimulationRow>& rows) {
  return for_each_row(
      program, settings,
      [&](const Schedule& schedule, const Parameters& parameters, std::int64_t warps) -> Diagnostics {
        const auto time = simulate_core_package(schedule, warps, settings.t_m_cycles);
        if (!time) return time.diagnostics();
        rows.push_back({name, parameters, warps, settings.t_m_cycles, schedule.period_count(), *time});
        return {};
      });
}

// One picture after the other, as they are ready; an SVG and a trace hold one.
int run_timelines(const Arguments& arguments, const std::vector<KernelProgram>& programs,
                  const SimulateSettings& settings) {
  const auto limits = limits_of(settings.timeline);
  auto output = Output::open(arguments.value("output"));
  if (!output) return fail(wrong_input, output.diagnostics());
  bool first = true, wanted = true;
  for (const auto& program : programs) {
    const auto draw = [&](const Schedule& schedule, const Parameters& parameters,
                          std::int64_t warps) -> Diagnostics {
      if (!wanted) return {};
      auto timeline = collect_timeline(schedule, warps, settings.t_m_cycles, limits);
      if (!timeline) return timeline.diagnostics();
      timeline->kernel = kernel_name(program, arguments.positionals().front());
      timeline->parameters = parameters;
      wanted = (*output)->write((first ? "" : "\n") + drawn(*timeline, settings.timeline));
      first = false;
      return {};
    };
    if (const auto wrong = for_each_row(program, settings, draw); !wrong.empty())
      return fail(wrong_input, wrong);
  }
  const auto failures = (*output)->finish();
  return failures.empty() ? done : fail(wrong_input, failures);
}

void say_assumed_durations(const std::vector<KernelProgram>& programs, const SimulateSettings& settings) {
  if (settings.gpu_given || std::none_of(programs.begin(), programs.end(), leaves_durations_open)) return;
  const auto& load = settings.durations.load;
  say_note(fmt::format("the program leaves durations of memory accesses open: using the paper's figures "
                       "(loads: uniform {}, coalesced {}, strided {}, scattered {} cycles; stores: {})",
                       load[0], load[1], load[2], load[3], settings.durations.store[1]),
           "use --gpu NAME for the figures of a GPU");
}

int run_simulate(const Arguments& arguments) {
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto settings = read_simulate_settings(arguments, *catalogue);
  if (!settings) return fail(wrong_command_line, settings.diagnostics());
  const auto kernel = read_kernel(arguments);
  if (!kernel) return fail(wrong_command_line, kernel.diagnostics());
  const auto programs = read_programs(arguments, *kernel);
  if (!programs) return fail(wrong_input, programs.diagnostics());
  if (const auto wrong = unknown_parameters(*programs, settings->parameters); !wrong.empty())
    return fail(wrong_input, wrong);

  if (!settings->timeline.view.empty()) {
    bool several = settings->warps.size() > 1;
    for (const auto& parameter : settings->parameters) several = several || parameter.values.size() > 1;
    if (const auto wrong = check_one_run(settings->timeline, programs->size(), several); !wrong.empty())
      return fail(wrong_command_line, wrong);
    say_assumed_durations(*programs, *settings);
    return run_timelines(arguments, *programs, *settings);
  }
  std::vector<SimulationRow> rows;
  for (const auto& program : *programs) {
    const auto wrong =
        simulate(program, kernel_name(program, arguments.positionals().front()), *settings, rows);
    if (!wrong.empty()) return fail(wrong_input, wrong);
  }
  say_assumed_durations(*programs, *settings);
  const auto view = settings->format == "json"  ? simulation_json
                    : settings->format == "csv" ? simulation_csv
                                                : simulation_text;
  return write_result(arguments.value("output"), view(rows));
}

}  // namespace

Command simulate_command() {
  return {simulate_syntax(), run_simulate};
}

}  // namespace warptime::cli
