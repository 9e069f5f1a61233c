#include "simulator/fit/shared_fit.h"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace warptime {
namespace {

constexpr double kMostSharedTm = 4096;   // cycles
constexpr int kCoarseTm = 12;            // values of t_m that are tried first
constexpr int kFineTm = 24;              // steps of the golden section after them
constexpr int kOuterPerDimension = 120;  // evaluations of a local search
constexpr double kGolden = 0.6180339887498949;

class SharedSearch {
 public:
  SharedSearch(const std::vector<SharedFitRows>& gpus, const FitOptions& options)
      : gpus_(gpus), options_(options) {}

  Result<std::vector<FittedDuration>> run() {
    std::vector<double> best;
    double best_error = std::numeric_limits<double>::infinity();
    for (const double start : {0.25, 0.5, 0.75}) {
      std::vector<double> x(options_.durations.size(), start);
      const double error = search_from(x);
      if (error < best_error) best_error = error, best = x;
    }
    if (!failure_.empty()) return failure_;
    std::vector<FittedDuration> found;
    for (std::size_t i = 0; i < best.size(); ++i)
      found.push_back({options_.durations[i].name,
                       cycles_of(i, best[i]),
                       {cycles_of(i, best[i]), cycles_of(i, best[i])}});
    return found;
  }

 private:
  double cycles_of(std::size_t i, double x) const {
    const DurationBounds& bounds = options_.durations[i];
    return bounds.low_cycles + x * (bounds.high_cycles - bounds.low_cycles);
  }

  // Of one GPU with these durations and this t_m, with its best t_p.
  double error_at(const SharedFitRows& gpu, const MemoryDurations& durations, double t_m) {
    const auto rest = gpu.times->rest_us(t_m, durations);
    if (!rest) {
      if (failure_.empty()) failure_ = rest.diagnostics();
      return std::numeric_limits<double>::infinity();
    }
    return mean_error_with_best_t_p(*gpu.times, gpu.which, *rest, gpu.measured_us,
                                    gpu.t_p_us ? gpu.t_p_us : options_.t_p_us);
  }

  // … and its best t_m: the error has one valley in it, or is flat at its ends.
  double best_error(const SharedFitRows& gpu, const MemoryDurations& durations) {
    if (options_.t_m_cycles) return error_at(gpu, durations, *options_.t_m_cycles);
    const auto at = [&](double x) {
      return error_at(gpu, durations, std::expm1(x * std::log1p(kMostSharedTm)));
    };
    int least = 0;
    double least_error = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= kCoarseTm; ++i) {
      const double error = at(static_cast<double>(i) / kCoarseTm);
      if (error < least_error) least_error = error, least = i;
    }
    double low = static_cast<double>(std::max(least - 1, 0)) / kCoarseTm;
    double high = static_cast<double>(std::min(least + 1, kCoarseTm)) / kCoarseTm;
    double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
    double left_error = at(left), right_error = at(right);
    for (int step = 0; step < kFineTm; ++step) {
      if (left_error < right_error) {
        high = right, right = left, right_error = left_error;
        left = high - kGolden * (high - low), left_error = at(left);
      } else {
        low = left, left = right, left_error = right_error;
        right = low + kGolden * (high - low), right_error = at(right);
      }
    }
    return std::min({least_error, left_error, right_error});
  }

  double error_of(const double* x) {
    double sum = 0;
    for (const SharedFitRows& gpu : gpus_) {
      MemoryDurations durations = gpu.times->durations();
      for (std::size_t i = 0; i < options_.durations.size(); ++i)
        duration(durations, options_.durations[i].name) = cycles_of(i, x[i]);
      sum += best_error(gpu, durations);
    }
    return sum / static_cast<double>(gpus_.size());
  }

  static double objective(unsigned, const double* x, double*, void* data) {
    const double error = static_cast<SharedSearch*>(data)->error_of(x);
    return std::isfinite(error) ? error : 1e30;
  }

  double search_from(std::vector<double>& x) {
    const auto count = static_cast<unsigned>(x.size());
    const std::unique_ptr<std::remove_pointer_t<nlopt_opt>, void (*)(nlopt_opt)> optimiser(
        nlopt_create(NLOPT_LN_SBPLX, count), nlopt_destroy);
    nlopt_set_lower_bounds1(optimiser.get(), 0);
    nlopt_set_upper_bounds1(optimiser.get(), 1);
    nlopt_set_min_objective(optimiser.get(), objective, this);
    nlopt_set_maxeval(optimiser.get(), kOuterPerDimension * static_cast<int>(count));
    nlopt_set_initial_step1(optimiser.get(), 0.15);
    nlopt_set_xtol_abs1(optimiser.get(), 1e-5);
    double error = std::numeric_limits<double>::infinity();
    nlopt_optimize(optimiser.get(), x.data(), &error);
    return error;
  }

  const std::vector<SharedFitRows>& gpus_;
  const FitOptions& options_;
  Diagnostics failure_;
};

}  // namespace

Result<std::vector<FittedDuration>> fit_shared_durations(const std::vector<SharedFitRows>& gpus,
                                                         const FitOptions& options) {
  if (gpus.empty()) return error("there are no measurements to fit durations to");
  if (options.durations.empty()) return error("there are no durations to fit");
  std::size_t rows = 0, constants = options.durations.size();
  for (const SharedFitRows& gpu : gpus) {
    rows += gpu.which.size();
    constants += (options.t_p_us || gpu.t_p_us ? 0 : 1) + (options.t_m_cycles ? 0 : 1);
    if (auto wrong = check_open_durations(*gpu.times, options.durations); !wrong.empty()) return wrong;
  }
  if (rows < constants)
    return error(fmt::format("{} measurements cannot fit {} constants", rows, constants),
                 "measure more sizes");
  return SharedSearch(gpus, options).run();
}

}  // namespace warptime
