// Fits t_p, t_m (or a scale) and, on request, memory durations to measurements, so that the mean absolute
// percentage error (Puchala et al. 2022, equation 16) over all rows at once is the smallest, as in their
// section 5.3.
//
// For given t_m and durations, the best t_p is exact: sum |1 - (launches t_p + rest) / measured| is convex
// and piecewise linear in t_p, and its minimum is the weighted median of (measured - rest) / launches with
// weights launches / measured. So the default fit is a search in one dimension, t_m, and each duration adds
// one. The search is NLopt's: DIRECT-L over the whole range (CRS2 with a fixed seed where durations are
// fitted), then Subplex from the best point. The same input gives the same fit. Beyond 10,000 rows, those of equal
// parameters are predicted once; beyond 20,000 different ones the search looks at 20,000 of them, spread evenly, and
// the errors are still of all rows.
#pragma once

#include <optional>
#include <vector>

#include "simulator/fit/accuracy.h"
#include "simulator/fit/row_times.h"

namespace warptime {

struct DurationBounds {
  DurationName name;
  double low_cycles = 0, high_cycles = 0;
};

struct FitOptions {
  std::optional<double> t_p_us, t_m_cycles;  // fixed values, which are not fitted
  std::vector<DurationBounds> durations;     // to be fitted too
  std::optional<MemoryDurations> base =
      {};  // of the accesses whose durations are not fitted; absent: RowTimes'
};

// The range of a parameter in which the mean error, with the other parameters fitted again, is at most 1 %
// (of itself, or 0.001 % of the times) above the best.
struct FitRange {
  double low = 0, high = 0;
  bool open = false;  // `high` is where the search ends: there is no upper end
};

struct FittedDuration {
  DurationName name;
  double cycles = 0;
  FitRange range;
};

struct Fit {
  double t_p_us = 0, t_m_cycles = 0;
  bool t_p_fitted = true, t_m_fitted = true;
  FitRange t_p_range, t_m_range;  // of what was fitted
  std::optional<double> scale;    // of a model that has it in place of t_m, which then is 0
  FitRange scale_range;
  std::vector<FittedDuration> durations;
  MemoryDurations memory_cycles;  // the GPU's, with the fitted ones
  Errors errors;                  // over the rows that were fitted
  std::size_t evaluations = 0;    // of the model for all rows
  std::size_t rows = 0;           // that the search looked at: not all, where very many are different
};

// Whether the data says little about a parameter: its range is wider than half its middle, and than `floor`.
bool hardly_determined(const FitRange& range, double floor);

// measured_us: positive, of the rows `which` (indices into times.rows()); values: how many different
// combinations of parameters these are. Errors: fewer different rows than fitted parameters, empty bounds, a
// duration that the plan's programs do not leave open, nothing to fit.
Result<Fit> fit(const RowTimes& times, const std::vector<std::size_t>& which,
                const std::vector<double>& measured_us, std::size_t different, const FitOptions& options);

// What is wrong with these durations: one that the plan's programs do not leave open, empty bounds.
Diagnostics check_open_durations(const RowTimes& times, const std::vector<DurationBounds>& durations);

// The mean error (equation 16) of rows `which` where the times without t_p are `rest_us` (of all of times.rows()), with
// the t_p that makes it the smallest, or the given one.
double mean_error_with_best_t_p(const RowTimes& times, const std::vector<std::size_t>& which,
                                const std::vector<double>& rest_us, const std::vector<double>& measured_us,
                                std::optional<double> t_p_us);

// Microseconds of rows `which` with a fit's parameters.
Result<std::vector<double>> predicted_us(const RowTimes& times, const std::vector<std::size_t>& which,
                                         const Fit& fit);

// Held-out rows: floor(fraction * count) of `count`, spread evenly, by their order. True: held out.
std::vector<bool> hold_out(std::size_t count, double fraction);

}  // namespace warptime
