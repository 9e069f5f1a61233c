// Images in PGM files: netpbm's binary graymaps, P5, of one or two bytes a pixel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/execute/npy.h"

namespace warptime::execute {

// `contents`: the whole file. Gives rows and columns of f4, the gray values as they are. Errors: no P5, a heading that
// is not one, more or fewer pixels than it says.
Result<Array> read_pgm(std::string_view contents, const std::string& file);

struct Pgm {
  std::string contents;
  std::uint64_t clamped = 0;  // values that were not within 0 to 255
};
// Of an array of f4 with two dimensions: values are rounded, and those outside of 0 to 255 set to the nearest of
// these. NaN is 0.
Pgm write_pgm(const Array& array);

}  // namespace warptime::execute
