// Algorithm 2 in rounds (see rounds.h), with repeats that are run through only until they repeat themselves.
//
// The state between two rounds is the time and, for each warp, when its loads are complete. A round maps it
// by maxima and by additions of constants only: adding a constant to the whole state adds it to the result,
// and two states never move apart. So where a state comes back but for a shift in time, so does everything
// after it, and the turns of a repeat that are left can be counted instead of run; a small difference stays
// small. (States come back after a few turns more than there are warps, as far as anybody has seen. Where
// they do not, the limit of steps holds.) It also makes whatever a loop does to a state a matrix of the
// max-plus algebra, which serves where loops are nested.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "simulator/core_package.h"
#include "simulator/rounds.h"

namespace warptime {
namespace {

constexpr double kNever = Round::kNever;
// Relative to the time that passes until the state comes back; so large is the relative error that it makes
// at most.
constexpr double kSameState = 1e-12;

// Times of now, of each warp's loads, and of all transactions, relative to `base`.
struct State {
  std::vector<double>
      times;  // [0]: now; [1 + warp]: its loads are complete; [1 + warps]: all transactions are
  double base = 0;
};

// Thrown nowhere else than here and caught in simulate_in_rounds.
struct TooManySteps {};

class RoundSimulation {
 public:
  RoundSimulation(std::size_t warps, std::uint64_t step_limit) : warps_(warps), step_limit_(step_limit) {}

  State initial() const { return {std::vector<double>(warps_ + 2, 0.0), 0}; }

  void run(const std::vector<RoundStep>& steps, State& state) {
    for (const RoundStep& step : steps) {
      if (step.loop) {
        run(*step.loop, state);
      } else {
        run(step.round, state);
      }
    }
  }

  // Now, when every warp has seen its loads complete.
  static double finished(const State& state) {
    return state.base + *std::max_element(state.times.begin(), state.times.end() - 1);
  }

 private:
  using Matrix = std::vector<double>;  // columns one after the other: what the unit states become

  void spend(std::uint64_t steps) {
    spent_ += steps;
    if (spent_ > step_limit_) throw TooManySteps{};
  }

  void run(const Round& round, State& state) {
    spend(warps_);
    double now = state.times[0], begin = now;
    for (std::size_t warp = 1; warp <= warps_; ++warp) {
      begin = std::max(now, state.times[warp]);
      state.times[warp] = std::max(state.times[warp], begin + round.loads_done);
      now = begin + round.busy;
    }
    state.times[0] = now;
    // Later warps begin later: the last one's transactions are the last.
    state.times[warps_ + 1] = std::max(state.times[warps_ + 1], begin + round.transactions_done);
  }

  // Runs the loop, or applies what is known of it as a whole after it was run often: loops in loops would
  // otherwise take a few turns of a few turns of a few turns, and so on.
  void run(const RoundLoop& loop, State& state) {
    Known& known = known_[&loop];
    if (known.whole.empty() && worth_knowing(known))
      known.whole = matrix_of([&](State& unit) { run_turns(loop, unit); });
    // Sums start at 0 in every loop: a short turn would be lost in the time that has passed before.
    const double before = std::exchange(state.base, 0.0);
    if (!known.whole.empty()) {
      state.times = product(known.whole, state.times);
      rebase(state);
    } else {
      const std::uint64_t spent_before = spent_;
      run_turns(loop, state);
      ++known.runs;
      known.spent += spent_ - spent_before;
    }
    state.base += before;
  }

  void run_turns(const RoundLoop& loop, State& state) {
    if (loop.count == 1) return run(loop.body, state);
    rebase(state);
    State earlier = state;
    std::uint64_t turns_since = 0, look_again_after = 1;
    bool looking = true;
    for (std::uint64_t turn = 0; turn < loop.count; ++turn) {
      run(loop.body, state);
      rebase(state);
      if (!looking) continue;
      const std::uint64_t left = loop.count - turn - 1;
      ++turns_since;
      const double passed = state.base - earlier.base;
      if (same_but_for_a_shift(earlier, state, passed)) {
        // All but the last of the periods that are left are skipped: that one's transactions outlast theirs.
        const std::uint64_t periods = left / turns_since;
        if (periods > 1) {
          const double skipped = static_cast<double>(periods - 1) * passed;
          state.base += skipped;
          state.times[warps_ + 1] -= skipped;
          turn += (periods - 1) * turns_since;
        }
        looking = false;
      } else if (turns_since == look_again_after) {
        earlier = state;
        turns_since = 0;
        look_again_after *= 2;
      }
    }
  }

