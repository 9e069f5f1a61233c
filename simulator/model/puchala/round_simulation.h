// Algorithm 2 in rounds (see rounds.h), at a cost that depends neither on the number of warps nor on that of
// iterations.
//
// The warps of a core package, one after the other, see their loads complete at times that are the upper
// envelope of straight lines over the warp's number:
//
//   ready │        ╱      a round that holds the core package for b cycles lets warp w begin at
//         │      ╱          max(now + w b, ready(v) + (w - v) b for all v <= w),
//         │___╱             which makes every line less steep than b as steep as b;
//         └────── warp      its loads lift all lines by the same amount.
//
// So the cost of a round is the number of lines that it removes or adds. A round maps the state by maxima and
// by additions of constants only. Once a state recurs with a mere shift in time, it recurs forever, and the
// remaining iterations of a repeat are counted instead of run. For nested loops, the effect of a loop on
// `now` alone and on each single line determines its effect on any state (max-plus linearity).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulator/model/puchala/core_package.h"
#include "simulator/model/puchala/rounds.h"

namespace warptime {

// Keeps its memory between calls. Not thread-safe.
class RoundSimulation {
 public:
  // T_c of `warps` warps (0 to 65,536). Errors: more than `step_limit` rounds, a time that overflows.
  // Messages are about `schedule`, from which `rounds` were made.
  Result<CorePackageTime> time(const RoundSchedule& rounds, const Schedule& schedule, std::int64_t warps,
                               double t_m_cycles, std::uint64_t step_limit);

  // Where the idle cycles of the same simulation go.
  struct Idle {
    std::vector<double> waiting;  // cycles by index into Schedule::origins, of the load that was waited for
    std::uint32_t last_transaction = 0;  // origin of the access that completes last, which the tail waits for
  };
  Result<CorePackageTime> time_with_origins(const RoundSchedule& rounds, const Schedule& schedule,
                                            std::int64_t warps, double t_m_cycles, std::uint64_t step_limit,
                                            Idle& idle);

 private:
  struct Line {  // ready at at_0 + slope * warp
    double at_0 = 0, slope = 0;
  };
  struct State {
    double now = 0;
    double transactions = 0;  // when all are complete
    double base = 0;          // all times are relative to it
    double lift = 0;          // offset of all lines
    // Steepest first. Each is the highest somewhere in 0 … warps - 1: at the last warp the first one is.
    std::vector<Line> lines;
  };
  struct Known {
    std::uint64_t runs = 0, spent = 0;
    bool whole = false;  // whether the rest is complete
    State of_now;
    std::unordered_map<double, State> of_line;  // by slope
  };
  struct TooManySteps {};
  struct TimeTooLarge {};

  State nothing() const;
  void run(const std::vector<RoundStep>& steps, State& state);
  void run(const Round& round, State& state);
  void run(const RoundLoop& loop, State& state);
  void run_iterations(const RoundLoop& loop, State& state);
  void apply(const RoundLoop& loop, Known& known, State& state);
  void join(const State& part, double by, State& into);
  void push(State& state, double at_0, double slope) const;
  void rebase(State& state) const;
  double ready_last(const State& state) const;
  double finished(const State& state) const;
  bool same_but_for_a_shift(const State& a, const State& b, double passed) const;
  Result<CorePackageTime> simulate(const RoundSchedule& rounds, const Schedule& schedule, std::int64_t warps,
                                   double t_m_cycles, std::uint64_t step_limit);

  double last_warp_ = 0;  // its number
  double warps_ = 0;
  std::uint64_t step_limit_ = 0, spent_ = 0;
  bool nested_ = false;                                // whether there are loops in loops
  std::unordered_map<const RoundLoop*, Known> known_;  // references stay valid
  std::vector<State> spare_;                           // their memory
  Idle* idle_ = nullptr;
  std::uint32_t waited_for_ = 0;  // origin of the loads of the last round
};

}  // namespace warptime
