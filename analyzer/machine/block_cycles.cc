#include "analyzer/machine/block_cycles.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace warptime::machine {
namespace {

// Cycles from the issue of an instruction until its result can be used, by chains in one warp on an H200
// (tests/hardware/small_launches.cu): MUFU and POPC 16.8, F2I 16.8, VOTE 17 with a comparison, SHFL 23.7, LDC 37; the
// latency of a shared load is h100_facts.csv's.
double result_after(const MachineInstruction& one) {
  if (one.opcode == nullptr) return 0;
  const std::string_view name = one.opcode->name;
  const auto is = [&](auto... names) { return ((name == names) || ...); };
  if (is("LDS", "LDSM", "LDL")) return 34;
  if (is("LDC", "LDCU")) return 37;
  if (is("SHFL")) return 23;
  if (is("ATOMS")) return 68;
  if (is("S2R", "S2UR", "R2UR", "CS2R")) return 20;
  if (one.opcode->pipe == Pipe::xu) return 17;
  if (one.opcode->pipe == Pipe::fp64) return 8.3;
  if (one.opcode->pipe == Pipe::tensor) return 33;
  return 0;
}

// Until its operands are read, so that others may write there: 9 to 11 cycles (Huerta et al. 2025, table 2).
constexpr double kOperandsRead = 10;

}  // namespace

double cycles_of_block(std::span<const MachineInstruction> block) {
  constexpr std::size_t barriers = 6;
  std::array<double, barriers> opens{};
  double now = 0;
  for (const MachineInstruction& one : block) {
    for (std::size_t b = 0; b < barriers; ++b)
      if ((one.control.waits >> b & 1U) != 0) now = std::max(now, opens[b]);
    const auto close = [&](int barrier, double until) {
      if (barrier == Control::no_barrier || static_cast<std::size_t>(barrier) >= barriers) return;
      double& open = opens[static_cast<std::size_t>(barrier)];
      open = std::max(open, until);
    };
    close(one.control.write_barrier, now + result_after(one));
    close(one.control.read_barrier, now + kOperandsRead);
    now += std::max(one.control.stall, 1);
  }
  return now;
}

}  // namespace warptime::machine
