// Memory durations that several GPUs share (Puchala et al. 2022, section 5.3: "determined once, for all GPU devices"),
// each GPU with its own t_p and t_m.
#pragma once

#include <optional>
#include <vector>

#include "simulator/fit/fit.h"

namespace warptime {

// The rows of one GPU, as for fit(). What it points to must outlive the call.
struct SharedFitRows {
  const RowTimes* times = nullptr;
  std::vector<std::size_t> which;
  std::vector<double> measured_us;
  std::optional<double> t_p_us = {};  // its own fixed t_p; nothing: that of the options
};

// The durations with which the mean error over the GPUs is the smallest, where each has the t_p and t_m that are best
// for it, in the order of `durations`, with ranges of one value. Fixed t_p and t_m of `options` are those of every GPU. To get the constants of one
// GPU: fit() with FitOptions::base. Deterministic. Errors: no GPU, no durations, fewer rows than fitted constants, those of
// the simulation.
Result<std::vector<FittedDuration>> fit_shared_durations(const std::vector<SharedFitRows>& gpus,
                                                         const FitOptions& options);

}  // namespace warptime
