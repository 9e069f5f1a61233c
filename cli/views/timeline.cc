#include "cli/views/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

class Collector : public CorePackageWatcher {
 public:
  Collector(Timeline& timeline, std::size_t most_steps, double most_cycles)
      : timeline_(timeline), most_steps_(most_steps), most_cycles_(most_cycles) {}

  void calculation(int warp, const Period& period, double begin, double end) override {
    add({begin, end, warp, Activity::calculation, period.kind, period.origin});
  }

  void memory_access(int warp, const Period& period, double begin, double issued, double complete) override {
    add({begin, issued, warp, Activity::issue, period.kind, period.origin});
    if (!(complete > issued)) return;
    begin_transaction({issued, complete, warp, period.kind, period.origin}, begin);
  }

  void idle(int warp, double begin, double end) override {
    add({begin, end, warp, warp < 0 ? Activity::tail : Activity::waiting});
  }

  void left_out(const LeftOut& gap) override {
    const double at = gap.end;
    const double period = gap.time.total / static_cast<double>(gap.times);
    timeline_.gaps.push_back({at, period, gap.times, gap.time});
    // What was issued in the period that comes again is under way once more when the gap ends.
    std::vector<UnderWay> before;
    before.swap(under_way_);
    std::map<int, double> last;  // of each warp, the latest end so far
    for (auto one = before.rbegin(); one != before.rend(); ++one) {
      const Timeline::Transaction cut = timeline_.transactions[one->index];
      if (cut.end <= at) continue;
      auto& shown = timeline_.transactions[one->index];
      shown.into_gap = true;
      shown.end = at;
      const double end = one->issued >= gap.begin ? cut.end : cut.end - gap.time.total;
      // One that began earlier and ends earlier than another is under way no longer than that.
      auto& latest = last[cut.warp];
      if (end <= std::max(at, latest)) continue;
      latest = end;
      begin_transaction({at, end, cut.warp, cut.kind, cut.origin, true, false}, one->issued);
      ++steps_;
    }
    // In the order of their issue, as before.
    std::reverse(under_way_.begin(), under_way_.end());
    ++steps_;
  }

  bool enough() override {
    timeline_.ended_early = steps_ >= most_steps_ || timeline_.end >= most_cycles_;
    return timeline_.ended_early;
  }

  void finish() {
    for (const auto& one : under_way_) {
      auto& transaction = timeline_.transactions[one.index];
      if (transaction.end <= timeline_.end) continue;
      transaction.into_gap = true;
      transaction.end = timeline_.end;
    }
    std::erase_if(timeline_.transactions, [](const auto& one) { return !(one.end > one.begin); });
  }

 private:
  void add(const Timeline::Interval& interval) {
    ++steps_;
    timeline_.end = std::max(timeline_.end, interval.end);
    timeline_.intervals.push_back(interval);
  }

  struct UnderWay {
    std::size_t index;  // into transactions
    double issued;      // as drawn, also where a gap came since
  };

  void begin_transaction(const Timeline::Transaction& transaction, double issued) {
    under_way_.push_back({timeline_.transactions.size(), issued});
    timeline_.transactions.push_back(transaction);
  }

  Timeline& timeline_;
  std::size_t most_steps_;
  double most_cycles_;
  std::size_t steps_ = 0;
  std::vector<UnderWay> under_way_;  // or complete, in the order of their issue
};

std::vector<std::string> lines_of(const Schedule& schedule) {
  std::vector<std::string> lines;
  for (const auto& shares : schedule.origins) {
    LineSet set;
    for (const auto& share : shares)
      if (share.item != nullptr) set.add(share.item->lines);
    lines.push_back(to_string(set));
  }
  return lines;
}

bool few_steps(const Schedule& schedule, std::int64_t warps, std::uint64_t limit) {
  std::uint64_t steps = schedule.period_count();
  return !__builtin_mul_overflow(steps, static_cast<std::uint64_t>(std::max<std::int64_t>(warps, 1)),
                                 &steps) &&
         steps <= limit;
}

}  // namespace

