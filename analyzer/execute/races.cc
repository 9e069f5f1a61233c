#include "analyzer/execute/races.h"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::execute {
namespace {

constexpr std::uint64_t word_bytes = 4;
constexpr std::uint64_t shared_key = std::uint64_t{1} << 63;

const char* name_of_access(AccessKind access) {
  return access == AccessKind::read ? "read" : access == AccessKind::write ? "write" : "atomic";
}

void join(Clocks& to, const Clocks& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t w = 0; w < from.size(); ++w) to[w] = std::max(to[w], from[w]);
}

Clocks clocks_now(const Warp& warp) {
  auto clocks = warp.order.known;
  clocks[warp.index] = warp.order.clock;
  return clocks;
}

void meet(Warp& warp) {
  auto& order = warp.order;
  order.meeting = ++order.clock;
  order.settled = order.clock - 1;
  for (std::size_t w = 0; w < order.known.size(); ++w)
    if (w != warp.index) order.settled = std::min(order.settled, order.known[w]);
  order.lanes.clear();
}

bool comes_before(const Warp& warp, std::uint32_t lane, std::uint32_t clock, std::uint32_t thread) {
  const auto& order = warp.order;
  if (thread / lanes_of_warp != warp.index) return clock <= order.known[thread / lanes_of_warp];
  const auto other = thread % lanes_of_warp;
  return other == lane || clock < order.meeting ||
         (!order.lanes.empty() && clock < order.lanes[lane * lanes_of_warp + other]);
}

void say_race(Warp& warp, std::uint32_t lane, std::uint64_t address, const char* first, const char* second,
              std::uint32_t thread, Finding::Kind kind) {
  if (warp.found_before(kind)) return;
  const auto other = thread / lanes_of_warp;
  const auto what = fmt::format("{} and {} of byte {} of shared memory", first, second, address);
  if (kind == Finding::Kind::warp_race)
    warp.fault(kind, lane,
               fmt::format("race: {} by lanes {} and {} of warp {} with no __syncwarp() between them", what,
                           thread % lanes_of_warp, lane, warp.index));
  else
    warp.fault(kind, lane,
               fmt::format("race{}: {} with no barrier between them (warps {} and {})",
                           kind == Finding::Kind::same_value_race ? " of equal values" : "", what, other,
                           warp.index));
}

// Gives whether it is one.
bool race(Warp& warp, std::uint32_t lane, std::uint64_t address, const char* first, const char* second,
          std::uint32_t thread, bool same_value) {
  const auto& checks = warp.machine->options->checks;
  const bool of_warp = thread / lanes_of_warp == warp.index;
  if (of_warp && (same_value || !checks.warp_races)) return false;
  if (!of_warp && !(same_value ? checks.same_value_races : checks.shared_races)) return false;
  say_race(warp, lane, address, first, second, thread,
           of_warp      ? Finding::Kind::warp_race
           : same_value ? Finding::Kind::same_value_race
                        : Finding::Kind::shared_race);
  return true;
}

// How many bytes up to `end` the record at `address` is for: a word, until one of its bytes is accessed alone.
std::uint64_t bytes_of_record(Block& block, std::uint64_t address, std::uint64_t end) {
  auto& split = block.split[address / word_bytes];
  if (split != 0) return 1;
  if (address % word_bytes == 0 && end - address >= word_bytes) return word_bytes;
  split = 1;
  auto* records = &block.records[address / word_bytes * word_bytes];
  std::fill(records + 1, records + word_bytes, records[0]);
  return 1;
}

void say_lanes_differ(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  if (!warp.machine->options->checks.shared_races || warp.found_before(Finding::Kind::shared_race)) return;
  warp.fault(
      Finding::Kind::shared_race, lane,
      fmt::format("race: lanes of one warp write different values to byte {} of shared memory", address));
}

