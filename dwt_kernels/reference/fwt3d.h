// The 3D fast wavelet transform on the CPU: plainly, and tiled, blocked and parallel as G. Bernabé has it
// (Parallel 3D fast wavelet transform comparison on CPUs and GPUs, sections 2.1, 3.2 and 3.4).
#pragma once

#include <cstddef>
#include <vector>

#include "dwt_kernels/reference/matrix.h"

namespace warptime::reference {

struct VideoSize {
  std::size_t frames = 0, rows = 0, columns = 0;  // each even
  std::size_t pixels() const { return rows * columns; }
};

// One level in each dimension by the definition: along time, rows, columns. The low band of each dimension
// comes first: of frames the reference video, then the detailed one.
Signal fwt3d(const Signal& video, const VideoSize& size, const Filters& filters);

struct Tiling {
  std::size_t columns = 64;  // filtered vertically together, row by row: the tile (aggregation)
  std::size_t rows =
      32;  // pairs of rows whose two frames are made and transformed before the next: the block
};

// The same with Daubechies' W4 in floats: the frames in parallel by OpenMP, each pair of result frames in
// blocks of rows, each block's columns in tiles. The rows that two blocks share are computed in both.
std::vector<float> fwt3d_tiled(const std::vector<float>& video, const VideoSize& size, const Tiling& tiling);

}  // namespace warptime::reference
