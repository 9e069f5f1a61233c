// Kernels' durations from CUPTI's activity records (CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL): the GPU's own
// timestamps, without the launch overhead. The profilers report the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warptime::measuring {

struct KernelRecord {
  std::uint64_t start_ns = 0, end_ns = 0;
};

class CuptiActivity {
 public:
  // Opens CUPTI; once per process, before the driver is initialised. `problem()` is why it cannot be used.
  static CuptiActivity& get();
  const std::string& problem() const { return problem_; }
  std::string version() const;  // "13.0.1"

  // Both throw DeviceError. The records between them, in the order of their starts.
  void begin();
  std::vector<KernelRecord> end();

 private:
  CuptiActivity();
  std::string problem_;
  std::uint32_t version_ = 0;
};

}  // namespace warptime::measuring
