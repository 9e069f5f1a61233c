// Orthogonal two-channel filters, as they stand in the rows of the transform matrix.
#pragma once

#include <string_view>
#include <vector>

namespace warptime::reference {

// Row pair m of the transform matrix (Puchala et al. 2022, equation 2) holds low[0] … low[K - 1] and high[0]
// … high[K - 1] from column 2 m on. In a signal processor's words: the impulse responses, last value first.
struct Filters {
  std::vector<double> low, high;  // equally many, an even number
};

// Daubechies' filters of 2 (Haar), 4, 6, …, 14 taps (K / 2 vanishing moments, extremal phase); empty for
// other numbers. The high-pass filter is high[j] = (-1)^j low[K - 1 - j]. Source: I. Daubechies, Ten Lectures
// on Wavelets (1992), Table 6.1, scaled to a sum of sqrt(2), with the digits of a double.
Filters daubechies(int taps);

// Symlets, Daubechies' least asymmetric filters, of 8, 10, …, 20 taps (K / 2 vanishing moments), and coiflets
// of 6, 12, …, 30 taps (K / 3 vanishing moments, and the scaling function K / 3 - 1); empty for other numbers.
// Source: the same book, Tables 6.3 and 8.1, with the digits of PyWavelets 1.1.1.
Filters symlet(int taps);
Filters coiflet(int taps);

// Meyer's filter, which has no end, cut to an even number of taps around its middle: h[k] is the integral of
// m0(w) exp(i k w) sqrt(2) / (2 pi) over one period, with the same book's equations 4.2.3 to 4.2.5 and its
// nu(x) = x^4 (35 - 84 x + 70 x^2 - 20 x^3). Orthogonal only as far as what is cut off is small: within 1e-5 of
// 62 taps. Empty for an odd number of taps.
Filters meyer(int taps);

// By PyWavelets' names: haar, db1 to db7, sym4 to sym10, coif1 to coif5; and meyer, of 62 taps. Empty for
// other names.
Filters wavelet(std::string_view name);

// The high-pass filter that belongs to an orthogonal low-pass filter: high[j] = (-1)^j low[K - 1 - j].
std::vector<double> quadrature_mirror(const std::vector<double>& low);

}  // namespace warptime::reference
