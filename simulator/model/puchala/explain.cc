// Where a row's time goes by line, and what more warps or a full last run would change: the terms of Algorithms 1
// and 2.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "simulator/model/puchala/core_package_times.h"
#include "simulator/model/puchala/kernel_time.h"
#include "simulator/model/puchala/puchala.h"
#include "simulator/model/units.h"
#include "simulator/program/place.h"

namespace warptime {
namespace {

using Part = PuchalaParts;

constexpr std::uint64_t kMostExplainedSteps = 20'000'000;  // of one simulation that is split by lines
constexpr std::int64_t kMostExplainedWarps = 1024;         // tried on a core package
constexpr double kHidden = 0.01;                           // waiting below this share counts as hidden

Runs runs_of(const ExplainedRow& row, const ExplainedLaunch& launch) {
  return runs_of(*row.gpu->gpu, row.gpu->divisors, launch.shape, launch.active_blocks_per_sm);
}

struct OriginTotals {
  double calculation = 0, accesses = 0;  // of one warp, cycles and number
};
using Totals = std::map<std::uint32_t, OriginTotals>;

class Totaller {
 public:
  Totals of(const std::vector<Schedule::Step>& steps) {
    Totals totals;
    for (const Schedule::Step& step : steps) {
      if (step.loop) {
        for (const auto& [origin, one] : of(*step.loop)) add(totals[origin], one);
        continue;
      }
      OriginTotals& total = totals[step.period.origin];
      if (step.period.kind == PeriodKind::calculation) {
        total.calculation += step.period.cycles;
      } else {
        total.accesses += 1;
      }
    }
    return totals;
  }

 private:
  static void add(OriginTotals& into, const OriginTotals& one) {
    into.calculation += one.calculation;
    into.accesses += one.accesses;
  }

  const Totals& of(const Schedule::Loop& loop) {
    const auto known = loops_.find(&loop);
    if (known != loops_.end()) return known->second;
    Totals totals = of(loop.body);
    for (auto& [origin, total] : totals) {
      total.calculation *= static_cast<double>(loop.count);
      total.accesses *= static_cast<double>(loop.count);
    }
    return loops_.emplace(&loop, std::move(totals)).first->second;
  }

  std::unordered_map<const Schedule::Loop*, Totals> loops_;
};

class LineShares {
 public:
  explicit LineShares(const ModelGpu& gpu)
      : t_m_cycles_(gpu.constants.t_m_cycles), clock_mhz_(gpu.gpu->clock_mhz) {}

  // `times` runs of `warps` warps on each core package. `kinds_of_run`: number of kinds of runs, of which a
  // warp is in one.
  Diagnostics add(const ExplainedLaunch& launch, const CorePackageTimes::Instance& instance,
                  std::int64_t warps, double times, double kinds_of_run) {
    if (warps == 0 || times == 0) return {};
    RoundSimulation::Idle idle;
    const auto time = simulation_.time_with_origins(instance.rounds(), instance.schedule(), warps,
                                                    t_m_cycles_, kMostExplainedSteps, idle);
    if (!time) return time.diagnostics();
    const auto& origins = instance.schedule().origins;
    const double all = static_cast<double>(warps) * times / clock_mhz_;
    for (const auto& [origin, total] : Totaller().of(instance.schedule().steps)) {
      LineShare& access = share_of(launch, *origins[origin].front().item);
      access.us[Part::issue] += all * total.accesses * t_m_cycles_;
      access.accesses += launch.times * total.accesses / kinds_of_run;
      add_calculation(launch, origins[origin], all * total.calculation);
    }
    for (std::size_t origin = 0; origin < origins.size(); ++origin) {
      if (idle.waiting[origin] > 0)
        share_of(launch, *origins[origin].front().item).us[Part::waiting] +=
            times * idle.waiting[origin] / clock_mhz_;
    }
    if (time->tail > 0)
      share_of(launch, *origins[idle.last_transaction].front().item).us[Part::tail] +=
          times * time->tail / clock_mhz_;
    return {};
  }

  std::vector<LineShare> take() {
    std::vector<LineShare> shares;
    for (auto& [key, share] : shares_) shares.push_back(std::move(share));
    std::stable_sort(shares.begin(), shares.end(),
                     [](const LineShare& a, const LineShare& b) { return a.total_us() > b.total_us(); });
    return shares;
  }

 private:
  // Distributes a run's cycles over the items of its instructions.
  void add_calculation(const ExplainedLaunch& launch, const std::vector<Schedule::Share>& origin,
                       double microseconds) {
    double instructions = 0;
    for (const Schedule::Share& share : origin) instructions += static_cast<double>(share.instructions);
    for (const Schedule::Share& share : origin) {
      const double part = instructions > 0 ? static_cast<double>(share.instructions) / instructions : 1;
      share_of(launch, *share.item).us[Part::calculation] += part * microseconds;
    }
  }

  LineShare& share_of(const ExplainedLaunch& launch, const Item& item) {
    const std::string where = place_of(item);
    LineShare& share = shares_[{launch.kernel, where}];
    share.kernel = launch.kernel;
    share.where = where;
    share.lines = item.lines;
    return share;
  }

