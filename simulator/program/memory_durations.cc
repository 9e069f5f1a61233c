#include "simulator/program/memory_durations.h"

#include <fmt/format.h>

namespace warptime {

const MemoryDurations& paper_durations() {
  static const MemoryDurations durations = {{10, 120, 120, 160}, {100, 100, 100, 100}};
  return durations;
}

std::string to_string(DurationName name) {
  return fmt::format("{}.{}", name.store ? "store" : "load",
                     access_names()[static_cast<std::size_t>(name.access)]);
}

std::optional<DurationName> find_duration_name(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto access = find_access(text.substr(dot + 1));
  const std::string_view kind = text.substr(0, dot);
  if (!access || (kind != "load" && kind != "store")) return std::nullopt;
  return DurationName{kind == "store", static_cast<int>(*access)};
}

double& duration(MemoryDurations& durations, DurationName name) {
  return (name.store ? durations.store : durations.load).at(static_cast<std::size_t>(name.access));
}

double* find_duration(MemoryDurations& durations, std::string_view name) {
  const auto found = find_duration_name(name);
  return found ? &duration(durations, *found) : nullptr;
}

}  // namespace warptime
