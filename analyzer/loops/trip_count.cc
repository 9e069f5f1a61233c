#include "analyzer/loops/trip_count.h"

#include <algorithm>
#include <utility>

#include "analyzer/loops/exit_conditions.h"
#include "analyzer/loops/halved_interval.h"

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
    if (!is_in_every_iteration(from, loop_index)) continue;
    if (result.exit == none) result.exit = e;
    if (cfg.blocks[from].successors.size() != 2) continue;
    const auto stay = stay_condition(loop.exits[e], loop_index);
    ExitSolver solver(evaluator_, loop_index);
    if (const auto of_thread = halvings(evaluator_, forms_, loop_index, stay)) {
      result.exit = e;
      result.count = of_thread;
      if ((evaluator_.dependence(*of_thread) & on_thread) == 0) return result;
      result.per_thread = of_thread;
      result.count = maximum_.of(*of_thread, result.maximum_over_threads);
      result.of_ends = !result.count;
      if (!result.count) result.count = maximum_.of_ends(*of_thread);
      result.maximum_over_threads = true;
      return result;
    }
    if (const auto count = solver.count(stay)) {
      result.exit = e;
      result.count = count;
      result.maximum_over_threads = solver.took_maximum();
      if (result.maximum_over_threads) result.per_thread = solver.per_thread();
      result.of_ends = solver.of_ends();
      result.may_end_earlier = solver.may_end_earlier();
      result.has_other_exits = result.has_other_exits || result.may_end_earlier;
      result.positive_step = solver.positive_step();
      heed_other_exits(loop_index, result);
      return result;
    }
  }
  result.why_not = result.exit == none ? "none of its exits is in every iteration"
                                       : "its exit condition has no closed form over the kernel's arguments";
  return result;
}

bool LoopAnalysis::is_in_every_iteration(std::uint32_t block, std::uint32_t loop) const {
  const auto& cfg = evaluator_.cfg();
  const auto& latches = cfg.loops[loop].latches;
  return cfg.blocks[block].loop == loop &&
         std::all_of(latches.begin(), latches.end(), [&](auto latch) { return cfg.dominates(block, latch); });
}

// Of an exit whose block has two successors.
ExprId LoopAnalysis::stay_condition(const Loop::Exit& exit, std::uint32_t index) {
  const auto& block = evaluator_.cfg().blocks[exit.from];
  const auto guard = resolve(evaluator_.guard(block.end - 1), index);
  return block.successors[0] == exit.to ? evaluator_.exprs().logical_not(guard) : guard;
}

// Where an exit at the end of the iteration, behind the counted one, has a closed form as well, the loop ends at the first of
// both. (Behind an exit in the middle of the iteration some threads execute what is left of it.)
void LoopAnalysis::heed_other_exits(std::uint32_t loop_index, TripCount& trip) {
  const auto& cfg = evaluator_.cfg();
  const auto& loop = cfg.loops[loop_index];
  if (loop.exits.size() < 2 || trip.positive_step) return;
  auto& exprs = evaluator_.exprs();
  const auto counted = loop.exits[trip.exit].from;
  std::optional<ExprId> most;
  bool differs = false;
  for (std::uint32_t e = 0; e < loop.exits.size(); ++e) {
    const auto from = loop.exits[e].from;
    const bool at_end = std::find(loop.latches.begin(), loop.latches.end(), from) != loop.latches.end();
    if (e == trip.exit || !at_end || cfg.blocks[from].successors.size() != 2 ||
        !cfg.dominates(counted, from) || !is_in_every_iteration(from, loop_index))
      continue;
    ExitSolver solver(evaluator_, loop_index);
    const auto count = solver.count(stay_condition(loop.exits[e], loop_index));
    if (!count || solver.may_end_earlier() || solver.of_ends() || solver.positive_step()) continue;
    const auto of_thread = solver.took_maximum() ? solver.per_thread().value_or(*count) : *count;
    differs = differs || solver.took_maximum();
    most = most ? exprs.minimum(*most, *count) : *count;
    trip.until = trip.until ? exprs.minimum(*trip.until, of_thread) : of_thread;
    trip.heeded.push_back(from);
  }
  if (!most) return;
  trip.own_count = trip.count;
  trip.own_per_thread = trip.per_thread;
  if (trip.per_thread || differs)
    trip.per_thread = exprs.minimum(trip.per_thread.value_or(*trip.count), *trip.until);
  trip.maximum_over_threads = trip.maximum_over_threads || differs;
  trip.count = exprs.minimum(*trip.count, exprs.add(*most, exprs.constant(1)));
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
  const auto iterations = trip.per_thread ? *trip.per_thread
                          : trip.until    ? exprs.minimum(*trip.own_count, *trip.until)
                                          : *trip.count;
  return exprs.add(iterations, exprs.constant(-1));
}

}  // namespace warptime::analysis
