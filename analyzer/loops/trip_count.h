// How often loops run: closed forms over kernel arguments, launch dimensions and the counters of enclosing
// loops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/loops/closed_forms.h"
#include "analyzer/loops/thread_maximum.h"
#include "analyzer/symbolic/evaluate.h"

namespace warptime::analysis {

struct TripCount {
  // How often the exiting block `from` runs each time the loop is entered; none: no closed form.
  std::optional<ExprId> count;
  // The exit that the count is for; every iteration reaches it. Index into Loop::exits; none: no such exit.
  std::uint32_t exit = none;
  // Whether there are other exits, or no exit with a closed form.
  bool has_other_exits = false;
  std::string why_not;  // without a count: why
  // Whether the count differs between the threads of the launch, and the maximum over threads was taken.
  bool maximum_over_threads = false;
  // Then the count of one thread, over threadIdx and blockIdx.
  std::optional<ExprId> per_thread = {};
  // Whether no maximum could be found, and the larger of the first and the last thread's counts was taken.
  bool of_ends = false;
  // Whether a part of the exit's condition that has no closed form may end the loop earlier.
  bool may_end_earlier = false;
  // A step that the count takes to be positive.
  std::optional<ExprId> positive_step = {};
  // Further exits, at the end of an iteration, that have closed forms: the loop ends at whichever comes
  // first. Their blocks, and how often the first of them is reached (of one thread, where threads differ). `count` and
  // `per_thread` then heed them: `per_thread` is how many iterations a thread begins; `count` is one more where it is
  // another exit that ends the loop, as if this one were reached once more. This exit alone: `own_count`.
  std::vector<std::uint32_t> heeded = {};
  std::optional<ExprId> until = {};
  std::optional<ExprId> own_count = {}, own_per_thread = {};
};

// Finds the trip counts of a kernel's loops and resolves symbolic expressions with them.
class LoopAnalysis {
 public:
  // `evaluator` must outlive it.
  explicit LoopAnalysis(Evaluator& evaluator)
      : evaluator_(evaluator),
        forms_(evaluator, [this](std::uint32_t loop) { return last_iteration(loop); }),
        maximum_(evaluator.exprs()) {}
  LoopAnalysis(const LoopAnalysis&) = delete;
  LoopAnalysis& operator=(const LoopAnalysis&) = delete;

  const TripCount& trip_count(std::uint32_t loop);

  // `expr` as it is read in loop `context` (none: outside all loops): registers that loops change replaced by
  // their closed forms, counters of loops that do not enclose `context` by their last value. What has no
  // closed form stays a phi.
  ExprId resolve(ExprId expr, std::uint32_t context) { return forms_.resolve(expr, context); }

  // The same of the index of an access, where `facts` hold: registers that loops move periodically, as
  // (k + 1) mod N, have closed forms, too. Divisions round down.
  ExprId resolve_index(ExprId expr, std::uint32_t context, const Facts& facts) {
    ClosedForms forms(
        evaluator_, [this](std::uint32_t loop) { return last_iteration(loop); }, &facts);
    return without_nested_remainders(evaluator_.exprs(), forms.resolve(expr, context));
  }

  // The number that an expression of threadIdx.x alone has for all threads of the largest block; nothing for
  // other expressions.
  std::optional<std::int64_t> same_for_all_threads(ExprId expr) const {
    return maximum_.same_for_all_threads(expr);
  }

 private:
  TripCount find_trip_count(std::uint32_t loop);
  bool is_in_every_iteration(std::uint32_t block, std::uint32_t loop) const;
  ExprId stay_condition(const Loop::Exit& exit, std::uint32_t index);
  void heed_other_exits(std::uint32_t loop, TripCount& trip);
  ExprId last_iteration(std::uint32_t loop);
  bool is_open(std::uint32_t loop) const;

  Evaluator& evaluator_;
  ClosedForms forms_;
  ThreadMaximum maximum_;
  std::unordered_map<std::uint32_t, TripCount> trip_counts_;
  std::vector<std::uint32_t> open_loops_;  // whose trip count is being found
};

}  // namespace warptime::analysis
