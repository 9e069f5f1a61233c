#include "simulator/sm/warps_in_step.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace warptime {
namespace {

// Of the longest warp's instructions: what those execute at most that end at once, and those that are ahead.
constexpr double kAtOnce = 0.1, kAhead = 0.9;

bool some_are_shorter(const LaunchWarps& warps) {
  constexpr double few = 0.02;
  double most = 0, all = 0, ahead = 0;
  for (const WarpGroup& group : warps.groups) most = std::max(most, group.each.instructions);
  for (const WarpGroup& group : warps.groups) {
    if (group.each.instructions < kAtOnce * most) continue;
    all += group.warps;
    if (group.each.instructions < kAhead * most) ahead += group.warps;
  }
  return ahead > few * all;
}

// counters: of the loops around the items; one without a name is empty.
bool iterations_differ(const Items& items, std::vector<std::string>& counters) {
  const auto is_counter = [&](const std::string& name) {
    return std::find(counters.begin(), counters.end(), name) != counters.end();
  };
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    if (!counters.empty() && !item.shares.empty()) return true;
    const auto names = item.threads ? item.threads->names() : std::vector<std::string>();
    if (std::any_of(names.begin(), names.end(), is_counter)) return true;
    if (const auto* when = std::get_if<When>(&item.what))
      return iterations_differ(when->then_items, counters) || iterations_differ(when->else_items, counters);
    const auto* repeat = std::get_if<Repeat>(&item.what);
    if (repeat == nullptr) return false;
    counters.push_back(repeat->counter);
    const bool differ = iterations_differ(repeat->body, counters);
    counters.pop_back();
    return differ;
  });
}

}  // namespace

bool in_step(const LaunchOnGpu& launch) {
  std::vector<std::string> counters;
  return !some_are_shorter(*launch.warps) && !iterations_differ(launch.program->program, counters);
}

}  // namespace warptime
