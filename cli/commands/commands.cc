#include "cli/commands/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "analyzer/compile/compile.h"
#include "analyzer/compile/process.h"
#include "analyzer/compile/toolkit.h"
#include "cli/commands/complete.h"
#include "cli/commands/sarif_output.h"
#include "cli/io/interrupt.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/io/terminal.h"
#include "cli/options/man_page.h"
#include "cli/options/options.h"
#include "cli/views/style.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

constexpr char introduction[] =
    "warptime predicts how long a CUDA kernel takes on GPUs that you do not have.\n\n"
    "Usage:\n"
    "  warptime COMMAND [OPTION...] INPUT\n\n"
    "Commands:\n";

constexpr char program_examples[] =
    "\nExamples:\n"
    "  warptime predict matrix --gpu all --param K=8 --param N=2^16\n"
    "  warptime gpus rtx-2080\n\n";

std::vector<Command> all_commands() {
  return {analyze_command(), simulate_command(), predict_command(),   counters_command(),
          report_command(),  run_command(),      calibrate_command(), compare_command(),
          models_command(),  measure_command(),  plan_command(),      plans_command(),
          gpus_command(),    lsp_command(),      completion_command()};
}

std::string short_usage(const std::vector<Command>& commands) {
  std::string text = introduction;
  for (const auto& command : commands)
    text += fmt::format("  {:<12}{}\n", command.syntax.name, command.syntax.summary);
  return text +
         "\nSee `warptime help COMMAND` for the options of a command, `warptime --version` for the "
         "version.\n";
}

int print(const std::string& text) {
  return write_result(std::nullopt, text);
}

// What children and temporary files of ours are there when the process ends at once.
void clean_up() {
  compiling::stop_processes();
  compiling::remove_temporary_folders();
}

// Relative names, and what is made absolute, need it.
Diagnostics check_working_directory() {
  std::error_code failed;
  (void)std::filesystem::current_path(failed);
  if (!failed) return {};
  return {error(fmt::format("the working directory cannot be read: {}", failed.message()),
                "it may have been removed: cd to a directory that exists")};
}

int unknown_command(const std::string& word, const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command.syntax.name);
  const std::string near = nearest(word, names);
  const bool is_option = word[0] == '-' && word.size() > 1;
  return fail(wrong_command_line,
              {error(fmt::format("unknown {} {}", is_option ? "option" : "command", word),
                     near.empty() || is_option ? "see `warptime --help`"
                                               : fmt::format("did you mean `warptime {}`?", near))});
}

int print_overview(const std::vector<Command>& commands) {
  return print(short_usage(commands) + program_examples + exit_status_help);
}

const Command* find_command(const std::string& name, const std::vector<Command>& commands) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const auto& one) { return one.syntax.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

int print_help(const CommandSyntax& syntax) {
  return print(help_text(syntax) + "\n" + exit_status_help);
}

// `warptime help --man [COMMAND]`: the manual page, for installing it.
int print_man_page(const std::vector<std::string>& names, const std::vector<Command>& commands) {
  if (names.empty()) {
    std::vector<CommandSyntax> syntaxes;
    for (const auto& command : commands) syntaxes.push_back(command.syntax);
    return print(
        man_page_of_program("predict how long a CUDA kernel takes on a GPU", syntaxes, program_examples));
  }
  const Command* command = find_command(names.front(), commands);
  return command != nullptr ? print(man_page(command->syntax)) : unknown_command(names.front(), commands);
}

// `warptime help` is `warptime --help`; `warptime help predict` is `warptime predict --help`.
int help(const std::vector<std::string>& names, const std::vector<Command>& commands) {
  if (names.empty() || names.front() == "--help" || names.front() == "-h") return print_overview(commands);
  if (names.front() == "--man") return print_man_page({names.begin() + 1, names.end()}, commands);
  if (names.size() > 1)
    return fail(wrong_command_line,
                {error(fmt::format("unexpected argument: {}", names[1]), "warptime help COMMAND")});
  const Command* command = find_command(names.front(), commands);
  return command != nullptr ? print_help(command->syntax) : unknown_command(names.front(), commands);
}

// Whether text to standard output goes to a terminal, and is to look like it; and what shows that a command works.
Diagnostics set_up_terminal(const CommandSyntax& syntax, const Arguments& arguments) {
  ColourWhen when = ColourWhen::automatic;
  if (find_option(syntax, "color") != nullptr) {
    const auto chosen = read_choice(arguments, "color");
    if (!chosen) return chosen.diagnostics();
    when = *chosen == "always"  ? ColourWhen::always
           : *chosen == "never" ? ColourWhen::never
                                : ColourWhen::automatic;
  }
  const bool to_output = arguments.value_or("output", "-") == "-";
  if (to_output) set_text_style({has_colour(STDOUT_FILENO, when), width_of_terminal(STDOUT_FILENO)});
  set_colours_diagnostics(has_colour(STDERR_FILENO, when));
  // These fork, or wait for what others do.
  const bool waits = arguments.has("watch") || syntax.name == "lsp";
  show_activity("warptime " + syntax.name, ::isatty(STDERR_FILENO) != 0 && !waits);
  return {};
}

int dispatch(const Command& command, const std::vector<std::string>& words) {
  const auto arguments = parse_arguments(command.syntax, words);
  if (!arguments) return fail(wrong_command_line, arguments.diagnostics());
  if (arguments->has("help")) return print_help(command.syntax);
  if (auto wrong = check_working_directory(); !wrong.empty()) return fail(wrong_input, wrong);
  if (auto wrong = check_outputs(command.syntax, *arguments); !wrong.empty())
    return fail(wrong_command_line, wrong);
  if (auto wrong = set_up_terminal(command.syntax, *arguments); !wrong.empty())
    return fail(wrong_command_line, wrong);
  const int status = run_with_sarif(*arguments, command.run);
  hide_activity();
  return status;
}

}  // namespace

int run(const std::vector<std::string>& words) {
  end_on_signals(clean_up);
  const auto commands = all_commands();
  if (words.empty()) {
    std::fputs(short_usage(commands).c_str(), stderr);
    return wrong_command_line;
  }
  const std::string& first = words.front();
  if (first == "--version") return print(fmt::format("warptime {}\n{}\n", WARPTIME_VERSION, clang_version()));
  if (first == "--help" || first == "-h") return print_overview(commands);
  if (first == "help") return help({words.begin() + 1, words.end()}, commands);
  if (first == "complete") return complete({words.begin() + 1, words.end()}, commands);
  const Command* command = find_command(first, commands);
  if (command == nullptr) return unknown_command(first.empty() ? "''" : first, commands);
  return dispatch(*command, {words.begin() + 1, words.end()});
}

}  // namespace warptime::cli
