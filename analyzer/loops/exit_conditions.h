// How many iterations a loop runs, from the condition under which it continues.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/loops/thread_maximum.h"
#include "analyzer/symbolic/evaluate.h"

namespace warptime::analysis {

// Solves the exit condition of one loop for the loop's counter.
class ExitSolver {
 public:
  // Both must outlive it.
  ExitSolver(Evaluator& evaluator, std::uint32_t loop)
      : evaluator_(evaluator), exprs_(evaluator.exprs()), loop_(loop), maximum_(exprs_) {}

  // How often the exiting block runs if the loop continues while `stay` holds; nothing without a closed form.
  std::optional<ExprId> count(ExprId stay);
  // Whether counts differed between threads, and the maximum over threads was taken.
  bool took_maximum() const { return took_maximum_; }
  // The count of one thread, then.
  std::optional<ExprId> per_thread() const { return per_thread_; }
  // Whether it is not the maximum, but that of the first or the last thread.
  bool of_ends() const { return of_ends_; }
  // Whether a part of the condition that has no closed form may end the loop earlier.
  bool may_end_earlier() const { return may_end_earlier_; }
  // A step of which no fact shows that it is positive.
  std::optional<ExprId> positive_step() const { return positive_step_; }

 private:
  // The exponent k · t + c of a power of two, t the loop's counter.
  struct Power {
    std::int64_t k = 0, c = 0;
  };
  bool holds_in_all_iterations(ExprId condition);
  std::optional<ExprId> of_comparison(ExprId stay);
  std::optional<ExprId> linear(SymbolicOp op, ExprId a, ExprId b);
  bool counts_down_past_zero(SymbolicOp op, ExprId x, ExprId bound);
  std::optional<ExprId> at_most(ExprId of_thread);
  std::optional<ExprId> iterations_until(SymbolicOp op, ExprId start, ExprId slope);
  std::optional<ExprId> geometric(SymbolicOp op, ExprId a, ExprId b);
  std::optional<ExprId> growing(ExprId grows, ExprId most);
  std::optional<ExprId> shrinking(ExprId shrinks, ExprId least);
  Power power_of_counter(ExprId atom);
  ExprId iterations_until_power(ExprId ratio, Power power);
  bool invariant(ExprId expr) const;
  int direction_of(ExprId slope);

  Evaluator& evaluator_;
  SymbolicExprs& exprs_;
  std::uint32_t loop_;
  ThreadMaximum maximum_;
  bool took_maximum_ = false, of_ends_ = false, may_end_earlier_ = false;
  std::optional<ExprId> positive_step_;
  std::optional<ExprId> per_thread_;
};

}  // namespace warptime::analysis
