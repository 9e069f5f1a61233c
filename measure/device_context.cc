#include "measure/device_context.h"

#include <fmt/format.h>

#include <array>

#include "measure/activity.h"

namespace warptime::measuring {

Diagnostics check_device() {
  const auto& cuda = Driver::get();
  if (!cuda.library.open())
    return {error("there is no CUDA driver on this machine (libcuda.so.1): `measure` needs a GPU",
                  "`warptime predict` does not")};
  if (!cuda.usable())
    return {error(fmt::format("this machine's CUDA driver is older than warptime was built for: it has no {}",
                              cuda.missing))};
  CuptiActivity::get();
  int devices = 0;
  if (cuda.cuInit_(0) != CUDA_SUCCESS || cuda.cuDeviceGetCount_(&devices) != CUDA_SUCCESS || devices < 1)
    return {
        error("there is no CUDA GPU on this machine: `measure` needs one", "`warptime predict` does not")};
  return {};
}

DeviceContext::DeviceContext() {
  const auto& cuda = Driver::get();
  CUdevice device = 0;
  cuda.check(cuda.cuDeviceGet_(&device, 0), "the GPU");
  CUcontext context = nullptr;
  cuda.check(cuda.cuDevicePrimaryCtxRetain_(&context, device), "a context on the GPU");
  cuda.check(cuda.cuCtxSetCurrent_(context), "the context");
  cuda.check(cuda.cuStreamCreate_(&stream_, CU_STREAM_NON_BLOCKING), "a stream");
  describe(device);
}

DeviceContext::~DeviceContext() {
  Driver::get().cuStreamDestroy_(stream_);
}

void DeviceContext::describe(CUdevice device) {
  const auto& cuda = Driver::get();
  std::array<char, 256> text{};
  cuda.check(cuda.cuDeviceGetName_(text.data(), static_cast<int>(text.size()), device), "the GPU's name");
  DeviceDescription& says = info_.description;
  says.figures.name = text.data();
  // 0: the driver does not say. Clocks are going out of use.
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    return cuda.cuDeviceGetAttribute_(&value, which, device) == CUDA_SUCCESS ? value : 0;
  };
  constexpr double khz_per_mhz = 1000;
  says.figures.sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  says.figures.clock_mhz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / khz_per_mhz;
  says.compute_capability = {attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                             attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
  if (says.compute_capability.major == 0)
    throw DeviceError("the driver does not say the GPU's compute capability");
  says.max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  says.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  says.max_blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  says.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  says.shared_bytes_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  says.shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  says.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  says.memory_clock_mhz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / khz_per_mhz;
  says.memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  std::size_t bytes = 0;
  cuda.check(cuda.cuDeviceTotalMem_(&bytes, device), "the GPU's memory");
  info_.memory_bytes = bytes;
  std::array<char, 64> bus{};
  cuda.check(cuda.cuDeviceGetPCIBusId_(bus.data(), static_cast<int>(bus.size()), device), "the GPU's bus");
  telemetry_ = std::make_unique<Telemetry>(bus.data());
  int version = 0;
  cuda.check(cuda.cuDriverGetVersion_(&version), "the driver's version");
  const auto driver = fmt::format("CUDA {}.{}", version / 1000, version / 10 % 100);
  says.driver = telemetry_->driver_version();
  if (says.driver.empty()) says.driver = driver;
  info_.versions = driver;
  if (CuptiActivity::get().problem().empty()) info_.versions += ", CUPTI " + CuptiActivity::get().version();
}

}  // namespace warptime::measuring
