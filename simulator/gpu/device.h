// Which GPU a device is: from what CUDA and the profilers report to an entry of the catalogue, or to a file
// of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/gpu/gpu.h"

namespace warptime {

// What a device says of itself. Profiler files have only the name; 0: not known.
struct DeviceFigures {
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int sms = 0;
  double clock_mhz = 0;  // the highest of the SMs
};

// The catalogue's GPU that the device is; null: none. A name of the catalogue is that GPU. Of a device's name
// the brand, the size of the memory and the form factor count only where the catalogue tells them apart
// (`NVIDIA A100-SXM4-40GB` is an `a100`); anything else in it does (`RTX 4090 Laptop GPU` is no `rtx-4090`).
// Where several remain, the number of SMs and then the clock decide; a device whose SMs or clock are not the
// GPU's is not that GPU. (The counts of Table 3 of Puchala et al. are the paper's own, and no device is held
// against them.)
const Gpu* find_device(const GpuCatalogue& catalogue, const DeviceFigures& device);

// A name for the file of a device: lower case, digits and hyphens, without the brand: "h100-nvl". Where the
// catalogue has another GPU of that name, the number of SMs follows: "gtx-260-27-sms".
std::string device_gpu_name(const GpuCatalogue& catalogue, const DeviceFigures& device);

// What a device says of itself to whom can ask it.
struct DeviceDescription {
  DeviceFigures figures;
  ComputeCapability compute_capability;
  int max_threads_per_block = 0, max_threads_per_sm = 0, max_blocks_per_sm = 0;
  std::int64_t registers_per_sm = 0, shared_bytes_per_sm = 0, shared_bytes_per_block = 0, l2_bytes = 0;
  double memory_clock_mhz = 0;
  int memory_bus_bits = 0;
  std::string driver;  // for the sources: "580.159.04"
};

// A GPU of what the device says, named by device_gpu_name(). What no device says (t_p, t_m, memory durations)
// is that of the GPU of the catalogue with the nearest compute capability among those that are validated.
Gpu gpu_of_device(const GpuCatalogue& catalogue, const DeviceDescription& device);

// As a GPU's file, with the sources: read_gpu() reads it back to an equal GPU. The figures of the second model are
// left out, and memory durations and timing figures without a source of the GPU's own.
std::string to_yaml(const Gpu& gpu);

}  // namespace warptime
