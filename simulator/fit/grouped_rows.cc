#include "simulator/fit/grouped_rows.h"

#include <algorithm>
#include <limits>

namespace warptime {
namespace {

constexpr int most_bisections = 200;
constexpr double same_weight = 1e-12;  // as a share: sums in another order differ by less

}  // namespace

GroupedRows::GroupedRows(const std::vector<std::size_t>& group_of, const std::vector<double>& launches,
                         const std::vector<double>& measured_us)
    : groups_(launches.size()), rows_(measured_us.size()) {
  for (std::size_t i = 0; i < launches.size(); ++i) groups_[i].launches = launches[i];
  for (std::size_t i = 0; i < rows_; ++i) groups_[group_of[i]].measured_us.push_back(measured_us[i]);
  for (Group& group : groups_) {
    std::sort(group.measured_us.begin(), group.measured_us.end());
    group.sum_of_inverse.push_back(0);
    for (const double us : group.measured_us)
      group.sum_of_inverse.push_back(group.sum_of_inverse.back() + 1 / us);
    weight_ += group.launches * group.sum_of_inverse.back();
  }
}

std::size_t GroupedRows::Group::at_most(double us) const {
  return static_cast<std::size_t>(std::upper_bound(measured_us.begin(), measured_us.end(), us) -
                                  measured_us.begin());
}

double GroupedRows::mean_error(double t_p_us, const std::vector<double>& rest_us) const {
  double sum = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    const double predicted = t_p_us * group.launches + rest_us[i];
    const std::size_t below = group.at_most(predicted);
    const auto count = [](std::size_t number) { return static_cast<double>(number); };
    // predicted / measured - 1 of those below it, 1 - predicted / measured of the others.
    sum += predicted * group.sum_of_inverse[below] - count(below);
    sum += count(group.measured_us.size() - below) -
           predicted * (group.sum_of_inverse.back() - group.sum_of_inverse[below]);
  }
  return sum / static_cast<double>(rows_);
}

double GroupedRows::weight_at_most(double t_p_us, const std::vector<double>& rest_us) const {
  double weight = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (group.launches > 0)
      weight += group.launches * group.sum_of_inverse[group.at_most(t_p_us * group.launches + rest_us[i])];
  }
  return weight;
}

// The weight grows with t_p in steps: bisection comes to the step at which it reaches the half.
double GroupedRows::best_t_p(const std::vector<double>& rest_us) const {
  const double half = weight_ / 2 * (1 - same_weight);
  double low = 0, high = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (group.launches > 0 && !group.measured_us.empty())
      high = std::max(high, (group.measured_us.back() - rest_us[i]) / group.launches);
  }
  if (high <= 0 || weight_at_most(0, rest_us) >= half) return 0;
  for (int i = 0; i < most_bisections; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (weight_at_most(middle, rest_us) >= half ? high : low) = middle;
  }
  return high;
}

}  // namespace warptime
