// The sequential implementations of K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient
// implementation of one-dimensional discrete wavelet transform algorithms for GPU architectures (2022),
// section 4.1, Listings 1 to 4, under their names and with their variables.
//
// Of all four: x is the signal of N values before, and the coefficients after: low band, then high band. y is
// a work space. K is the filters' length, even and not more than N; N is even. Which filters and factors:
// filters.h, lattice.h.
#pragma once

namespace warptime::reference {

// Listing 1: matrix, filters wrapped with a modulo division. y: N values. hp, gp: K values each.
void cpu_dwt_m2_ww_ref(int K, int N, float* x, float* y, const float* hp, const float* gp);
// Listing 2: matrix, the signal expanded by its first K - 2 values. y: N + K - 2 values.
void cpu_dwt_m2_nw(int K, int N, float* x, float* y, const float* hp, const float* gp);
// Listing 3: lattice, the first pair kept aside instead of wrapping. y: N values. wtg: K / 2 + 1 values
// (factorise_tangents).
void cpu_dwt_l2_ww(int K, int N, float* x, float* y, const float* wtg);
// Listing 4: lattice, the signal expanded by its first K - 2 values. y: N + K - 2 values.
void cpu_dwt_l2_nw(int K, int N, float* x, float* y, const float* wtg);

}  // namespace warptime::reference
