#include "dwt_kernels/reference/fwt3d.h"

#include <algorithm>
#include <array>

namespace warptime::reference {
namespace {

// Transforms `count` values that stand `stride` apart.
void along(Signal& values, std::size_t first, std::size_t stride, std::size_t count, const Filters& filters) {
  Signal line(count);
  for (std::size_t i = 0; i < count; ++i) line[i] = values[first + i * stride];
  line = split(matrix_forward(line, filters));
  for (std::size_t i = 0; i < count; ++i) values[first + i * stride] = line[i];
}

// The low and the high band's value of four neighbours.
struct Pair {
  float low, high;
};

class TiledFrames {
 public:
  TiledFrames(const std::vector<float>& video, const VideoSize& size, const Tiling& tiling,
              std::vector<float>& result)
      : video_(video), size_(size), tiling_(tiling), result_(result) {
    const auto filters = daubechies(4);
    for (std::size_t j = 0; j < 4; ++j) {
      low_[j] = static_cast<float>(filters.low[j]);
      high_[j] = static_cast<float>(filters.high[j]);
    }
  }

  // Result frames `pair` of both videos, block by block.
  void make(std::size_t pair) const {
    const std::size_t half = size_.rows / 2;
    std::vector<float> reference, detailed;
    for (std::size_t from = 0; from < half; from += tiling_.rows) {
      const std::size_t to = std::min(half, from + tiling_.rows);
      block(pair, from, to, reference, detailed);
      columns(reference, pair, from, to);
      columns(detailed, size_.frames / 2 + pair, from, to);
    }
  }

 private:
  Pair filtered(float a, float b, float c, float d) const {
    return {low_[0] * a + low_[1] * b + low_[2] * c + low_[3] * d,
            high_[0] * a + high_[1] * b + high_[2] * c + high_[3] * d};
  }

  // Rows 2 from … 2 to + 1 of both result frames, transformed in time and along the rows.
  void block(std::size_t pair, std::size_t from, std::size_t to, std::vector<float>& reference,
             std::vector<float>& detailed) const {
    const std::size_t rows = 2 * (to - from) + 2, width = size_.columns;
    std::array<const float*, 4> frames{};
    for (std::size_t j = 0; j < 4; ++j)
      frames[j] = video_.data() + (2 * pair + j) % size_.frames * size_.pixels();
    std::vector<float> low(width), high(width);
    reference.resize(rows * width);
    detailed.resize(rows * width);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t at = (2 * from + r) % size_.rows * width;
      for (std::size_t c = 0; c < width; ++c) {
        const auto [h, g] =
            filtered(frames[0][at + c], frames[1][at + c], frames[2][at + c], frames[3][at + c]);
        low[c] = h;
        high[c] = g;
      }
      row(low, reference.data() + r * width);
      row(high, detailed.data() + r * width);
    }
  }

  void row(const std::vector<float>& in, float* out) const {
    const std::size_t width = size_.columns;
    for (std::size_t k = 0; k < width / 2; ++k) {
      const auto [h, g] =
          filtered(in[2 * k], in[2 * k + 1], in[(2 * k + 2) % width], in[(2 * k + 3) % width]);
      out[k] = h;
      out[width / 2 + k] = g;
    }
  }

  // Pairs of rows from … to - 1, all of them for one tile of columns before the next tile.
  void columns(const std::vector<float>& rows, std::size_t frame, std::size_t from, std::size_t to) const {
    const std::size_t width = size_.columns;
    for (std::size_t tile = 0; tile < width; tile += tiling_.columns) {
      const std::size_t end = std::min(width, tile + tiling_.columns);
      for (std::size_t k = from; k < to; ++k) {
        const float* in = rows.data() + 2 * (k - from) * width;
        float* out = result_.data() + frame * size_.pixels() + k * width;
        for (std::size_t c = tile; c < end; ++c) {
          const auto [h, g] = filtered(in[c], in[width + c], in[2 * width + c], in[3 * width + c]);
          out[c] = h;
          out[size_.pixels() / 2 + c] = g;
        }
      }
    }
  }

  const std::vector<float>& video_;
  const VideoSize size_;
  const Tiling tiling_;
  std::vector<float>& result_;
  std::array<float, 4> low_{}, high_{};
};

}  // namespace

Signal fwt3d(const Signal& video, const VideoSize& size, const Filters& filters) {
  Signal result = video;
  for (std::size_t pixel = 0; pixel < size.pixels(); ++pixel)
    along(result, pixel, size.pixels(), size.frames, filters);
  for (std::size_t row = 0; row < size.frames * size.rows; ++row)
    along(result, row * size.columns, 1, size.columns, filters);
  for (std::size_t frame = 0; frame < size.frames; ++frame)
    for (std::size_t column = 0; column < size.columns; ++column)
      along(result, frame * size.pixels() + column, size.columns, size.rows, filters);
  return result;
}

std::vector<float> fwt3d_tiled(const std::vector<float>& video, const VideoSize& size, const Tiling& tiling) {
  std::vector<float> result(video.size());
  const TiledFrames frames(video, size, tiling, result);
  const auto pairs = static_cast<std::ptrdiff_t>(size.frames / 2);
#pragma omp parallel for
  for (std::ptrdiff_t pair = 0; pair < pairs; ++pair) frames.make(static_cast<std::size_t>(pair));
  return result;
}

}  // namespace warptime::reference
