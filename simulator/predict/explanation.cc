#include "simulator/predict/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "simulator/gpu/occupancy.h"

namespace warptime {
namespace {

constexpr std::uint64_t kMostSteps = 20'000'000;    // of one simulation that is to be told apart by lines
constexpr std::int64_t kMostExplainedWarps = 1024;  // that are looked at on a core package
constexpr double kHidden = 0.01;                    // waiting that is less than this part is hidden
constexpr double kWorthSaying = 0.001;              // a gain of less than this part is none

// ---- Where the time goes, by line.

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

std::string name_of(const PreparedLaunch& launch) {
  const std::string& kernel = launch.program->program->provenance.kernel;
  if (!kernel.empty()) return kernel;
  return launch.step->launch->entry.empty() ? launch.step->launch->kernel : launch.step->launch->entry;
}

std::string plural(std::string_view what, const LineSet& lines) {
  const auto& ranges = lines.ranges();
  const bool one = ranges.size() == 1 && ranges.front().first == ranges.front().second;
  return fmt::format("{}{} {}", what, one ? "" : "s", to_string(lines));
}

class LineShares {
 public:
  // `times` runs of `warps` warps on each core package.
  Diagnostics add(const LaunchTerm& term, CorePackageTimes::Instance& instance, double t_m_cycles,
                  double clock_mhz, std::int64_t warps, double times) {
    if (warps == 0 || times == 0) return {};
    RoundSimulation::Idle idle;
    const auto time = simulation_.time_with_origins(instance.rounds(), instance.schedule(), warps, t_m_cycles,
                                                    kMostSteps, idle);
    if (!time) return time.diagnostics();
    const auto& origins = instance.schedule().origins;
    const double all = static_cast<double>(warps) * times / clock_mhz;
    for (const auto& [origin, total] : Totaller().of(instance.schedule().steps)) {
      LineShare& access = share_of(term, *origins[origin].front().item);
      access.issue_us += all * total.accesses * t_m_cycles;
      access.accesses += term.times * total.accesses / runs_of(term);
      add_calculation(term, origins[origin], all * total.calculation);
    }
    for (std::size_t origin = 0; origin < origins.size(); ++origin) {
      if (idle.waiting[origin] > 0)
        share_of(term, *origins[origin].front().item).waiting_us += times * idle.waiting[origin] / clock_mhz;
    }
    if (time->tail > 0)
      share_of(term, *origins[idle.last_transaction].front().item).tail_us += times * time->tail / clock_mhz;
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
  // add() is called for full and remaining runs: a warp is in one of them.
  static double runs_of(const LaunchTerm& term) {
    return term.time.remaining_warps_per_core_package > 0 ? 2 : 1;
  }

  // A run's cycles among the items that its instructions are of.
  void add_calculation(const LaunchTerm& term, const std::vector<Schedule::Share>& origin,
                       double microseconds) {
    double instructions = 0;
    for (const Schedule::Share& share : origin) instructions += static_cast<double>(share.instructions);
    for (const Schedule::Share& share : origin) {
      const double part = instructions > 0 ? static_cast<double>(share.instructions) / instructions : 1;
      share_of(term, *share.item).calculation_us += part * microseconds;
    }
  }

  LineShare& share_of(const LaunchTerm& term, const Item& item) {
    const std::string kernel = name_of(*term.launch), where = place_of(item);
    LineShare& share = shares_[{kernel, where}];
    share.kernel = kernel;
    share.where = where;
    share.lines = item.lines;
    return share;
  }

  RoundSimulation simulation_;
  std::map<std::pair<std::string, std::string>, LineShare> shares_;
};

// ---- What would shorten it.

std::string microseconds(double time) {
  return time < 1000 ? fmt::format("{:.4g} µs", time) : fmt::format("{:.4g} ms", time / 1000);
}

std::string percent(double part) {
  return fmt::format("{:.1f} %", 100 * part);
}

class Claims {
 public:
  Claims(const PreparedPlan& plan, std::size_t gpu, const std::vector<std::int64_t>& values,
         const PredictionOptions& options, RowModel& model, const std::vector<LaunchTerm>& terms,
         const Explanation& so_far)
      : plan_(plan),
        gpu_(gpu),
        values_(values),
        options_(options),
        model_(model),
        terms_(terms),
        row_(so_far.row),
        lines_(so_far.lines) {}

