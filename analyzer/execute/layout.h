// Where variables lie: global and constant memory, shared memory of a block, local and parameter memory of a
// function's frame.
#pragma once

#include "analyzer/execute/code.h"

namespace warptime::execute {

std::uint64_t bytes_of_variable(const ptx::Variable& variable);
std::uint64_t alignment_of(const ptx::Variable& variable);

// Places the variables of the module, and makes a FunctionCode, without ops, for the kernel and every
// function that it may call: those that it names, and those that initialisers of the module's variables name.
// Errors: a called function without a body.
void lay_out(Program& program, Diagnostics& errors);

// The external functions that are executed here: vprintf, __assertfail and the like.
bool is_external(std::string_view name);

// The address of a function, for calls through registers.
std::uint64_t function_address(const Program& program, std::uint32_t function);

// Writes what `variable.initializer` says to `to` (its bytes, zero before). Errors name the variable's line.
bool initialise(const Program& program, const ptx::Variable& variable, std::span<std::byte> to,
                Diagnostics& errors);

}  // namespace warptime::execute
