// `warptime simulate --timeline`: its options and its output.
#pragma once

#include <cstddef>
#include <string>

#include "cli/options/arguments.h"
#include "cli/views/timeline.h"

namespace warptime::cli {

struct TimelineOptions {
  std::string view;  // text, svg or perfetto; empty: no timeline
  std::size_t columns = 0;
};

OptionGroup timeline_options();
// Errors: an unknown view, a width that is not a number in range, --format or --width in a wrong combination.
Result<TimelineOptions> read_timeline_options(const Arguments& arguments);

// An SVG or a trace is of one run.
Diagnostics check_one_run(const TimelineOptions& options, std::size_t kernels, bool several_values);

TimelineLimits limits_of(const TimelineOptions& options);
// Also notes on stderr what an SVG or a trace elides.
std::string drawn(const Timeline& timeline, const TimelineOptions& options);

}  // namespace warptime::cli