  std::vector<Claim> all() {
    bound();
    active_blocks();
    more_warps();
    const bool wasted = partial_run();
    best_launch(wasted);
    fewer_loads();
    return std::move(claims_);
  }

 private:
  const Gpu& gpu() const { return *plan_.gpus[gpu_].gpu; }

  Claim& say(Claim::Kind kind, std::string text) {
    claims_.emplace_back();
    claims_.back().kind = kind;
    claims_.back().text = std::move(text);
    return claims_.back();
  }

  void bound() {
    const KernelTime& time = row_.time;
    const std::array<std::pair<double, std::string>, 5> parts = {{
        {time.preparation_us, row_.launches == 1
                                  ? std::string("preparing the launch bounds it: that is")
                                  : fmt::format("preparing launches bounds it: {} of {} each are",
                                                row_.launches, microseconds(row_.t_p_us))},
        {time.calculation_us, "calculation bounds it: it is"},
        {time.issue_us,
         fmt::format("issuing loads and stores bounds it (each holds a core package for t_m = {:.4g} "
                     "cycles): that is",
                     row_.t_m_cycles)},
        {time.waiting_us, "waiting for loads bounds it (latency): it is"},
        {time.tail_us, "waiting for the last transactions bounds it: that is"},
    }};
    const auto most = std::max_element(parts.begin(), parts.end());
    if (!(time.total_us > 0)) return;
    say(Claim::Kind::bound, fmt::format("{} {} of {}", most->second, percent(most->first / time.total_us),
                                        microseconds(time.total_us)));
  }

  // What limits the blocks of the launch that takes longest.
  void active_blocks() {
    const auto longest = std::max_element(terms_.begin(), terms_.end(), [](const auto& a, const auto& b) {
      return a.times * a.time.total_us < b.times * b.time.total_us;
    });
    if (longest == terms_.end()) return;
    const auto& resources = longest->launch->program->program->resources;
    const Occupancy occupied =
        occupancy(gpu(), longest->size.threads_per_block, resources.value_or(KernelResources{}));
    std::string text = fmt::format("{}: up to {}", name_of(*longest->launch), to_text(gpu(), occupied));
    for (const std::string& note : occupied.notes) text += "; " + note;
    say(Claim::Kind::occupancy, std::move(text));
  }

  // The launch that waits for loads the longest.
  void more_warps() {
    const auto waits = [](const LaunchTerm& term) { return term.times * term.time.waiting_us; };
    const auto longest = std::max_element(terms_.begin(), terms_.end(),
                                          [&](const auto& a, const auto& b) { return waits(a) < waits(b); });
    if (longest == terms_.end() || waits(*longest) < 5 * kHidden * row_.time.total_us) return;
    const auto instance = instance_of(*longest);
    if (!instance) return;
    const std::int64_t warps = longest->time.warps_per_core_package;
    const auto before = (*instance)->time(warps);
    if (!before || !(before->waiting > kHidden * before->total)) return;
    const std::int64_t most = gpu().max_warps_per_sm / gpu().core_packages_per_sm();
    for (std::int64_t more = warps + 1; more <= kMostExplainedWarps; ++more) {
      const auto after = (*instance)->time(more);
      if (!after) return;
      if (after->waiting > kHidden * after->total) continue;
      const double cycles_before = before->total / static_cast<double>(warps);
      const double cycles_after = after->total / static_cast<double>(more);
      const double waiting = after->waiting / after->total;
      Claim& claim =
          say(Claim::Kind::more_warps,
              fmt::format(
                  "{}: {} more warps on each core package ({} in place of {}) would hide the waiting for "
                  "loads: {} "
                  "of the "
                  "cycles of a full run become {}, and {:.4g} cycles per warp {:.4g}. {}",
                  name_of(*longest->launch), more - warps, more, warps,
                  percent(before->waiting / before->total), percent(waiting), cycles_before, cycles_after,
                  more <= most
                      ? fmt::format("The GPU takes up to {}", most)
                      : fmt::format("The GPU takes {} at most, so that warps alone do not hide it", most)));
      claim.warps = more;
      claim.waiting_share = waiting;
      claim.launch = &*longest->launch->step->launch;
      return;
    }
    say(Claim::Kind::more_warps,
        fmt::format("{}: no number of warps up to {} on a core package hides the waiting for loads",
                    name_of(*longest->launch), kMostExplainedWarps));
  }

