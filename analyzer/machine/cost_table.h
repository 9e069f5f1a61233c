// How many machine instructions PTX instructions become, on average, by context: measured on what ptxas makes
// of real code, for what the rules of lowering.h do not decide. A file in tables/ for each target, which
// warptime_make_machine_table writes.
//
//   # operation,use,operands,samples,<pipe>,…            machine instructions on each pipe; "*": any
//   add.i64,address1,mp,2210,0.012,0.994,…
//   add.i64,*,mp,4711,…
//   add.i64,*,*,9042,…
//   *,*,*,120000,…
//   sin.approx.f32,alone,*,8,0,1,…         of the opcode, whatever is around it (alone_costs.h)
//
// Of an instruction in a loop, the use has the kind of the loop behind it (`@outer`, `@rolled`, `@unrolled`).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/machine/context.h"
#include "analyzer/machine/kernel_work.h"
#include "analyzer/machine/machine_code.h"
#include "simulator/base/diagnostic.h"
#include "simulator/program/machine_work.h"

namespace warptime::machine {

class CostTable {
 public:
  // Errors (with line): too few fields, what is no number.
  static Result<CostTable> read(std::string_view csv, const std::string& file);

  // What an execution costs. That of the line that fits best: the context's own, else that of its operation
  // and operands, of its operation, of all. A line that says what the next one says is left out.
  const MachineWork& find(const Context& context) const;

  // What an opcode costs whatever is around it; null: that is not known.
  const MachineWork* find_alone(std::string_view opcode) const;

  int target = 90;  // of sm_90

 private:
  const MachineWork& find(const Context& context, std::string_view where) const;
  std::unordered_map<std::string, MachineWork> lines_;  // by "operation,use,operands"
};

// The targets that have a table, oldest first: sm_75, …
std::vector<std::string> table_targets();
// The table of the newest target that is not newer than `target`; else the oldest. `used` is that target.
const CostTable& table_of(std::string_view target, std::string& used);

// What a table has behind the use of an instruction in such a loop: `@rolled`.
std::string_view suffix_of(LoopKind loop);

// A block that ptxas executes under a predicate, wherever the block is executed that ends with the branch.
struct Predicated {
  std::uint32_t block = 0;
  std::uint32_t branch = 0;  // the instruction
};

struct Estimate {
  std::vector<MachineWork> each;  // of an execution, by instruction of the code's function
  std::vector<LoopWork> loops;    // by loop of the control-flow graph; may be empty
  MachineWork once;               // of a warp, beside these: at the entry, before loops, and the exit
  std::vector<Spill> spills;      // part of `each`
  // By instruction: its rank in the machine code, as the list scheduler orders each block (list_schedule.h). analysis::none: it
  // has none, or is in a block that ptxas unrolls. Empty where the machine code is known.
  std::vector<std::uint32_t> places;
  std::vector<Predicated> predicated;
  // By basic block: the first of those that the list scheduler takes for one. Empty as `places`.
  std::vector<std::uint32_t> chains;
};
Estimate estimate(const analysis::KernelCode& code, const analysis::Cfg& cfg, const CostTable& table);
// The same of what ptxas made of the kernel.
Estimate counted(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
                 int target);

}  // namespace warptime::machine
