// NVML, where the driver brings it: clocks, temperature, the driver's version.
#pragma once

#include <optional>
#include <string>

#include "measure/library.h"

namespace warptime::measuring {

class Telemetry {
 public:
  // `pci_bus`: of the GPU, "0000:04:00.0". Where NVML or the GPU is not there everything below is empty.
  explicit Telemetry(const std::string& pci_bus);
  std::optional<double> sm_clock_mhz() const;
  std::optional<double> temperature_c() const;
  std::string driver_version() const;

 private:
  using Handle = void*;
  Library library_;
  Handle device_ = nullptr;
  int (*clock_)(Handle, int, unsigned*) = nullptr;
  int (*temperature_)(Handle, int, unsigned*) = nullptr;
  int (*driver_version_)(char*, unsigned) = nullptr;
};

}  // namespace warptime::measuring
