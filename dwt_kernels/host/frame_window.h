// The frames that are in memory while the 3D transform goes through a video (G. Bernabé, Parallel 3D fast wavelet
// transform comparison on CPUs and GPUs, section 6.1): first four, then two new ones an iteration, in the places of the
// oldest. With several threads, an iteration makes as many pairs of result frames, and has a window of 2 threads + 2.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dwt_kernels/reference/fwt3d.h"
#include "simulator/base/diagnostic.h"

namespace warptime::host {

// Where frames come from: graymaps IN%03d.pgm, from 0 on, or noise where the pattern is empty.
class FrameSource {
 public:
  FrameSource(std::string pattern, std::size_t frames, const reference::FrameSize& size)
      : pattern_(std::move(pattern)), frames_(frames), size_(size) {}
  // Frame `number`, rows * pitch floats; the dummy elements of a row are 0. Errors: a file that cannot be read, or of
  // another size than the first.
  Diagnostics read(std::size_t number, float* frame) const;
  std::size_t frames() const { return frames_; }
  const reference::FrameSize& size() const { return size_; }

 private:
  std::string pattern_;
  std::size_t frames_;
  reference::FrameSize size_;
};

class FrameWindow {
 public:
  FrameWindow(const FrameSource& source, std::size_t pairs_an_iteration);

  // Reads what the iteration of pairs from … to - 1 needs and the window has not. The video is periodic: after its last
  // frame come the first two again, which are kept.
  Diagnostics advance(std::size_t from, std::size_t to);
  const float* frame(std::size_t number) const {
    return window_.data() + place(number) * source_.size().values();
  }
  std::size_t place(std::size_t number) const { return number % places_; }
  // The frames that the last call of advance read, as numbers that go on after the video's end.
  std::size_t first_new() const { return first_new_; }
  std::size_t end_of_new() const { return next_; }

 private:
  const FrameSource& source_;
  std::size_t places_, next_ = 0, first_new_ = 0;
  std::vector<float> window_, first_two_;
};

// Coefficients of one pair of result frames, some in the corners and some anywhere, against their definition in double
// precision. Empty, or what is wrong.
std::string check_pair(const FrameWindow& window, const reference::FrameSize& size, std::size_t pair,
                       const float* low_frame, const float* high_frame);

}  // namespace warptime::host
