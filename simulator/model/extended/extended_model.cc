#include "simulator/model/extended/extended_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "simulator/base/did_you_mean.h"
#include "simulator/model/extended/extended_parts.h"
#include "simulator/sm/memory_levels.h"

namespace warptime {
namespace {

using PartKind = TimePart::Kind;

// In the order of ExtendedPart.
constexpr std::array<TimePart, 10> kExtendedParts = {{
    {"launch_us", "launch", "start and end of kernels, gaps between them, and calls of the host",
     "launch-bound", PartKind::launch},
    {"issue_us", "issue", "instructions that are issued, and busy pipes", "issue-bound",
     PartKind::calculation},
    {"results_us", "results", "waiting for results of the SM: calculation, L1, shared memory",
     "bound by waiting for results of the SM", PartKind::calculation},
    {"l2_us", "L2", "L2's bandwidth", "bound by L2's bandwidth", PartKind::memory},
    {"memory_us", "memory", "the memory's bandwidth", "bound by the memory's bandwidth", PartKind::memory},
    {"latency_us", "latency", "waiting for L2 and memory with too few loads under way",
     "bound by the latency of L2 and memory", PartKind::memory},
    {"blocks_us", "blocks", "waiting for the block's other warps, and for blocks to start",
     "bound by barriers and starts of blocks", PartKind::calculation},
    {"kernel_us", "kernel", "the kernel's own time, as profilers report it", "", PartKind::further},
    {"low_us", "low", "the kernel's own time is longer in nine of ten cases", "", PartKind::further},
    {"high_us", "high", "and shorter in nine of ten", "", PartKind::further},
}};

// Quotients of measured and predicted time that one in ten launches of the development set is below, and above
// (docs/extended.md), by what is known of the launch.
struct Spread {
  double low, high;
};
constexpr Spread kKnownAddresses = {0.79, 1.6}, kUnknownAddresses = {0.6, 4.0};
constexpr double kMuchUnknown = 0.05;  // of the sectors

// "mtx: "; nothing for a program without a name.
std::string named(const KernelProgram& program) {
  const std::string& kernel = program.provenance.kernel;
  return kernel.empty() ? std::string() : kernel + ": ";
}

class ExtendedSession : public ModelSession {
 public:
  explicit ExtendedSession(const ModelOptions& options) : options_(options) {}

  void start(const ModelGpu& on, std::size_t) override {
    constants_ = on.constants;
    const LaunchFigures figures = launch_figures(*on.gpu, options_.caches);
    of_launch_ = constants_.scale ? LaunchFigures{constants_.t_p_us, 0, 0} : figures;
    // Two events around an empty kernel see all but the kernel itself.
    constexpr double unknown_us = 3.74;  // of an H100
    const TimingFigures& timing = on.gpu->timing;
    const double events_us = timing.event_launch_us && timing.empty_kernel_us
                                 ? std::max(0.0, *timing.event_launch_us - *timing.empty_kernel_us)
                                 : unknown_us;
    run_ = {{events_us, figures.host_us, figures.gap_us}, ExtendedPart::kernel, ExtendedPart::launch};
  }

  const TimeBreakdown* time(std::size_t, const ModelLaunch& of, Diagnostics& why) override {
    notes_.clear();
    if (of.whole == nullptr) {
      why = {error("the model `extended` needs the warps of the launch")};
      return nullptr;
    }
    const LaunchOnGpu& whole = *of.whole;
    const auto levels = memory_levels(whole, options_.caches);
    if (!levels) {
      why = levels.diagnostics();
      return nullptr;
    }
    set_time(*levels, *whole.gpu);
    note(*levels, whole);
    return &time_;
  }

  std::span<const std::string> notes() const override { return notes_; }

  // t_p has all that launches take, where it was fitted.
  std::optional<LaunchRun> launch_run() const override {
    return constants_.scale ? std::nullopt : std::optional(run_);
  }

