// Running warps: frames, divergence, barriers. run.cc drives blocks; this is what happens in one.
#pragma once

#include <span>

#include "analyzer/execute/warp.h"

namespace warptime::execute {

// Lets a warp begin at the kernel's first instruction with the lanes of `live`.
void start_warp(Warp& warp, std::uint32_t live);
// Runs until the warp waits or ends, polls in vain, `instructions` instructions are done, or the machine stops.
void run_warp(Warp& warp, std::uint64_t instructions);

// ---- groups.cc: threads that part and meet.
struct Side {
  std::uint32_t pc = 0, mask = 0;
};
// Replaces the running group by `sides`; they meet again at `meet`. The last side runs first.
void part(Warp& warp, std::uint32_t meet, std::span<const Side> sides);
// Makes a group runnable, together with one that is at the same instruction already.
void add_group(Warp& warp, const Group& group);
// Lanes of the running group end: in the whole kernel, or in its function.
void end_lanes(Warp& warp, std::uint32_t mask);
void return_lanes(Warp& warp, std::uint32_t mask);
// Takes what is done off the runnable groups. Gives false where none is left.
bool settle(Warp& warp);
// Lets the threads that wait at meetings go on alone: those that they wait for may wait for them. Gives whether
// there were any.
bool release_meetings(Warp& warp);
// The running group waits for others: another one's turn. Gives whether there is one.
bool yield(Warp& warp);
// A new meeting of the running group's lanes, inside the one that it has.
std::uint32_t open_meeting(Warp& warp, const Meeting& meeting);

// ---- frames.cc: enters `callee` with the lanes of `mask` of the running group, which are to go on behind the
// call; copies results of `lanes` to the frame where they go on; the frame is not needed any more.
bool enter(Warp& warp, const FunctionCode& callee, const CallSite& site, std::uint32_t mask);
void copy_results(Warp& warp, const Meeting& meeting, std::uint32_t lanes);
void drop_frame(Warp& warp, std::uint32_t frame);
// What handlers read and write is that of this frame.
void use_frame(Warp& warp, std::uint32_t frame);

// ---- sync.cc: instructions that members of a warp do together, whichever instruction of a kind they are at.
// Whether the performing lanes `mask` are all whom they name, so that it can be done now.
bool members_are_here(const Warp& warp, const DecodedInstruction& op, std::uint32_t mask);
// The performing lanes wait for those whom they name; lanes whose guard is false go on.
void wait_for_members(Warp& warp, std::uint32_t active, std::uint32_t mask);
// Lanes have ended: does what waited for them.
void check_members_waiting(Warp& warp);
// Nobody can go on: does what waits for members that will not come, with a finding. Gives whether there was any.
bool break_members(Warp& warp);

// ---- barriers.cc: the running group reaches a barrier; lanes of the warp have ended (others may wait for
// them). Nobody can go on: a finding.
void reach_barrier(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask);
void barriers_without(Warp& warp);
void report_deadlock(Block& block);

// ---- machine.cc
// Counts an instruction of the running group, or of one that waited. Gives false where the budget is spent; the
// finding of that.
bool spend_budget(Warp& warp, std::uint32_t active);
inline bool count_instruction(Warp& warp, std::uint32_t active, std::uint32_t mask) {
  auto& machine = *warp.machine;
  if (machine.budget == 0) return spend_budget(warp, active);
  --machine.budget;
  auto& counts = machine.result.counts;
  ++counts.instructions;
  counts.lane_instructions +=
      mask == full_mask ? lanes_of_warp : static_cast<std::uint32_t>(std::popcount(mask));
  return true;
}
void observe(Warp& warp, const DecodedInstruction& op, std::uint32_t function, std::uint32_t pc,
             std::uint32_t active, std::uint32_t mask, Role role);

// ---- externals.cc: vprintf, __assertfail, malloc, free.
void call_external(Warp& warp, const CallSite& site, std::uint32_t mask);
// The value of a call's argument for one lane.
std::uint64_t argument_value(const Warp& warp, const CallSite::Passed& passed, std::uint32_t lane);
// Gives a call's result to one lane.
void give_value(Warp& warp, const CallSite::Passed& passed, std::uint32_t lane, std::uint64_t value);

}  // namespace warptime::execute
