#include "dwt_kernels/reference/matrix.h"

#include <algorithm>

namespace warptime::reference {

Signal matrix_forward(const Signal& signal, const Filters& filters) {
  const std::size_t n = signal.size(), taps = filters.low.size();
  Signal result(n);
  for (std::size_t row = 0; row < n; ++row) {
    const auto& filter = row % 2 == 0 ? filters.low : filters.high;
    for (std::size_t j = 0; j < taps; ++j) result[row] += filter[j] * signal[(row / 2 * 2 + j) % n];
  }
  return result;
}

Signal matrix_inverse(const Signal& coefficients, const Filters& filters) {
  const std::size_t n = coefficients.size(), taps = filters.low.size();
  Signal result(n);
  for (std::size_t row = 0; row < n; ++row) {
    const auto& filter = row % 2 == 0 ? filters.low : filters.high;
    for (std::size_t j = 0; j < taps; ++j) result[(row / 2 * 2 + j) % n] += filter[j] * coefficients[row];
  }
  return result;
}

Signal split(const Signal& interleaved) {
  const std::size_t half = interleaved.size() / 2;
  Signal bands(interleaved.size());
  for (std::size_t i = 0; i < half; ++i) {
    bands[i] = interleaved[2 * i];
    bands[half + i] = interleaved[2 * i + 1];
  }
  return bands;
}

Signal merge(const Signal& bands) {
  const std::size_t half = bands.size() / 2;
  Signal interleaved(bands.size());
  for (std::size_t i = 0; i < half; ++i) {
    interleaved[2 * i] = bands[i];
    interleaved[2 * i + 1] = bands[half + i];
  }
  return interleaved;
}

Signal matrix_levels(const Signal& signal, const Filters& filters, int levels) {
  Signal result = signal;
  for (int level = 0; level < levels; ++level) {
    const auto end = result.begin() + static_cast<std::ptrdiff_t>(signal.size() >> level);
    const Signal bands = split(matrix_forward({result.begin(), end}, filters));
    std::copy(bands.begin(), bands.end(), result.begin());
  }
  return result;
}

Signal matrix_levels_inverse(const Signal& coefficients, const Filters& filters, int levels) {
  Signal result = coefficients;
  for (int level = levels - 1; level >= 0; --level) {
    const auto end = result.begin() + static_cast<std::ptrdiff_t>(coefficients.size() >> level);
    const Signal signal = matrix_inverse(merge({result.begin(), end}), filters);
    std::copy(signal.begin(), signal.end(), result.begin());
  }
  return result;
}

namespace {

Signal transposed(const Signal& matrix, std::size_t rows, std::size_t columns) {
  Signal result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = matrix[r * columns + c];
  return result;
}

template <class Transform>
Signal each_row(const Signal& matrix, std::size_t columns, Transform transform) {
  Signal result;
  for (auto row = matrix.begin(); row != matrix.end(); row += static_cast<std::ptrdiff_t>(columns)) {
    const Signal done = transform(Signal(row, row + static_cast<std::ptrdiff_t>(columns)));
    result.insert(result.end(), done.begin(), done.end());
  }
  return result;
}

template <class Transform>
Signal row_column(const Signal& matrix, std::size_t rows, std::size_t columns, Transform transform) {
  const Signal turned = transposed(each_row(matrix, columns, transform), rows, columns);
  return transposed(each_row(turned, rows, transform), columns, rows);
}

}  // namespace

Signal matrix_2d(const Signal& image, std::size_t rows, std::size_t columns, const Filters& filters) {
  return row_column(image, rows, columns, [&](const Signal& row) { return matrix_forward(row, filters); });
}

Signal matrix_2d_inverse(const Signal& coefficients, std::size_t rows, std::size_t columns,
                         const Filters& filters) {
  return row_column(coefficients, rows, columns,
                    [&](const Signal& row) { return matrix_inverse(row, filters); });
}

}  // namespace warptime::reference