  double t_m_cycles_, clock_mhz_;
  RoundSimulation simulation_;
  std::map<std::pair<std::string, std::string>, LineShare> shares_;
};

// For the launch that waits longest for loads: how many warps would hide the waiting.
std::optional<Claim> more_warps(const ExplainedRow& row, CorePackageTimes& times) {
  const auto waits = [](const ExplainedLaunch& launch) {
    return launch.times * launch.time.us[Part::waiting];
  };
  const auto longest = std::max_element(row.launches.begin(), row.launches.end(),
                                        [&](const auto& a, const auto& b) { return waits(a) < waits(b); });
  if (longest == row.launches.end() || waits(*longest) < 5 * kHidden * row.total_us) return std::nullopt;
  const auto instance = times.find(*longest->program, longest->values, row.gpu->constants.t_m_cycles);
  if (!instance) return std::nullopt;
  const std::int64_t warps = runs_of(row, *longest).warps_per_core_package;
  const auto before = (*instance)->time(warps);
  if (!before || !(before->waiting > kHidden * before->total)) return std::nullopt;
  const Gpu& gpu = *row.gpu->gpu;
  const std::int64_t most = gpu.max_warps_per_sm / gpu.core_packages_per_sm();
  Claim claim;
  claim.kind = Claim::Kind::more_warps;
  for (std::int64_t more = warps + 1; more <= kMostExplainedWarps; ++more) {
    const auto after = (*instance)->time(more);
    if (!after) return std::nullopt;
    if (after->waiting > kHidden * after->total) continue;
    claim.text = fmt::format(
        "{}: {} more warps on each core package ({} in place of {}) would hide the waiting for loads: {} of "
        "the "
        "cycles of a full run become {}, and {:.4g} cycles per warp {:.4g}. {}",
        longest->kernel, more - warps, more, warps, percent_text(before->waiting / before->total),
        percent_text(after->waiting / after->total), before->total / static_cast<double>(warps),
        after->total / static_cast<double>(more),
        more <= most ? fmt::format("The GPU takes up to {}", most)
                     : fmt::format("The GPU takes at most {}, so more warps alone do not hide it", most));
    claim.warps = more;
    claim.waiting_share = after->waiting / after->total;
    claim.launch = longest->of;
    return claim;
  }
  claim.text = fmt::format("{}: no number of warps up to {} on a core package hides the waiting for loads",
                           longest->kernel, kMostExplainedWarps);
  return claim;
}

// The last run of a launch, if it is not full.
std::optional<Claim> partial_run(const ExplainedRow& row, const ExplainedLaunch& launch) {
  const Runs runs = runs_of(row, launch);
  if (runs.remaining_warps_per_core_package == 0) return std::nullopt;
  const double run = launch.time.us[Part::full_runs] / static_cast<double>(runs.full);
  const double share = static_cast<double>(runs.remaining_warps_per_core_package) /
                       static_cast<double>(runs.warps_per_core_package);
  const double last = launch.time.us[Part::remaining_run];
  const double waste = launch.times * (last - share * run);
  if (waste < kWorthSaying * row.total_us) return std::nullopt;
  Claim claim;
  claim.kind = Claim::Kind::partial_run;
  claim.text = fmt::format(
      "{}: the last run has {} of {} warps on each core package and takes {}; at the full runs' rate it "
      "would take {}: {} ({} of the time) is wasted",
      launch.kernel, runs.remaining_warps_per_core_package, runs.warps_per_core_package,
      time_text(launch.times * last), time_text(launch.times * share * run), time_text(waste),
      percent_text(waste / row.total_us));
  return claim;
}

}  // namespace

Result<std::vector<LineShare>> PuchalaModel::line_shares(const ExplainedRow& row) const {
  LineShares shares(*row.gpu);
  CorePackageTimes times{CorePackageOptions()};
  for (const ExplainedLaunch& launch : row.launches) {
    const auto instance = times.find(*launch.program, launch.values, row.gpu->constants.t_m_cycles);
    if (!instance) return instance.diagnostics();
    const Runs runs = runs_of(row, launch);
    const double kinds = runs.remaining_warps_per_core_package > 0 ? 2 : 1;
    const double full = launch.times * static_cast<double>(runs.full);
    for (const auto& [warps, how_often] : {std::pair{runs.warps_per_core_package, full},
                                           std::pair{runs.remaining_warps_per_core_package, launch.times}}) {
      if (auto wrong = shares.add(launch, **instance, warps, how_often, kinds); !wrong.empty()) return wrong;
    }
  }
  return shares.take();
}

std::vector<Claim> PuchalaModel::claims(const ExplainedRow& row, std::span<const LineShare>) const {
  constexpr std::size_t kMostPartialRuns = 8;
  std::vector<Claim> claims;
  CorePackageTimes times{CorePackageOptions()};
  if (auto claim = more_warps(row, times)) claims.push_back(std::move(*claim));
  for (const ExplainedLaunch& launch : row.launches) {
    if (claims.size() > kMostPartialRuns) break;
    if (auto claim = partial_run(row, launch)) claims.push_back(std::move(*claim));
  }
  return claims;
}

std::string PuchalaModel::about_bound(const TimePart& part, const ExplainedRow& row) const {
  if (part.key == parts()[Part::launch_overhead].key) {
    double launches = 0;
    for (const ExplainedLaunch& launch : row.launches) launches += launch.times;
    return launches == 1
               ? std::string()
               : fmt::format("{} launches of {} each", launches, time_text(row.gpu->constants.t_p_us));
  }
  if (part.key == parts()[Part::issue].key)
    return fmt::format("each load and store holds a core package for t_m = {:.4g} cycles",
                       row.gpu->constants.t_m_cycles);
  return {};
}

}  // namespace warptime
