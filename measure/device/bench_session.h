// The GPU of this machine for micro-benchmarks: memory, launches, times. An interface, so that tests need no
// GPU. Every function but open() throws DeviceError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/device_error.h"
#include "measure/session.h"

namespace warptime::measuring {

// A launch of a kernel of microbenchmark_ptx(), in one dimension.
struct BenchLaunch {
  std::string kernel;
  int blocks = 1, threads = 1;
  std::vector<std::uint64_t> arguments;
};

// When a kernel ran, by the GPU's own clock.
struct KernelSpan {
  double start_us = 0, end_us = 0;
};

class BenchSession {
 public:
  // The first GPU of CUDA_VISIBLE_DEVICES, with the kernels on it. Errors: those of Session::open(), and a
  // driver that rejects the kernels.
  static Result<std::unique_ptr<BenchSession>> open();
  virtual ~BenchSession() = default;

  virtual const DeviceInfo& device() const = 0;
  // Of the SMs, now; nothing: the driver does not say.
  virtual std::optional<double> clock_mhz() = 0;

  // Memory of zeros, 256-byte aligned, until release().
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  virtual void release() = 0;
  virtual void write(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void read(std::uint64_t address, std::span<std::byte> bytes) = 0;

  // Runs to the end.
  virtual void run(const BenchLaunch& launch) = 0;
  // The time between two events around `launches` launches one behind another.
  virtual double time_us(const BenchLaunch& launch, int launches) = 0;
  // When each of them ran, and whether the host waits for one before it launches the next; nothing: CUPTI is
  // not there.
  virtual std::optional<std::vector<KernelSpan>> spans(const BenchLaunch& launch, int launches,
                                                       bool wait_for_each) = 0;
};

}  // namespace warptime::measuring
