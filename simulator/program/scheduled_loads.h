// A kernel program as ptxas schedules it: loops unrolled, and loads ahead of what does not need them.
#pragma once

#include "simulator/program/kernel_program.h"

namespace warptime {

// Changes items so that their loads are in flight together as in the machine code:
//  - an innermost loop without a barrier is repeated in the pieces that ptxas unrolls it into (Repeat::unrolled); where
//    the program does not say, as ptxas and NVVM unroll such loops: a loop that the PTX has unrolled by four, four times
//    more, one with a constant step sixteen times. What is left of its iterations is a loop of its own. Pieces of more than
//    a thousand instructions stay iterations: in them ptxas leaves loads where they are.
//  - a load of such a piece rises past what does not need it, but not past stores that may change it, and so does a load behind a
//    short branch of its own, which becomes a predicated one, unless the program has its registers from ptxas, and so its order. The first load of an iteration passes the last store of the
//    iteration before, if that goes to other words of the same array.
//  - an access to constants whose address follows from the counter of a loop that is one in the machine code, too, is
//    marked: ChipAccess::index.
// Loads are numbered anew (ItemDetail::needs). What a warp executes, and which addresses it accesses, stays the same; but
// where its threads make different numbers of iterations, those that are left are made apart, as by the machine code.
void schedule_loads(KernelProgram& program);

}  // namespace warptime