Result<Timeline> collect_timeline(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                  const TimelineLimits& limits) {
  if (auto wrong = check_core_package(warps, t_m_cycles); !wrong.empty()) return wrong;
  const auto whole = simulate_core_package(schedule, warps, t_m_cycles);
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const auto collect_up_to = [&](double most_cycles, double least_left_out) -> Result<Timeline> {
    Timeline timeline;
    timeline.warps = warps;
    timeline.t_m_cycles = t_m_cycles;
    Collector collector(timeline, limits.most_steps, most_cycles);
    const auto collected = watch_core_package(schedule, warps, t_m_cycles, least_left_out, collector);
    if (!collected) return collected.diagnostics();
    collector.finish();
    timeline.time_known = static_cast<bool>(whole) || !timeline.ended_early;
    timeline.time = whole ? *whole : *collected;
    timeline.lines = lines_of(schedule);
    return timeline;
  };
  // All of it, or else of its beginning no more than can be told apart.
  const auto collect = [&](double least_left_out) {
    auto timeline = collect_up_to(unlimited, least_left_out);
    return timeline && timeline->ended_early ? collect_up_to(limits.beginning, least_left_out) : timeline;
  };
  constexpr double nothing = unlimited;
  if ((whole && whole->total <= limits.whole_up_to) || few_steps(schedule, warps, limits.whole_up_to_steps))
    return collect(nothing);
  auto timeline = collect(limits.least_elided);
  // Gaps that make it little shorter are not worth having.
  const bool little = timeline && !timeline->gaps.empty() && whole && whole->total < 2 * timeline->end &&
                      few_steps(schedule, warps, limits.most_steps / 2);
  return little ? collect(nothing) : timeline;
}

double Timeline::elided_before(double drawn) const {
  double cycles = 0;
  for (const auto& gap : gaps) {
    if (gap.at >= drawn) break;
    cycles += gap.time.total;
  }
  return cycles;
}

bool Timeline::overlaps() const {
  std::map<int, std::vector<const Transaction*>> of_warp;
  for (const auto& transaction : transactions) of_warp[transaction.warp].push_back(&transaction);
  std::map<int, std::size_t> next;
  std::map<int, double> under_way_until;
  for (const auto& interval : intervals) {
    if (interval.activity > Activity::calculation || !(interval.end > interval.begin)) continue;
    const auto& own = of_warp[interval.warp];
    auto& index = next[interval.warp];
    auto& until = under_way_until[interval.warp];
    while (index < own.size() && own[index]->begin < interval.end) until = std::max(until, own[index++]->end);
    // Rounding is no overlap.
    if (until > interval.begin + 1e-9 * std::max(1.0, interval.begin)) return true;
  }
  return false;
}

std::string cycles_text(double cycles) {
  return std::abs(cycles) < 1e15 ? sensible(cycles) : fmt::format("{:.6g}", cycles);
}

std::string timeline_title(const Timeline& timeline) {
  std::string text = timeline.time_known
                         ? fmt::format("{} cycles: ", cycles_text(timeline.time.total))
                         : fmt::format("more than {} cycles: ", cycles_text(timeline.time.total));
  text += fmt::format("{}, {} {}, t_m = {} cycles", timeline.kernel, timeline.warps,
                      timeline.warps == 1 ? "warp" : "warps", cycles_text(timeline.t_m_cycles));
  return text + with_values(timeline.parameters);
}

std::string gap_note(const Timeline& timeline, const Timeline::Gap& gap) {
  double before = gap.at;
  for (const auto& other : timeline.gaps) {
    if (&other == &gap) break;
    before += other.time.total;
  }
  return fmt::format("after cycle {}: the {} cycles before it, {} {} more ({} cycles)", cycles_text(before),
                     cycles_text(gap.period), gap.times, gap.times == 1 ? "time" : "times",
                     cycles_text(gap.time.total));
}

std::string ending_note(const Timeline& timeline) {
  if (!timeline.ended_early) return {};
  double reached = timeline.end;
  for (const auto& gap : timeline.gaps) reached += gap.time.total;
  if (!timeline.time_known) return fmt::format("after cycle {}: the rest", cycles_text(reached));
  return fmt::format("after cycle {}: the rest, {} cycles", cycles_text(reached),
                     cycles_text(timeline.time.total - reached));
}

double round_step(double least) {
  if (!(least > 0)) return 1;
  // Powers of ten that are neither 0 nor infinite as numbers.
  if (least < 1e-300 || least > 1e300) return least;
  double power = std::pow(10.0, std::floor(std::log10(least)));
  for (;; power *= 10)
    for (const double digit : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0})
      if (digit * power >= least * (1 - 1e-12)) return digit * power;
}

}  // namespace warptime::cli
