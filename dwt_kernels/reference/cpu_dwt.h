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

// Their steps, for the values from `from` to `to` - 1, both even: what the four above are made of, and what threads
// share (cpu_dwt_team.h). All of a step is done before the next one begins.
void copy_pairs(int from, int to, const float* x, float* y);
void m2_ww_outputs(int K, int N, int from, int to, float* x, const float* y, const float* hp,
                   const float* gp);
void m2_nw_outputs(int K, int N, int from, int to, float* x, const float* y, const float* hp,
                   const float* gp);
// One butterfly stage. The caller puts the value that it returns at the place before `from`, that is at the end of
// the part before this one, once that part is done, too.
float l2_ww_stage(float a, int from, int to, float* y);
// One butterfly stage, of pairs that begin at `from`, which is odd in odd stages.
void l2_nw_stage(float a, int from, int to, float* y);
// The last stage of both: pairs begin at first + from.
void l2_outputs(float a, float psi, int N, int first, int from, int to, float* x, const float* y);

}  // namespace warptime::reference
