// How often loops run: closed forms over kernel arguments, launch dimensions and the counters of enclosing
// loops. A register that a loop changes by the same amount each turn is start + step · counter; one that it
// doubles, start · 2^counter; the loop's exit condition, solved for the counter, is the trip count.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/symbolic/evaluate.h"

namespace warptime::analysis {

struct TripCount {
  // Times that the exiting block `from` runs each time the loop is entered; none: no closed form.
  std::optional<ExprId> count;
  // The exit that the count is for: it is in every turn. Index into Loop::exits; none: no such exit.
  std::uint32_t exit = none;
  // Where there are other exits, or none with a closed form.
  bool has_other_exits = false;
  std::string why_not;  // where there is no count: what stands in the way
  // Set where the count differs between the threads of the launch, and that of the busiest was taken.
  bool maximum_over_threads = false;
};

class LoopAnalysis {
 public:
  explicit LoopAnalysis(Evaluator& evaluator) : evaluator_(evaluator), exprs_(evaluator.values()) {}

  const TripCount& trip_count(std::uint32_t loop);

  // `value` as it is read in loop `context` (none: outside all loops): registers that loops change replaced
  // by their closed forms, counters of loops that do not enclose `context` by their last value. What has no
  // closed form stays a phi.
  ExprId resolve(ExprId value, std::uint32_t context);

  // The number that a value of threadIdx.x alone is for all threads that a block can have; nothing for
  // others.
  std::optional<std::int64_t> same_for_all_threads(ExprId value) const;

 private:
  ExprId closed_form(std::uint32_t phi, std::uint32_t context);
  ExprId recurrence(std::uint32_t phi, std::uint32_t loop);
  ExprId merge(std::uint32_t phi, std::uint32_t context);
  struct Way {  // into a block: from which predecessor, and what it brings
    std::uint32_t from;
    ExprId value;
  };
  std::optional<ExprId> selected(std::uint32_t block, const std::vector<Way>& ways, int depth);
  bool invariant(ExprId value, std::uint32_t loop);
  ExprId leave_loops(ExprId value, std::uint32_t context);
  TripCount find_trip_count(std::uint32_t loop);
  std::optional<ExprId> solve(ExprId stay, std::uint32_t loop, bool& busiest);
  std::optional<ExprId> solve_comparison(SymbolicOp op, ExprId a, ExprId b, std::uint32_t loop,
                                         bool& busiest);
  std::optional<ExprId> solve_geometric(SymbolicOp op, ExprId a, ExprId b, std::uint32_t loop);
  struct Power {
    std::int64_t k = 0, c = 0;
  };
  Power power_of_counter(ExprId atom, std::uint32_t loop);
  std::optional<ExprId> solve_growing(ExprId grows, ExprId most, std::uint32_t loop);
  std::optional<ExprId> solve_shrinking(ExprId shrinks, ExprId least, std::uint32_t loop);
  ExprId turns_until_power(ExprId ratio, Power power);
  std::optional<ExprId> busiest(ExprId count, bool& changed);
  std::optional<ExprId> busiest_by_trial(ExprId count, bool& changed);
  // Calls `each` with the value's number for each thread that a block can have, until it gives false. False:
  // it is not of threadIdx.x alone, or has no number somewhere.
  template <class F>
  bool over_threads(ExprId value, F each) const;

  Evaluator& evaluator_;
  SymbolicExprs& exprs_;
  std::unordered_map<std::uint32_t, TripCount> trip_counts_;
  std::unordered_map<std::uint64_t, ExprId> closed_forms_;  // (phi, context)
  static constexpr std::size_t not_touched = ~std::size_t{0};
  std::vector<std::uint32_t> open_;           // phis whose closed form is being found, outermost first
  std::size_t lowest_touched_ = not_touched;  // the outermost of them that was met meanwhile
  std::size_t depth_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> open_loops_;
};

}  // namespace warptime::analysis
