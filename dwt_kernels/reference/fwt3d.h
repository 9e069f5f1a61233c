// The 3D fast wavelet transform on the CPU: plainly, and tiled, blocked and parallel as G. Bernabé has it
// (Parallel 3D fast wavelet transform comparison on CPUs and GPUs, sections 2.1 and 3.2 to 3.4).
#pragma once

#include <array>
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
  std::size_t columns =
      64;  // filtered vertically together, row by row: the tile (aggregation); 1: the untiled
           // baseline, column by column
  std::size_t rows =
      32;  // pairs of rows whose two frames are made and transformed before the next: the block;
           // kWhole: no blocks
};
inline constexpr std::size_t kWhole = static_cast<std::size_t>(-1);

// A frame in memory: rows * pitch floats, of which each row's first `columns` count. A pitch larger than the columns
// is the row extension: dummy elements, for widths of powers of two.
struct FrameSize {
  std::size_t rows = 0, columns = 0;  // each even
  std::size_t pitch = 0;              // at least columns
  std::size_t values() const { return rows * pitch; }
};

// One step of the transform with Daubechies' W4 in floats: from four successive frames a frame of the reference video
// and one of the detailed video, both transformed along rows and columns. The rows that two blocks share are computed
// in both.
class FrameTransform {
 public:
  FrameTransform(const FrameSize& size, const Tiling& tiling);
  // Several threads may call it at once.
  void make(const std::array<const float*, 4>& frames, float* reference, float* detailed) const;
  const FrameSize& size() const { return size_; }

 private:
  void block(const std::array<const float*, 4>& frames, std::size_t from, std::size_t to,
             std::vector<float>& reference, std::vector<float>& detailed) const;
  void row(const float* in, float* out) const;
  void columns(const std::vector<float>& rows, float* result, std::size_t from, std::size_t to) const;

  FrameSize size_;
  Tiling tiling_;
  std::array<float, 8> taps_{};  // low-pass, high-pass
};

// What one step reads and writes.
struct FrameStep {
  std::array<const float*, 4> frames{};
  float *reference = nullptr, *detailed = nullptr;
};

// Who goes through the loop over the steps (sections 3.2 and 3.3). openmp: `parallel for`; one thread where the build
// has no OpenMP. pthreads: each thread a contiguous part, by its number and the number of steps.
enum class FrameEngine { sequential, openmp, pthreads };
bool has_openmp();
void make_frames(const FrameTransform& transform, const std::vector<FrameStep>& steps, FrameEngine engine,
                 int threads);

// The whole video at once, in place of fwt3d: by OpenMP with as many threads as it takes.
std::vector<float> fwt3d_tiled(const std::vector<float>& video, const VideoSize& size, const Tiling& tiling);

}  // namespace warptime::reference
