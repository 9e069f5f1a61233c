// Words that PTX gives a meaning: special registers, types, directives. PTX ISA up to 9.0, and what ptxas
// takes.
#pragma once

#include <string_view>

namespace warptime::ptx {

// Whether `name`, without its .x, is a special register: %tid, %laneid, %envreg3, …
bool is_special_register(std::string_view name);

// Whether variables can be declared with `type`: b32, f16x2, pred, texref, …
bool is_type(std::string_view type);

// Whether `directive` can stand in the header of a function: .maxntid, .noreturn, …
bool is_header_directive(std::string_view directive);

// Whether `selector` is a part of a register: .x, .b0, .h1, …
bool is_selector(std::string_view selector);

// Whether `word`, without its dot, is a directive alone, and never part of an opcode: reg, entry, loc, …
bool is_directive(std::string_view word);

}  // namespace warptime::ptx
