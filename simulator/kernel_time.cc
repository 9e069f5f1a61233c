#include "simulator/kernel_time.h"

#include <algorithm>

#include "simulator/whole_division.h"

namespace warptime {
Result<KernelTime> kernel_time(const Gpu& gpu, const Launch& launch, double t_p_us,
                               CorePackageModel& core_package,
                               std::optional<std::int64_t> active_blocks_per_sm) {
  if (auto wrong = check_core_packages(gpu); !wrong.empty()) return wrong;
  const auto checked = check_launch(gpu, launch.blocks, launch.threads_per_block);
  if (!checked) return checked.diagnostics();

  const std::int64_t blocks_per_sm = divide_up(launch.blocks, gpu.sms);                     // N_sb/sm
  const std::int64_t warps_per_block = divide_up(launch.threads_per_block, gpu.warp_size);  // N_w/b
  const std::int64_t active_blocks =                                                        // N_ab/sm
      std::min({blocks_per_sm, divide_down(gpu.max_warps_per_sm, warps_per_block),
                static_cast<std::int64_t>(gpu.max_blocks_per_sm),
                active_blocks_per_sm.value_or(blocks_per_sm)});
  const auto warps_of = [&](std::int64_t blocks) {
    return divide_up(blocks * warps_per_block, gpu.core_packages_per_sm());
  };

  KernelTime time;
  time.full_runs = divide_down(blocks_per_sm, active_blocks);
  time.warps_per_core_package = warps_of(active_blocks);
  const auto full = core_package.time(time.warps_per_core_package);
  if (!full) return full.diagnostics();
  CorePackageTime rest;
  if (const std::int64_t remaining_blocks = blocks_per_sm - time.full_runs * active_blocks;
      remaining_blocks > 0) {
    time.remaining_warps_per_core_package = warps_of(remaining_blocks);
    const auto remaining = core_package.time(time.remaining_warps_per_core_package);
    if (!remaining) return remaining.diagnostics();
    rest = *remaining;
  }

  const auto runs = static_cast<double>(time.full_runs);
  const auto microseconds = [&](double cycles) { return cycles / gpu.clock_mhz; };
  time.preparation_us = t_p_us;
  time.calculation_us = microseconds(runs * full->calculation + rest.calculation);
  time.issue_us = microseconds(runs * full->issue + rest.issue);
  time.waiting_us = microseconds(runs * full->waiting + rest.waiting);
  time.tail_us = microseconds(runs * full->tail + rest.tail);
  time.full_runs_us = microseconds(runs * full->total);
  time.remaining_run_us = microseconds(rest.total);
  time.total_us = t_p_us + microseconds(runs * full->total + rest.total);
  return time;
}

}  // namespace warptime
