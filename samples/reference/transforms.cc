#include "samples/reference/transforms.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace warptime::reference {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// An angle of `steps` of `of` parts of a turn, with the whole turns taken out before anything is rounded.
double angle(std::size_t steps, std::size_t of) {
  return kTurn * static_cast<double>(steps % of) / static_cast<double>(of);
}

// X[k] = sum of x[n] kernel(n, k).
template <class T, class Kernel>
std::vector<T> sums(const std::vector<T>& x, Kernel kernel) {
  std::vector<T> result(x.size());
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t n = 0; n < x.size(); ++n) result[k] += x[n] * kernel(n, k);
  return result;
}

}  // namespace

std::vector<std::complex<double>> fourier(const std::vector<std::complex<double>>& x) {
  return sums(x, [&](std::size_t n, std::size_t k) { return std::polar(1.0, -angle(n * k, x.size())); });
}

std::vector<double> cosine(const std::vector<double>& x) {
  return sums(x,
              [&](std::size_t n, std::size_t k) { return std::cos(angle((2 * n + 1) * k, 4 * x.size())); });
}

std::vector<double> cosine_8x8(const std::vector<double>& image, std::size_t rows, std::size_t columns) {
  const auto basis = [](std::size_t k, std::size_t n) {
    return (k == 0 ? std::sqrt(0.125) : 0.5) * std::cos(angle((2 * n + 1) * k, 32));
  };
  std::vector<double> result(image.size());
  for (std::size_t v = 0; v < rows; ++v)
    for (std::size_t u = 0; u < columns; ++u)
      for (std::size_t y = 0; y < 8; ++y)
        for (std::size_t x = 0; x < 8; ++x)
          result[v * columns + u] +=
              basis(v % 8, y) * basis(u % 8, x) * image[(v / 8 * 8 + y) * columns + u / 8 * 8 + x];
  return result;
}

std::vector<double> walsh_hadamard(const std::vector<double>& x) {
  return sums(x, [](std::size_t n, std::size_t k) { return std::popcount(n & k) % 2 == 0 ? 1.0 : -1.0; });
}

std::vector<double> hartley(const std::vector<double>& x) {
  return sums(x, [&](std::size_t n, std::size_t k) {
    return std::cos(angle(n * k, x.size())) + std::sin(angle(n * k, x.size()));
  });
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::size_t rows,
                            std::size_t inner, std::size_t columns) {
  std::vector<double> result(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t c = 0; c < columns; ++c)
        result[r * columns + c] += a[r * inner + k] * b[k * columns + c];
  return result;
}

}  // namespace warptime::reference
