// The differences between two kernel programs, as text with places in the source: the loops of both are
// walked side by side.
#pragma once

#include <string>
#include <vector>

#include "simulator/program/kernel_program.h"

namespace warptime::models {

// "loop body (line 14)": "9 → 12 instructions", "+1 strided load".
struct ProgramChange {
  std::string where;
  std::vector<std::string> what;
};

// "loop body (line 14): 9 → 12 instructions; +1 strided load"
std::string to_text(const ProgramChange& change);

// Loops of the same nesting are matched in order, those with the same count first; likewise branches (a loop
// that only came under a branch stays the same loop) and, within one body, loads and stores. Lines and the
// model's provenance do not count. Empty exactly where, apart from these, the programs are equal.
std::vector<ProgramChange> program_changes(const KernelProgram& before, const KernelProgram& after);

// "compiler: clang 19.1.7 → nvcc 13.0.88", target, flags, symbol.
std::vector<ProgramChange> provenance_changes(const Provenance& before, const Provenance& after);

}  // namespace warptime::models
