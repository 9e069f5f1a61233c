// A kernel program as input of a model, with durations for the accesses that leave theirs open.
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
  std::vector<std::string> names;  // used by its expressions; each needs a value
};

}  // namespace warptime