  bool partial_run() {
    bool wasted = false;
    for (const LaunchTerm& term : terms_) {
      const KernelTime& time = term.time;
      if (time.remaining_warps_per_core_package == 0) continue;
      const double run = time.full_runs_us / static_cast<double>(time.full_runs);
      const double share = static_cast<double>(time.remaining_warps_per_core_package) /
                           static_cast<double>(time.warps_per_core_package);
      const double waste = term.times * (time.remaining_run_us - share * run);
      if (waste < kWorthSaying * row_.time.total_us) continue;
      wasted = true;
      say(Claim::Kind::partial_run,
          fmt::format(
              "{}: the last run has {} of {} warps on each core package and takes {}; at the full runs' "
              "rate it would be {}: {} ({} of the time) are wasted",
              name_of(*term.launch), time.remaining_warps_per_core_package, time.warps_per_core_package,
              microseconds(term.times * time.remaining_run_us), microseconds(term.times * share * run),
              microseconds(waste), percent(waste / row_.time.total_us)));
      if (claims_.size() > 8) break;
    }
    return wasted;
  }

  void best_launch(bool wasted) {
    const bool any = std::any_of(terms_.begin(), terms_.end(),
                                 [](const LaunchTerm& term) { return term.launch->threads.has_value(); });
    if (!any || options_.best_launch) return;
    PredictionOptions options = options_;
    options.best_launch = true;
    RowModel best(plan_, options);
    PredictionRow row;
    if (!best.row(gpu_, values_, row).empty()) return;
    if (row.time.total_us < (1 - kWorthSaying) * row_.time.total_us) {
      const bool one = row_.launches == 1 || terms_.size() == 1;
      say(Claim::Kind::best_launch,
          fmt::format("{}{} x {} in place of {} x {} (blocks x threads) would take {}: {} less "
                      "(`--best-launch`)",
                      one ? "" : "other launches, the first of them ", row.first_launch.blocks,
                      row.first_launch.threads_per_block, row_.first_launch.blocks,
                      row_.first_launch.threads_per_block, microseconds(row.time.total_us),
                      percent(1 - row.time.total_us / row_.time.total_us)))
          .time_us = row.time.total_us;
    } else if (wasted) {
      say(Claim::Kind::best_launch, "no other blocks of whole warps are quicker");
    }
  }

  // The two places whose loads cost the most.
  void fewer_loads() {
    int said = 0;
    for (const LineShare& line : lines_) {
      if (said == 2) break;
      if (line.accesses == 0 || line.issue_us + line.waiting_us < 0.02 * row_.time.total_us) continue;
      if (halve(line)) ++said;
    }
  }

  bool halve(const LineShare& line) {
    const LaunchTerm* of = nullptr;
    for (const LaunchTerm& term : terms_) {
      if (name_of(*term.launch) == line.kernel) of = &term;
    }
    if (of == nullptr) return false;
    auto halved = with_half_the_loads(*of->launch->program->program, line.where);
    if (!halved) return false;
    const auto program = std::make_shared<const KernelProgram>(std::move(*halved));
    const auto time = time_with(of->launch->program, program);
    if (!time || !(*time < (1 - kWorthSaying) * row_.time.total_us)) return false;
    Claim& claim = say(Claim::Kind::fewer_loads,
                       fmt::format("{}: half the loads of {} would make it {}: {} less", line.kernel,
                                   line.where, microseconds(*time), percent(1 - *time / row_.time.total_us)));
    claim.time_us = *time;
    claim.program = program;
    claim.launch = &*of->launch->step->launch;
    return true;
  }

