// Mathematical functions of constants, which nvcc computes while it compiles.
#pragma once

#include <llvm/IR/PassManager.h>

namespace warptime::compiling {

// Replaces calls of NVVM's logarithm, power of two, sine and cosine, sums and products that round otherwise, roundings, conversions
// and bit patterns whose arguments are constants, by their values. LLVM 19 folds none of them, so that `__log2f(16)` stays an
// instruction, and a loop that it bounds has no count. Roots that are approximations stay as they are: nvcc keeps them, too.
class FoldMathOfConstants : public llvm::PassInfoMixin<FoldMathOfConstants> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace warptime::compiling
