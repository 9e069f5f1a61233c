// The commands. Each has its own file: its syntax and what it does.
#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"

namespace warptime::cli {

struct Command {
  CommandSyntax syntax;
  int (*run)(const Arguments& arguments);  // returns the exit status
};

Command analyze_command();
Command simulate_command();
Command predict_command();
Command counters_command();
Command report_command();
Command run_command();
Command measure_command();
Command calibrate_command();
Command compare_command();
Command models_command();
Command plan_command();
Command plans_command();
Command gpus_command();
Command lsp_command();
Command completion_command();

// Runs the command line and returns the exit status. `words`: the command line without the program's name.
int run(const std::vector<std::string>& words);

}  // namespace warptime::cli
