// The GPU of this machine, where there is one, through the driver that comes with it: no CUDA Toolkit is
// needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warptime::kernels {

struct GpuArgument {
  std::vector<std::byte> scalar;  // empty: a pointer
  std::size_t buffer = 0;         // into GpuLaunch::buffers
  std::uint64_t offset = 0;       // in bytes
};

struct GpuLaunch {
  std::string ptx, symbol;
  std::uint32_t blocks = 1, threads = 1;
  std::vector<GpuArgument> arguments;
  std::vector<std::vector<std::byte>> buffers;              // before the launch, and after it
  std::map<std::string, std::vector<std::byte>> variables;  // the module's __constant__ ones, by symbol
};

bool gpu_here();
// Gives what went wrong in the driver's words; empty: nothing.
std::string run_on_gpu(GpuLaunch& launch);

}  // namespace warptime::kernels