  // Makes the latest of the times that matter for what follows 0, so that sums keep their precision.
  void rebase(State& state) const {
    const double latest = *std::max_element(state.times.begin(), state.times.end() - 1);
    if (latest == kNever) return;
    for (double& time : state.times) time -= latest;
    state.base += latest;
  }

  // The transactions' time is no part of it: nothing waits for it before the end.
  bool same_but_for_a_shift(const State& a, const State& b, double passed) const {
    const double tolerance = kSameState * passed;
    for (std::size_t i = 0; i <= warps_; ++i) {
      if (a.times[i] == b.times[i]) continue;  // also where both never are
      if (!(std::abs(a.times[i] - b.times[i]) <= tolerance)) return false;
    }
    return true;
  }

  // What is known of a loop.
  struct Known {
    std::uint64_t runs = 0, spent = 0;
    Matrix whole;  // what all its turns do; may be empty
  };

  // After so many runs that those for the columns are but a part of it, and where applying the matrix is
  // cheaper than running.
  bool worth_knowing(const Known& known) const {
    const std::uint64_t size = warps_ + 2;
    return known.runs > 2 * size && known.spent / known.runs > size * size;
  }

  // What `run` makes of the state that has 0 at one place and never at all others, for each place.
  template <class Run>
  Matrix matrix_of(const Run& run) {
    Matrix matrix;
    for (std::size_t i = 0; i < warps_ + 2; ++i) {
      State unit{std::vector<double>(warps_ + 2, kNever), 0};
      unit.times[i] = 0;
      if (i < warps_ + 1) run(unit);
      for (const double time : unit.times) matrix.push_back(unit.base + time);
    }
    return matrix;
  }

  // Of the max-plus algebra: sums are maxima, products are sums. `right` is a matrix or a single column.
  Matrix product(const Matrix& left, const Matrix& right) {
    const std::size_t size = warps_ + 2;
    Matrix result(right.size(), kNever);
    for (std::size_t column = 0; column * size < right.size(); ++column) {
      spend(size * size / 8 + 1);
      double* const out = &result[column * size];
      for (std::size_t k = 0; k < size; ++k) {
        const double factor = right[column * size + k];
        if (factor == kNever) continue;
        const double* const in = &left[k * size];
        for (std::size_t row = 0; row < size; ++row) out[row] = std::max(out[row], in[row] + factor);
      }
    }
    return result;
  }

  std::size_t warps_;
  std::uint64_t step_limit_;
  std::uint64_t spent_ = 0;
  std::unordered_map<const RoundLoop*, Known> known_;  // references stay valid
};

}  // namespace

Result<CorePackageTime> simulate_in_rounds(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                           const CorePackageOptions& options) {
  if (auto wrong = check_core_package(warps, t_m_cycles); !wrong.empty()) return wrong;
  if (warps == 0) return CorePackageTime{};
  const RoundSchedule rounds = make_rounds(schedule, t_m_cycles);
  RoundSimulation simulation(static_cast<std::size_t>(warps), options.step_limit);
  State state = simulation.initial();
  try {
    simulation.run(rounds.steps, state);
  } catch (const TooManySteps&) {
    return too_many_steps(schedule, warps, options.step_limit);
  }
  const double now = RoundSimulation::finished(state);
  CorePackageTime time;
  time.total = std::max(now, state.base + state.times.back());
  time.calculation = static_cast<double>(warps) * rounds.calculation;
  time.issue = static_cast<double>(warps) * rounds.accesses * t_m_cycles;
  time.waiting = std::max(0.0, now - time.calculation - time.issue);
  time.tail = time.total - now;
  if (!std::isfinite(time.total)) return error("the time is out of the range of numbers");
  return time;
}

}  // namespace warptime
