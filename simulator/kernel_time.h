// Algorithm 1 of Puchala et al. (2022): the time of one kernel launch, as full runs and a remaining run of
// active blocks.
#pragma once

#include <optional>

#include "simulator/core_package.h"
#include "simulator/launch.h"

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

// The two misprints of lines 19 and 20 are read as the text means them: N_r = floor(N_sb/sm / N_ab/sm), and
// the remaining run counts once where N_sb/sm mod N_ab/sm is not 0. The clock is divided by once, here.
// active_blocks_per_sm: the most that registers and shared memory allow (occupancy.h), at least 1; nothing:
// no limit but the paper's two, blocks and warps per SM. Errors: check_core_packages, check_launch, the
// simulation's.
Result<KernelTime> kernel_time(const Gpu& gpu, const Launch& launch, double t_p_us,
                               CorePackageModel& core_package,
                               std::optional<std::int64_t> active_blocks_per_sm = std::nullopt);

}  // namespace warptime
