// Frames in PGM files (netpbm's binary graymaps, P5).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::host {

struct Graymap {
  std::size_t rows = 0, columns = 0;
  std::vector<unsigned char> pixels;  // rows * columns
};

// Of at most 8 bits a pixel. The error names the file.
Result<Graymap> read_graymap(const std::string& path);
Diagnostics write_graymap(const std::string& path, const Graymap& frame);

// Coefficients of a frame: a graymap of 16 bits a pixel, 32768 + 16 * value, rounded. Values are within the range for
// pixels of 8 bits and one level in three dimensions; others are set to its ends. pitch: floats from row to row.
Diagnostics write_coefficients(const std::string& path, const float* values, std::size_t rows,
                               std::size_t columns, std::size_t pitch);

// IN%03d.pgm with a number in the place of %03d or %d; nothing where there is no such place, or another one.
std::string numbered(const std::string& pattern, std::size_t number);

}  // namespace warptime::host
