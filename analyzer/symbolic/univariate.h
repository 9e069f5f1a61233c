// An expression's number for many numbers of one leaf, such as a thread index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::analysis {

// A symbolic expression compiled for evaluation with many numbers of one of its leaves.
class UnivariateExpr {
 public:
  // SymbolicExprs must outlive it, and may grow during its lifetime.
  UnivariateExpr(const SymbolicExprs& exprs, ExprId id, ExprId leaf);
  // The expression's number if the leaf has the number `leaf`. Nothing if it depends on another leaf, or
  // overflows.
  std::optional<std::int64_t> at(std::int64_t leaf);

 private:
  struct Step {
    SymbolicOp op = SymbolicOp::constant;
    std::int64_t number = 0;
    std::uint32_t a = 0, b = 0, c = 0;  // earlier steps; of sums and products the terms, from a on, b of them
  };
  struct StepTerm {
    std::uint32_t step;
    std::int64_t coefficient;
  };
  std::uint32_t add(const SymbolicExprs& exprs, ExprId id, ExprId leaf, ExprMemo& places);
  std::optional<std::int64_t> compute(const Step& step) const;
  std::vector<Step> steps_;  // each after those it needs
  std::vector<StepTerm> terms_;
  std::vector<std::optional<std::int64_t>> numbers_;  // by step
};

}  // namespace warptime::analysis
