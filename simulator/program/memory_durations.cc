#include "simulator/program/memory_durations.h"

#include "simulator/program/kernel_program.h"

namespace warptime {

const MemoryDurations& paper_durations() {
  static const MemoryDurations durations = {{10, 120, 120, 160}, {100, 100, 100, 100}};
  return durations;
}

double* find_duration(MemoryDurations& durations, std::string_view name) {
  const bool load = name.substr(0, 5) == "load.", store = name.substr(0, 6) == "store.";
  if (!load && !store) return nullptr;
  for (const Access access : {Access::uniform, Access::coalesced, Access::strided, Access::scattered}) {
    if (name.substr(load ? 5 : 6) == to_string(access))
      return &(load ? durations.load : durations.store)[static_cast<std::size_t>(access)];
  }
  return nullptr;
}

}  // namespace warptime
