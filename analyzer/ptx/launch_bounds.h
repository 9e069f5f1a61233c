// What the directives of a kernel say of its launches and its registers.
#pragma once

#include <optional>

#include "analyzer/ptx/module.h"

namespace warptime::ptx {

struct LaunchBounds {
  std::optional<int> max_threads;       // .maxntid: threads of a block, all three dimensions
  std::optional<int> required_threads;  // .reqntid
  std::optional<int> min_blocks;        // .minnctapersm: blocks of an SM
  std::optional<int> max_registers;     // .maxnreg: of a thread
};

// A directive without a number, with zero, or with more than an int holds says nothing.
LaunchBounds launch_bounds(const Function& function);

}  // namespace warptime::ptx
