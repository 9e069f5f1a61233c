#include "dwt_kernels/host/frame_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dwt_kernels/host/pgm.h"

namespace warptime::host {

using reference::FrameSize;

Diagnostics FrameSource::read(std::size_t number, float* frame) const {
  if (pattern_.empty()) {
    auto seed = static_cast<unsigned>(number) * 2654435761U + 1;
    for (std::size_t r = 0; r < size_.rows; ++r)
      for (std::size_t c = 0; c < size_.columns; ++c) {
        seed = seed * 1103515245U + 12345U;
        frame[r * size_.pitch + c] = static_cast<float>(seed >> 16 & 255);
      }
    return {};
  }
  const std::string path = numbered(pattern_, number);
  const auto read = read_graymap(path);
  if (!read) return read.diagnostics();
  if (read->rows != size_.rows || read->columns != size_.columns)
    return {error(fmt::format("{}: {} x {} pixels, where the first frame has {} x {}", path, read->columns,
                              read->rows, size_.columns, size_.rows))};
  for (std::size_t r = 0; r < size_.rows; ++r)
    std::copy_n(read->pixels.begin() + static_cast<std::ptrdiff_t>(r * size_.columns), size_.columns,
                frame + r * size_.pitch);
  return {};
}

FrameWindow::FrameWindow(const FrameSource& source, std::size_t pairs_an_iteration)
    : source_(source),
      places_(2 * pairs_an_iteration + 2),
      window_(places_ * source.size().values()),
      first_two_(2 * source.size().values()) {}

Diagnostics FrameWindow::advance(std::size_t from, std::size_t to) {
  const std::size_t values = source_.size().values();
  next_ = std::max(next_, 2 * from);
  first_new_ = next_;
  for (; next_ < 2 * to + 2; ++next_) {
    float* const frame = window_.data() + place(next_) * values;
    if (next_ >= source_.frames()) {
      std::copy_n(first_two_.data() + next_ % source_.frames() * values, values, frame);
      continue;
    }
    if (auto problems = source_.read(next_, frame); !problems.empty()) return problems;
    if (next_ < 2) std::copy_n(frame, values, first_two_.data() + next_ * values);
  }
  return {};
}

std::string check_pair(const FrameWindow& window, const FrameSize& size, std::size_t pair,
                       const float* low_frame, const float* high_frame) {
  constexpr double kTolerance = 1e-2 / 16;  // a hundredth of what a step of the written graymaps is
  const auto filters = reference::daubechies(4);
  auto seed = static_cast<unsigned>(pair) + 1;
  const auto any = [&](std::size_t count) {
    seed = seed * 1103515245U + 12345U;
    return (seed >> 8) % count;
  };
  const std::size_t rows = size.rows / 2, columns = size.columns / 2;
  for (int sample = 0; sample < 16; ++sample) {
    const std::size_t k = sample < 4 ? (sample % 2) * (rows - 1) : any(rows);
    const std::size_t m = sample < 4 ? (sample / 2) * (columns - 1) : any(columns);
    const std::size_t band = any(8);  // bits: time, rows, columns
    const auto& in_time = band & 4 ? filters.high : filters.low;
    const auto& vertical = band & 2 ? filters.high : filters.low;
    const auto& horizontal = band & 1 ? filters.high : filters.low;
    double wanted = 0;
    for (std::size_t t = 0; t < 4; ++t)
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t c = 0; c < 4; ++c)
          wanted +=
              in_time[t] * vertical[r] * horizontal[c] *
              window.frame(2 * pair + t)[(2 * k + r) % size.rows * size.pitch + (2 * m + c) % size.columns];
    const std::size_t row = k + (band & 2 ? rows : 0), column = m + (band & 1 ? columns : 0);
    const double got = (band & 4 ? high_frame : low_frame)[row * size.pitch + column];
    if (!(std::abs(got - wanted) <= kTolerance))
      return fmt::format("{} frame {}, row {}, column {}: {}, where the definition gives {}",
                         band & 4 ? "detailed" : "reference", pair, row, column, got, wanted);
  }
  return {};
}

}  // namespace warptime::host
