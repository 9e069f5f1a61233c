// An SM as docs/extended.md and sm_simulation.h say it, plain and slow: a warp's program is written out thread by thread
// before it runs, and the next instruction is found by looking at every warp. It shares no code with run_sm(), which must
// give the same cycles and counts. Not for programs with shares of warps, or with addresses that are not known: run_sm()
// draws those at random.
#pragma once

#include "simulator/sm/sm_simulation.h"

namespace warptime::test {

struct ReferenceRun {
  double cycles = 0;
  SmCounts counts;  // without what patterns say, and without sectors that are not known
  std::int64_t accesses = 0;
  double local_left_sectors = 0;
};

// All blocks of the SM, to their ends. Each array is an allocation of its own.
ReferenceRun reference_sm(const KernelProgram& program, const Bindings& values, const LaunchSize& size,
                          const SmFigures& figures, const SmOptions& options);

}  // namespace warptime::test
