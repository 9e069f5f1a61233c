// The file of --sarif.
#pragma once

#include "cli/options/arguments.h"

namespace warptime::cli {

// Calls `run`, and with --sarif writes what it says there, also if it fails. Returns its exit status, or that of an error of
// the file: one that cannot be written is found before `run` is called.
int run_with_sarif(const Arguments& arguments, int (*run)(const Arguments& arguments));

}  // namespace warptime::cli
