// In the place of cuda_frames.cu where the build found no nvcc.
#include "dwt_kernels/host/device_frames.h"

namespace warptime::host {

Result<std::unique_ptr<DeviceFrames>> cuda_frames(std::size_t, std::size_t, std::size_t) {
  return error("this build has no CUDA", "build it where nvcc is in the PATH or in /usr/local/cuda/bin");
}

}  // namespace warptime::host
