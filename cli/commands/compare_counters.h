// warptime compare --counters: what the hardware counted beside what `warptime counters` computes.
#pragma once

#include "cli/options/arguments.h"

namespace warptime::cli {

// What `compare` takes for it, beside what it has for times.
OptionGroup compare_counters_options();

// The exit status.
int compare_counters(const Arguments& arguments);

}  // namespace warptime::cli
