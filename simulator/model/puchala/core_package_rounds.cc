#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "simulator/model/puchala/round_simulation.h"

namespace warptime {
namespace {

constexpr double kNever = Round::kNever;
// The tolerance for a recurring state, relative to the time until it recurs; it bounds the relative error of
// the result.
constexpr double kSameState = 1e-12;
// The rounding error of a sum that is exactly 0, relative to the total.
constexpr double kNothing = 1e-12;
// Number of runs, and of rounds, after which the effect of a whole loop is computed.
constexpr std::uint64_t kRunsBeforeKnown = 16, kRoundsWorthKnowing = 32;

}  // namespace

RoundSimulation::State RoundSimulation::nothing() const {
  State state;
  state.now = state.transactions = kNever;
  return state;
}

void RoundSimulation::run(const std::vector<RoundStep>& steps, State& state) {
  for (const RoundStep& step : steps) {
    if (step.loop) {
      run(*step.loop, state);
    } else {
      run(step.round, state);
    }
  }
}

// Adds a line that is at most as steep as all others.
void RoundSimulation::push(State& state, double at_0, double slope) const {
  auto& lines = state.lines;
  at_0 -= state.lift;
  const double at_last = at_0 + slope * last_warp_;
  while (!lines.empty() && lines.back().at_0 + lines.back().slope * last_warp_ <= at_last) lines.pop_back();
  if (!lines.empty() && lines.back().at_0 >= at_0) return;
  while (lines.size() >= 2) {  // remove the last line unless it is the highest somewhere
    const Line &steeper = lines[lines.size() - 2], &middle = lines.back();
    const double above_steeper_until = (middle.at_0 - steeper.at_0) / (steeper.slope - middle.slope);
    const double below_new_until = (at_0 - middle.at_0) / (middle.slope - slope);
    if (below_new_until < above_steeper_until) break;
    lines.pop_back();
  }
  lines.push_back({at_0, slope});
}

double RoundSimulation::ready_last(const State& state) const {
  if (state.lines.empty()) return kNever;
  const Line& first = state.lines.front();
  return first.at_0 + first.slope * last_warp_ + state.lift;
}

double RoundSimulation::finished(const State& state) const {
  return state.base + std::max(state.now, ready_last(state));
}

void RoundSimulation::run(const Round& round, State& state) {
  if (++spent_ > step_limit_) throw TooManySteps{};
  double at_0 = state.now;
  while (!state.lines.empty() && state.lines.back().slope <= round.busy) {
    at_0 = std::max(at_0, state.lines.back().at_0 + state.lift);
    state.lines.pop_back();
  }
  if (at_0 != kNever) push(state, at_0, round.busy);
  if (state.lines.empty()) return;  // no line yet
  const double begin_last = ready_last(state);
  const double end = begin_last + round.busy;
  if (idle_ != nullptr) {
    idle_->waiting[waited_for_] += std::max(0.0, end - state.now - warps_ * round.busy);
    if (round.loads_done != kNever) waited_for_ = round.load_origin;
    if (begin_last + round.transactions_done > state.transactions)
      idle_->last_transaction = round.transaction_origin;
  }
  // Nothing recurs from here on: each iteration would be simulated.
  if (!std::isfinite(end)) throw TimeTooLarge{};
  state.now = end;
  // Without loads, the lines are the times at which the warps began: before `now`, which has the same effect.
  if (round.loads_done != kNever) state.lift += round.loads_done;
  // Later warps begin later: the last warp's transactions complete last.
  state.transactions = std::max(state.transactions, begin_last + round.transactions_done);
}

// Runs the loop or, after it was run often, applies its effect as a whole: otherwise each level of nested
// loops would multiply the number of simulated iterations.
void RoundSimulation::run(const RoundLoop& loop, State& state) {
  // Sums start at 0 in every loop: a short iteration would be lost to rounding in the time before it.
  const double before = std::exchange(state.base, 0.0);
  if (idle_ != nullptr || !nested_) {
    run_iterations(loop, state);
  } else {
    Known& known = known_[&loop];
    known.whole =
        known.whole || (known.runs > kRunsBeforeKnown && known.spent / known.runs > kRoundsWorthKnowing);
    if (known.whole) {
      apply(loop, known, state);
    } else {
      const std::uint64_t spent_before = spent_;
      run_iterations(loop, state);
      ++known.runs;
      known.spent += spent_ - spent_before;
    }
  }
  state.base += before;
}

void RoundSimulation::run_iterations(const RoundLoop& loop, State& state) {
  rebase(state);
  if (loop.count == 1) return run(loop.body, state);
  State earlier = spare_.empty() ? State{} : std::move(spare_.back());
  if (!spare_.empty()) spare_.pop_back();
  earlier = state;
  std::vector<double> waiting_earlier;
  if (idle_ != nullptr) waiting_earlier = idle_->waiting;
  std::uint64_t iterations_since = 0, look_again_after = 1;
  bool looking = true;
  for (std::uint64_t iteration = 0; iteration < loop.count; ++iteration) {
    run(loop.body, state);
    rebase(state);
    if (!looking) continue;
    const std::uint64_t left = loop.count - iteration - 1;
    ++iterations_since;
    const double passed = state.base - earlier.base;
    if (same_but_for_a_shift(earlier, state, passed)) {
      // Skips all remaining periods but the last: its transactions outlast theirs.
      const std::uint64_t periods = left / iterations_since;
      if (periods > 1) {
        const auto times = static_cast<double>(periods - 1);
        const double skipped = times * passed;
        state.base += skipped;
        state.transactions -= skipped;
        iteration += (periods - 1) * iterations_since;
        for (std::size_t i = 0; i < waiting_earlier.size(); ++i)
          idle_->waiting[i] += times * (idle_->waiting[i] - waiting_earlier[i]);
      }
      looking = false;
    } else if (iterations_since == look_again_after) {
      earlier = state;
      if (idle_ != nullptr) waiting_earlier = idle_->waiting;
      iterations_since = 0;
      look_again_after *= 2;
    }
  }
  spare_.push_back(std::move(earlier));
}

// The effect of the loop on the state, from its effect on `now` alone and on each line alone.
void RoundSimulation::apply(const RoundLoop& loop, Known& known, State& state) {
  if (known.of_now.lines.empty()) {
    known.of_now = nothing();
    known.of_now.now = 0;
    run_iterations(loop, known.of_now);
  }
  const State old = state;
  state = nothing();
  state.transactions = old.transactions;
  if (old.now != kNever) join(known.of_now, old.now, state);
  for (const Line& line : old.lines) {
    auto [unit, fresh] = known.of_line.try_emplace(line.slope);
    if (fresh) {
      unit->second = nothing();
      unit->second.lines.push_back({0, line.slope});
      run_iterations(loop, unit->second);
    }
    join(unit->second, line.at_0 + old.lift, state);
  }
  rebase(state);
}

// The maximum of both states, with `part` delayed by `by`. `into` has lift 0.
void RoundSimulation::join(const State& part, double by, State& into) {
  spent_ += 1 + part.lines.size();
  if (spent_ > step_limit_) throw TooManySteps{};
  by += part.base;
  if (into.now == kNever) {  // it is empty: keeps small differences between large times exact
    into.transactions -= by - into.base;
    into.base = by;
  }
  by -= into.base;
  into.now = std::max(into.now, part.now + by);
  into.transactions = std::max(into.transactions, part.transactions + by);
  std::vector<Line> lines = std::move(into.lines);
  for (const Line& line : part.lines) lines.push_back({line.at_0 + part.lift + by, line.slope});
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.slope != b.slope ? a.slope > b.slope : a.at_0 > b.at_0;
  });
  into.lines.clear();
  for (const Line& line : lines) {
    if (into.lines.empty() || into.lines.back().slope != line.slope) push(into, line.at_0, line.slope);
  }
}

