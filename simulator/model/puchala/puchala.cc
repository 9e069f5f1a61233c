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
  explicit PuchalaSession(const ModelOptions& options)
      : times_(core_package_options(options), Origins::none) {}

  void start(const ModelGpu& gpu, std::size_t launches) override {
    gpu_ = &gpu;
    kept_.resize(launches);
    forget_all();
  }

  const TimeBreakdown* time(std::size_t number, const ModelLaunch& launch, Diagnostics& why) override {
    const Terms terms = known_terms(number, launch);
    if (terms.full == nullptr || terms.rest == nullptr) return unknown_time(number, launch, why);
    time_ = time_of(terms);
    return &time_;
  }

  // The fast path of most launches of a sweep, whose schedule, runs and T_c are cached; it calls nothing.
  bool add_time(std::size_t number, const ModelLaunch& launch, double times, bool first, TimeBreakdown& sum,
                Diagnostics& why) override {
    const Terms terms = known_terms(number, launch);
    if (terms.full == nullptr || terms.rest == nullptr)
      return add_unknown(number, launch, times, first, sum, why);
    sum.take(time_of(terms), times, first, PuchalaParts::count);
    return true;
  }

 private:
  // Cached values for one shape of a launch: sweeps repeat the same shapes.
  struct Known {
    Launch shape;  // 0 blocks: empty
    Runs runs;
  };
  // What the time of a launch is the sum of.
  struct Terms {
    const Runs* runs = nullptr;
    const CorePackageTime *full = nullptr, *rest = nullptr;  // T_c; null: not cached
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

  [[gnu::always_inline]] Terms known_terms(std::size_t number, const ModelLaunch& launch) const {
    const Kept& kept = kept_[number];
    const Known& known = kept.known[launch.shape_slot];
    if (kept.revision != launch.revision || known.shape != launch.shape) return {};
    const std::int64_t remaining = known.runs.remaining_warps_per_core_package;
    return {&known.runs, kept.instance->find(known.runs.warps_per_core_package),
            remaining == 0 ? &nothing_ : kept.instance->find(remaining)};
  }

  [[gnu::always_inline]] TimeBreakdown time_of(const Terms& terms) const {
    return time_of_runs(gpu_->cycle_us, *terms.runs, gpu_->constants.t_p_us, *terms.full, *terms.rest);
  }

  [[gnu::noinline]] const TimeBreakdown* unknown_time(std::size_t number, const ModelLaunch& launch,
                                                      Diagnostics& why) {
    const Terms terms = unknown_terms(number, launch, why);
    if (terms.full == nullptr) return nullptr;
    time_ = time_of(terms);
    return &time_;
  }

  [[gnu::noinline]] bool add_unknown(std::size_t number, const ModelLaunch& launch, double times, bool first,
                                     TimeBreakdown& sum, Diagnostics& why) {
    const Terms terms = unknown_terms(number, launch, why);
    if (terms.full == nullptr) return false;
    sum.take(time_of(terms), times, first, PuchalaParts::count);
    return true;
  }

  // Valid until the next call. Without `full` on an error.
  Terms unknown_terms(std::size_t number, const ModelLaunch& launch, Diagnostics& why) {
    Kept& kept = kept_[number];
    if (kept.revision != launch.revision && !find_instance(launch, kept, why)) return {};
    Known& known = kept.known[launch.shape_slot];
    if (known.shape != launch.shape) {
      known.shape = launch.shape;
      known.runs = runs_of(*gpu_->gpu, gpu_->divisors, launch.shape, launch.active_blocks_per_sm);
    }
    const std::int64_t remaining = known.runs.remaining_warps_per_core_package;
    Terms terms{&known.runs, kept.instance->find(known.runs.warps_per_core_package, full_, why), &nothing_};
    if (terms.full == nullptr || remaining == 0) return terms;
    if (terms.full != &full_) full_ = *terms.full;  // the next simulation may move it
    terms.full = &full_;
    terms.rest = kept.instance->find(remaining, rest_, why);
    return terms.rest != nullptr ? terms : Terms{};
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

  static constexpr CorePackageTime nothing_{};
  CorePackageTimes times_;
  const ModelGpu* gpu_ = nullptr;
  std::vector<Kept> kept_;       // by the launch's number
  TimeBreakdown time_;           // of the last launch
  CorePackageTime full_, rest_;  // of the last unknown one, where they are not cached
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
