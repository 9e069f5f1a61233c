// Cutting runs of calculation into parts.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/periods/lower.h"
#include "analyzer/periods/notes.h"

namespace warptime::periods {

// The parts of a run of calculation that has its instructions (ItemDetail::made_of): `cuts` are the places among them
// where parts begin, ascending, without the first. Each part executes at least one instruction. The parts have the
// lines, the instructions and the accesses on the chip that are theirs, the last one the barrier.
Items cut(const Item& run, const std::vector<std::size_t>& cuts, const std::vector<InstructionRole>& roles,
          const Notes& notes);

}  // namespace warptime::periods
