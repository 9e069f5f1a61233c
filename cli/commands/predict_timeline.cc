#include "cli/commands/predict_timeline.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/commands/simulate_timeline.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/views/sm_timeline_view.h"

namespace warptime::cli {
namespace {

constexpr std::size_t kMostDrawnItems = 200'000;  // executed by warps
constexpr std::uint64_t kMostDrawnRows = 20;

// --cycles FROM..TO
Result<DrawnCycles> read_cycles(const Arguments& arguments) {
  const auto text = arguments.value("cycles");
  if (!text) return DrawnCycles();
  const auto dots = text->find("..");
  double from = 0, to = 0;
  const auto read = [](std::string_view number, double& value) {
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), value);
    return failure == std::errc() && end == number.data() + number.size() && value >= 0;
  };
  const bool good = dots != std::string::npos && read(std::string_view(*text).substr(0, dots), from) &&
                    read(std::string_view(*text).substr(dots + 2), to) && from < to;
  if (!good)
    return error_at("--cycles", 0, 0, fmt::format("`{}` is not FROM..TO", *text),
                    "for example --cycles 0..2000");
  return DrawnCycles({from, to});
}

std::string drawn(const SmTimeline& timeline, const TimelineOptions& options, const DrawnCycles& cycles) {
  return options.view == "svg"        ? sm_timeline_svg(timeline, cycles)
         : options.view == "perfetto" ? sm_timeline_perfetto(timeline, cycles)
                                      : sm_timeline_text(timeline, cycles, options.columns);
}

}  // namespace

OptionGroup sm_timeline_options() {
  return {"Drawing what an SM does (the extended model)",
          {{"timeline",
            "VIEW",
            "draw what the partitions of an SM, and its warps if they are at most 16, issue and wait for. "
            "text: for a "
            "terminal; svg: a figure; perfetto: a trace for ui.perfetto.dev or chrome://tracing",
            Names::no_file,
            {"text", "svg", "perfetto"}},
           {"cycles", "FROM..TO", "draw these cycles (default: all, or the first ones of a long run)"},
           {"width", "COLUMNS", "the width of the text (default: the terminal's, or 120)"}}};
}

int run_timeline(const Arguments& arguments, const PredictionJob& job) {
  const auto options = read_timeline_options(arguments);
  if (!options) return fail(wrong_command_line, options.diagnostics());
  const auto cycles = read_cycles(arguments);
  if (!cycles) return fail(wrong_command_line, cycles.diagnostics());
  if (!job.options.model->takes_whole_launches())
    return fail(
        wrong_command_line,
        {error(fmt::format("the model `{}` has no timeline of an SM", job.options.model->name()),
               "add --model extended; `warptime simulate --timeline` draws a kernel program by the model of "
               "Puchala et al.")});
  const auto total = sweep_size(job.gpus, job.parameters);
  if (!total) return fail(wrong_input, total.diagnostics());
  const std::uint64_t most = options->view == "text" ? kMostDrawnRows : 1;
  if (*total > most)
    return fail(wrong_input, {error(fmt::format("--timeline {} draws at most {} row{}; these are {}",
                                                options->view, most, most == 1 ? "" : "s", *total),
                                    "choose fewer with --gpu and --param")});
  const auto timelines =
      sm_timelines(job.plan, job.gpus, job.parameters, job.options, job.loader, kMostDrawnItems);
  if (!timelines) return fail(wrong_input, timelines.diagnostics());
  std::string text;
  for (const SmTimeline& timeline : *timelines) {
    if (!text.empty()) text += '\n';
    text += drawn(timeline, *options, *cycles);
  }
  return write_result(arguments.value("output"), text);
}

}  // namespace warptime::cli
