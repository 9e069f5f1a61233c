// Durations of memory accesses: of those that a kernel program leaves open, by access pattern; and of single ones.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/program/kernel_program.h"

namespace warptime {

// The name of a duration: "load.coalesced", "store.scattered"; of a single access "load.2" or, in a plan of several
// kernels, "mtx.load.2".
struct DurationName {
  bool store = false;
  int access = 0;  // index into MemoryDurations::load or store
  int place = 0;   // of a single access: its place among the loads or stores as written, from 1; else 0
  std::string kernel = {};  // of a single access; empty: of each kernel
  friend bool operator==(const DurationName&, const DurationName&) = default;
};
std::string to_string(const DurationName& name);
std::optional<DurationName> find_duration_name(std::string_view text);  // nothing: unknown name
// The names that there are, for hints.
inline constexpr std::string_view kDurationNames =
    "load.uniform, load.coalesced, load.strided, load.scattered; load.1, load.2, … of single loads, "
    "KERNEL.load.1 "
    "in a plan of several kernels; and the same for store";

struct MemoryDurations {
  // Default durations in cycles by access pattern, for accesses whose program gives none.
  // Indexed by Access: uniform, coalesced, strided, scattered.
  std::array<double, kAccesses> load{};
  std::array<double, kAccesses> store{};
  // Cycles of single accesses, in place of what the program gives and of the above. Of programs with_places().
  std::vector<std::pair<DurationName, double>> single = {};
  friend bool operator==(const MemoryDurations&, const MemoryDurations&) = default;
};
// That of a single access is added with 0 cycles if it is not there.
double& duration(MemoryDurations& durations, const DurationName& name);
// Those of one program: without single accesses of other kernels.
MemoryDurations durations_of(const KernelProgram& program, const MemoryDurations& durations);
// Whether `program` has the single access of that name.
bool has_access(const KernelProgram& program, const DurationName& name);
// `program` with MemoryAccess::place of every access.
std::shared_ptr<const KernelProgram> with_places(const KernelProgram& program);
// What `simulate` uses when no GPU is named, and the starting point of every GPU's file: Listings 7 and 9 of
// Puchala et al. (loads: uniform 10, coalesced and strided 120, scattered 160; stores: 100).
const MemoryDurations& paper_durations();

}  // namespace warptime
