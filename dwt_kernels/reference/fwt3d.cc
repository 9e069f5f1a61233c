#include "dwt_kernels/reference/fwt3d.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <thread>

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

Pair filtered(const std::array<float, 8>& taps, float a, float b, float c, float d) {
  return {taps[0] * a + taps[1] * b + taps[2] * c + taps[3] * d,
          taps[4] * a + taps[5] * b + taps[6] * c + taps[7] * d};
}

// What a POSIX thread gets: a function of one pointer is all that it can begin with (section 3.3).
struct ThreadSteps {
  const FrameTransform* transform;
  const std::vector<FrameStep>* steps;
  std::size_t from, to;
};

void* make_steps(void* parameters) {
  const auto& [transform, steps, from, to] = *static_cast<const ThreadSteps*>(parameters);
  for (std::size_t i = from; i < to; ++i) {
    const FrameStep& step = (*steps)[i];
    transform->make(step.frames, step.reference, step.detailed);
  }
  return nullptr;
}

void make_by_pthreads(const FrameTransform& transform, const std::vector<FrameStep>& steps,
                      std::size_t threads) {
  std::vector<ThreadSteps> parts;
  for (std::size_t i = 0; i < threads; ++i)
    parts.push_back({&transform, &steps, steps.size() * i / threads, steps.size() * (i + 1) / threads});
  std::vector<pthread_t> created;
  for (std::size_t i = 1; i < threads; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, make_steps, &parts[i]) == 0)
      created.push_back(thread);
    else
      make_steps(&parts[i]);  // no more threads: this one does it
  }
  make_steps(parts.data());
  for (const pthread_t thread : created) pthread_join(thread, nullptr);
}

}  // namespace

FrameTransform::FrameTransform(const FrameSize& size, const Tiling& tiling) : size_(size), tiling_(tiling) {
  const auto filters = daubechies(4);
  for (std::size_t j = 0; j < 4; ++j) {
    taps_[j] = static_cast<float>(filters.low[j]);
    taps_[4 + j] = static_cast<float>(filters.high[j]);
  }
}

void FrameTransform::make(const std::array<const float*, 4>& frames, float* reference,
                          float* detailed) const {
  const std::size_t half = size_.rows / 2;
  std::vector<float> low, high;
  for (std::size_t from = 0; from < half;) {
    const std::size_t to = tiling_.rows < half - from ? from + tiling_.rows : half;
    block(frames, from, to, low, high);
    columns(low, reference, from, to);
    columns(high, detailed, from, to);
    from = to;
  }
}

// Rows 2 from … 2 to + 1 of both result frames, transformed in time and along the rows.
void FrameTransform::block(const std::array<const float*, 4>& frames, std::size_t from, std::size_t to,
                           std::vector<float>& reference, std::vector<float>& detailed) const {
  const std::size_t rows = 2 * (to - from) + 2, width = size_.columns, pitch = size_.pitch;
  const auto taps = taps_;
  std::vector<float> low(width), high(width);
  reference.resize(rows * pitch);
  detailed.resize(rows * pitch);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t at = (2 * from + r) % size_.rows * pitch;
    const float *a = frames[0] + at, *b = frames[1] + at, *c = frames[2] + at, *d = frames[3] + at;
    for (std::size_t i = 0; i < width; ++i) {
      const auto [h, g] = filtered(taps, a[i], b[i], c[i], d[i]);
      low[i] = h;
      high[i] = g;
    }
    row(low.data(), reference.data() + r * pitch);
    row(high.data(), detailed.data() + r * pitch);
  }
}

void FrameTransform::row(const float* in, float* out) const {
  const auto taps = taps_;
  const std::size_t half = size_.columns / 2;
  for (std::size_t k = 0; k < half; ++k) {
    const std::size_t next = k + 1 < half ? 2 * k + 2 : 0;  // the row is periodic
    const auto [h, g] = filtered(taps, in[2 * k], in[2 * k + 1], in[next], in[next + 1]);
    out[k] = h;
    out[half + k] = g;
  }
}

// Pairs of rows from … to - 1, all of them for one tile of columns before the next tile.
void FrameTransform::columns(const std::vector<float>& rows, float* result, std::size_t from,
                             std::size_t to) const {
  const std::size_t width = size_.columns, pitch = size_.pitch, half = size_.values() / 2;
  const auto taps = taps_;
  for (std::size_t tile = 0; tile < width; tile += tiling_.columns) {
    const std::size_t end = std::min(width, tile + tiling_.columns);
    for (std::size_t k = from; k < to; ++k) {
      const float* in = rows.data() + 2 * (k - from) * pitch;
      float* out = result + k * pitch;
      for (std::size_t c = tile; c < end; ++c) {
        const auto [h, g] = filtered(taps, in[c], in[pitch + c], in[2 * pitch + c], in[3 * pitch + c]);
        out[c] = h;
        out[half + c] = g;
      }
    }
  }
}

bool has_openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

void make_frames(const FrameTransform& transform, const std::vector<FrameStep>& steps, FrameEngine engine,
                 int threads) {
  const std::size_t most =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), steps.size());
  if (engine == FrameEngine::pthreads)
    return make_by_pthreads(transform, steps, std::max<std::size_t>(most, 1));
  [[maybe_unused]] const int together =
      engine == FrameEngine::openmp ? std::max(1, static_cast<int>(most)) : 1;
  const auto count = static_cast<std::ptrdiff_t>(steps.size());
#pragma omp parallel for num_threads(together) if (together > 1)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const FrameStep& step = steps[static_cast<std::size_t>(i)];
    transform.make(step.frames, step.reference, step.detailed);
  }
}

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
  const FrameTransform transform({size.rows, size.columns, size.columns}, tiling);
  std::vector<FrameStep> steps(size.frames / 2);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      steps[i].frames[j] = video.data() + (2 * i + j) % size.frames * size.pixels();
    steps[i].reference = result.data() + i * size.pixels();
    steps[i].detailed = result.data() + (size.frames / 2 + i) * size.pixels();
  }
  make_frames(transform, steps, FrameEngine::openmp, static_cast<int>(std::thread::hardware_concurrency()));
  return result;
}

}  // namespace warptime::reference
