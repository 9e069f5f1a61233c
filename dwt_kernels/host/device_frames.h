// The host side of the 3D transform on a device (G. Bernabé, Parallel 3D fast wavelet transform comparison on CPUs and
// GPUs, section 6): a window of four frames in its memory, the kernels of ../fwt3d.cu or fwt3d.cl, and how long each
// stage of Table 6 took.
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

class DeviceFrames {
 public:
  virtual ~DeviceFrames() = default;
  virtual std::string device_name() const = 0;
  // A frame to one of the four places on the device.
  virtual Diagnostics put(std::size_t place, const float* frame) = 0;
  // One iteration: from the four frames, of which the one at `first` is the earliest, a frame each of the reference and
  // the detailed video, back in the host's memory.
  virtual Diagnostics step(std::size_t first, float* reference, float* detailed) = 0;

  // An iteration that is not counted: drivers prepare kernels for the device when they are first launched.
  Diagnostics warm_up(std::size_t pixels);

  StageTimes times;
};

// Frames of rows * columns floats, both even. device: a number among all devices of all platforms. Errors: the build
// found no OpenCL or CUDA, there is no device of this number, or what the driver says.
Result<std::unique_ptr<DeviceFrames>> opencl_frames(std::size_t rows, std::size_t columns,
                                                    std::size_t device);
Result<std::unique_ptr<DeviceFrames>> cuda_frames(std::size_t rows, std::size_t columns, std::size_t device);

}  // namespace warptime::host
