// A kernel program as the comparison sees it: for each loop what one iteration does, and the branches and
// loops inside.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/program/kernel_program.h"

namespace warptime::models {

struct PlacedAccess {
  MemoryAccess access;
  int line = 0;  // of the source; 0: unknown
};

// What stands directly in the program, a loop's body or one side of a branch.
struct Straight {
  std::int64_t instructions = 0;
  std::vector<std::string> other_counts;  // instruction counts that are expressions, and `calc` cycles
  std::vector<PlacedAccess> accesses;
};

// One side of a branch. Those of one iteration are in one list, however deep: their conditions tell them
// apart.
struct BranchRegion {
  std::string condition;
  bool otherwise = false;  // the `else` side
  int line = 0;
  Straight straight;
};

struct LoopRegion {
  std::string count;  // of iterations
  int line = 0;
  Straight straight;
  std::vector<BranchRegion> branches;
  std::vector<LoopRegion> loops;  // also those under branches
};

// The program itself is a loop of one iteration.
LoopRegion regions_of(const Items& program);

}  // namespace warptime::models
