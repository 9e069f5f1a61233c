#include "dwt_kernels/reference/lifting.h"

#include <algorithm>
#include <cassert>

namespace warptime::reference {

Lifting deslauriers_dubuc_13_7() {
  return {{{true, -1, {1. / 16, -9. / 16, -9. / 16, 1. / 16}},
           {false, -2, {-1. / 32, 9. / 32, 9. / 32, -1. / 32}}},
          1,
          1};
}

Lifting cdf_5_3() {
  return {{{true, 0, {-0.5, -0.5}}, {false, -1, {0.25, 0.25}}}, 1, 1};
}

Lifting cdf_9_7() {
  constexpr double kAlpha = -1.586134342059924, kBeta = -0.052980118572961, kGamma = 0.882911075530934,
                   kDelta = 0.443506852043971;
  constexpr double kScale = 1.149604398860241;
  return {{{true, 0, {kAlpha, kAlpha}},
           {false, -1, {kBeta, kBeta}},
           {true, 0, {kGamma, kGamma}},
           {false, -1, {kDelta, kDelta}}},
          kScale,
          1 / kScale};
}

namespace {

void apply(const LiftingStep& step, double sign, Signal& low, Signal& high) {
  auto& target = step.into_high ? high : low;
  const auto& source = step.into_high ? low : high;
  const int half = static_cast<int>(target.size());
  for (int t = 0; t < half; ++t)
    for (int i = 0; i < static_cast<int>(step.weights.size()); ++i) {
      const int place = ((t + step.first + i) % half + half) % half;
      target[static_cast<std::size_t>(t)] +=
          sign * step.weights[static_cast<std::size_t>(i)] * source[static_cast<std::size_t>(place)];
    }
}

}  // namespace

Signal lifting_forward(const Signal& signal, const Lifting& lifting) {
  const std::size_t half = signal.size() / 2;
  Signal low(half), high(half);
  for (std::size_t t = 0; t < half; ++t) {
    low[t] = signal[2 * t];
    high[t] = signal[2 * t + 1];
  }
  for (const auto& step : lifting.steps) apply(step, 1, low, high);
  Signal result;
  for (const double value : low) result.push_back(value * lifting.low_scale);
  for (const double value : high) result.push_back(value * lifting.high_scale);
  return result;
}

Signal lifting_inverse(const Signal& coefficients, const Lifting& lifting) {
  const std::size_t half = coefficients.size() / 2;
  Signal low(half), high(half);
  for (std::size_t t = 0; t < half; ++t) {
    low[t] = coefficients[t] / lifting.low_scale;
    high[t] = coefficients[half + t] / lifting.high_scale;
  }
  for (auto step = lifting.steps.rbegin(); step != lifting.steps.rend(); ++step) apply(*step, -1, low, high);
  low.insert(low.end(), high.begin(), high.end());
  return merge(low);
}

Signal lifting_2d(const Signal& image, std::size_t rows, std::size_t columns, const Lifting& lifting) {
  Signal result = image;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto begin = result.begin() + static_cast<std::ptrdiff_t>(r * columns);
    const Signal row = lifting_forward({begin, begin + static_cast<std::ptrdiff_t>(columns)}, lifting);
    std::copy(row.begin(), row.end(), begin);
  }
  for (std::size_t c = 0; c < columns; ++c) {
    Signal column(rows);
    for (std::size_t r = 0; r < rows; ++r) column[r] = result[r * columns + c];
    column = lifting_forward(column, lifting);
    for (std::size_t r = 0; r < rows; ++r) result[r * columns + c] = column[r];
  }
  return result;
}

std::vector<int> circular_permutation(int element, int chunks) {
  std::vector<int> result = {element};
  const auto next = [chunks](int i) {
    return static_cast<int>(2 * static_cast<long long>(i) % (chunks - 1));
  };
  for (int i = next(element); i != element; i = next(i)) result.push_back(i);
  return result;
}

std::vector<int> representatives(int chunks) {
  assert(chunks >= 2 && chunks % 2 == 0);
  std::vector<int> result;
  std::vector<bool> seen(static_cast<std::size_t>(chunks));
  for (int i = 1; i < chunks - 1; ++i) {
    if (seen[static_cast<std::size_t>(i)]) continue;
    result.push_back(i);
    for (const int j : circular_permutation(i, chunks)) seen[static_cast<std::size_t>(j)] = true;
  }
  return result;
}

}  // namespace warptime::reference