// Shifts the times so that the latest one that matters later is 0, so that sums keep their precision.
void RoundSimulation::rebase(State& state) const {
  const double latest = std::max(state.now, ready_last(state));
  if (latest == kNever) return;
  state.now -= latest;
  state.transactions -= latest;
  for (Line& line : state.lines) line.at_0 += state.lift - latest;
  state.lift = 0;
  state.base += latest;
}

// Not the time of the transactions: nothing waits for it before the end.
bool RoundSimulation::same_but_for_a_shift(const State& a, const State& b, double passed) const {
  const double tolerance = kSameState * passed;
  const auto same = [tolerance](double x, double y) { return x == y || std::abs(x - y) <= tolerance; };
  return a.lines.size() == b.lines.size() && same(a.now, b.now) &&
         std::equal(a.lines.begin(), a.lines.end(), b.lines.begin(),
                    [&](const Line& x, const Line& y) { return x.slope == y.slope && same(x.at_0, y.at_0); });
}

Result<CorePackageTime> RoundSimulation::simulate(const RoundSchedule& rounds, const Schedule& schedule,
                                                  std::int64_t warps, double t_m_cycles,
                                                  std::uint64_t step_limit) {
  if (!is_core_package(warps, t_m_cycles)) return check_core_package(warps, t_m_cycles);
  if (warps == 0) return CorePackageTime{};
  warps_ = static_cast<double>(warps);
  last_warp_ = warps_ - 1;
  step_limit_ = step_limit;
  spent_ = 0;
  waited_for_ = 0;
  nested_ = rounds.nested;
  if (!known_.empty()) known_.clear();
  State state = spare_.empty() ? State{} : std::move(spare_.back());
  if (!spare_.empty()) spare_.pop_back();
  state.now = state.transactions = state.base = state.lift = 0;
  state.lines.assign(1, {0, 0});
  try {
    run(rounds.steps, state);
  } catch (const TooManySteps&) {
    return too_many_steps(schedule, warps, step_limit);
  } catch (const TimeTooLarge&) {
    return error("the time is too large for a number");
  }
  const double now = finished(state);
  if (idle_ != nullptr) idle_->waiting[waited_for_] += std::max(0.0, now - state.base - state.now);
  CorePackageTime time;
  time.total = std::max(now, state.base + state.transactions);
  time.calculation = warps_ * rounds.calculation;
  time.issue = warps_ * rounds.accesses * t_m_cycles;
  time.waiting = now - time.calculation - time.issue;
  if (time.waiting <= kNothing * now) time.waiting = 0;
  time.tail = time.total - now;
  spare_.push_back(std::move(state));
  if (!std::isfinite(time.total)) return error("the time is too large for a number");
  return time;
}

Result<CorePackageTime> RoundSimulation::time(const RoundSchedule& rounds, const Schedule& schedule,
                                              std::int64_t warps, double t_m_cycles,
                                              std::uint64_t step_limit) {
  idle_ = nullptr;
  return simulate(rounds, schedule, warps, t_m_cycles, step_limit);
}

Result<CorePackageTime> RoundSimulation::time_with_origins(const RoundSchedule& rounds,
                                                           const Schedule& schedule, std::int64_t warps,
                                                           double t_m_cycles, std::uint64_t step_limit,
                                                           Idle& idle) {
  idle.waiting.assign(std::max<std::size_t>(schedule.origins.size(), 1), 0);
  idle.last_transaction = 0;
  idle_ = &idle;
  auto time = simulate(rounds, schedule, warps, t_m_cycles, step_limit);
  idle_ = nullptr;
  return time;
}

Result<CorePackageTime> simulate_in_rounds(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                           const CorePackageOptions& options) {
  if (auto wrong = check_core_package(warps, t_m_cycles); !wrong.empty()) return wrong;
  return RoundSimulation().time(make_rounds(schedule, t_m_cycles), schedule, warps, t_m_cycles,
                                options.step_limit);
}

}  // namespace warptime
