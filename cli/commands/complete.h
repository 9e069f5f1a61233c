// What a shell may complete a command line with, and the scripts that ask for it.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/commands.h"

namespace warptime::cli {

// `warptime complete WORD...`, for the scripts of `warptime completion`: the words behind `warptime` up to the
// cursor, the last one begun, perhaps empty. Prints a candidate per line, for some with a tab and what it means,
// and `:files`, `:folders` or `:nospace` for what the shell is to do. Candidates are whole words. Never fails.
int complete(const std::vector<std::string>& words, const std::vector<Command>& commands);

}  // namespace warptime::cli
