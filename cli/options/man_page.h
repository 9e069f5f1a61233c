// Manual pages, in the man(7) macros, from what --help shows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options/arguments.h"

namespace warptime::cli {

// Page `warptime-NAME` of section 1, as long as help_text() and with the same words.
std::string man_page(const CommandSyntax& syntax);

// Page `warptime`: what the program is for, its commands, and examples as CommandSyntax has them.
std::string man_page_of_program(const std::string& summary, const std::vector<CommandSyntax>& commands,
                                const std::string& examples);

}  // namespace warptime::cli
