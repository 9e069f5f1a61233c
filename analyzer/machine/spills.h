// Values that do not fit the registers of a thread: ptxas stores them to local memory and loads them where they are read.
#pragma once

#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/kernel_work.h"
#include "simulator/program/kernel_program.h"

namespace warptime::machine {

// What is expected with so many registers of 32 bits for values: as the values are alive in the order of the PTX, with that one
// spilled whose next use is farthest (Belady 1966, A study of replacement algorithms for a virtual-storage computer). Nothing for
// kernels that are too large to look at.
std::vector<Spill> expected_spills(const analysis::KernelCode& code, const analysis::Cfg& cfg, int registers);

// Adds them to the items of the instructions, as accesses to local memory (ItemDetail::on_chip). `slots`: also as machine
// instructions.
void add_spills(KernelProgram& program, const std::vector<Spill>& spills, bool slots);

}  // namespace warptime::machine
