// In the place of opencl_frames.cc where the build found no OpenCL.
#include "dwt_kernels/host/device_frames.h"

namespace warptime::host {

Result<std::unique_ptr<DeviceFrames>> opencl_frames(std::size_t, std::size_t, std::size_t) {
  return error("this build has no OpenCL",
               "install ocl-icd-opencl-dev and a driver (pocl-opencl-icd runs on the CPU)");
}

}  // namespace warptime::host
