// --watch: a command that runs again whenever its source, or a header of it, changes, and says what changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "models/costs.h"
#include "simulator/program/kernel_program.h"

namespace warptime::cli {

// For CommandSyntax::groups.
OptionGroup with_watch(OptionGroup general);

// What a run gives beside its result, to be compared with the run before.
struct WatchedAnswer {
  std::vector<KernelProgram> programs;
  // Of predictions: a time for each row; before_us stays empty.
  std::vector<models::Cost> times;
  // Of anything else: what it is of, its name, its value.
  struct Number {
    std::string of, name;
    double value = 0;
    friend bool operator==(const Number&, const Number&) = default;
  };
  std::vector<Number> numbers;
  std::vector<std::string> headers;  // that the source was compiled with
};

struct WatchedRun {
  bool whole = true;  // writes the result; else only `answer` is wanted
  WatchedAnswer* answer = nullptr;
  // For a run whose result takes longer than its answer: `answer` is there, what changed can be said. May stay uncalled.
  std::function<void()> answered;
};

// The command's work; returns the exit status. It runs in a process of its own each time.
using RunWatched = std::function<int(const Arguments& arguments, const WatchedRun& run)>;

// A run failed after one that did not, and said this.
using RunFailed = std::function<void(const std::string& said)>;

// "12:30:05"
std::string time_of_day();

// Runs until a signal ends it; Ctrl-C: 130. The result is written as without --watch, to a file each time, to standard
// output once; then what changes each time. Returns the exit status where it cannot begin.
int watch(const Arguments& arguments, const RunWatched& run, const RunFailed& failed = {});

}  // namespace warptime::cli
