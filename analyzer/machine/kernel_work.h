// The machine instructions that ptxas made of a kernel: how often each is executed, told in executions of the
// kernel's PTX.
//
// Each basic block of the machine code has a home: the block of the PTX that is executed as often. What
// cannot leave its place tells it: stores, loads, barriers, branches, by the PTX line that ptxas notes. Other
// instructions say little: ptxas moves them out of loops, before branches and behind them. So the work of a
// machine block is the work of its home, whatever lines it was made of; where ptxas joined several blocks that are
// executed as often as each other, each has the part that its lines have.
//
//   PTX                  machine code                       work
//   entry                entry, hoisted from the loop       entry: 12
//   loop: n iterations   body body body body, while n >= 4  loop: 5 for an iteration, in pieces of 4
//                        body, for the rest                 2 more for a piece of 1
//   ret                  store, exit                        ret: 3
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/machine_code.h"
#include "simulator/program/kernel_program.h"
#include "simulator/program/machine_work.h"

namespace warptime::machine {

// What ptxas made of a line of the PTX, wherever it is executed: for tables of means.
struct LineWork {
  MachineWork inside;   // of an execution
  MachineWork hoisted;  // of an instruction in a loop: what is executed before the loop
};
struct LoopWork {
  MachineWork entry;                  // each time that the loop is reached
  std::vector<UnrolledPiece> pieces;  // see Repeat::unrolled
  bool whole = false;                 // the machine code has no such loop: its iterations follow each other
};
// An access to local memory of a value that does not fit the registers of a thread.
struct Spill {
  std::uint32_t line = 0;  // of the PTX instruction that needs the value, or whose result needs its register
  bool store = false;
  int bytes = 4;     // of a thread
  int offset = 0;    // from the beginning of what the thread has in local memory, in bytes
  double times = 1;  // for an execution of the instruction: less than one where ptxas made copies of it
};
struct KernelWork {
  std::vector<LineWork> lines;    // by instruction of the code's function
  std::vector<MachineWork> each;  // by instruction of the code's function: of an execution of its block
  std::vector<LoopWork> loops;    // by loop of the control-flow graph
  MachineWork once;               // of a warp: what belongs to no block
  std::vector<Spill> spills;      // in the order of the machine code; they are part of the work
  MachineWork unknown;            // for tables: of a warp, what belongs to no line
};

// cfg: of the code. target: 90 of sm_90. Slow paths, of a division with subnormal operands, say, are taken
// not to be executed.
KernelWork work_of(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
                   int target);

}  // namespace warptime::machine
