// The order in which accesses to shared memory happen, and races. Barriers, fences with strong accesses, and
// releases with acquires order what warps do; bar.warp.sync, barriers and fences what the threads of one do. Between
// warps the order is that of whole warps: it may hold accesses for ordered that are not, never the other way round.
#pragma once

#include "analyzer/execute/warp.h"

namespace warptime::execute {

void start_order(Block& block);
void order_arrival(Warp& warp, BarrierState& barrier);
void order_departure(Warp& warp, const BarrierState& barrier);
// The lanes of `mask` have met at a bar.warp.sync.
void order_lanes(Warp& warp, std::uint32_t mask);
void order_fence(Warp& warp);
// A strong access by the lanes of `mask` to warp.addresses.
void order_strong(Warp& warp, const DecodedInstruction& op, std::uint32_t mask, bool reads, bool writes);

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
