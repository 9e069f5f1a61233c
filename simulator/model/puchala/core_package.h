// Algorithm 2 of Puchala et al. (2022): the Round-Robin simulation of one core package (32 cores that execute
// one instruction of one warp at a time). It never prints: views listen to its events.
#pragma once

#include <cstdint>

#include "simulator/program/schedule.h"

namespace warptime {

// Cycles of one core package, and where they went. total == calculation + issue + waiting + tail (to
// rounding).
struct CorePackageTime {
  double total = 0;
  double calculation = 0;  // calculation periods
  double issue = 0;        // SIMT front end: t_m for each load and store
  double waiting = 0;      // idle, until the loads of the warp whose turn it is are complete
  double tail = 0;         // idle at the end, until the last memory transaction is complete
};

// Told what each warp does, in simulation order. Times are cycles from the start of the run.
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

// The end of a stretch that comes again and again, when its repetitions are left out of what is told.
struct LeftOut {
  double begin = 0, end = 0;  // one of the repetitions, the last one before the gap; cycles, as they are told
  std::uint64_t times = 0;    // how often it comes again, untold
  CorePackageTime time;       // of what is left out, all together: no tail
};

// A listener that need not hear everything.
class CorePackageWatcher : public CorePackageListener {
 public:
  // Begin and end of what is told thereafter go on from left_out.end, as if nothing were between.
  virtual void left_out(const LeftOut& left_out) = 0;
  // Asked after each step; true ends the run there.
  virtual bool enough() = 0;
};

struct CorePackageOptions {
  // Refuse rather than run for longer than this many steps. A step is a period of one warp, or what takes as
  // long.
  std::uint64_t step_limit = 1'000'000'000;
  CorePackageListener* listener = nullptr;
};

// Algorithm 2. warps: warps on this core package, 0 to 65,536. t_m: cycles >= 0 for which a memory access
// holds the core package. What is short is simulated step by step; what is long is simulated in rounds, where
// repeats count only until they have become periodic, so that a repeat of 10^18 turns is as quick as one of
// 10^3. A listener hears every step, so it gets the first way. Errors: warps or t_m out of range, more steps
// than the limit allows, a time beyond the range of numbers.
Result<CorePackageTime> simulate_core_package(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                              const CorePackageOptions& options = {});

// The two ways. They agree to 1e-9 relative; the first one adds up in the order of the paper's algorithm.
Result<CorePackageTime> simulate_plain(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                       const CorePackageOptions& options = {});
Result<CorePackageTime> simulate_in_rounds(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                           const CorePackageOptions& options = {});

// simulate_plain for a watcher, of any length: turns of a repeat that do what the turns before them did, but
// later, are left out where that saves `least_left_out` cycles or more, at least one of them being told after
// the gap. (Infinity: nothing is left out.) Returns the time of what was told and left out, which is the
// whole only where the watcher never had enough. Errors: as above, but for the limit of steps: there is none.
Result<CorePackageTime> watch_core_package(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                           double least_left_out, CorePackageWatcher& watcher);

// What all refuse.
Diagnostics check_core_package(std::int64_t warps, double t_m_cycles);
Diagnostic too_many_steps(const Schedule& schedule, std::int64_t warps, std::uint64_t limit);

}  // namespace warptime