// Gives false where the write of another comes with no order. `is_there`: whether the value that is written is.
template <class F>
bool after_write(Warp& warp, std::uint32_t lane, std::uint64_t address, AccessKind access, bool strong,
                 F&& is_there) {
  const auto& block = *warp.block;
  const auto& record = block.records[address];
  if (record.write_clock > warp.order.settled && !(strong && record.write_strong) &&
      !comes_before(warp, lane, record.write_clock, record.write_thread)) {
    if (race(warp, lane, address, "write", name_of_access(access), record.write_thread, is_there()))
      return false;
  }
  if (!record.copied || record.write_clock <= block.last_clock ||
      !warp.machine->options->checks.unwaited_copies)
    return true;
  const auto& owner = block.warps[record.write_thread / lanes_of_warp];
  if (record.stamp <= owner.order.copies_done[record.write_thread % lanes_of_warp]) return true;
  if (!warp.found_before(Finding::Kind::unwaited_copy))
    warp.fault(
        Finding::Kind::unwaited_copy, lane,
        fmt::format(
            "{} of byte {} of shared memory, which a cp.async of thread {} writes that it has not waited "
            "for (cp.async.wait_group, wait_all)",
            name_of_access(access), address, record.write_thread));
  return false;
}

bool after_reads(Warp& warp, std::uint32_t lane, std::uint64_t address, AccessKind access) {
  const auto& record = warp.block->records[address];
  for (const auto& read : record.reads) {
    if (read.clock <= warp.order.settled) continue;
    auto thread = std::uint32_t{read.thread};
    const auto me = warp.index * lanes_of_warp + lane;
    if (read.several && thread == me) thread ^= 1;  // another one of them
    if (!comes_before(warp, lane, read.clock, thread) &&
        race(warp, lane, address, "read", name_of_access(access), thread, false))
      return false;
  }
  return true;
}

}  // namespace

void start_order(Block& block) {
  if (block.records.empty()) return;
  std::uint32_t last = 1;
  for (const auto& warp : block.warps) last = std::max(last, warp.order.clock);
  block.fenced = false;
  block.last_clock = last;
  block.released.clear();
  for (auto& warp : block.warps) {
    auto& order = warp.order;
    order.clock = order.meeting = last + 1;
    order.known.assign(block.warps.size(), last);
    order.settled = last;
    order.lanes.clear();
    order.fenced.clear();
    order.seen.clear();
    std::fill(std::begin(order.copies), std::end(order.copies), 0);
    std::fill(std::begin(order.copies_done), std::end(order.copies_done), 0);
  }
}

void order_arrival(Warp& warp, BarrierState& barrier) {
  if (warp.block->records.empty()) return;
  join(barrier.known, warp.order.known);
  barrier.known[warp.index] = std::max(barrier.known[warp.index], warp.order.clock);
  ++warp.order.clock;
}

void order_departure(Warp& warp, const BarrierState& barrier) {
  if (warp.block->records.empty()) return;
  join(warp.order.known, barrier.known);
  // All who come from one barrier count on from the same clock.
  warp.order.clock =
      std::max(warp.order.clock, *std::max_element(barrier.known.begin(), barrier.known.end()));
  meet(warp);
}

void order_all(Block& block) {
  if (block.records.empty()) return;
  std::uint32_t last = 0;
  for (const auto& warp : block.warps) last = std::max(last, warp.order.clock);
  for (auto& warp : block.warps) {
    auto& order = warp.order;
    std::fill(order.known.begin(), order.known.end(), last);
    order.settled = last;
    order.clock = order.meeting = last + 1;
    order.lanes.clear();
  }
}

void keep_read(const Warp& warp, std::uint32_t lane, SharedRecord& record) {
  const auto& order = warp.order;
  for (auto& read : record.reads) {
    if (read.clock <= order.settled) {
      read = {order.clock, static_cast<std::uint16_t>(warp.index * lanes_of_warp + lane), false};
      return;
    }
    const std::uint32_t reader = read.thread / lanes_of_warp;
    if (read.clock != 0 && reader != warp.index && read.clock > order.known[reader]) continue;
    const auto thread = static_cast<std::uint16_t>(warp.index * lanes_of_warp + lane);
    if (reader == warp.index && read.clock == order.clock)
      read.several = read.several || read.thread != thread;
    else
      read = {order.clock, thread, false};
    return;
  }
}

