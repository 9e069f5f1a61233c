// The maximum over threads of symbolic expressions that differ between the threads of a launch.
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

  // The number that an expression of threadIdx.x alone has for all threads of the largest block; nothing for
  // other expressions.
  std::optional<std::int64_t> same_for_all_threads(ExprId expr) const;

  // The maximum of `count` over the threads and blocks; nothing if it cannot be found. Sets `differs` if it
  // is not the same for all.
  std::optional<ExprId> of(ExprId count, bool& differs);

  // A bound of the counts of a window that the ends of an array cut, `min(n, i + r) - max(0, i - r)`: each minimum, and each
  // maximum that is subtracted, is no more than either of its operands. A number where there is one; nothing if no bound
  // is found, or there are more than `most_choices` such operators.
  std::optional<ExprId> of_window(ExprId count, int most_choices = 4);

  // The larger of the counts of the launch's first and last thread.
  ExprId of_ends(ExprId count);

  // `expr` with its remainders of indices, `x % d` for a number d, at their least, or at their largest: the bound of `expr`
  // over the threads that differ in them alone.
  ExprId without_remainders(ExprId expr, bool least);

 private:
  // How an expression changes with an index.
  enum class Direction { independent, grows, falls, unknown };
  static Direction both(Direction x, Direction y);
  static Direction reversed(Direction direction);
  Direction direction(ExprId expr, ExprId index) const;
  // For a count of threadIdx.x alone that is not monotonic.
  std::optional<ExprId> by_trial(ExprId count, bool& differs);
  // Calls `each` with the expression's number for each thread of the largest block, until it returns false.
  // False: the expression depends on more than threadIdx.x, or has no number for some thread.
  template <class F>
  bool over_threads(ExprId expr, F each) const;

  SymbolicExprs& exprs_;
};

}  // namespace warptime::analysis
