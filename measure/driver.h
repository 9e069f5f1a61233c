// The CUDA driver's interface, opened at run time; and what is released at the end of its scope.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

#include "measure/device_error.h"
#include "measure/library.h"

namespace warptime::measuring {

struct Driver {
  Library library{{"libcuda.so.1"}};
  std::string missing;  // the first function that the library does not have
// clang-format off
#define WARPTIME_DRIVER_FUNCTIONS(X)                                                                      \
  X(cuInit) X(cuDriverGetVersion) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName)                   \
  X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDeviceGetPCIBusId) X(cuDevicePrimaryCtxRetain)          \
  X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuMemGetInfo) X(cuModuleLoadDataEx) X(cuModuleUnload)          \
  X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuModuleGetGlobal) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH)  \
  X(cuLaunchKernel) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize)             \
  X(cuEventElapsedTime) X(cuStreamCreate) X(cuStreamDestroy) X(cuMemsetD8) X(cuGetErrorString)
// clang-format on
#define WARPTIME_DECLARE(name) decltype(&::name) name##_ = nullptr;
  WARPTIME_DRIVER_FUNCTIONS(WARPTIME_DECLARE)
#undef WARPTIME_DECLARE

  static const Driver& get();  // opened once
  bool usable() const {
    return library.open() && missing.empty();
  }
  // Throws DeviceError: "the launch: an illegal memory access was encountered".
  void check(CUresult code, const std::string& what) const;

 private:
  Driver();
};

// A block of the GPU's memory.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes);  // throws DeviceError
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  CUdeviceptr address() const { return address_; }

 private:
  CUdeviceptr address_ = 0;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  CUevent get() const { return event_; }

 private:
  CUevent event_ = nullptr;
};

// PTX, made machine code by the driver.
class DeviceModule {
 public:
  DeviceModule(const std::string& ptx, const std::string& file);
  ~DeviceModule();
  DeviceModule(const DeviceModule&) = delete;
  DeviceModule& operator=(const DeviceModule&) = delete;
  CUfunction function(const std::string& symbol) const;
  // A module variable's address and bytes; 0 where the machine code has none of the name.
  std::pair<CUdeviceptr, std::size_t> variable(const std::string& name) const;

 private:
  CUmodule module_ = nullptr;
};

}  // namespace warptime::measuring
