// Which buffers and shared arrays an address may point to by what it is computed from.
#pragma once

#include "analyzer/execute/code.h"
#include "analyzer/execute/memory.h"

namespace warptime::execute {

// Sets DecodedInstruction::owners of a kernel's accesses, and FunctionCode::shared_arrays. Whatever may hold an address
// for another reason, as a value loaded from memory or given by a call, makes them unknown.
void find_owners(const Program& program, const ptx::Function& kernel, FunctionCode& code);

// Sets Buffer::owners by the arguments of a launch.
void give_owners(const Program& program, Memory::State& memory, const std::vector<Argument>& arguments);

}  // namespace warptime::execute
