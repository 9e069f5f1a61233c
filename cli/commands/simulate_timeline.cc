#include "cli/commands/simulate_timeline.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "cli/io/report.h"
#include "cli/options/options.h"

namespace warptime::cli {
namespace {

constexpr std::size_t least_columns = 40, most_columns = 10'000, usual_columns = 120;

// --width, or the terminal's.
Result<std::size_t> read_columns(const Arguments& arguments) {
  const auto text = arguments.value("width");
  if (!text) {
    winsize size{};
    const bool terminal = !arguments.has("output") && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    if (!terminal || size.ws_col == 0) return usual_columns;
    return std::clamp<std::size_t>(size.ws_col, least_columns, most_columns);
  }
  std::size_t columns = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), columns);
  if (failure != std::errc() || end != text->data() + text->size() || columns < least_columns ||
      columns > most_columns)
    return error_at(
        "--width", 0, 0,
        fmt::format("`{}` is not a number of columns from {} to {}", *text, least_columns, most_columns));
  return columns;
}

// --timeline, or nothing.
Result<std::string> read_view(const Arguments& arguments) {
  if (!arguments.has("timeline")) {
    if (arguments.has("width")) return error("--width applies only to a timeline", "add --timeline text");
    return std::string();
  }
  const auto view = read_choice(arguments, "timeline");
  if (!view) return view.diagnostics();
  if (arguments.has("format"))
    return error("--format and --timeline cannot be used together: a timeline has its own format",
                 "choose the timeline with --timeline text, svg or perfetto; omit it to write the cycles "
                 "with --format");
  if (arguments.has("width") && *view != "text")
    return error(fmt::format("--width cannot be used with --timeline {}", *view),
                 "use it with --timeline text");
  return view;
}

// Notes on what is elided. (The text says so itself.)
void say_elided(const Timeline& timeline) {
  if (!timeline.gaps.empty())
    say_note(fmt::format("{} {} elided from the timeline: iterations that do the same as those before",
                         timeline.gaps.size(), timeline.gaps.size() == 1 ? "stretch is" : "stretches are"));
  if (const auto ending = ending_note(timeline); !ending.empty())
    say_note("elided from the timeline " + ending);
}

}  // namespace

OptionGroup timeline_options() {
  return {"Drawing what each warp does",
          {{"timeline",
            "VIEW",
            "text: for a terminal; svg: a figure for a paper; perfetto: a trace for ui.perfetto.dev or "
            "chrome://tracing. Iterations that do the same are drawn once or twice; the rest are elided",
            Names::no_file,
            {"text", "svg", "perfetto"}},
           {"width", "COLUMNS", "the width of the text (default: the terminal's, or 120)"}}};
}

Result<TimelineOptions> read_timeline_options(const Arguments& arguments) {
  const auto view = read_view(arguments);
  if (!view) return view.diagnostics();
  const auto columns = read_columns(arguments);
  if (!columns) return columns.diagnostics();
  return TimelineOptions{*view, *columns};
}

Diagnostics check_one_run(const TimelineOptions& options, std::size_t kernels, bool several_values) {
  if (options.view == "text") return {};
  if (kernels > 1)
    return {error(fmt::format("--timeline {} draws one kernel, and there are {}", options.view, kernels),
                  "choose one with --kernel NAME; --timeline text draws one run after the other")};
  if (!several_values) return {};
  return {
      error(fmt::format("--timeline {} draws one run, and there are several values", options.view),
            "give one value for --warps and each --param; --timeline text draws one run after the other")};
}

TimelineLimits limits_of(const TimelineOptions& options) {
  return options.view == "text"  ? text_limits(options.columns)
         : options.view == "svg" ? svg_limits()
                                 : perfetto_limits();
}

std::string drawn(const Timeline& timeline, const TimelineOptions& options) {
  if (options.view == "text") return timeline_text(timeline, options.columns);
  say_elided(timeline);
  return options.view == "svg" ? timeline_svg(timeline) : timeline_perfetto(timeline);
}

}  // namespace warptime::cli
