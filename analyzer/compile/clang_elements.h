// How many elements of a structure or an array one access takes, as nvcc has it.
#pragma once

#include <llvm/IR/PassManager.h>

namespace warptime::compiling {

// The first passes: what the source copies as a whole becomes copies of its elements.
void copy_elements(llvm::FunctionPassManager& passes);

// The last passes: elements that lie in one aligned piece of memory are accessed at once.
void widen_accesses(llvm::FunctionPassManager& passes);

}  // namespace warptime::compiling
