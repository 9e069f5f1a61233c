// The GPU of this machine with a plan's kernels on it. Built without a CUDA Toolkit (no_session.cc), open()
// returns an error.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/binding.h"
#include "measure/reference.h"
#include "simulator/gpu/device.h"
#include "simulator/gpu/gpu.h"

namespace warptime::measuring {

struct DeviceInfo {
  // Its driver: "580.159.04"; where NVML is not there what the driver's interface says, "CUDA 13.0".
  DeviceDescription description;
  std::string versions;  // "CUDA 13.0, CUPTI 13.0.1"
  std::uint64_t memory_bytes = 0;
};

enum class What : std::uint8_t {
  kernels,  // the sum of the kernels' own durations, from CUPTI's activity records
  plan,     // CUDA events around all launches
};
std::string_view to_string(What what);  // "kernels"

struct Times {
  std::vector<double> microseconds;  // one for each repetition
  std::optional<double> clock_mhz;   // of the SMs, right after; and the GPU's temperature
  std::optional<double> temperature_c;
};

// Not thread-safe; one at a time.
class Session {
 public:
  // The first GPU of CUDA_VISIBLE_DEVICES. Errors: built without a CUDA Toolkit, no driver, no GPU.
  static Result<std::unique_ptr<Session>> open();
  virtual ~Session() = default;

  virtual const DeviceInfo& device() const = 0;
  // Loads the modules of a plan. Errors: the driver does not take the PTX.
  virtual Diagnostics load(const PlanKernels& kernels) = 0;
  // Allocates the arrays of a bound plan, in place of the last one's, and fills them. Errors: not enough
  // memory.
  virtual Diagnostics prepare(const BoundPlan& bound, const Arrays& contents) = 0;
  // Runs what was prepared once, and returns the contents of the arrays.
  virtual Result<Arrays> run_once() = 0;
  // Runs what was prepared: warm-ups, then `repetitions` that are timed. Errors: a kernel's error; CUPTI not
  // there, or activity records that are missing.
  virtual Result<Times> time(What what, int warm_ups, int repetitions) = 0;
};

}  // namespace warptime::measuring
