// Threads of a warp that part and meet, each group with a program counter of its own.
//
// Sides of a branch wait for each other at the immediate post-dominator, and the lanes of a call behind it, as
// with the convergence barriers of Volta and later GPUs. A meeting is no promise: where threads that wait there
// are needed by those that have not come (a spin lock, a barrier), they go on by themselves. Groups of different
// meetings form a tree; without such threads it is walked depth first, which is the stack of lockstep warps.
#include <algorithm>

#include "analyzer/execute/machine.h"

namespace warptime::execute {
namespace {

// Where a group of this meeting waits for the others.
std::uint32_t meeting_point(const Warp& warp, std::uint32_t meeting, std::uint32_t frame) {
  const auto end = static_cast<std::uint32_t>(warp.frames[frame].code->ops.size());
  if (meeting == none_index || warp.meetings[meeting].callee != none_index) return end;
  return warp.meetings[meeting].pc;
}

void go_on(Warp& warp, const Meeting& meeting, std::uint32_t lanes) {
  if (meeting.callee != none_index) copy_results(warp, meeting, lanes);
  add_group(warp, {meeting.pc, lanes, meeting_point(warp, meeting.outer, meeting.frame), meeting.outer,
                   meeting.frame});
}

// Lets the lanes go on where nobody is missing any more.
void complete(Warp& warp, std::uint32_t index) {
  while (index != none_index) {
    const auto meeting = warp.meetings[index];
    if (meeting.arrived != meeting.expected) return;
    warp.free_meetings.push_back(index);
    warp.meetings[index].expected = warp.meetings[index].arrived = 0;
    if (meeting.expected != 0) go_on(warp, meeting, meeting.expected);
    if (meeting.callee != none_index) drop_frame(warp, meeting.callee);
    if (meeting.expected != 0) return;
    index = meeting.outer;
  }
}

void arrive(Warp& warp, std::uint32_t meeting, std::uint32_t lanes) {
  warp.meetings[meeting].arrived |= lanes;
  warp.long_turns = 0;
  complete(warp, meeting);
}

// Takes lanes out of the meetings from `meeting` outward, up to that of a call where `within_call`. Gives that.
std::uint32_t leave_meetings(Warp& warp, std::uint32_t meeting, std::uint32_t lanes, bool within_call) {
  while (meeting != none_index && !(within_call && warp.meetings[meeting].callee != none_index)) {
    warp.meetings[meeting].expected &= ~lanes;
    meeting = warp.meetings[meeting].outer;
  }
  return meeting;
}

}  // namespace

std::uint32_t open_meeting(Warp& warp, const Meeting& meeting) {
  std::uint32_t index = 0;
  if (warp.free_meetings.empty()) {
    index = static_cast<std::uint32_t>(warp.meetings.size());
    warp.meetings.push_back(meeting);
  } else {
    index = warp.free_meetings.back();
    warp.free_meetings.pop_back();
    warp.meetings[index] = meeting;
  }
  return index;
}

// In a loop that lanes leave one after another, all of them go to one meeting.
void part(Warp& warp, std::uint32_t meet, std::span<const Side> sides) {
  const auto whole = warp.groups.back();
  warp.groups.pop_back();
  auto meeting = whole.meeting;
  if (whole.reconverge != meet)
    meeting = open_meeting(warp, {meet, whole.frame, whole.mask, 0, whole.meeting, none_index});
  for (const auto& side : sides) {
    if (side.pc == meet && meeting != none_index && warp.meetings[meeting].callee == none_index)
      warp.meetings[meeting].arrived |= side.mask;
    else
      warp.groups.push_back({side.pc, side.mask, meet, meeting, whole.frame});
  }
  complete(warp, meeting);
}

void add_group(Warp& warp, const Group& group) {
  for (auto& other : warp.groups)
    if (other.pc == group.pc && other.frame == group.frame && other.meeting == group.meeting) {
      other.mask |= group.mask;
      return;
    }
  warp.groups.push_back(group);
  warp.state = Warp::State::ready;
}

void end_lanes(Warp& warp, std::uint32_t mask) {
  auto& group = warp.groups.back();
  group.mask &= ~mask;
  warp.live &= ~mask;
  warp.block->live_threads -= static_cast<std::uint32_t>(std::popcount(mask));
  leave_meetings(warp, group.meeting, mask, false);
  if (!warp.waiting.empty()) check_members_waiting(warp);
  barriers_without(warp);
}

void return_lanes(Warp& warp, std::uint32_t mask) {
  auto& group = warp.groups.back();
  const auto call = leave_meetings(warp, group.meeting, mask, true);
  if (call == none_index) return end_lanes(warp, mask);
  group.mask &= ~mask;
  warp.meetings[call].arrived |= mask;
}

bool settle(Warp& warp) {
  while (!warp.groups.empty()) {
    const auto top = warp.groups.back();
    if (top.mask != 0 && top.pc != top.reconverge) return true;
    if (top.mask != 0 && top.meeting == none_index) {  // the end of the kernel's text
      end_lanes(warp, top.mask);
      continue;
    }
    warp.groups.pop_back();
    if (top.mask != 0)
      arrive(warp, top.meeting, top.mask);
    else
      complete(warp, top.meeting);
  }
  warp.state = warp.waiting.empty() ? Warp::State::ended : Warp::State::waiting;
  return false;
}

bool release_meetings(Warp& warp) {
  bool any = false;
  for (std::uint32_t i = 0; i < warp.meetings.size(); ++i) {
    const auto meeting = warp.meetings[i];
    if (meeting.arrived == 0) continue;
    warp.meetings[i].expected &= ~meeting.arrived;
    warp.meetings[i].arrived = 0;
    go_on(warp, meeting, meeting.arrived);
    any = true;
  }
  return any;
}

bool yield(Warp& warp) {
  warp.long_turns = 0;
  if (warp.groups.size() == 1 && !release_meetings(warp)) return false;
  std::rotate(warp.groups.begin(), warp.groups.end() - 1, warp.groups.end());
  return true;
}

}  // namespace warptime::execute
