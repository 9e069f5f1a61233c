// The sixteen barriers of a block. Since Volta threads arrive one by one, at whichever instruction: a barrier of
// the whole block waits for every thread that has not ended. One with a number of threads counts a warp whose
// threads have all come as 32.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/execute/machine.h"
#include "analyzer/execute/races.h"

namespace warptime::execute {
namespace {

constexpr std::uint32_t barrier_count = 16;

std::uint32_t first_lane(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}

const BarrierSite& site_of(const Warp& warp, const Group& group) {
  const auto& code = *warp.frames[group.frame].code;
  return code.barriers[code.ops[group.pc].extra];
}

// bar.red: what each waiting thread gets.
void give_result(Warp& warp, const Group& group, const BarrierState& barrier) {
  const auto& site = site_of(warp, group);
  if (site.kind == BarrierSite::Kind::sync) return;
  use_frame(warp, group.frame);
  const DecodedInstruction& op = warp.code().ops[group.pc];
  if (site.kind == BarrierSite::Kind::reduce_popc)
    each(group.mask, [&](std::uint32_t i) { warp.out(op.d)[i] = barrier.predicate_count; });
  else
    warp.set_predicate(
        op.pd, group.mask,
        (site.kind == BarrierSite::Kind::reduce_and ? barrier.all : barrier.any) ? full_mask : 0);
}

std::uint32_t threads_of(const Warp& warp, std::uint32_t lanes) {
  if (lanes == 0) return 0;
  return (warp.live & ~lanes) == 0 ? lanes_of_warp : static_cast<std::uint32_t>(std::popcount(lanes));
}

std::uint32_t arrived_threads(const Block& block, const BarrierState& barrier) {
  auto threads = barrier.earlier_threads;
  for (std::size_t w = 0; w < barrier.lanes.size(); ++w)
    threads += threads_of(block.warps[w], barrier.lanes[w]);
  return threads;
}

// A barrier with a number of threads counts warps: hardware takes parts of one for an illegal instruction.
void check_whole_warps(Block& block, const BarrierState& barrier) {
  for (std::size_t w = 0; w < barrier.lanes.size(); ++w) {
    auto& warp = block.warps[w];
    const auto came = barrier.lanes[w];
    if (came == 0 || (warp.live & ~came) == 0) continue;
    for (const auto& one : warp.waiting) {
      if ((one.group.mask & came) == 0) continue;
      warp.pc = one.group.pc;
      use_frame(warp, one.group.frame);
      warp.fault(
          Finding::Kind::divergent_barrier, first_lane(came),
          fmt::format("a barrier of {} threads is for whole warps, and {} of the warp's {} threads reach it",
                      barrier.expected_threads, std::popcount(came), std::popcount(warp.live)));
      break;
    }
  }
}

void release_where_complete(Block& block, std::uint32_t id) {
  auto& barrier = block.barriers[id];
  if (!barrier.used) return;
  const bool complete = barrier.expected_threads == 0
                            ? barrier.waiting_threads >= block.live_threads
                            : arrived_threads(block, barrier) >= barrier.expected_threads;
  if (!complete) return;
  if (barrier.expected_threads != 0) check_whole_warps(block, barrier);
  const bool all_wait = std::all_of(block.warps.begin(), block.warps.end(), [id](const Warp& warp) {
    std::uint32_t lanes = 0;
    for (const auto& one : warp.waiting)
      if (one.barrier == id) lanes |= one.group.mask;
    return lanes != 0 && lanes == warp.live;
  });
  for (auto& warp : block.warps) {
    if (warp.waiting.empty()) continue;
    bool departs = false;
    std::erase_if(warp.waiting, [&](const Waiting& one) {
      if (one.barrier != id) return false;
      departs = true;
      give_result(warp, one.group, barrier);
      auto group = one.group;
      ++group.pc;
      add_group(warp, group);
      return true;
    });
    if (departs && !all_wait) order_departure(warp, barrier);
  }
  if (all_wait) order_all(block);
  BarrierState next;  // with the memory of this one
  std::swap(next.lanes, barrier.lanes);
  std::swap(next.known, barrier.known);
  next.lanes.clear();
  next.known.clear();
  barrier = std::move(next);
}

bool usable(Warp& warp, const BarrierSite& site, std::uint32_t lane, std::uint32_t& id,
            std::uint32_t& count) {
  id = static_cast<std::uint32_t>(warp.at(site.id)[lane]);
  count = site.has_count ? static_cast<std::uint32_t>(warp.at(site.count)[lane]) : 0;
  if (id >= barrier_count) {
    warp.fault(Finding::Kind::bad_operand, lane, fmt::format("barrier {}: there are {}", id, barrier_count));
    return false;
  }
  if (site.has_count && (count == 0 || count % lanes_of_warp != 0)) {
    warp.fault(
        Finding::Kind::bad_operand, lane,
        fmt::format("a barrier of {} threads, which is not a multiple of a warp's {}", count, lanes_of_warp));
    return false;
  }
  return true;
}

// bar.sync and barrier.sync.aligned are for the whole warp at one instruction.
void check_aligned(Warp& warp, const Group& group, std::uint32_t id) {
  for (const auto& other : warp.waiting)
    if (other.barrier == id && (other.group.pc != group.pc || other.group.frame != group.frame)) {
      const auto& functions = warp.machine->program->module->functions;
      const auto& there = functions[warp.frames[other.group.frame].code->index].instructions[other.group.pc];
      warp.fault(
          Finding::Kind::divergent_barrier, first_lane(group.mask),
          fmt::format("divergent barrier: {} of the warp's {} threads reach it, others wait at that of "
                      "line {}",
                      std::popcount(group.mask), std::popcount(warp.live), there.line));
      return;
    }
}

void count_arrival(Warp& warp, BarrierState& barrier, std::uint32_t lanes, std::uint32_t yes) {
  barrier.lanes.resize(warp.block->warps.size());
  auto& came = barrier.lanes[warp.index];
  order_arrival(warp, barrier);
  if ((came & lanes) != 0) {
    barrier.earlier_threads += threads_of(warp, came);
    came = 0;
  }
  came |= lanes;
  barrier.used = true;
  barrier.predicate_count += static_cast<std::uint32_t>(std::popcount(yes));
  barrier.all = barrier.all && yes == lanes;
  barrier.any = barrier.any || yes != 0;
}

// The lanes that name the same barrier as the first.
std::uint32_t lanes_of_one_barrier(const Warp& warp, const BarrierSite& site, std::uint32_t mask) {
  const auto *id = warp.at(site.id), *count = warp.at(site.has_count ? site.count : site.id);
  const auto first = first_lane(mask);
  std::uint64_t differ = 0;
  for (std::uint32_t i = 0; i < lanes_of_warp; ++i) differ |= (id[i] ^ id[first]) | (count[i] ^ count[first]);
  if (differ == 0) return mask;
  std::uint32_t lanes = 0;
  each(mask,
       [&](std::uint32_t i) { lanes |= std::uint32_t{id[i] == id[first] && count[i] == count[first]} << i; });
  return lanes;
}

}  // namespace

void reach_barrier(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  const auto& site = warp.code().barriers[op.extra];
  auto group = warp.groups.back();
  auto gone_on = active & ~mask;
  std::uint32_t ids = 0;
  warp.groups.pop_back();
  for (std::uint32_t rest = mask; rest != 0;) {
    const auto lanes = lanes_of_one_barrier(warp, site, rest);
    rest &= ~lanes;
    std::uint32_t id = 0, count = 0;
    if (!usable(warp, site, first_lane(lanes), id, count)) {
      gone_on |= lanes;
      continue;
    }
    auto& barrier = warp.block->barriers[id];
    if (site.has_count) barrier.expected_threads = count;
    count_arrival(warp, barrier, lanes, warp.predicate(op.p) & lanes);
    ids |= 1u << id;
    if (site.kind == BarrierSite::Kind::arrive) {
      gone_on |= lanes;
      continue;
    }
    group.mask = lanes;
    if (site.aligned && lanes != warp.live) check_aligned(warp, group, id);
    barrier.waiting_threads += static_cast<std::uint32_t>(std::popcount(lanes));
    warp.waiting.push_back({group, 0, id});
  }
  if (gone_on != 0) {
    group.mask = gone_on;
    ++group.pc;
    add_group(warp, group);
  }
  for (; ids != 0; ids &= ids - 1)
    release_where_complete(*warp.block, static_cast<std::uint32_t>(std::countr_zero(ids)));
}

void barriers_without(Warp& warp) {
  for (std::uint32_t id = 0; id < barrier_count; ++id) release_where_complete(*warp.block, id);
}

void report_deadlock(Block& block) {
  std::string text;
  for (std::uint32_t id = 0; id < barrier_count; ++id) {
    const auto& barrier = block.barriers[id];
    if (barrier.waiting_threads == 0) continue;
    const bool all = barrier.expected_threads == 0;
    text += fmt::format("{}barrier {} has {} of {} threads", text.empty() ? "" : ", ", id,
                        all ? barrier.waiting_threads : arrived_threads(block, barrier),
                        all ? block.live_threads : barrier.expected_threads);
  }
  for (auto& warp : block.warps)
    for (const auto& one : warp.waiting) {
      warp.pc = one.group.pc;
      use_frame(warp, one.group.frame);
      warp.fault(Finding::Kind::deadlock, first_lane(one.group.mask),
                 "deadlock: every warp of the block waits; " + text);
      warp.machine->stopped = true;
      return;
    }
}

}  // namespace warptime::execute
