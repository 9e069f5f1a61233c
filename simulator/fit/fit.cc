#include "simulator/fit/fit.h"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "simulator/fit/grouped_rows.h"

namespace warptime {
namespace {

constexpr double kMostCycles = 1e7;        // that t_m can be
constexpr int kGlobalEvaluations = 150;    // in one dimension
constexpr int kGlobalPerDimension = 1500;  // in several
constexpr int kLocalEvaluations = 250;     // for each dimension
constexpr double kAsGood = 1.01;           // an error up to this many times the best …
constexpr double kAsGoodAtLeast = 1e-5;    // … and this much is as good
constexpr unsigned long kSeed = 20220317;
constexpr std::size_t kMostSingleRows = 10'000;  // beyond, rows of equal parameters are one group
constexpr std::size_t kMostDifferent = 20'000;   // groups that the search looks at
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Trial {
  double t_p_us = 0;
  double error = kInfinity;  // mean absolute percentage error, as a share
};

// The minimum of sum weight |x - point| over x >= 0: the middle of the weighted medians.
double weighted_median(std::vector<std::pair<double, double>> points_and_weights) {
  std::sort(points_and_weights.begin(), points_and_weights.end());
  double total = 0;
  for (const auto& [point, weight] : points_and_weights) total += weight;
  double below = 0;
  for (std::size_t i = 0; i < points_and_weights.size(); ++i) {
    below += points_and_weights[i].second;
    if (below < total / 2 * (1 - 1e-12)) continue;
    double median = points_and_weights[i].first;
    const bool flat = below <= total / 2 * (1 + 1e-12) && i + 1 < points_and_weights.size();
    if (flat) median = (median + points_and_weights[i + 1].first) / 2;
    return std::max(0.0, median);
  }
  return 0;
}

// The t_p with which the error is the smallest.
double best_t_p_of(const std::vector<double>& launches, const std::vector<double>& rest,
                   const std::vector<double>& measured) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (launches[i] > 0)
      points.emplace_back((measured[i] - rest[i]) / launches[i], launches[i] / measured[i]);
  }
  return weighted_median(std::move(points));
}

double mean_error_of(double t_p, const std::vector<double>& launches, const std::vector<double>& rest,
                     const std::vector<double>& measured) {
  double sum = 0;
  for (std::size_t i = 0; i < rest.size(); ++i)
    sum += std::abs(1 - (t_p * launches[i] + rest[i]) / measured[i]);
  return sum / static_cast<double>(rest.size());
}

// A point of the search: each coordinate between 0 and 1. t_m grows as an exponential of its coordinate, so
// that small ones are told apart as well as large ones.
class Search {
 public:
  Search(const RowTimes& times, const std::vector<std::size_t>& which, const std::vector<double>& measured,
         const FitOptions& options)
      : times_(times), which_(which), measured_(measured), options_(options) {
    looked_at_ = which;
    if (which.size() > kMostSingleRows) group_rows();
    for (const std::size_t index : looked_at_) launches_.push_back(times.launches()[index]);
  }

  Result<Fit> run() {
    find_upper_t_m();
    std::vector<double> best(dimensions(), 0.5);
    if (dimensions() > 0) minimise(best);
    const Trial trial = at(best);
    if (!failure_.empty()) return failure_;
    return describe(best, trial);
  }

 private:
  bool fits_t_m() const { return !options_.t_m_cycles; }
  std::size_t dimensions() const { return (fits_t_m() ? 1 : 0) + options_.durations.size(); }

  double t_m_of(const std::vector<double>& x) const {
    return fits_t_m() ? std::expm1(x.front() * std::log1p(upper_t_m_)) : *options_.t_m_cycles;
  }
  MemoryDurations durations_of(const std::vector<double>& x) const {
    MemoryDurations durations = options_.base.value_or(times_.durations());
    for (std::size_t i = 0; i < options_.durations.size(); ++i) {
      const DurationBounds& bounds = options_.durations[i];
      duration(durations, bounds.name) =
          bounds.low_cycles + x[i + (fits_t_m() ? 1 : 0)] * (bounds.high_cycles - bounds.low_cycles);
    }
    return durations;
  }

