// Writes occupancy_golden.csv: what NVIDIA's own occupancy calculation gives for blocks of many sizes on each
// compute capability that it knows (3.0 and later). Built by hand, where there is a CUDA Toolkit; no build
// and no test needs it:
//
//   g++ -std=c++20 -I. -I/usr/local/cuda/include tests/simulator/occupancy_golden.cc
//       -L<build>/simulator -lwarptime_simulator -lfmt -lyaml-cpp -o occupancy_golden
//   ./occupancy_golden > tests/simulator/occupancy_golden.csv
//
// The sizes of an SM are those of warptime's table; the rules are the toolkit's.
#include <cuda_occupancy.h>

#include <climits>
#include <cstdio>
#include <random>

#include "simulator/gpu/occupancy.h"

namespace {

cudaOccDeviceProp properties_of(const warptime::ComputeLimits& limits) {
  cudaOccDeviceProp properties;
  properties.computeMajor = limits.compute_capability.major;
  properties.computeMinor = limits.compute_capability.minor;
  properties.maxThreadsPerBlock = limits.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = limits.max_warps_per_sm * 32;
  properties.regsPerBlock = static_cast<int>(limits.registers_per_block);
  properties.regsPerMultiprocessor = static_cast<int>(limits.registers_per_sm);
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48 * 1024;
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(limits.shared_bytes_per_sm);
  properties.numSms = 1;
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(limits.shared_bytes_per_block);
  properties.reservedSharedMemPerBlock = static_cast<std::size_t>(limits.shared_reserved_per_block);
  return properties;
}

int or_none(int limit) {
  return limit == INT_MAX ? -1 : limit;
}

void write_case(const warptime::ComputeLimits& limits, int threads, int registers, int shared_static,
                int shared_dynamic) {
  const cudaOccDeviceProp properties = properties_of(limits);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = INT_MAX;
  attributes.numRegs = registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(shared_static);
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(shared_dynamic);
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result;
  const auto status = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, threads, static_cast<std::size_t>(shared_dynamic));
  if (status != CUDA_OCC_SUCCESS) return;
  std::printf("%d.%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%zu\n", limits.compute_capability.major,
              limits.compute_capability.minor, threads, registers, shared_static, shared_dynamic,
              result.activeBlocksPerMultiprocessor, result.blockLimitWarps, result.blockLimitBlocks,
              or_none(result.blockLimitRegs), or_none(result.blockLimitSharedMem),
              result.allocatedSharedMemPerBlock);
}

}  // namespace

int main() {
  std::puts(
      "# Made by occupancy_golden.cc with cuda_occupancy.h of CUDA 13.0. -1: no limit.\n"
      "compute_capability,threads,registers,shared_static,shared_dynamic,active_blocks,by_warps,by_blocks,"
      "by_registers,by_shared_memory,shared_allocated");
  std::mt19937 random(20220901);
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  for (const auto& limits : warptime::all_compute_limits()) {
    if (limits.compute_capability.major < 3) continue;
    const int largest = static_cast<int>(limits.shared_bytes_per_block);
    for (int i = 0; i < 240; ++i) {
      const int threads = i % 3 == 0 ? 1 + below(limits.max_threads_per_block)
                                     : 32 * (1 + below(limits.max_threads_per_block / 32));
      const int registers = 1 + below(limits.registers_per_thread);
      const int shared_static = i % 4 == 0 ? 0 : below(i % 4 == 1 ? 49153 : 12000);
      const int shared_dynamic = i % 5 < 3 ? 0 : below(i % 5 == 3 ? largest + 2000 : 20000);
      write_case(limits, threads, registers, shared_static, shared_dynamic);
    }
  }
}
