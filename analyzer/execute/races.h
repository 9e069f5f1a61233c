// The order in which accesses to shared memory happen, and races. Barriers, fences with strong accesses, and
// releases with acquires order what warps do; bar.warp.sync, barriers and fences what the threads of one do. Between
// warps the order is that of whole warps: it may hold accesses for ordered that are not, never the other way round.
#pragma once

#include "analyzer/execute/warp.h"

namespace warptime::execute {

void start_order(Block& block);
void order_arrival(Warp& warp, BarrierState& barrier);
void order_departure(Warp& warp, const BarrierState& barrier);
// Instead, where every warp of the block waited.
void order_all(Block& block);
// The lanes of `mask` have met at a bar.warp.sync.
void order_lanes(Warp& warp, std::uint32_t mask);
void order_fence(Warp& warp);
// A strong access by the lanes of `mask` to warp.addresses.
void order_strong(Warp& warp, const DecodedInstruction& op, std::uint32_t mask, bool reads, bool writes);

// Keeps note of a read that comes after all writes.
void keep_read(const Warp& warp, std::uint32_t lane, SharedRecord& record);

// Keeps note of an access to a word of shared memory with which all that was done there before is in order, as most are
// after a barrier. Gives false for any other, of which nothing is noted.
inline bool note_ordered_access(const Warp& warp, std::uint32_t lane, std::uint64_t address,
                                std::uint32_t bytes, AccessKind access, bool strong) {
  constexpr std::uint64_t word_bytes = 4;
  auto& block = *warp.block;
  if (bytes != word_bytes || address % word_bytes != 0 || block.split[address / word_bytes] != 0)
    return false;
  auto& record = block.records[address];
  const auto settled = warp.order.settled;
  if (record.copied || record.write_clock > settled) return false;
  const bool reads_settled = record.reads[0].clock <= settled;
  const auto thread = static_cast<std::uint16_t>(warp.index * lanes_of_warp + lane);
  if (access == AccessKind::read) {
    if (strong) return true;
    if (reads_settled)
      record.reads[0] = {warp.order.clock, thread, false};
    else
      keep_read(warp, lane, record);
    return true;
  }
  if (!reads_settled || record.reads[1].clock > settled) return false;
  record.write_clock = warp.order.clock;
  record.write_thread = thread;
  record.write_strong = strong;
  record.stamp = access == AccessKind::write ? block.stamp : 0;
  return true;
}

// Looks for races of an access to shared memory with earlier ones, and keeps note of it. warp.stored: what a write is
// going to write, where that is known.
void look_for_races(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                    AccessKind access, bool strong);
// A cp.async is going to write.
void look_for_races_of_copy(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes);
void commit_copies(Warp& warp, std::uint32_t mask);
// Threads wait until at most `left` of their groups are under way.
void wait_for_copies(Warp& warp, std::uint32_t mask, std::uint32_t left);

}  // namespace warptime::execute