  // looked_at_ becomes a row of each group.
  void group_rows() {
    std::map<std::vector<std::int64_t>, std::size_t> numbers;
    std::vector<std::size_t> number_of;
    for (const std::size_t index : which_)
      number_of.push_back(numbers.try_emplace(times_.values(index), numbers.size()).first->second);
    const std::vector<bool> left_out = hold_out(
        numbers.size(), numbers.size() <= kMostDifferent
                            ? 0
                            : 1 - static_cast<double>(kMostDifferent) / static_cast<double>(numbers.size()));
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> groups(numbers.size(), none), group_of;
    std::vector<double> launches, measured;
    looked_at_.clear();
    for (std::size_t i = 0; i < which_.size(); ++i) {
      if (left_out[number_of[i]]) continue;
      std::size_t& group = groups[number_of[i]];
      if (group == none) {
        group = looked_at_.size();
        looked_at_.push_back(which_[i]);
        launches.push_back(times_.launches()[which_[i]]);
      }
      group_of.push_back(group);
      measured.push_back(measured_[i]);
    }
    grouped_.emplace(group_of, launches, measured);
    rows_ = measured.size();
  }

  std::vector<double> rest_at(double t_m, const MemoryDurations& durations) {
    ++evaluations_;
    auto rest = times_.rest_us(t_m, durations, looked_at_);
    if (rest) return std::move(*rest);
    if (failure_.empty()) failure_ = rest.diagnostics();
    return {};
  }

  double error_of(double t_p, const std::vector<double>& rest) const {
    return grouped_ ? grouped_->mean_error(t_p, rest) : mean_error_of(t_p, launches_, rest, measured_);
  }

  double best_t_p(const std::vector<double>& rest) const {
    if (options_.t_p_us) return *options_.t_p_us;
    return grouped_ ? grouped_->best_t_p(rest) : best_t_p_of(launches_, rest, measured_);
  }

  Trial at(const std::vector<double>& x) {
    const auto rest = rest_at(t_m_of(x), durations_of(x));
    if (rest.empty()) return {};
    const double t_p = best_t_p(rest);
    return {t_p, error_of(t_p, rest)};
  }

  double largest_measured(std::size_t i) const {
    return grouped_ ? grouped_->largest_measured_us(i) : measured_[i];
  }

  // Beyond it each row takes twice what was measured, and no t_p mends that.
  void find_upper_t_m() {
    std::vector<double> x(dimensions(), 0);
    upper_t_m_ = 16;
    if (!fits_t_m()) return;
    for (; upper_t_m_ < kMostCycles; upper_t_m_ *= 2) {
      x.front() = 1;
      const auto rest = rest_at(t_m_of(x), durations_of(x));
      bool beyond = true;
      for (std::size_t i = 0; i < rest.size(); ++i) beyond = beyond && rest[i] >= 2 * largest_measured(i);
      if (beyond) return;
    }
  }

  static double objective(unsigned count, const double* x, double*, void* data) {
    auto& search = *static_cast<Search*>(data);
    const double error = search.at({x, x + count}).error;
    if (!search.failure_.empty()) nlopt_force_stop(search.optimiser_);
    return std::isfinite(error) ? error : 1e30;
  }

  void stage(nlopt_algorithm algorithm, int evaluations, double first_step, std::vector<double>& x) {
    const auto count = static_cast<unsigned>(x.size());
    const std::unique_ptr<std::remove_pointer_t<nlopt_opt>, void (*)(nlopt_opt)> optimiser(
        nlopt_create(algorithm, count), nlopt_destroy);
    optimiser_ = optimiser.get();
    nlopt_set_lower_bounds1(optimiser_, 0);
    nlopt_set_upper_bounds1(optimiser_, 1);
    nlopt_set_min_objective(optimiser_, objective, this);
    nlopt_set_maxeval(optimiser_, evaluations);
    if (first_step > 0) {
      nlopt_set_initial_step1(optimiser_, first_step);
      nlopt_set_xtol_abs1(optimiser_, 1e-12);
    }
    // A stage that ends early, for whatever reason, leaves the best point that it saw.
    std::vector<double> found = x;
    double value = kInfinity;
    const double before = at(x).error;
    nlopt_optimize(optimiser_, found.data(), &value);
    if (value <= before) x = found;
    optimiser_ = nullptr;
  }

  void minimise(std::vector<double>& x) {
    nlopt_srand(kSeed);
    const auto count = static_cast<int>(dimensions());
    if (count == 1) {
      stage(NLOPT_GN_DIRECT_L, kGlobalEvaluations, 0, x);
    } else {
      stage(NLOPT_GN_CRS2_LM, kGlobalPerDimension * count, 0, x);
    }
    stage(NLOPT_LN_SBPLX, kLocalEvaluations * count, 0.02, x);
    stage(NLOPT_LN_SBPLX, kLocalEvaluations * count, 0.001, x);
  }

