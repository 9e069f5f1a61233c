#include "analyzer/loops/trip_count.h"

#include <algorithm>
#include <utility>

#include "analyzer/loops/exit_conditions.h"

namespace warptime::analysis {

const TripCount& LoopAnalysis::trip_count(std::uint32_t loop) {
  if (const auto it = trip_counts_.find(loop); it != trip_counts_.end()) return it->second;
  static const TripCount open{std::nullopt, none, false, "its count depends on itself", false};
  if (is_open(loop)) return open;
  open_loops_.push_back(loop);
  TripCount found;
  {
    const ClosedForms::Separate question(forms_);
    found = find_trip_count(loop);
  }
  open_loops_.pop_back();
  return trip_counts_[loop] = std::move(found);
}

TripCount LoopAnalysis::find_trip_count(std::uint32_t loop_index) {
  const auto& cfg = evaluator_.cfg();
  const auto& loop = cfg.loops[loop_index];
  TripCount result;
  result.has_other_exits = loop.exits.size() > 1;
  if (loop.exits.empty()) {
    result.why_not = "the loop has no exit";
    return result;
  }
  for (std::uint32_t e = 0; e < loop.exits.size(); ++e) {
    const auto from = loop.exits[e].from;
    const bool every_iteration = cfg.blocks[from].loop == loop_index &&
                                 std::all_of(loop.latches.begin(), loop.latches.end(),
                                             [&](auto latch) { return cfg.dominates(from, latch); });
    if (!every_iteration) continue;
    if (result.exit == none) result.exit = e;
    const auto& block = cfg.blocks[from];
    if (block.successors.size() != 2) continue;
    const auto guard = resolve(evaluator_.guard(block.end - 1), loop_index);
    const auto stay = block.successors[0] == loop.exits[e].to ? evaluator_.exprs().logical_not(guard) : guard;
    ExitSolver solver(evaluator_, loop_index);
    if (const auto count = solver.count(stay)) {
      result.exit = e;
      result.count = count;
      result.maximum_over_threads = solver.took_maximum();
      if (result.maximum_over_threads) result.per_thread = solver.per_thread();
      result.of_ends = solver.of_ends();
      result.may_end_earlier = solver.may_end_earlier();
      result.has_other_exits = result.has_other_exits || result.may_end_earlier;
      result.positive_step = solver.positive_step();
      return result;
    }
  }
  result.why_not = result.exit == none ? "none of its exits is in every iteration"
                                       : "its exit condition has no closed form over the kernel's arguments";
  return result;
}

bool LoopAnalysis::is_open(std::uint32_t loop) const {
  return std::find(open_loops_.begin(), open_loops_.end(), loop) != open_loops_.end();
}

ExprId LoopAnalysis::last_iteration(std::uint32_t loop) {
  auto& exprs = evaluator_.exprs();
  if (is_open(loop)) return exprs.counter(loop);
  const auto trip = trip_count(loop);
  if (!trip.count) return exprs.opaque(on_unknown);
  // Each thread leaves it in an iteration of its own.
  return exprs.add(trip.per_thread.value_or(*trip.count), exprs.constant(-1));
}

}  // namespace warptime::analysis
