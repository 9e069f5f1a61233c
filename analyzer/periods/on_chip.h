// What instructions of calculation access on the chip: shared and local memory, and arrays in constant
// memory; and which of them wait for the block.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analyzer/periods/conditions.h"
#include "analyzer/periods/constant_registers.h"
#include "analyzer/periods/flow.h"
#include "simulator/program/item_detail.h"

namespace warptime::periods {

// Whether the threads of a warp give words to each other: shfl.
bool is_shuffle(std::string_view opcode);
// Whether threads wait there for others of their block or cluster: bar.sync, bar.red, barrier.cluster.wait
// and their other spellings. A warp's own bar.warp.sync and a bar.arrive do not wait for the block.
bool waits_for_block(std::string_view opcode);

// Finds accesses on the chip and their addresses. Shared memory is laid out as resources.h counts it: the
// variables that the kernel's code names, those of the module first, each at its alignment; dynamic shared
// memory begins behind them. An address in constant memory counts from its array.
class OnChip {
 public:
  // Both must outlive it.
  OnChip(analysis::KernelFlow& flow, Conditions& conditions) : flow_(flow), conditions_(conditions) {}

  // The accesses that instruction `i` makes in `loop`: none where it moves a promoted stack slot, several of
  // what a warp moves together (wmma.load). Addresses are absent where data decide them. Accesses stand
  // without their guard: compilers branch around accesses of some threads, so that the item's `threads` says
  // which make them.
  std::vector<ChipAccess> accesses_of(std::uint32_t i, std::uint32_t loop, const analysis::Facts& facts);

 private:
  static std::int64_t bytes_chosen_from(const ptx::Variable& variable);
  std::optional<std::int64_t> begin_of(const ptx::Variable* variable, ptx::StateSpace space);
  void lay_out();
  std::int64_t constant_align(const ptx::Variable& variable);  // up to 8

  analysis::KernelFlow& flow_;
  Conditions& conditions_;
  bool laid_out_ = false;
  std::unordered_map<const ptx::Variable*, std::int64_t> begins_;  // of shared and local variables
  std::unordered_map<const ptx::Variable*, std::int64_t> constant_aligns_;
  std::optional<ConstantRegisters> constants_;
};

}  // namespace warptime::periods