  double as_good(const Trial& best) const {
    return std::max(best.error * kAsGood, best.error + kAsGoodAtLeast);
  }

  // How far coordinate `i` can go down (step < 0) or up, the others but t_p as they are. Remembers the t_p.
  double reach(const std::vector<double>& best, std::size_t i, double step, double limit, FitRange& t_p) {
    const double end = step < 0 ? 0 : 1;
    const auto good = [&](double at_x) {
      std::vector<double> x = best;
      x[i] = at_x;
      const Trial trial = at(x);
      if (!(trial.error <= limit)) return false;
      t_p.low = std::min(t_p.low, trial.t_p_us);
      t_p.high = std::max(t_p.high, trial.t_p_us);
      return true;
    };
    double inside = best[i], outside = end;
    while (true) {
      const double next = step < 0 ? std::max(end, inside + step) : std::min(end, inside + step);
      if (!good(next)) {
        outside = next;
        break;
      }
      inside = next;
      if (next == end) return end;
      step *= 2;
    }
    for (int i_bisection = 0; i_bisection < 20; ++i_bisection) {
      const double middle = (inside + outside) / 2;
      (good(middle) ? inside : outside) = middle;
    }
    return inside;
  }

  // The same for t_p, where the error is convex.
  double reach_t_p(double best_t_p, double direction, double limit, const std::vector<double>& rest) const {
    double inside = 0, outside = std::max(1e-3, best_t_p * 1e-3);
    const auto good = [&](double away) {
      return best_t_p + direction * away >= 0 && error_of(best_t_p + direction * away, rest) <= limit;
    };
    while (good(outside) && outside < 1e9) {
      inside = outside;
      outside *= 2;
    }
    for (int i = 0; i < 40; ++i) {
      const double middle = (inside + outside) / 2;
      (good(middle) ? inside : outside) = middle;
    }
    return best_t_p + direction * inside;
  }

  Result<Fit> describe(const std::vector<double>& best, const Trial& trial) {
    Fit fit;
    fit.t_p_us = trial.t_p_us;
    const bool scaled = times_.model().has_scale();
    const double second = t_m_of(best);
    if (scaled)
      fit.scale = second;
    else
      fit.t_m_cycles = second;
    fit.t_p_fitted = !options_.t_p_us;
    fit.t_m_fitted = !scaled && fits_t_m();
    fit.memory_cycles = durations_of(best);
    const auto rest = rest_at(second, fit.memory_cycles);
    if (rest.empty()) return failure_;
    auto predicted = predicted_us(times_, which_, fit);
    if (!predicted) return predicted.diagnostics();
    fit.errors = errors_of(*predicted, measured_);
    fit.rows = rows_;

    const double limit = as_good(trial);
    fit.t_p_range = {reach_t_p(fit.t_p_us, -1, limit, rest), reach_t_p(fit.t_p_us, 1, limit, rest), false};
    for (std::size_t i = 0; i < best.size(); ++i) {
      std::vector<double> low = best, high = best;
      low[i] = reach(best, i, -1e-4, limit, fit.t_p_range);
      high[i] = reach(best, i, 1e-4, limit, fit.t_p_range);
      const bool open = high[i] >= 1;
      if (fits_t_m() && i == 0) {
        (scaled ? fit.scale_range : fit.t_m_range) = FitRange{t_m_of(low), t_m_of(high), open};
        continue;
      }
      const DurationName& name = options_.durations[i - (fits_t_m() ? 1 : 0)].name;
      auto lowest = durations_of(low), highest = durations_of(high);
      fit.durations.push_back(
          {name, duration(fit.memory_cycles, name), {duration(lowest, name), duration(highest, name), open}});
    }
    if (!failure_.empty()) return failure_;
    fit.evaluations = evaluations_;
    return fit;
  }

  const RowTimes& times_;
  const std::vector<std::size_t>& which_;
  const std::vector<double>& measured_;
  const FitOptions& options_;
  std::vector<std::size_t> looked_at_;  // rows of `which_` that are predicted
  std::optional<GroupedRows> grouped_;
  std::size_t rows_ = which_.size();
  std::vector<double> launches_;  // of looked_at_
  double upper_t_m_ = 0;
  std::size_t evaluations_ = 0;
  Diagnostics failure_;
  nlopt_opt optimiser_ = nullptr;
};

