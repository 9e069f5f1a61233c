#include "load/plan_flags.h"

#include <functional>
#include <utility>

#include "load/kernel_file.h"

namespace warptime {
namespace {

// The kept flags, with each path as `place` gives it.
std::vector<std::string> with_paths(const std::vector<std::string>& flags,
                                    const std::function<std::string(const std::string&)>& place) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const PlanFlag known = plan_flag(flags[i]);
    if (!known.kept) continue;
    if (!known.value_follows) {
      const std::string path = flags[i].substr(known.name.size());
      kept.push_back(known.name + (known.is_path ? place(path) : path));
    } else if (i + 1 < flags.size()) {
      ++i;
      kept.push_back(known.name);
      kept.push_back(known.is_path ? place(flags[i]) : flags[i]);
    }
  }
  return kept;
}

}  // namespace

std::vector<std::string> plan_flags(const std::vector<std::string>& flags, const std::string& folder) {
  return with_paths(flags, [&](const std::string& path) { return path_in_plan(path, folder); });
}

CompileOptions with_plan_flags(CompileOptions options, const Plan& plan) {
  std::vector<std::string> flags =
      with_paths(plan.flags, [&](const std::string& path) { return path_from_plan(path, plan); });
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  options.flags = std::move(flags);
  return options;
}

}  // namespace warptime
