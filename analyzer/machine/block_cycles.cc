#include "analyzer/machine/block_cycles.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/machine/result_latencies.h"

namespace warptime::machine {
namespace {

double result_after(const MachineInstruction& one) {
  if (one.opcode == nullptr) return 0;
  const std::string_view name = one.opcode->name;
  const auto is = [&](auto... names) { return ((name == names) || ...); };
  if (is("LDS", "LDSM", "LDL")) return kSharedLatency;
  if (is("LDC", "LDCU")) return kConstantLatency;
  if (is("SHFL")) return kShuffleLatency;
  if (is("B2R")) return kReductionLatency;
  if (is("ATOMS")) return kSharedAtomicLatency;
  if (is("S2R", "S2UR", "R2UR", "CS2R")) return kSpecialRegisterLatency;
  if (one.opcode->pipe == Pipe::xu) return kXuLatency;
  if (one.opcode->pipe == Pipe::fp64) return kDoubleLatency;
  if (one.opcode->pipe == Pipe::tensor) return kTensorLatency;
  return 0;
}

// Until its operands are read, so that others may write there: 9 to 11 cycles (Huerta et al. 2025, table 2).
constexpr double kOperandsRead = 10;

// Beyond the stall counts, of a warp on its own (data/hardware/h200_branch_costs.csv): a branch back until the first
// instruction there; a branch ahead and the place where the ways of a warp's threads meet, together, between what they cost where
// all threads go one way (9 and 12) and where they part (25).
constexpr double kBack = 6, kAhead = 4, kMeet = 8;

double behind_branch(const MachineInstruction& one, int target) {
  if (one.opcode == nullptr) return 0;
  if (one.opcode->name == "BSYNC") return kMeet;
  if (is_taken_on_divergence(one)) return 0;
  const auto to = branch_target(one, target);
  return to ? (*to <= static_cast<std::int64_t>(one.address) ? kBack : kAhead) : 0;
}

}  // namespace

double cycles_of_block(std::span<const MachineInstruction> block, int target) {
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
    now += std::max(one.control.stall, 1) + behind_branch(one, target);
  }
  return now;
}

}  // namespace warptime::machine
