// The host side of the 3D transform in OpenCL (G. Bernabé, section 6.2): a window of four frames on the device, the
// kernels of fwt3d.cl, and how long each stage of Table 6 took.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "simulator/base/diagnostic.h"

namespace warptime::host {

// Milliseconds, summed over the iterations: the stages of Table 6 in their order.
struct StageTimes {
  double host_to_device = 0, frames = 0, rows = 0, columns = 0, device_to_host = 0;
};

class OpenClFrames {
 public:
  virtual ~OpenClFrames() = default;

  // Frames of rows * columns floats, both even. device: a number among all devices of all platforms. Errors: the build
  // found no OpenCL, no device of this number, or what the device's compiler says of the kernels.
  static Result<std::unique_ptr<OpenClFrames>> make(std::size_t rows, std::size_t columns,
                                                    std::size_t device);

  virtual std::string device_name() const = 0;
  // A frame to one of the four places on the device.
  virtual Diagnostics put(std::size_t place, const float* frame) = 0;
  // One iteration: from the four frames, of which the one at `first` is the earliest, a frame each of the reference and
  // the detailed video, back in the host's memory.
  virtual Diagnostics step(std::size_t first, float* reference, float* detailed) = 0;

  StageTimes times;
};

}  // namespace warptime::host
