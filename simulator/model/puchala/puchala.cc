#include "simulator/model/puchala/puchala.h"

#include <array>

#include "simulator/model/puchala/core_package_times.h"
#include "simulator/model/puchala/kernel_time.h"

namespace warptime {
namespace {

constexpr std::array<TimePart, 7> kPuchalaParts = {{
    {"launch_overhead_us", "launch", "launch overhead (t_p)", "launch-bound", TimePart::Kind::launch},
    {"calculation_us", "calc", "calculation", "compute-bound", TimePart::Kind::calculation},
    {"issue_us", "issue", "issuing loads and stores (t_m)", "issue-bound", TimePart::Kind::memory},
    {"waiting_us", "wait", "waiting for loads", "latency-bound", TimePart::Kind::memory},
    {"tail_us", "tail", "waiting for the last transactions", "tail-bound", TimePart::Kind::tail},
    {"full_runs_us", "", "full runs of active blocks", "", TimePart::Kind::further},
    {"remaining_run_us", "", "the remaining run", "", TimePart::Kind::further},
}};

inline void set_breakdown(const KernelTime& time, TimeBreakdown& into) {
  into.total_us = time.total_us;
  into.us = {time.preparation_us, time.calculation_us, time.issue_us,        time.waiting_us,
             time.tail_us,        time.full_runs_us,   time.remaining_run_us};
}

// Core packages of a schedule that nobody remembers.
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
    has_core_packages_ = check_core_packages(*gpu.gpu).empty();
    kept_.resize(launches);
    for (Kept& kept : kept_) kept.forget();
  }

  bool time(std::size_t number, const ModelLaunch& launch, TimeBreakdown& time, Diagnostics& why) override {
    Kept& kept = kept_[number];
    if (!has_core_packages_) {
      why = check_core_packages(*gpu_->gpu);
      return false;
    }
    if (kept.instance == nullptr || kept.revision != launch.revision ||
        kept.generation != times_.generation()) {
      if (!find_instance(launch, kept, why)) return false;
    }
    const Runs& runs = runs_for(launch, kept);
    static constexpr CorePackageTime nothing;
    const CorePackageTime* full = kept.instance->find(runs.warps_per_core_package);
    if (full == nullptr) {
      if (!simulate(kept, runs.warps_per_core_package, own_full_, why)) return false;
      full = &own_full_;
    }
    const CorePackageTime* rest = &nothing;
    if (runs.remaining_warps_per_core_package > 0) {
      rest = kept.instance->find(runs.remaining_warps_per_core_package);
      if (rest == nullptr) {
        own_full_ = *full;  // it may have to move
        full = &own_full_;
        if (!simulate(kept, runs.remaining_warps_per_core_package, own_rest_, why)) return false;
        rest = &own_rest_;
      }
    }
    set_breakdown(time_of_runs(gpu_->cycle_us, runs, gpu_->constants.t_p_us, *full, *rest), time);
    return true;
  }

 private:
  // How the blocks of a launch come to run: sweeps ask for the same shapes again and again.
  struct KnownRuns {
    Launch shape;
    Runs runs;  // full == 0: not known yet
  };
  struct Kept {  // of one launch, from its last time
    CorePackageTimes::Instance* instance = nullptr;
    std::uint64_t revision = 0, generation = 0;
    std::array<KnownRuns, ModelLaunch::kShapeSlots> runs;  // by ModelLaunch::shape_slot; the newest stay
    void forget() {
      instance = nullptr;
      for (KnownRuns& known : runs) known.runs.full = 0;
    }
  };

  static CorePackageOptions core_package_options(const ModelOptions& options) {
    CorePackageOptions core_package;
    core_package.step_limit = options.step_limit;
    return core_package;
  }

  [[gnu::noinline]] bool find_instance(const ModelLaunch& launch, Kept& kept, Diagnostics& why) {
    kept.instance = nullptr;
    const auto found = times_.find(*launch.program, *launch.values, gpu_->constants.t_m_cycles);
    if (!found) {
      why = found.diagnostics();
      return false;
    }
    kept.instance = *found;
    kept.revision = launch.revision;
    kept.generation = times_.generation();
    return true;
  }

  const Runs& runs_for(const ModelLaunch& launch, Kept& kept) const {
    KnownRuns& known = kept.runs[launch.shape_slot];
    if (known.runs.full == 0 || known.shape != launch.shape) {
      known = {launch.shape, runs_of(*gpu_->gpu, gpu_->divisors, launch.shape, launch.active_blocks_per_sm)};
    }
    return known.runs;
  }

  [[gnu::noinline]] static bool simulate(Kept& kept, std::int64_t warps, CorePackageTime& own,
                                         Diagnostics& why) {
    const auto time = kept.instance->time(warps);
    if (!time) {
      why = time.diagnostics();
      return false;
    }
    own = *time;
    return true;
  }

  CorePackageTimes times_;
  const ModelGpu* gpu_ = nullptr;
  bool has_core_packages_ = false;
  std::vector<Kept> kept_;               // by the launch's number
  CorePackageTime own_full_, own_rest_;  // where they are not remembered
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
  const auto time =
      kernel_time(*gpu.gpu, launch.shape, gpu.constants.t_p_us, core_package, launch.active_blocks_per_sm);
  if (!time) return time.diagnostics();
  TimeBreakdown breakdown;
  set_breakdown(*time, breakdown);
  return breakdown;
}

std::unique_ptr<ModelSession> PuchalaModel::session(const ModelOptions& options) const {
  return std::make_unique<PuchalaSession>(options);
}

}  // namespace warptime
