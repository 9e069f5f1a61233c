#include "simulator/program/iteration_spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warptime {

IterationSpread of_pieces(const IterationSpread& whole, std::int64_t times) {
  const auto each = static_cast<double>(times);
  return {std::max(0.0, (whole.mean - left_of_pieces(times).mean) / each), whole.deviation / each,
          whole.most / each};
}

IterationSpread left_of_pieces(std::int64_t times) {
  const auto most = static_cast<double>(times - 1);
  // Of whole numbers from 0 to the most; a beta distribution of that width, rounded, has the same mean.
  return {most / 2, std::sqrt((most + 2) * most / 12), most};
}

IterationQuantiles::IterationQuantiles(const IterationSpread& spread) {
  constexpr std::size_t points = 513, cells = 4096;
  at_.assign(points, std::max(spread.mean, 0.0));
  if (!(spread.most > 0) || !(spread.deviation > 0)) return;
  const double mean = std::clamp(spread.mean / spread.most, 0.0, 1.0);
  const double variance = std::pow(spread.deviation / spread.most, 2);
  const double widest = mean * (1 - mean);
  constexpr double two_points = 0.95;
  if (variance >= two_points * widest) {
    for (std::size_t i = 0; i < points; ++i)
      at_[i] = static_cast<double>(i) / (points - 1) < 1 - mean ? 0 : spread.most;
    return;
  }
  const double sum = widest / variance - 1, a = mean * sum - 1, b = (1 - mean) * sum - 1;
  std::vector<double> until(cells + 1, 0);
  std::vector<double> logarithms(cells);  // of the density
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const double x = (static_cast<double>(cell) + 0.5) / cells;
    logarithms[cell] = a * std::log(x) + b * std::log1p(-x);
  }
  const double highest = *std::max_element(logarithms.begin(), logarithms.end());
  for (std::size_t cell = 0; cell < cells; ++cell)
    until[cell + 1] = until[cell] + std::exp(logarithms[cell] - highest);
  std::size_t cell = 0;
  for (std::size_t i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / (points - 1) * until[cells];
    while (cell + 1 < cells && until[cell + 1] < share) ++cell;
    const double width = until[cell + 1] - until[cell];
    const double in_cell = width > 0 ? std::clamp((share - until[cell]) / width, 0.0, 1.0) : 0;
    at_[i] = spread.most * (static_cast<double>(cell) + in_cell) / cells;
  }
}

std::int64_t IterationQuantiles::iterations(double share) const {
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(at_.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), at_.size() - 2);
  const double part = place - static_cast<double>(below);
  return std::llround(at_[below] + part * (at_[below + 1] - at_[below]));
}

}  // namespace warptime
