// The discrete wavelet transform as its definition has it: a matrix times a vector, and what is built from
// that.
#pragma once

#include <cstddef>
#include <vector>

#include "dwt_kernels/reference/filters.h"

namespace warptime::reference {

using Signal = std::vector<double>;

// Equations 1 and 2 of Puchala et al. (2022): low band at even places, high band at odd ones; the signal is
// periodic. Its length is even and may be less than the filters'.
Signal matrix_forward(const Signal& signal, const Filters& filters);
// The transposed matrix: the inverse, where the filters are orthogonal.
Signal matrix_inverse(const Signal& coefficients, const Filters& filters);

// `levels` transforms, each of the low band of the one before: the last low band, then the high bands from
// the last to the first. The length is a multiple of 2^levels.
Signal matrix_levels(const Signal& signal, const Filters& filters, int levels);
Signal matrix_levels_inverse(const Signal& coefficients, const Filters& filters, int levels);

// Rows, then columns, of rows x columns values; both bands interleaved in both directions.
Signal matrix_2d(const Signal& image, std::size_t rows, std::size_t columns, const Filters& filters);
Signal matrix_2d_inverse(const Signal& coefficients, std::size_t rows, std::size_t columns,
                         const Filters& filters);

// Interleaved to low band, high band; and back.
Signal split(const Signal& interleaved);
Signal merge(const Signal& bands);

}  // namespace warptime::reference
