// A module as canonical PTX text: what the parser understood, in one form. For tests and for people who
// debug.
#pragma once

#include <string>

#include "analyzer/ptx/module.h"

namespace warptime::ptx {

// Scopes are gone: registers, variables and labels stand at the top of each function, renamed where sibling
// scopes used one name for different things. Debug information and the pragmas in bodies are left out.
// parse(print(m)) prints as the same text.
std::string print(const Module& module);

// One operand of an instruction in `function`, as print() writes it where no name needs to change.
std::string print_operand(const Module& module, const Function& function, std::uint32_t operand);

}  // namespace warptime::ptx
