#include "simulator/model/puchala/kernel_time.h"

namespace warptime {

Result<TimeBreakdown> kernel_time(const Gpu& gpu, const Launch& launch, double t_p_us,
                                  CorePackageModel& core_package,
                                  std::optional<std::int64_t> active_blocks_per_sm) {
  if (auto wrong = check_core_packages(gpu); !wrong.empty()) return wrong;
  const auto checked = check_launch(gpu, launch.blocks, launch.threads_per_block);
  if (!checked) return checked.diagnostics();
  const Runs runs = runs_of(gpu, GpuDivisors(gpu), launch, active_blocks_per_sm);
  const auto full = core_package.time(runs.warps_per_core_package);
  if (!full) return full.diagnostics();
  const auto rest = runs.remaining_warps_per_core_package > 0
                        ? core_package.time(runs.remaining_warps_per_core_package)
                        : Result<CorePackageTime>(CorePackageTime{});
  if (!rest) return rest.diagnostics();
  return time_of_runs(1 / gpu.clock_mhz, runs, t_p_us, *full, *rest);
}

}  // namespace warptime
