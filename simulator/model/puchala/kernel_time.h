// Algorithm 1 of Puchala et al. (2022): the time of one kernel launch, as full runs and a remaining run of
// active blocks.
#pragma once

#include <algorithm>
#include <optional>

#include "simulator/base/integer_math.h"
#include "simulator/model/puchala/core_package.h"
#include "simulator/plan/launch.h"

namespace warptime {

// Microseconds of one launch, and where they went. total == the sum of the others (to rounding).
struct KernelTime {
  double total_us = 0;
  double preparation_us = 0;  // t_p
  double calculation_us = 0;
  double issue_us = 0;
  double waiting_us = 0;
  double tail_us = 0;
  // Of the total, by runs: total_us == preparation_us + full_runs_us + remaining_run_us.
  double full_runs_us = 0;
  double remaining_run_us = 0;
  std::int64_t full_runs = 0;                         // N_r
  std::int64_t warps_per_core_package = 0;            // N_aw/cp of a full run
  std::int64_t remaining_warps_per_core_package = 0;  // of the remaining run; 0: there is none
};

// How T_c is had: the plain simulation, or one that remembers. Called with the warps on one core package.
class CorePackageModel {
 public:
  virtual ~CorePackageModel() = default;
  virtual Result<CorePackageTime> time(std::int64_t warps) = 0;
};

// How the blocks of a launch come to run on an SM.
struct Runs {
  std::int64_t full = 0;                    // N_r
  std::int64_t warps_per_core_package = 0;  // N_aw/cp of a full run
  std::int64_t remaining_warps_per_core_package = 0;
};

// The two misprints of lines 19 and 20 are read as the text means them: N_r = floor(N_sb/sm / N_ab/sm), and
// the remaining run counts once where N_sb/sm mod N_ab/sm is not 0. For a GPU that check_core_packages has
// nothing against, and a launch that fits it.
Runs runs_of(const Gpu& gpu, const GpuDivisors& divisors, const Launch& launch,
             std::optional<std::int64_t> active_blocks_per_sm = std::nullopt);

// full, rest: T_c of a full run and of the remaining one. cycle_us: 1 / the clock in MHz; it is in
// no other place.
KernelTime time_of_runs(double cycle_us, const Runs& runs, double t_p_us, const CorePackageTime& full,
                        const CorePackageTime& rest);

// Both together, checked.
// active_blocks_per_sm: the most that registers and shared memory allow (occupancy.h), at least 1; nothing:
// no limit but the paper's two, blocks and warps per SM. Errors: check_core_packages, check_launch, the
// simulation's.
Result<KernelTime> kernel_time(const Gpu& gpu, const Launch& launch, double t_p_us,
                               CorePackageModel& core_package,
                               std::optional<std::int64_t> active_blocks_per_sm = std::nullopt);

// ---- What is computed a million times a second.

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

inline KernelTime time_of_runs(double cycle_us, const Runs& runs, double t_p_us, const CorePackageTime& full,
                               const CorePackageTime& rest) {
  const auto number = static_cast<double>(runs.full);
  KernelTime time;
  time.full_runs = runs.full;
  time.warps_per_core_package = runs.warps_per_core_package;
  time.remaining_warps_per_core_package = runs.remaining_warps_per_core_package;
  time.preparation_us = t_p_us;
  time.calculation_us = cycle_us * (number * full.calculation + rest.calculation);
  time.issue_us = cycle_us * (number * full.issue + rest.issue);
  time.waiting_us = cycle_us * (number * full.waiting + rest.waiting);
  time.tail_us = cycle_us * (number * full.tail + rest.tail);
  time.full_runs_us = cycle_us * (number * full.total);
  time.remaining_run_us = cycle_us * rest.total;
  time.total_us = t_p_us + cycle_us * (number * full.total + rest.total);
  return time;
}

}  // namespace warptime
