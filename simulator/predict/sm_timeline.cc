#include "simulator/predict/sm_timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "simulator/sm/launch_places.h"
#include "simulator/sm/memory_levels.h"
#include "simulator/sm/sm_listener.h"

namespace warptime {
namespace {

// In the order of SmWait, and what a warp does that could issue.
constexpr std::array<SmTimeline::State, kSmWaits + 1> kStates = {{
    {'#', key_of(SmWait::issue), "issues"},
    {'p', key_of(SmWait::pipe), "waits for a busy pipe"},
    {'=', key_of(SmWait::chain), "waits for results of calculation"},
    {'1', key_of(SmWait::on_chip), "waits for L1, shared memory, constants"},
    {'2', key_of(SmWait::l2), "waits for L2's bandwidth"},
    {'m', key_of(SmWait::memory), "waits for the memory's bandwidth"},
    {'.', key_of(SmWait::latency), "waits for data of L2 or memory"},
    {'a', key_of(SmWait::atomic), "waits for atomics on one address"},
    {'b', key_of(SmWait::barrier), "waits at a barrier"},
    {'s', key_of(SmWait::blocks), "its block starts"},
    {'~', "ready", "could issue: other warps do"},
}};
constexpr std::uint32_t kReady = kSmWaits;

class SmTimelineCollector : public SmListener {
 public:
  SmTimelineCollector(SmTimeline& timeline, std::size_t most) : timeline_(timeline), most_(most) {}

  void passed(double, double end, const SmCause&, bool) override { end_ = end; }
  void shared_access(int, int) override {}
  bool has_enough() const override { return seen_ > most_; }
  void executed(const SmExecution& execution) override {
    if (++seen_ > most_) return;
    timeline_.collected = execution.begin;
    const std::uint32_t place = place_of_item(execution.item), cause = place_of_item(execution.cause.item);
    const auto wait = static_cast<std::uint32_t>(execution.cause.wait);
    auto& partition = timeline_.partitions[execution.partition];
    const double free = partition.empty() ? 0 : partition.back().end;
    add(partition, {free, execution.begin, wait, cause});
    add(partition, {execution.begin, execution.end, 0, place});
    const auto [known, fresh] = rows_.try_emplace({execution.block, execution.warp}, timeline_.warps.size());
    if (fresh) timeline_.warps.push_back({execution.block, execution.warp, execution.partition, {}});
    auto& warp = timeline_.warps[known->second].intervals;
    add(warp, {execution.since, std::max(execution.since, execution.ready), wait, cause});
    add(warp, {std::max(execution.since, execution.ready), execution.begin, kReady, place});
    add(warp, {execution.begin, execution.end, 0, place});
  }

  void finish() {
    if (seen_ <= most_) timeline_.collected = end_;
  }

 private:
  static void add(std::vector<SmTimeline::Interval>& to, const SmTimeline::Interval& interval) {
    if (!(interval.end > interval.begin)) return;
    if (!to.empty() && to.back().end == interval.begin && to.back().state == interval.state &&
        to.back().place == interval.place)
      to.back().end = interval.end;
    else
      to.push_back(interval);
  }

  std::uint32_t place_of_item(const Item* item) {
    const auto [known, fresh] = by_item_.try_emplace(item, 0);
    if (fresh) {
      auto& places = timeline_.places;
      std::string where = place_of_cause(item);
      const auto found = std::find(places.begin(), places.end(), where);
      known->second = static_cast<std::uint32_t>(found - places.begin());
      if (found == places.end()) places.push_back(std::move(where));
    }
    return known->second;
  }

  SmTimeline& timeline_;
  std::size_t most_, seen_ = 0;
  double end_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> rows_;
  std::unordered_map<const Item*, std::uint32_t> by_item_;
};

}  // namespace

std::span<const SmTimeline::State> SmTimeline::states() {
  return kStates;
}

Result<SmTimeline> sm_timeline(const PreparedPlan& plan, std::size_t gpu,
                               const std::vector<std::int64_t>& values, const PredictionOptions& options,
                               std::size_t most) {
  SmTimeline timeline;
  RowModel model(plan, options);
  const auto terms = model.terms(gpu, values, false, timeline.row);
  if (!terms) return terms.diagnostics();
  const auto longest = std::max_element(terms->begin(), terms->end(), [](const auto& a, const auto& b) {
    return a.times * a.time.total_us < b.times * b.time.total_us;
  });
  if (longest == terms->end()) return error("there is no launch to draw");
  const LaunchOnGpu& launch = longest->whole->on_gpu;
  timeline.kernel = kernel_of(*longest->launch);
  const auto& [grid, block] = launch.size;
  timeline.size = {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}};
  timeline.partitions.resize(static_cast<std::size_t>(sm_partitions(launch.gpu->compute_capability)));
  SmTimelineCollector collector(timeline, most);
  const auto levels = memory_levels(launch, options.model_options.caches, collector);
  if (!levels) return levels.diagnostics();
  collector.finish();
  timeline.sm_cycles = levels->cycles;
  return timeline;
}

}  // namespace warptime
