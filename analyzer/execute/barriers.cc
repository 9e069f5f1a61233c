// The sixteen barriers of a block.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/execute/machine.h"

namespace warptime::execute {
namespace {

constexpr std::uint32_t barrier_count = 16;

std::uint32_t first_lane(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}

std::uint32_t running_warps(const Block& block) {
  return static_cast<std::uint32_t>(
      std::count_if(block.warps.begin(), block.warps.end(),
                    [](const Warp& warp) { return warp.state != Warp::State::ended; }));
}

// bar.red: what each waiting thread gets.
void give_result(Warp& warp, const BarrierState& barrier) {
  const DecodedInstruction& op = warp.code().ops[warp.barrier_pc];
  const auto& site = warp.code().barriers[op.extra];
  const auto mask = warp.barrier_mask;
  switch (site.kind) {
    case BarrierSite::Kind::reduce_popc:
      each(mask, [&](std::uint32_t i) { warp.out(op.d)[i] = barrier.predicate_count; });
      break;
    case BarrierSite::Kind::reduce_and:
      warp.set_predicate(op.pd, mask, barrier.all ? full_mask : 0);
      break;
    case BarrierSite::Kind::reduce_or:
      warp.set_predicate(op.pd, mask, barrier.any ? full_mask : 0);
      break;
    default:
      break;
  }
}

void release_where_complete(Block& block, std::uint32_t id) {
  auto& barrier = block.barriers[id];
  if (barrier.waiting_warps == 0 && barrier.arrived_threads == 0) return;
  const bool complete = barrier.expected_threads == 0 ? barrier.waiting_warps >= running_warps(block)
                                                      : barrier.arrived_threads >= barrier.expected_threads;
  if (!complete) return;
  for (auto& warp : block.warps)
    if (warp.state == Warp::State::waiting && warp.barrier == id) {
      give_result(warp, barrier);
      warp.state = Warp::State::ready;
    }
  barrier = {};
  // A barrier of some of the warps orders only those; to take it for one of all misses a race now and then,
  // and reports none that is not.
  ++block.epoch;
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

void sync_warp(Warp& warp, const BarrierSite& site, std::uint32_t mask) {
  const auto lane = first_lane(mask);
  const auto members = static_cast<std::uint32_t>(warp.at(site.id)[lane]);
  const auto missing = members & warp.live & ~mask;
  if (missing != 0)
    warp.fault(
        Finding::Kind::divergent_warp, lane,
        fmt::format(
            "the member mask 0x{:08x} names threads of the warp (0x{:08x}) that are elsewhere in the code",
            members, missing));
}

}  // namespace

void reach_barrier(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto& site = warp.code().barriers[op.extra];
  if (site.kind == BarrierSite::Kind::warp_sync) return sync_warp(warp, site, mask);
  const auto lane = first_lane(mask);
  if (mask != warp.live)
    warp.fault(Finding::Kind::divergent_barrier, lane,
               fmt::format("divergent barrier: {} of the warp's {} threads reach it", std::popcount(mask),
                           std::popcount(warp.live)));
  std::uint32_t id = 0, count = 0;
  if (warp.machine->stopped || !usable(warp, site, lane, id, count)) return;
  auto& barrier = warp.block->barriers[id];
  if (site.has_count) barrier.expected_threads = count;
  barrier.arrived_threads += lanes_of_warp;
  const auto yes = warp.predicate(op.p) & mask;
  barrier.predicate_count += static_cast<std::uint32_t>(std::popcount(yes));
  barrier.all = barrier.all && yes == mask;
  barrier.any = barrier.any || yes != 0;
  if (site.kind != BarrierSite::Kind::arrive) {
    ++barrier.waiting_warps;
    warp.state = Warp::State::waiting;
    warp.barrier = id;
    warp.barrier_pc = warp.pc;
    warp.barrier_mask = mask;
  }
  release_where_complete(*warp.block, id);
}

void warp_ended(Block& block) {
  for (std::uint32_t id = 0; id < barrier_count; ++id)
    if (block.barriers[id].expected_threads == 0) release_where_complete(block, id);
}

void report_deadlock(Block& block) {
  const auto waiting = std::find_if(block.warps.begin(), block.warps.end(),
                                    [](const Warp& warp) { return warp.state == Warp::State::waiting; });
  if (waiting == block.warps.end()) return;
  std::string text;
  for (std::uint32_t id = 0; id < barrier_count; ++id) {
    const auto& barrier = block.barriers[id];
    if (barrier.waiting_warps == 0) continue;
    text += fmt::format(
        "{}barrier {} has {} of {} threads", text.empty() ? "" : ", ", id, barrier.arrived_threads,
        barrier.expected_threads == 0 ? running_warps(block) * lanes_of_warp : barrier.expected_threads);
  }
  waiting->pc = waiting->barrier_pc;
  waiting->fault(Finding::Kind::deadlock, first_lane(waiting->barrier_mask),
                 "deadlock: every warp of the block waits; " + text);
  waiting->machine->stopped = true;
}

}  // namespace warptime::execute
