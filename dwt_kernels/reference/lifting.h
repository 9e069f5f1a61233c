// The lifting scheme, and the rearrangement in place that the unified buffer needs.
#pragma once

#include <cstddef>
#include <vector>

#include "dwt_kernels/reference/matrix.h"

namespace warptime::reference {

// One half of equations 1 and 2 of T. Ikuzawa, F. Ino, K. Hagihara (2017): every value of one band gains a
// weighted sum of neighbours in the other: target[t] += sum over i of weights[i] * source[t + first + i],
// periodically. The low band is what the even samples become, the high band what the odd samples become.
struct LiftingStep {
  bool into_high = false;
  int first = 0;
  std::vector<double> weights;
};
struct Lifting {
  std::vector<LiftingStep> steps;
  double low_scale = 1, high_scale = 1;
};

// Deslauriers-Dubuc (13,7): W. Sweldens, The lifting scheme: a construction of second generation wavelets
// (1998), with four taps to predict and four to update.
Lifting deslauriers_dubuc_13_7();
// Cohen-Daubechies-Feauveau 5/3 and 9/7: I. Daubechies, W. Sweldens, Factoring wavelet transforms into
// lifting steps (1998), section 7.
Lifting cdf_5_3();
Lifting cdf_9_7();

// Low band, then high band. The length is even.
Signal lifting_forward(const Signal& signal, const Lifting& lifting);
Signal lifting_inverse(const Signal& coefficients, const Lifting& lifting);
// Rows, then columns: the low bands are the left columns and the upper rows.
Signal lifting_2d(const Signal& image, std::size_t rows, std::size_t columns, const Lifting& lifting);

// Algorithm 3: the smallest number of every circular permutation that puts even chunks before odd ones. As
// printed the loop runs to 2m - 1, where it does not end; the last chunk and the first never move, and are
// left out here, as Theorem 1 leaves them out of l. `chunks`: 2m, even.
std::vector<int> representatives(int chunks);
// The permutation that an element is in: the chunks whose contents move to the place of the one before
// (equation 4).
std::vector<int> circular_permutation(int element, int chunks);

}  // namespace warptime::reference
