// Algorithm 2 of Puchala et al. (2022): the Round-Robin simulation of one core package (32 cores that
// execute one instruction of one warp at a time). It prints nothing: views listen to its events.
#pragma once

#include <cstdint>
#include <limits>

#include "simulator/program/schedule.h"

namespace warptime {

// Cycles of one core package, and where they went. total == calculation + issue + waiting + tail (to
// rounding).
struct CorePackageTime {
  double total = 0;
  double calculation = 0;  // calculation periods
  double issue = 0;        // SIMT front end: t_m for each load and store
  double waiting = 0;      // idle, until the loads of the warp that is next are complete
  double tail = 0;         // idle at the end, until the last memory transaction is complete
};

// Receives what each warp does, in simulation order. Times are cycles from the start of the run.
class CorePackageListener {
 public:
  virtual ~CorePackageListener() = default;
  virtual void calculation(int warp, const Period& period, double begin, double end) = 0;
  // The front end is busy until `issued` (begin + t_m); the transaction completes at `complete` (begin +
  // duration).
  virtual void memory_access(int warp, const Period& period, double begin, double issued,
                             double complete) = 0;
  virtual void idle(int warp, double begin,
                    double end) = 0;  // warp: whose loads are waited for; -1: the tail
};

// The end of a stretch whose repetitions are elided.
struct LeftOut {
  double begin = 0, end = 0;  // the last repetition before the gap, in reported cycles
  std::uint64_t times = 0;    // number of elided repetitions
  CorePackageTime time;       // of all elided repetitions together, without a tail
};

// A listener that allows repetitions to be elided.
class CorePackageWatcher : public CorePackageListener {
 public:
  // The times of later events continue from left_out.end, as if there were no gap.
  virtual void left_out(const LeftOut& left_out) = 0;
  // Called after each step; true ends the run.
  virtual bool enough() = 0;
};

struct CorePackageOptions {
  // The maximum number of steps; a longer simulation is an error. A step is a period of one warp, or work of
  // the same cost.
  std::uint64_t step_limit = 1'000'000'000;
  CorePackageListener* listener = nullptr;
};

// Algorithm 2. warps: warps on this core package, 0 to 65,536. t_m: cycles >= 0 for which a memory access
// holds the core package. A short program is simulated step by step. A long one is simulated in rounds, where
// a repeat costs only its iterations up to the point at which it becomes periodic: 10^18 iterations are as
// fast as 10^3. With a listener, every step is simulated. Errors: warps or t_m out of range, more steps than
// the limit allows, a time that overflows.
Result<CorePackageTime> simulate_core_package(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                              const CorePackageOptions& options = {});

// The two methods. They agree to 1e-9 relative; the first one adds up in the order of the paper's algorithm.
Result<CorePackageTime> simulate_plain(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                       const CorePackageOptions& options = {});
Result<CorePackageTime> simulate_in_rounds(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                           const CorePackageOptions& options = {});

// simulate_plain for a watcher, for programs of any length. Iterations of a repeat that only repeat earlier
// iterations at a later time are elided if that saves at least `least_left_out` cycles; at least one of them
// is reported after the gap. (With infinity, nothing is elided.) Returns the time of what was reported and
// elided, which is the whole time unless the watcher ended the run. Errors: as above, without the limit of
// steps.
Result<CorePackageTime> watch_core_package(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                           double least_left_out, CorePackageWatcher& watcher);

// The errors that all of these share, and whether there are none.
Diagnostics check_core_package(std::int64_t warps, double t_m_cycles);
inline constexpr std::int64_t kMostWarps = 65'536;  // hardware has at most 64 on a whole SM
inline bool is_core_package(std::int64_t warps, double t_m_cycles) {
  return warps >= 0 && warps <= kMostWarps && t_m_cycles >= 0 &&
         t_m_cycles <= std::numeric_limits<double>::max();
}
Diagnostic too_many_steps(const Schedule& schedule, std::int64_t warps, std::uint64_t limit);

}  // namespace warptime
