// Orthogonal two-channel filters, as they stand in the rows of the transform matrix.
#pragma once

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

// The high-pass filter that belongs to an orthogonal low-pass filter: high[j] = (-1)^j low[K - 1 - j].
std::vector<double> quadrature_mirror(const std::vector<double>& low);

}  // namespace warptime::reference
