// The host side of ../fwt3d.cu. For nvcc alone; the build calls it where there is one.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "../fwt3d.cu"
#include "dwt_kernels/host/device_frames.h"
#include "dwt_kernels/host/program.h"

namespace warptime::host {
namespace {

Diagnostics failed(const char* call, cudaError_t status) {
  if (status == cudaSuccess) return {};
  return {error(std::string("CUDA: ") + call + ": " + cudaGetErrorString(status))};
}

struct DeviceMemory {
  float* values = nullptr;
  ~DeviceMemory() { cudaFree(values); }
};

class Frames : public DeviceFrames {
 public:
  Frames(std::size_t rows, std::size_t columns)
      : rows_(static_cast<int>(rows)), columns_(static_cast<int>(columns)), pixels_(rows * columns) {}

  Diagnostics prepare(int device) {
    if (auto problems = failed("cudaSetDevice", cudaSetDevice(device)); !problems.empty()) return problems;
    cudaDeviceProp properties{};
    if (auto problems = failed("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device));
        !problems.empty())
      return problems;
    name_ = properties.name;
    for (const auto& [memory, frames] : {std::pair{&window_, std::size_t{4}}, {&reference_, 1}, {&detailed_, 1},
                                         {&half_done_, 1}, {&result_, 1}})
      if (auto problems = failed("cudaMalloc", cudaMalloc(&memory->values, frames * bytes())); !problems.empty())
        return problems;
    return {};
  }

  std::string device_name() const override { return name_; }

  Diagnostics put(std::size_t place, const float* frame) override {
    return timed(times.host_to_device, "a copy to the device", [&] {
      return cudaMemcpy(window_.values + place * pixels_, frame, bytes(), cudaMemcpyHostToDevice);
    });
  }

  Diagnostics step(std::size_t first, float* reference, float* detailed) override {
    const auto pixels = static_cast<int>(pixels_);
    auto problems = timed(times.frames, "fwt_frames", [&] {
      fwt_frames<<<blocks(pixels), threads>>>(pixels, static_cast<int>(first), window_.values, reference_.values,
                                              detailed_.values);
      return cudaDeviceSynchronize();
    });
    // The detailed video first.
    for (const auto& [frame, to] : {std::pair{detailed_.values, detailed}, {reference_.values, reference}}) {
      if (problems.empty())
        problems = timed(times.rows, "fwt_rows", [&, in = frame] {
          fwt_rows<<<rows_ * blocks(columns_ / 2), threads>>>(columns_, in, half_done_.values);
          return cudaDeviceSynchronize();
        });
      if (problems.empty())
        problems = timed(times.columns, "fwt_columns", [&] {
          fwt_columns<<<rows_ / 2 * blocks(columns_), threads>>>(rows_, columns_, half_done_.values, result_.values);
          return cudaDeviceSynchronize();
        });
      if (problems.empty())
        problems = timed(times.device_to_host, "a copy to the host", [&, out = to] {
          return cudaMemcpy(out, result_.values, bytes(), cudaMemcpyDeviceToHost);
        });
    }
    return problems;
  }

 private:
  static int blocks(int items) { return (items + threads - 1) / threads; }
  std::size_t bytes() const { return pixels_ * sizeof(float); }

  template <class Work>
  Diagnostics timed(double& time, const char* what, Work work) {
    const double begin = now_ms();
    cudaError_t status = work();
    if (status == cudaSuccess) status = cudaGetLastError();
    time += now_ms() - begin;
    return failed(what, status);
  }

  int rows_, columns_;
  std::size_t pixels_;
  std::string name_;
  DeviceMemory window_, reference_, detailed_, half_done_, result_;
};

}  // namespace

Result<std::unique_ptr<DeviceFrames>> cuda_frames(std::size_t rows, std::size_t columns, std::size_t device) {
  auto frames = std::make_unique<Frames>(rows, columns);
  if (auto problems = frames->prepare(static_cast<int>(device)); !problems.empty()) return problems;
  if (auto problems = frames->warm_up(rows * columns); !problems.empty()) return problems;
  return std::unique_ptr<DeviceFrames>(std::move(frames));
}

}  // namespace warptime::host
