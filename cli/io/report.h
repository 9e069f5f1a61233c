// What a command says on stderr, and its exit status.
#pragma once

#include <string_view>

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

// A command line is wrong if no input could make it right; every other mistake of the user is wrong input.
enum ExitStatus : int { done = 0, wrong_input = 1, wrong_command_line = 2, interrupted_status = 130 };

// For --help.
inline constexpr char exit_status_help[] =
    "Exit status:\n"
    "  0    done\n"
    "  1    the input is wrong: no such file, an unknown kernel, a missing parameter, code that does not "
    "compile;\n"
    "       or a check found what it looks for\n"
    "  2    the command line is wrong: an unknown option, command, GPU or format, a value that is not a "
    "number or\n"
    "       does not fit 64 bits, a missing option, options that exclude each other\n"
    "  130  interrupted (Ctrl-C)\n";

// Prints to stderr, or gives to a Capture (capture.h); messages that are not about a file begin with the program's name.
void say(const Diagnostic& diagnostic);
void say(const Diagnostics& diagnostics);
// Text that to_text() made: for what another process said.
void say_text(std::string_view text);
// For callbacks that take one diagnostic at a time.
inline constexpr auto say_each = [](const Diagnostic& diagnostic) { say(diagnostic); };
void say_note(std::string message, std::string hint = {});

// Keeps what this thread says, for work that is done in several threads at once: whoever has what end() gives says it, in the
// order of the work.
class HeldMessages {
 public:
  HeldMessages();
  HeldMessages(const HeldMessages&) = delete;
  HeldMessages& operator=(const HeldMessages&) = delete;
  ~HeldMessages();
  // No more is kept; gives what was.
  Diagnostics end();

 private:
  Diagnostics messages_, *before_ = nullptr;
};

// A log of what is said, beside stderr.
class DiagnosticLog {
 public:
  virtual ~DiagnosticLog() = default;
  // In any thread. `rule`: what kind of diagnostic it is, such as "run/out_of_bounds".
  virtual void add(const Diagnostic& diagnostic, std::string_view rule) = 0;
  // Writes the log of a command that ends with this status. Returns the status: another one where the log cannot be written.
  virtual int finish(int status) = 0;
};
inline constexpr char input_rule[] = "input", compiler_rule[] = "compiler";

// One at a time for the process; null: none.
void set_diagnostic_log(DiagnosticLog* log);
DiagnosticLog* current_diagnostic_log();
// Only into the log, if there is one: what stderr has no line for, or in another form.
void log_only(const Diagnostic& diagnostic, std::string_view rule);
// Not into the log.
void say_only(const Diagnostic& diagnostic);

// Prints, and returns the status.
int fail(ExitStatus status, const Diagnostics& diagnostics);

}  // namespace warptime::cli
