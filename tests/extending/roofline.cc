// A third model, as small as one can be: the roofline. A launch takes as long as the longer of two: its instructions
// at one a cycle and core package, or its bytes at the memory's bandwidth.
#include <algorithm>
#include <array>

#include "simulator/predict/models.h"

namespace warptime {
namespace {

constexpr std::array<TimePart, 2> kRooflineParts = {{
    {"calculation_us", "calc", "calculation at the peak rate", "compute-bound", TimePart::Kind::launch},
    {"bandwidth_us", "bytes", "bytes at the memory's bandwidth", "bandwidth-bound", TimePart::Kind::launch},
}};

struct Work {  // of one warp
  double cycles = 0, bytes = 0;
};

Work work_of(const Schedule& schedule, const std::vector<Schedule::Step>& steps) {
  constexpr double kWarpBytes = 32 * 4;
  Work work;
  for (const Schedule::Step& step : steps) {
    if (step.loop) {
      const Work body = work_of(schedule, step.loop->body);
      work.cycles += static_cast<double>(step.loop->count) * body.cycles;
      work.bytes += static_cast<double>(step.loop->count) * body.bytes;
    } else if (step.period.kind == PeriodKind::calculation) {
      work.cycles += step.period.cycles;
    } else {
      work.bytes += kWarpBytes;
    }
  }
  return work;
}

class Roofline : public Model {
 public:
  std::string_view name() const override { return "roofline"; }
  std::string_view title() const override { return "Roofline"; }
  std::span<const TimePart> parts() const override { return kRooflineParts; }

  Diagnostics check(const Gpu& gpu) const override {
    if (gpu.memory_bandwidth_gb_s) return check_core_packages(gpu);
    return {error(gpu.name + " has no memory_bandwidth_gb_s, which a roofline needs")};
  }

  Result<TimeBreakdown> time(const Schedule& schedule, const ModelGpu& on,
                             const ModelLaunch& launch) const override {
    const Gpu& gpu = *on.gpu;
    const Work work = work_of(schedule, schedule.steps);
    const auto warps =
        static_cast<double>(launch.shape.blocks * warps_of_threads(launch.shape.threads_per_block));
    const double core_packages = gpu.sms * gpu.core_packages_per_sm();
    const double calculation = warps * work.cycles / core_packages * on.cycle_us;
    const double bandwidth = warps * work.bytes / (*gpu.memory_bandwidth_gb_s * 1000);
    TimeBreakdown time;
    time.total_us = std::max(calculation, bandwidth);
    time.us[calculation > bandwidth ? 0 : 1] = time.total_us;
    return time;
  }
};

const Roofline roofline;
[[maybe_unused]] const bool registered = (register_model(roofline), true);

}  // namespace
}  // namespace warptime
