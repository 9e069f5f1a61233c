// The machine instructions that ptxas made of each PTX instruction of a kernel, from the lines in the machine code.
#pragma once

#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/machine_code.h"
#include "simulator/program/machine_work.h"

namespace warptime::machine {

struct InstructionWork {
  MachineWork inside;   // of an execution
  MachineWork hoisted;  // of an instruction in a loop: what is executed before the loop
};
struct KernelWork {
  std::vector<InstructionWork> each;  // by instruction of the code's function
  MachineWork entry;                  // what belongs to no instruction
};

// A loop that ptxas unrolls, or code that it duplicates, has several copies of a line: those of instructions that become
// one machine instruction each (loads, stores, multiply-adds) tell how many copies their basic block has, and an execution
// is one of them. What lies outside of the kernel's own code, such as the slow path of a division, is not counted.
// cfg: of the code. target: 90 of sm_90.
KernelWork work_of(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
                   int target);

}  // namespace warptime::machine
