#include "simulator/model/extended/divergence.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "simulator/program/place.h"
#include "simulator/program/walk.h"
#include "simulator/program/warp_trace.h"

namespace warptime {
namespace {

constexpr std::int64_t kMostBlocks = 8, kMostWarpsOfBlock = 4;
constexpr std::int64_t kPatience = 20'000;  // items of one warp
constexpr double kFull = 0.9 * static_cast<double>(kLanes);

// Of the warps that are followed.
struct Executions {
  double executions = 0, threads = 0;
  double mean() const { return executions > 0 ? threads / executions : 0; }
};
using ExecutionsByItem = std::map<const Item*, Executions>;

void follow(TraceOfBlocks& common, std::int64_t block, std::int64_t warp, ExecutionsByItem& found) {
  WarpTrace trace(common, block, warp);
  WarpTrace::Step step;
  std::int64_t patience = kPatience;
  while (trace.next(step, &patience)) {
    if (step.skipped || step.threads == 0) continue;
    Executions& of = found[step.node->item];
    of.executions += 1;
    of.threads += __builtin_popcount(step.threads);
  }
}

// Warps from all over the launch, those of the border of its grid among few others.
ExecutionsByItem follow_some(const LaunchTrace& trace) {
  ExecutionsByItem found;
  TraceOfBlocks common(trace);
  const std::int64_t warps = trace.size().warps_per_block();
  const std::int64_t blocks = std::min(trace.blocks(), kMostBlocks);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t block = trace.blocks() / blocks * i + trace.blocks() / blocks / 2;
    for (std::int64_t j = 0; j < std::min(warps, kMostWarpsOfBlock); ++j)
      follow(common, block, warps / std::min(warps, kMostWarpsOfBlock) * j, found);
  }
  return found;
}

class DivergenceFinder {
 public:
  explicit DivergenceFinder(const ExecutionsByItem& found) : found_(found) {}

  // `around`: the threads of a warp that execute what is around, on average.
  void look_at(const Items& items, double around) {
    double most = 0;  // how often warps come here
    for (const Item& item : items) most = std::max(most, of(item).executions);
    for (const Item& item : items) {
      const Executions here = of(item);
      double inside = around;
      if (here.executions > 0 && item.threads && item.shares.empty() && here.mean() < kFull / kLanes * around)
        inside = together(item, here, most, around);
      for_each_inner(item, [&](const Items& inner) { look_at(inner, inside); });
    }
  }

  Divergence result() { return std::move(result_); }

 private:
  // Of a repeat or a condition: those of the first item inside that was executed.
  Executions of(const Item& item) const {
    if (const auto known = found_.find(&item); known != found_.end()) return known->second;
    Executions first;
    for_each_inner(item, [&](const Items& inner) {
      for (const Item& one : inner)
        if (first.executions == 0) first = of(one);
    });
    return first;
  }

  // Returns the threads of a warp that execute it then.
  double together(const Item& item, const Executions& here, double most, double around) {
    // Items of a repeat are executed more often than the warps come to the repeat.
    const double comes = is_nested(item) ? 1 : std::min(1.0, here.executions / most);
    result_.shares[&item] = std::min(1.0, here.mean() / around * comes);
    const double idle = here.executions * (around - here.mean());
    if (const Item& named = first_leaf(item); idle > most_idle_) {
      most_idle_ = idle;
      result_.where = place_of(named);
      result_.lines = named.lines;
      result_.threads = here.mean();
    }
    return here.mean();
  }

  static const Item& first_leaf(const Item& item) {
    const Item* leaf = &item;
    while (is_nested(*leaf)) {
      const Item* next = nullptr;
      for_each_inner(*leaf, [&](const Items& inner) {
        if (next == nullptr && !inner.empty()) next = &inner.front();
      });
      if (next == nullptr) break;
      leaf = next;
    }
    return *leaf;
  }

  const ExecutionsByItem& found_;
  Divergence result_;
  double most_idle_ = 0;
};

}  // namespace

Divergence divergence_of(const LaunchOnGpu& launch) {
  if (launch.size.threads_per_block() < static_cast<std::int64_t>(kLanes)) return {};
  const auto trace = LaunchTrace::make(*launch.program, launch.values, launch.size, launch.shares);
  if (!trace) return {};
  const ExecutionsByItem found = follow_some(*trace);
  DivergenceFinder finder(found);
  finder.look_at(launch.program->program, static_cast<double>(kLanes));
  return finder.result();
}

}  // namespace warptime
