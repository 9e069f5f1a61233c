// Symbolic expressions that differ between the threads of a launch, as one number or expression for all of
// them.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::analysis {

// Takes maxima over the threads and blocks of a launch.
class ThreadMaximum {
 public:
  // `exprs` must outlive it.
  explicit ThreadMaximum(SymbolicExprs& exprs) : exprs_(exprs) {}

  // The number that an expression of threadIdx.x alone has for all threads that a block can have; nothing for
  // others.
  std::optional<std::int64_t> same_for_all_threads(ExprId expr) const;

  // The maximum of `count` over the threads and blocks; nothing where it cannot be found. Sets `differs`
  // where it is not the same for all.
  std::optional<ExprId> of(ExprId count, bool& differs);

 private:
  // How an expression changes with an index.
  enum class Direction { independent, grows, falls, unknown };
  static Direction both(Direction x, Direction y);
  static Direction reversed(Direction direction);
  Direction direction(ExprId expr, ExprId index) const;
  // Of a count of threadIdx.x alone that neither grows nor falls with it.
  std::optional<ExprId> by_trial(ExprId count, bool& differs);
  // Calls `each` with the expression's number for each thread that a block can have, until it gives false.
  // False: the expression is not of threadIdx.x alone, or has no number somewhere.
  template <class F>
  bool over_threads(ExprId expr, F each) const;

  SymbolicExprs& exprs_;
};

}  // namespace warptime::analysis
