// How many machine instructions PTX instructions become, on average, by context: measured on what ptxas makes of real
// code. A file in tables/ for each target, which make_tables writes.
//
//   # operation,use,operands,samples,<pipe>,…            machine instructions on each pipe; "*": any
//   add.i64,address1,mp,2210,0.012,0.994,…
//   add.i64,address1,*,4711,…
//   add.i64,*,*,9042,…
//   *,*,*,120000,…
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine/context.h"
#include "simulator/base/diagnostic.h"
#include "simulator/program/machine_work.h"

namespace warptime::machine {

class CostTable {
 public:
  // Errors (with line): too few fields, what is no number.
  static Result<CostTable> read(std::string_view csv, const std::string& file);

  // That of the line that fits best: the context's own, else that of its operation and use, of its operation, of all.
  const MachineWork& find(const Context& context) const;

 private:
  std::map<std::string, MachineWork, std::less<>> lines_;  // by "operation,use,operands"
};

// The targets that have a table, oldest first: sm_75, …
std::vector<std::string> table_targets();
// The table of the newest target that is not newer than `target`; else the oldest. `used` is that target.
const CostTable& table_of(std::string_view target, std::string& used);

// The estimate for each instruction of a kernel.
std::vector<MachineWork> estimate(const analysis::KernelCode& code, const CostTable& table);

}  // namespace warptime::machine