  // The row with another program in place of one.
  std::optional<double> time_with(const TimedProgram* of,
                                  const std::shared_ptr<const KernelProgram>& program) {
    TimedProgram timed{program, of->durations, of->names};
    CorePackageTimes times(options_.core_package);
    double total = row_.time.total_us;
    for (const LaunchTerm& term : terms_) {
      if (term.launch->program != of) continue;
      const auto instance = times.find(timed, term.values, row_.t_m_cycles);
      if (!instance) return std::nullopt;
      const auto time = kernel_time(gpu(), term.size, row_.t_p_us, **instance, term.active_blocks);
      if (!time) return std::nullopt;
      total += term.times * (time->total_us - term.time.total_us);
    }
    return total;
  }

  Result<CorePackageTimes::Instance*> instance_of(const LaunchTerm& term) {
    return model_.times().find(*term.launch->program, term.values, row_.t_m_cycles);
  }

  const PreparedPlan& plan_;
  std::size_t gpu_;
  const std::vector<std::int64_t>& values_;
  const PredictionOptions& options_;
  RowModel& model_;
  const std::vector<LaunchTerm>& terms_;
  const PredictionRow& row_;
  const std::vector<LineShare>& lines_;
  std::vector<Claim> claims_;
};

}  // namespace

std::string place_of(const Item& item) {
  if (!item.lines.empty()) return plural("line", item.lines);
  if (!item.ptx.empty()) return plural("PTX line", item.ptx);
  if (const auto* calculation = std::get_if<Calculation>(&item.what))
    return fmt::format("calc: {}", to_string(calculation->cycles));
  if (const auto* instructions = std::get_if<Instructions>(&item.what))
    return fmt::format("instructions: {}", to_string(instructions->count));
  const auto& access = std::get<MemoryAccess>(item.what);
  const char* const kind = access.kind == MemoryAccess::Kind::load ? "load" : "store";
  if (access.cycles) return fmt::format("{}: {}", kind, to_string(*access.cycles));
  return fmt::format("{} ({})", kind, to_string(access.access.value_or(Access::coalesced)));
}

std::string_view to_string(Claim::Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"bound",       "occupancy",   "more warps",
                                                             "partial run", "best launch", "fewer loads"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<std::vector<LineShare>> shares_of_lines(RowModel& model, const std::vector<LaunchTerm>& terms,
                                               const PreparedGpu& gpu) {
  LineShares shares;
  for (const LaunchTerm& term : terms) {
    const auto instance = model.times().find(*term.launch->program, term.values, gpu.t_m_cycles);
    if (!instance) return instance.diagnostics();
    const double full = term.times * static_cast<double>(term.time.full_runs);
    for (const auto& [warps, times] : {std::pair{term.time.warps_per_core_package, full},
                                       std::pair{term.time.remaining_warps_per_core_package, term.times}}) {
      auto wrong = shares.add(term, **instance, gpu.t_m_cycles, gpu.gpu->clock_mhz, warps, times);
      if (!wrong.empty()) return wrong;
    }
  }
  return shares.take();
}

Result<Explanation> explain(const PreparedPlan& plan, std::size_t gpu,
                            const std::vector<std::int64_t>& values, const PredictionOptions& options) {
  RowModel model(plan, options);
  Explanation explanation;
  if (auto wrong = model.row(gpu, values, explanation.row); !wrong.empty()) return wrong;
  if (options.model == Model::luo_suda) return explanation;
  const auto terms = model.terms(gpu, values);
  if (!terms) return terms.diagnostics();
  auto lines = shares_of_lines(model, *terms, plan.gpus[gpu]);
  if (!lines) return lines.diagnostics();
  explanation.lines = std::move(*lines);
  explanation.claims = Claims(plan, gpu, values, options, model, *terms, explanation).all();
  return explanation;
}

}  // namespace warptime
