// A kernel program as models take it: with durations for the accesses that leave theirs open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/program/memory_durations.h"

namespace warptime {

struct TimedProgram {
  std::shared_ptr<const KernelProgram> program;  // not null
  MemoryDurations durations;
  std::vector<std::string> names;  // that its expressions use: what it needs values for
};

}  // namespace warptime
