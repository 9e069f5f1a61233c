// Loads from shared memory as the assembler makes them.
#pragma once

#include "simulator/program/kernel_program.h"

namespace warptime {

// ptxas makes one load of 8 or 16 bytes of loads of neighbouring words in straight code, where the addresses
// show the alignment and no store to shared memory comes between: half the wavefronts of a product of tiles,
// say. `items` hold the accesses of PTX (ItemDetail::on_chip); afterwards they hold those, a joined load in
// the place of its first part. What it moves past are calculation and global accesses of the same threads,
// never a barrier, a repeat or a condition.
void join_shared_loads(Items& items);

}  // namespace warptime
