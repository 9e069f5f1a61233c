// fwt3d.cu's kernels and its host in OpenCL (section 6.2).
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "dwt_kernels/host/device_frames.h"
#include "dwt_kernels/host/program.h"
#include "dwt_kernels/reference/filters.h"
#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile opencl_kernels[];  // fwt3d.cl
}

namespace warptime::host {
namespace {

constexpr std::size_t kThreads = 128;  // of a work-group, as in fwt3d.cl

template <class Object, cl_int (*release)(Object)>
struct Released {
  void operator()(Object object) const { release(object); }
};
template <class Object, cl_int (*release)(Object)>
using Handle = std::unique_ptr<std::remove_pointer_t<Object>, Released<Object, release>>;

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Program = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Buffer = Handle<cl_mem, clReleaseMemObject>;

Diagnostics failed(const char* call, cl_int status) {
  if (status == CL_SUCCESS) return {};
  return {error(fmt::format("OpenCL: {} gives {}", call, status))};
}

std::optional<cl_device_id> device_number(std::size_t number) {
  cl_uint platforms = 0;
  if (clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS) return std::nullopt;
  std::vector<cl_platform_id> all(platforms);
  clGetPlatformIDs(platforms, all.data(), nullptr);
  for (cl_platform_id platform : all) {
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    if (number < devices.size()) return devices[number];
    number -= devices.size();
  }
  return std::nullopt;
}

Result<Program> built(cl_context context, cl_device_id device) {
  const std::string source(opencl_kernels[0].text);
  const char* pointer = source.c_str();
  cl_int status = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context, 1, &pointer, nullptr, &status));
  if (!program) return failed("clCreateProgramWithSource", status);
  std::string options;
  const auto low = reference::daubechies(4).low;
  for (std::size_t j = 0; j < low.size(); ++j) options += fmt::format("-D h{}={:.9g}f ", j, low[j]);
  if (clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr) == CL_SUCCESS)
    return program;
  std::string log(1 << 14, '\0');
  std::size_t size = 0;
  clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &size);
  log.resize(size > 0 ? std::min(size, log.size()) - 1 : 0);
  return error("fwt3d.cl: " + log);
}

class Frames : public DeviceFrames {
 public:
  Frames(std::size_t rows, std::size_t columns, cl_device_id device)
      : rows_(rows), columns_(columns), pixels_(rows * columns), device_(device) {}

  Diagnostics prepare() {
    cl_int status = CL_SUCCESS;
    context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
    if (!context_) return failed("clCreateContext", status);
    queue_.reset(clCreateCommandQueue(context_.get(), device_, 0, &status));
    if (!queue_) return failed("clCreateCommandQueue", status);
    auto program = built(context_.get(), device_);
    if (!program) return program.diagnostics();
    program_ = std::move(*program);
    for (auto& [kernel, name] :
         {std::pair{&by_frames_, "fwt_frames"}, {&by_rows_, "fwt_rows"}, {&by_columns_, "fwt_columns"}}) {
      kernel->reset(clCreateKernel(program_.get(), name, &status));
      if (!*kernel) return failed(name, status);
    }
    for (auto& [buffer, frames] :
         {std::pair{&window_, 4}, {&reference_, 1}, {&detailed_, 1}, {&half_done_, 1}, {&result_, 1}}) {
      buffer->reset(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE,
                                   static_cast<std::size_t>(frames) * bytes(), nullptr, &status));
      if (!*buffer) return failed("clCreateBuffer", status);
    }
    return {};
  }

  std::string device_name() const override {
    std::string name(256, '\0');
    std::size_t size = 0;
    clGetDeviceInfo(device_, CL_DEVICE_NAME, name.size(), name.data(), &size);
    name.resize(size > 0 ? size - 1 : 0);
    return name;
  }

  Diagnostics put(std::size_t place, const float* frame) override {
    const double begin = now_ms();
    auto problems = failed("clEnqueueWriteBuffer",
                           clEnqueueWriteBuffer(queue_.get(), window_.get(), CL_TRUE, place * bytes(),
                                                bytes(), frame, 0, nullptr, nullptr));
    times.host_to_device += now_ms() - begin;
    return problems;
  }

  Diagnostics step(std::size_t first, float* reference, float* detailed) override {
    const auto blocks = [](std::size_t items) { return (items + kThreads - 1) / kThreads; };
    const auto pixels = static_cast<cl_int>(pixels_), earliest = static_cast<cl_int>(first);
    const auto rows = static_cast<cl_int>(rows_), columns = static_cast<cl_int>(columns_);
    if (auto problems = launch(by_frames_, times.frames, blocks(pixels_), pixels, earliest, window_.get(),
                               reference_.get(), detailed_.get());
        !problems.empty())
      return problems;
    // The detailed video first.
    for (const auto& [frame, to] : {std::pair{detailed_.get(), detailed}, {reference_.get(), reference}}) {
      auto problems =
          launch(by_rows_, times.rows, rows_ * blocks(columns_ / 2), columns, frame, half_done_.get());
      if (problems.empty())
        problems = launch(by_columns_, times.columns, rows_ / 2 * blocks(columns_), rows, columns,
                          half_done_.get(), result_.get());
      if (!problems.empty()) return problems;
      const double begin = now_ms();
      problems = failed("clEnqueueReadBuffer", clEnqueueReadBuffer(queue_.get(), result_.get(), CL_TRUE, 0,
                                                                   bytes(), to, 0, nullptr, nullptr));
      times.device_to_host += now_ms() - begin;
      if (!problems.empty()) return problems;
    }
    return {};
  }

 private:
  std::size_t bytes() const { return pixels_ * sizeof(float); }

  template <class... Arguments>
  Diagnostics launch(const Kernel& kernel, double& time, std::size_t groups, Arguments... arguments) {
    const double begin = now_ms();
    cl_uint index = 0;
    cl_int status = CL_SUCCESS;
    ((status |= clSetKernelArg(kernel.get(), index++, sizeof arguments, &arguments)), ...);
    const std::size_t items = groups * kThreads, group = kThreads;
    if (status == CL_SUCCESS)
      status =
          clEnqueueNDRangeKernel(queue_.get(), kernel.get(), 1, nullptr, &items, &group, 0, nullptr, nullptr);
    if (status == CL_SUCCESS) status = clFinish(queue_.get());
    time += now_ms() - begin;
    return failed("a kernel's launch", status);
  }

  std::size_t rows_, columns_, pixels_;
  cl_device_id device_;
  Context context_;
  Queue queue_;
  Program program_;
  Kernel by_frames_, by_rows_, by_columns_;
  Buffer window_, reference_, detailed_, half_done_, result_;
};

}  // namespace

Result<std::unique_ptr<DeviceFrames>> opencl_frames(std::size_t rows, std::size_t columns,
                                                    std::size_t device) {
  const auto found = device_number(device);
  if (!found)
    return error(fmt::format("OpenCL: there is no device {}", device), "pocl-opencl-icd makes the CPU one");
  auto frames = std::make_unique<Frames>(rows, columns, *found);
  if (auto problems = frames->prepare(); !problems.empty()) return problems;
  if (auto problems = frames->warm_up(rows * columns); !problems.empty()) return problems;
  return std::unique_ptr<DeviceFrames>(std::move(frames));
}

}  // namespace warptime::host
