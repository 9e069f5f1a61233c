// What a warp executed, held against what the items of its program say that they wait for: ItemDetail::needs.
#pragma once

#include <string>

#include "analyzer/execute/execute.h"
#include "simulator/program/expression/expression.h"
#include "simulator/program/kernel_program.h"

namespace warptime::execute::testing {

struct Waited {
  bool compared = false;  // the warp executed what the program says, without calls
  std::string wrong;      // the first instruction that read the result of a load too early; empty: none did
  int reads = 0;          // of results of loads
};

// Each result of a load is followed through the registers of the warp that executed `stream`: an instruction that reads
// it must belong to an item that waits for the load, or stand behind one that has since the load was executed. Moves
// read nothing; what they write has the result, too. In the order of what rises, a load stays behind what its address
// waits for. `kernel`: index into Module::functions.
Waited waited(const KernelProgram& program, const Bindings& bindings, const ptx::Module& module,
              std::uint32_t kernel, const Stream& stream);

}  // namespace warptime::execute::testing
