#include "measure/telemetry.h"

#include <array>

namespace warptime::measuring {
namespace {

// NVML's numbers for NVML_CLOCK_SM and NVML_TEMPERATURE_GPU.
constexpr int kSmClock = 1;
constexpr int kGpuTemperature = 0;

}  // namespace

Telemetry::Telemetry(const std::string& pci_bus) : library_({"libnvidia-ml.so.1"}) {
  int (*init)() = nullptr;
  int (*handle)(const char*, Handle*) = nullptr;
  if (!library_.find("nvmlInit_v2", init) || !library_.find("nvmlDeviceGetHandleByPciBusId_v2", handle))
    return;
  library_.find("nvmlDeviceGetClockInfo", clock_);
  library_.find("nvmlDeviceGetTemperature", temperature_);
  library_.find("nvmlSystemGetDriverVersion", driver_version_);
  if (init() != 0) {
    driver_version_ = nullptr;
    return;
  }
  if (handle(pci_bus.c_str(), &device_) != 0) device_ = nullptr;
}

std::optional<double> Telemetry::sm_clock_mhz() const {
  unsigned value = 0;
  if (device_ == nullptr || clock_ == nullptr || clock_(device_, kSmClock, &value) != 0) return std::nullopt;
  return value;
}

std::optional<double> Telemetry::temperature_c() const {
  unsigned value = 0;
  if (device_ == nullptr || temperature_ == nullptr || temperature_(device_, kGpuTemperature, &value) != 0)
    return std::nullopt;
  return value;
}

std::string Telemetry::driver_version() const {
  std::array<char, 96> text{};
  if (driver_version_ == nullptr || driver_version_(text.data(), text.size() - 1) != 0) return {};
  return text.data();
}

}  // namespace warptime::measuring
