// What a command says on stderr, and its exit status.
#pragma once

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

// A command line is wrong where nothing that is read could make it right; everything else that the user can
// mend is input.
enum ExitStatus : int { done = 0, wrong_input = 1, wrong_command_line = 2, interrupted_status = 130 };

// What --help says of it.
inline constexpr char exit_status_help[] =
    "Exit status: 0 done; 1 the input is wrong, which only reading it could show (no such file, an unknown "
    "kernel, a missing\n"
    "parameter, code that does not compile); 2 the command line is wrong (an unknown option, command, GPU or "
    "format, a value\n"
    "that is no number or does not fit 64 bits, an option that is missing or does not go with another); 130 "
    "interrupted (Ctrl-C).\n";

// Prints to stderr; messages that are about no file begin with the program's name.
void say(const Diagnostic& diagnostic);
void say(const Diagnostics& diagnostics);
// What calls back with one diagnostic at a time takes this one.
inline constexpr auto say_each = [](const Diagnostic& diagnostic) { say(diagnostic); };
void say_note(std::string message, std::string hint = {});

// Prints, and gives the status back.
int fail(ExitStatus status, const Diagnostics& diagnostics);

}  // namespace warptime::cli
