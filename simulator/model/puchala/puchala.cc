#include "simulator/model/puchala/puchala.h"

#include <array>

#include "simulator/model/puchala/core_package_times.h"
#include "simulator/model/puchala/kernel_time.h"

namespace warptime {
namespace {

constexpr std::array<TimePart, PuchalaParts::count> kPuchalaParts = {{
    {"launch_overhead_us", "launch", "launch overhead (t_p)", "launch-bound", TimePart::Kind::launch},
    {"calculation_us", "calc", "calculation", "compute-bound", TimePart::Kind::calculation},
    {"issue_us", "issue", "issuing loads and stores (t_m)", "issue-bound", TimePart::Kind::memory},
    {"waiting_us", "wait", "waiting for loads", "latency-bound", TimePart::Kind::memory},
    {"tail_us", "tail", "waiting for the last transactions", "tail-bound", TimePart::Kind::tail},
    {"full_runs_us", "", "full runs of active blocks", "", TimePart::Kind::further},
    {"remaining_run_us", "", "the remaining run", "", TimePart::Kind::further},
}};

// Core packages of a schedule, without a cache.
class PlainCorePackage : public CorePackageModel {
 public:
  PlainCorePackage(const Schedule& schedule, double t_m_cycles)
      : schedule_(schedule), t_m_cycles_(t_m_cycles) {}
  Result<CorePackageTime> time(std::int64_t warps) override {
    return simulate_core_package(schedule_, warps, t_m_cycles_);
  }

 private:
  const Schedule& schedule_;
  double t_m_cycles_;
};

class PuchalaSession final : public ModelSession {
 public:
  explicit PuchalaSession(const ModelOptions& options) : times_(core_package_options(options)) {}

  void start(const ModelGpu& gpu, std::size_t launches) override {
    gpu_ = &gpu;
    kept_.resize(launches);
    forget_all();
  }

  // The fast path of most launches of a sweep, whose schedule, runs and T_c are cached; it calls nothing.
  const TimeBreakdown* time(std::size_t number, const ModelLaunch& launch, Diagnostics& why) override {
    const Kept& kept = kept_[number];
    const Known& known = kept.known[launch.shape_slot];
    if (kept.revision != launch.revision || known.shape != launch.shape)
      return unknown_time(number, launch, why);
    const CorePackageTime* full = kept.instance->find(known.runs.warps_per_core_package);
    const CorePackageTime* rest = known.runs.remaining_warps_per_core_package == 0
                                      ? &nothing_
                                      : kept.instance->find(known.runs.remaining_warps_per_core_package);
    if (full == nullptr || rest == nullptr) return unknown_time(number, launch, why);
    time_of_runs(gpu_->cycle_us, known.runs, gpu_->constants.t_p_us, *full, *rest, time_);
    return &time_;
  }

 private:
  // Cached values for one shape of a launch: sweeps repeat the same shapes.
  struct Known {
    Launch shape;  // 0 blocks: empty
    Runs runs;
  };
  struct Kept {  // of one launch
    CorePackageTimes::Instance* instance = nullptr;
    std::uint64_t revision = 0;  // of the instance's values; 0: none
    std::array<Known, ModelLaunch::kShapeSlots>
        known;  // by ModelLaunch::shape_slot; a newer one replaces an older one
  };

  static CorePackageOptions core_package_options(const ModelOptions& options) {
    CorePackageOptions core_package;
    core_package.step_limit = options.step_limit;
    return core_package;
  }

  void forget_all() {
    for (Kept& kept : kept_) {
      kept.revision = 0;
      for (Known& known : kept.known) known.shape.blocks = 0;
    }
  }

  [[gnu::noinline]] const TimeBreakdown* unknown_time(std::size_t number, const ModelLaunch& launch,
                                                      Diagnostics& why) {
    Kept& kept = kept_[number];
    if (kept.revision != launch.revision && !find_instance(launch, kept, why)) return nullptr;
    Known& known = kept.known[launch.shape_slot];
    if (known.shape != launch.shape) {
      known.shape = launch.shape;
      known.runs = runs_of(*gpu_->gpu, gpu_->divisors, launch.shape, launch.active_blocks_per_sm);
    }
    CorePackageTime simulated_full, simulated_rest;
    const CorePackageTime *full = &simulated_full, *rest = &nothing_;
    if (!find_or_simulate(kept, known.runs.warps_per_core_package, full, simulated_full, why)) return nullptr;
    if (known.runs.remaining_warps_per_core_package > 0) {
      if (full != &simulated_full) simulated_full = *full;  // the next simulation may move it
      full = &simulated_full;
      if (!find_or_simulate(kept, known.runs.remaining_warps_per_core_package, rest, simulated_rest, why))
        return nullptr;
    }
    time_of_runs(gpu_->cycle_us, known.runs, gpu_->constants.t_p_us, *full, *rest, time_);
    return &time_;
  }

  bool find_instance(const ModelLaunch& launch, Kept& kept, Diagnostics& why) {
    if (why = check_core_packages(*gpu_->gpu); !why.empty()) return false;
    const std::uint64_t generation = times_.generation();
    const auto found = times_.find(*launch.program, *launch.values, gpu_->constants.t_m_cycles);
    if (times_.generation() != generation) {  // all other instances are invalid
      for (Kept& other : kept_) other.revision = 0;
    }
    if (!found) {
      kept.revision = 0;
      why = found.diagnostics();
      return false;
    }
    kept.instance = *found;
    kept.revision = launch.revision;
    return true;
  }

  // Lets `time` point to T_c: where it is remembered, else at `simulated`.
  static bool find_or_simulate(Kept& kept, std::int64_t warps, const CorePackageTime*& time,
                               CorePackageTime& simulated, Diagnostics& why) {
    time = kept.instance->find(warps);
    if (time != nullptr) return true;
    const auto result = kept.instance->time(warps);
    if (!result) {
      why = result.diagnostics();
      return false;
    }
    simulated = *result;
    time = &simulated;
    return true;
  }

  static constexpr CorePackageTime nothing_{};
  CorePackageTimes times_;
  const ModelGpu* gpu_ = nullptr;
  std::vector<Kept> kept_;  // by the launch's number
  TimeBreakdown time_;      // of the last launch
};

}  // namespace

std::span<const TimePart> PuchalaModel::parts() const {
  return kPuchalaParts;
}

Diagnostics PuchalaModel::check(const Gpu& gpu) const {
  return check_core_packages(gpu);
}

Result<TimeBreakdown> PuchalaModel::time(const Schedule& schedule, const ModelGpu& gpu,
                                         const ModelLaunch& launch) const {
  PlainCorePackage core_package(schedule, gpu.constants.t_m_cycles);
  return kernel_time(*gpu.gpu, launch.shape, gpu.constants.t_p_us, core_package, launch.active_blocks_per_sm);
}

std::unique_ptr<ModelSession> PuchalaModel::session(const ModelOptions& options) const {
  return std::make_unique<PuchalaSession>(options);
}

}  // namespace warptime
