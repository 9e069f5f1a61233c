// Durations of the memory accesses that a kernel program leaves open, by access pattern.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/program/kernel_program.h"

namespace warptime {

// Default durations in cycles by access pattern, for accesses whose program gives none.
struct MemoryDurations {
  // indexed by Access: uniform, coalesced, strided, scattered
  std::array<double, kAccesses> load{};
  std::array<double, kAccesses> store{};
};
// One of them: "load.coalesced", "store.scattered".
struct DurationName {
  bool store = false;
  int access = 0;  // index into MemoryDurations::load or store
  friend bool operator==(const DurationName&, const DurationName&) = default;
};
std::string to_string(DurationName name);
std::optional<DurationName> find_duration_name(std::string_view text);  // nothing: unknown name
double& duration(MemoryDurations& durations, DurationName name);
// The duration that a GPU's file calls load.coalesced, store.scattered and the like; null: no such name.
double* find_duration(MemoryDurations& durations, std::string_view name);
// What `simulate` uses when no GPU is named, and the starting point of every GPU's file: Listings 7 and 9 of
// Puchala et al. (loads: uniform 10, coalesced and strided 120, scattered 160; stores: 100).
const MemoryDurations& paper_durations();

}  // namespace warptime
