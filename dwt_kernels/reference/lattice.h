// The lattice structure of an orthogonal filter pair: its factorisation, and the transform by it.
//
// Butterfly stage i (i = 0, …, K / 2 - 1) pairs values that stand one place further right than the pairs of
// the stage before. Seen from the output: the first value Q of a pair comes from filters of two taps less
// that begin at the same sample, the second, P, from such that begin two samples later. Undoing the last
// stage therefore takes the combination of both filters whose last two taps vanish for Q, and the one whose
// first two vanish for P; what is left are filters of K - 2 taps.
#pragma once

#include <vector>

#include "dwt_kernels/reference/matrix.h"
#include "simulator/base/diagnostic.h"

namespace warptime::reference {

// Puchala et al. (2022), equation 3 and Fig. 1: a' = a + t b, b' = s a + b; then each band is scaled.
struct Lattice {
  std::vector<double> t, s;  // one each for the K / 2 butterfly stages; s = -t
  double low_scale = 1, high_scale = 1;
};

// Errors, each with the reason: filters of different or odd lengths, or none; filters that are not orthogonal
// to each other and to themselves shifted by two; a stage that would need an infinite coefficient.
Result<Lattice> factorise(const Filters& filters);

// The 2 (K / 2 + 1) coefficients of ltt.cu and of ltt_inverse.cu.
std::vector<float> ltt_coefficients(const Lattice& lattice);
std::vector<float> ltt_inverse_coefficients(const Lattice& lattice);

// What ltt.cu computes: pair m of the coefficients at places 2 m + K / 2 - 1 and the next, modulo the length.
Signal lattice_forward(const Signal& signal, const Lattice& lattice);
Signal lattice_inverse(const Signal& coefficients, const Lattice& lattice);

// Stokfiszewski et al. (2022), equation 1 and Listings 3 and 4: a' = a + w b, b' = w a - b with one factor w
// a stage, K / 2 of them, and at the end both bands times psi. Since there is but one scale, the sign of the
// high band is not free: with high[j] = (-1)^(j + 1) low[K - 1 - j] the factorisation is there, with the
// opposite sign it is refused. Gives wtg[]: the K / 2 factors, then psi.
Result<std::vector<double>> factorise_tangents(const Filters& filters);

}  // namespace warptime::reference
