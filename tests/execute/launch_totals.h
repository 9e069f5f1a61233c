// What all warps of a launch execute, as the executor counts it.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "analyzer/execute/execute.h"
#include "simulator/program/warps.h"
#include "tests/execute/harness.h"

namespace warptime::execute::testing {

class Totals : public ExecutionListener {
 public:
  bool wants(const WarpId&) override { return true; }
  void executed(const WarpId&, const ExecutedInstruction& instruction) override {
    if (instruction.role == Role::none) return;
    ++totals.instructions;
    if (instruction.role == Role::calculation) return;
    std::vector<std::uint64_t> addresses;
    for (std::uint32_t rest = instruction.global_lanes; rest != 0; rest &= rest - 1)
      addresses.push_back(instruction.addresses[std::countr_zero(rest)]);
    const bool load = instruction.role == Role::load;
    ++(load ? totals.loads : totals.stores);
    (load ? totals.load_sectors : totals.store_sectors) += sectors(addresses, instruction.bytes);
  }
  WarpTotals totals;
};

inline std::string text_of(const WarpTotals& totals) {
  return fmt::format("{} instructions, {} loads in {} sectors, {} stores in {} sectors", totals.instructions,
                     totals.loads, totals.load_sectors, totals.stores, totals.store_sectors);
}

inline std::array<std::int64_t, 3> three(const Dimensions& of) {
  return {of.x, of.y, of.z};
}

}  // namespace warptime::execute::testing
