// Algorithm 1 of Puchala et al. (2022): the time of one kernel launch, as full runs and a remaining
// run of active blocks.
#pragma once

#include <algorithm>
#include <optional>

#include "simulator/base/integer_math.h"
#include "simulator/model/puchala/core_package.h"
#include "simulator/model/time_breakdown.h"
#include "simulator/plan/launch.h"

namespace warptime {

// What a time of Algorithm 1 is the sum of: indices into PuchalaModel::parts() and TimeBreakdown::us. The total is
// the sum of launch_overhead to tail; seen by runs, it is that of launch_overhead, full_runs and remaining_run.
struct PuchalaParts {
  enum : std::size_t { launch_overhead, calculation, issue, waiting, tail, full_runs, remaining_run, count };
};

// Returns T_c, simulated or cached. Called with the warps on one core package.
class CorePackageModel {
 public:
  virtual ~CorePackageModel() = default;
  virtual Result<CorePackageTime> time(std::int64_t warps) = 0;
};

// How the blocks of a launch are divided into runs on an SM.
struct Runs {
  std::int64_t full = 0;                    // N_r
  std::int64_t warps_per_core_package = 0;  // N_aw/cp of a full run
  std::int64_t remaining_warps_per_core_package = 0;
};

// The two misprints of lines 19 and 20 are read as the text means them: N_r = floor(N_sb/sm / N_ab/sm), and
// the remaining run counts once if N_sb/sm mod N_ab/sm is not 0. The GPU must pass check_core_packages, and
// the launch must fit it.
Runs runs_of(const Gpu& gpu, const GpuDivisors& divisors, const Launch& launch,
             std::optional<std::int64_t> active_blocks_per_sm = std::nullopt);

// full, rest: T_c of a full run and of the remaining run. cycle_us: 1 / the clock in MHz. Microseconds by
// PuchalaParts.
TimeBreakdown time_of_runs(double cycle_us, const Runs& runs, double t_p_us, const CorePackageTime& full,
                           const CorePackageTime& rest);

// Both together, checked. active_blocks_per_sm: the maximum that registers and shared memory allow
// (occupancy.h), at least 1; without it, only the paper's two limits hold, blocks and warps per SM. Errors:
// check_core_packages, check_launch, the simulation's.
Result<TimeBreakdown> kernel_time(const Gpu& gpu, const Launch& launch, double t_p_us,
                                  CorePackageModel& core_package,
                                  std::optional<std::int64_t> active_blocks_per_sm = std::nullopt);

// ---- Inline, because sweeps call it a million times a second.

[[gnu::always_inline]] inline Runs runs_of(const Gpu& gpu, const GpuDivisors& divisors, const Launch& launch,
                                           std::optional<std::int64_t> active_blocks_per_sm) {
  const std::int64_t blocks_per_sm = divisors.sms.up(launch.blocks);                // N_sb/sm
  const std::int64_t warps_per_block = warps_of_threads(launch.threads_per_block);  // N_w/b
  const std::int64_t active_blocks =                                                // N_ab/sm
      std::min({blocks_per_sm, divide_down(gpu.max_warps_per_sm, warps_per_block),
                static_cast<std::int64_t>(gpu.max_blocks_per_sm),
                active_blocks_per_sm.value_or(blocks_per_sm)});
  const auto warps_of = [&](std::int64_t blocks) {
    return divisors.core_packages_per_sm.up(blocks * warps_per_block);
  };
  Runs runs;
  runs.full = active_blocks == blocks_per_sm ? 1 : divide_down(blocks_per_sm, active_blocks);
  runs.warps_per_core_package = warps_of(active_blocks);
  const std::int64_t remaining_blocks = blocks_per_sm - runs.full * active_blocks;
  if (remaining_blocks > 0) runs.remaining_warps_per_core_package = warps_of(remaining_blocks);
  return runs;
}

[[gnu::always_inline]] inline TimeBreakdown time_of_runs(double cycle_us, const Runs& runs, double t_p_us,
                                                         const CorePackageTime& full,
                                                         const CorePackageTime& rest) {
  using Parts = PuchalaParts;
  const auto number = static_cast<double>(runs.full);
  const auto both = [&](double in_full_runs, double in_rest) {
    return cycle_us * (number * in_full_runs + in_rest);
  };
  TimeBreakdown time;
  time.total_us = t_p_us + both(full.total, rest.total);
  time.us[Parts::launch_overhead] = t_p_us;
  time.us[Parts::calculation] = both(full.calculation, rest.calculation);
  time.us[Parts::issue] = both(full.issue, rest.issue);
  time.us[Parts::waiting] = both(full.waiting, rest.waiting);
  time.us[Parts::tail] = both(full.tail, rest.tail);
  time.us[Parts::full_runs] = cycle_us * (number * full.total);
  time.us[Parts::remaining_run] = cycle_us * rest.total;
  return time;
}

}  // namespace warptime
