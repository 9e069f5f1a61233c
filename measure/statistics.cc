#include "measure/statistics.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace warptime::measuring {

double quantile(std::vector<double> values, double fraction) {
  assert(!values.empty() && fraction >= 0 && fraction <= 1);
  std::sort(values.begin(), values.end());
  const double place = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(const std::vector<double>& values) {
  return quantile(values, 0.5);
}

double interquartile_range(const std::vector<double>& values) {
  return quantile(values, 0.75) - quantile(values, 0.25);
}

}  // namespace warptime::measuring
