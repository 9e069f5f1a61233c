// The first GPU of CUDA_VISIBLE_DEVICES, opened: its context, a stream, and what it says of itself.
#pragma once

#include <memory>

#include "measure/driver.h"
#include "measure/session.h"
#include "measure/telemetry.h"

namespace warptime::measuring {

// Looks for a driver and a GPU; before everything else. Errors: there is none, or the driver is too old.
Diagnostics check_device();

class DeviceContext {
 public:
  DeviceContext();  // throws DeviceError
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  CUstream stream() const { return stream_; }
  const DeviceInfo& info() const { return info_; }
  const Telemetry& telemetry() const { return *telemetry_; }

 private:
  void describe(CUdevice device);
  CUstream stream_ = nullptr;
  DeviceInfo info_;
  std::unique_ptr<Telemetry> telemetry_;
};

}  // namespace warptime::measuring