void check_single(const RowTimes& times, const DurationName& name, Diagnostics& wrong) {
  const auto kernels = times.kernels_with(name);
  if (kernels.empty()) {
    wrong.push_back(
        error(fmt::format("no program of the plan has the access {}", to_string(name)),
              "`warptime analyze` shows its loads and stores: they are counted from 1, each kind apart"));
  } else if (kernels.size() > 1) {
    wrong.push_back(error(fmt::format("{} kernels have an access {}", kernels.size(), to_string(name)),
                          fmt::format("name one: {}.{}", kernels.front(), to_string(name))));
  }
}

Diagnostics check_durations(const RowTimes& times, const std::vector<DurationBounds>& durations) {
  Diagnostics wrong;
  if (!times.model().has_constants())
    return {error(fmt::format("the model {} has no constants that could be fitted", times.model().name()))};
  const bool takes_durations = times.model().fitted_constants() == FittedConstants::t_p_and_t_m;
  if (!durations.empty() && !takes_durations)
    return {error(
        fmt::format("the model {} has no memory durations that could be fitted", times.model().name()))};
  const auto open = times.open_durations();
  std::string names;
  for (const DurationName& name : open) names += (names.empty() ? "" : ", ") + to_string(name);
  for (const DurationBounds& bounds : durations) {
    if (bounds.name.place > 0) {
      check_single(times, bounds.name, wrong);
    } else if (std::find(open.begin(), open.end(), bounds.name) == open.end()) {
      wrong.push_back(error(
          fmt::format("the plan's programs do not leave the duration of {} open", to_string(bounds.name)),
          open.empty() ? "all their durations are given: only t_p and t_m can be fitted"
                       : fmt::format("they leave {}", names)));
    }
    if (!(bounds.low_cycles >= 0 && bounds.low_cycles < bounds.high_cycles)) {
      wrong.push_back(error(fmt::format("the bounds of {} are {} to {} cycles", to_string(bounds.name),
                                        bounds.low_cycles, bounds.high_cycles)));
    }
  }
  return wrong;
}

}  // namespace

Diagnostics check_open_durations(const RowTimes& times, const std::vector<DurationBounds>& durations) {
  return check_durations(times, durations);
}

double mean_error_with_best_t_p(const RowTimes& times, const std::vector<std::size_t>& which,
                                const std::vector<double>& rest_us, const std::vector<double>& measured_us,
                                std::optional<double> t_p_us) {
  std::vector<double> launches, rest;
  for (const std::size_t index : which) {
    launches.push_back(times.launches()[index]);
    rest.push_back(rest_us[index]);
  }
  return mean_error_of(t_p_us ? *t_p_us : best_t_p_of(launches, rest, measured_us), launches, rest,
                       measured_us);
}

bool hardly_determined(const FitRange& range, double floor) {
  const double width = range.high - range.low;
  return range.open || (width > floor && width > (range.high + range.low) / 4);
}

Result<Fit> fit(const RowTimes& times, const std::vector<std::size_t>& which,
                const std::vector<double>& measured_us, std::size_t different, const FitOptions& options) {
  const std::size_t parameters =
      (options.t_p_us ? 0 : 1) + (options.t_m_cycles ? 0 : 1) + options.durations.size();
  if (parameters == 0) return error("there is nothing to fit: t_p and t_m are both given");
  if (auto wrong = check_durations(times, options.durations); !wrong.empty()) return wrong;
  if (different < parameters) {
    return error(fmt::format("{} measurement{} with different parameters cannot fit {} constants", different,
                             different == 1 ? "" : "s", parameters),
                 "measure more sizes, or give one of the constants with --t-p or --t-m");
  }
  return Search(times, which, measured_us, options).run();
}

Result<std::vector<double>> predicted_us(const RowTimes& times, const std::vector<std::size_t>& which,
                                         const Fit& fit) {
  auto predicted = times.rest_us(fit.scale.value_or(fit.t_m_cycles), fit.memory_cycles, which);
  if (!predicted) return predicted.diagnostics();
  for (std::size_t i = 0; i < which.size(); ++i)
    (*predicted)[i] = fit.t_p_us * times.launches()[which[i]] + (*predicted)[i];
  return predicted;
}

std::vector<bool> hold_out(std::size_t count, double fraction) {
  std::vector<bool> held(count);
  const auto upto = [&](std::size_t i) { return std::floor(static_cast<double>(i) * fraction + 1e-9); };
  for (std::size_t i = 0; i < count; ++i) held[i] = upto(i + 1) > upto(i);
  return held;
}

}  // namespace warptime