void order_lanes(Warp& warp, std::uint32_t mask) {
  auto& order = warp.order;
  if (warp.block->records.empty()) return;
  if ((warp.live & ~mask) == 0) return meet(warp);
  if (order.lanes.empty()) order.lanes.assign(std::size_t{lanes_of_warp} * lanes_of_warp, order.meeting);
  ++order.clock;
  std::array<std::uint32_t, lanes_of_warp> joined{};
  each(mask, [&](std::uint32_t a) {
    for (std::uint32_t b = 0; b < lanes_of_warp; ++b)
      joined[b] = std::max(joined[b], order.lanes[a * lanes_of_warp + b]);
  });
  each(mask, [&](std::uint32_t a) { joined[a] = order.clock; });
  each(mask, [&](std::uint32_t a) {
    std::copy(joined.begin(), joined.end(), order.lanes.begin() + std::ptrdiff_t{a} * lanes_of_warp);
  });
}

void order_fence(Warp& warp) {
  if (warp.block->records.empty()) return;
  auto& order = warp.order;
  warp.block->fenced = true;
  join(order.known, order.seen);
  order.seen.clear();
  order.fenced = clocks_now(warp);
  meet(warp);
}

void order_strong(Warp& warp, const DecodedInstruction& op, std::uint32_t mask, bool reads, bool writes) {
  auto& block = *warp.block;
  if (block.records.empty() || !(block.fenced || op.releases)) return;
  auto& order = warp.order;
  if (op.releases) order_fence(warp);
  const auto& map = *warp.machine->map;
  each(mask, [&](std::uint32_t i) {
    auto key = warp.addresses[i];
    if (op.space == Space::shared)
      key |= shared_key;
    else if (key - map.shared < AddressMap::window_bytes)
      key = (key - map.shared) | shared_key;
    if (reads)
      if (const auto found = block.released.find(key); found != block.released.end())
        join(op.acquires ? order.known : order.seen, found->second);
    if (!writes || (order.fenced.empty() && !reads)) return;
    auto& released = block.released[key];
    if (!reads) released.clear();
    join(released, order.fenced);
  });
  if (op.acquires) meet(warp);
}

void look_for_races(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                    AccessKind access, bool strong) {
  auto& block = *warp.block;
  const auto* value = access == AccessKind::write ? warp.stored : nullptr;
  const auto clock = warp.order.clock;
  const auto is_there = [&](std::uint64_t from, std::uint64_t count) {
    return value != nullptr && std::memcmp(value + (from - address), &block.shared[from], count) == 0;
  };
  bool found = false;
  for (std::uint64_t i = address, step = 0; i < address + bytes; i += step) {
    step = bytes_of_record(block, i, address + bytes);
    auto& record = block.records[i];
    if (value != nullptr && record.stamp == block.stamp && record.write_clock == clock && !record.copied) {
      if (!is_there(i, step)) say_lanes_differ(warp, lane, i);
      continue;
    }
    if (access == AccessKind::read) {
      if (!after_write(warp, lane, i, access, strong, [] { return false; })) return;
      if (!strong) keep_read(warp, lane, record);
      continue;
    }
    // One finding is enough, but that this was written is kept.
    found = found || !after_write(warp, lane, i, access, strong, [&] { return is_there(address, bytes); }) ||
            !after_reads(warp, lane, i, access);
    record.write_clock = clock;
    record.write_thread = static_cast<std::uint16_t>(warp.index * lanes_of_warp + lane);
    record.write_strong = strong;
    record.copied = false;
    record.stamp = access == AccessKind::write ? block.stamp : 0;
  }
}

void look_for_races_of_copy(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes) {
  auto& block = *warp.block;
  if (block.records.empty()) return;
  for (std::uint64_t i = address, step = 0; i < address + bytes; i += step) {
    step = bytes_of_record(block, i, address + bytes);
    block.records[i].copied = true;
    block.records[i].stamp = warp.order.copies[lane] + 1;
  }
}

void commit_copies(Warp& warp, std::uint32_t mask) {
  each(mask, [&](std::uint32_t i) { ++warp.order.copies[i]; });
}

void wait_for_copies(Warp& warp, std::uint32_t mask, std::uint32_t left) {
  auto& order = warp.order;
  each(mask, [&](std::uint32_t i) {
    if (order.copies[i] > left) order.copies_done[i] = std::max(order.copies_done[i], order.copies[i] - left);
  });
}

}  // namespace warptime::execute
