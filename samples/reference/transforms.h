// The samples' transforms by their definitions: sums over all values, in double precision.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace warptime::reference {

// X[k] = sum of x[n] exp(-2 pi i n k / N).
std::vector<std::complex<double>> fourier(const std::vector<std::complex<double>>& x);
// X[k] = sum of x[n] cos(pi (2 n + 1) k / (2 N)).
std::vector<double> cosine(const std::vector<double>& x);
// The orthonormal two-dimensional one of every block of 8 x 8 values; rows and columns are multiples of 8.
std::vector<double> cosine_8x8(const std::vector<double>& image, std::size_t rows, std::size_t columns);
// X[k] = sum of x[n] (-1)^(number of ones in n AND k).
std::vector<double> walsh_hadamard(const std::vector<double>& x);
// X[k] = sum of x[n] (cos(2 pi n k / N) + sin(2 pi n k / N)).
std::vector<double> hartley(const std::vector<double>& x);
// rows x inner times inner x columns.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::size_t rows,
                            std::size_t inner, std::size_t columns);

}  // namespace warptime::reference