 private:
  void set_time(const MemoryLevels& levels, const Gpu& gpu) {
    const double scale_us = constants_.scale.value_or(1) / gpu.clock_mhz;
    time_ = {};
    for (std::size_t i = 0; i < kSmWaits; ++i)
      time_.us[part_of(static_cast<SmWait>(i))] += levels.waits[i] * scale_us;
    const double kernel_us = levels.cycles * scale_us + of_launch_.kernel_us;
    time_.total_us = std::max(kernel_us + of_launch_.gap_us, of_launch_.host_us);
    time_.us[ExtendedPart::launch] = time_.total_us - levels.cycles * scale_us;
    const double unknown = std::min(1.0, levels.unknown_share / kMuchUnknown);
    const auto spread = [&](double known, double otherwise) {
      return std::exp((1 - unknown) * std::log(known) + unknown * std::log(otherwise));
    };
    time_.us[ExtendedPart::kernel] = kernel_us;
    time_.us[ExtendedPart::low] =
        std::max(of_launch_.kernel_us, kernel_us * spread(kKnownAddresses.low, kUnknownAddresses.low));
    time_.us[ExtendedPart::high] = kernel_us * spread(kKnownAddresses.high, kUnknownAddresses.high);
  }

  void note(const MemoryLevels& levels, const LaunchOnGpu& whole) {
    if (levels.unknown_share > kMuchUnknown)
      notes_.push_back(fmt::format("{}{:.0f}% of the sectors have addresses that are not known",
                                   named(*whole.program), 100 * levels.unknown_share));
    if (levels.profiled_share > kMuchUnknown)
      notes_.push_back(fmt::format("{}{:.0f}% of the sectors have addresses from the profile",
                                   named(*whole.program), 100 * levels.profiled_share));
    if (!levels.dependences_known)
      notes_.push_back(
          fmt::format("{}the program does not say what its items need, nor its machine instructions "
                      "(`warptime analyze --estimate-machine`): warps wait for all their loads",
                      named(*whole.program)));
  }

  ModelOptions options_;
  LaunchRun run_;
  ModelConstants constants_;
  LaunchFigures of_launch_;  // beside what its SM does
  TimeBreakdown time_;
  std::vector<std::string> notes_;
};

}  // namespace

ExtendedPart::Index part_of(SmWait wait) {
  using P = ExtendedPart;
  switch (wait) {
    case SmWait::issue:
    case SmWait::pipe:
      return P::issue;
    case SmWait::chain:
    case SmWait::on_chip:
      return P::results;
    case SmWait::l2:
      return P::l2;
    case SmWait::memory:
      return P::memory;
    case SmWait::latency:
    case SmWait::atomic:
      return P::latency;
    case SmWait::barrier:
    case SmWait::blocks:
      return P::blocks;
  }
  return P::issue;
}

std::span<const TimePart> ExtendedModel::parts() const {
  return kExtendedParts;
}

Result<TimeBreakdown> ExtendedModel::time(const Schedule&, const ModelGpu&, const ModelLaunch&) const {
  return error("the model `extended` needs the warps of the launch");
}

std::optional<BorrowedFigures> ExtendedModel::borrow(const Gpu& gpu, const GpuCatalogue& catalogue) const {
  Gpu with = with_nearest_timing(gpu, catalogue);
  std::vector<std::string> lenders;
  for (const auto& [_, origin] : with.timing_origins)
    if (!origin.borrowed_from.empty() && std::ranges::find(lenders, origin.borrowed_from) == lenders.end())
      lenders.push_back(origin.borrowed_from);
  if (lenders.empty()) return std::nullopt;
  std::ranges::sort(lenders);
  const std::string own =
      gpu.timing_origins.empty()
          ? "latencies, rates and overheads were not measured on this GPU: those of the"
          : fmt::format(
                "{} of the {} latencies, rates and overheads are this GPU's own: the others are those of the",
                gpu.timing_origins.size(), with.timing_origins.size());
  std::string note = fmt::format("{} {}, in proportion to its figures (`warptime gpus {}`)", own,
                                 enumerate(lenders), gpu.name);
  if (gpu.compute_capability.major < 7)
    note += "; no time of a GPU before compute capability 7.0 was compared";
  return BorrowedFigures{std::move(with), std::move(note)};
}

std::unique_ptr<ModelSession> ExtendedModel::session(const ModelOptions& options) const {
  return std::make_unique<ExtendedSession>(options);
}

}  // namespace warptime
