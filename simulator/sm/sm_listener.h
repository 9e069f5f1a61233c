// Listens to an SM while it is simulated, for explanations and timelines. A simulation without a listener
// keeps none of this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simulator/program/machine_work.h"
#include "simulator/sm/sm_simulation.h"

namespace warptime {

struct Item;

// The name of a wait in JSON.
constexpr std::string_view key_of(SmWait wait) {
  constexpr std::array<std::string_view, kSmWaits> keys = {
      "issue", "pipe", "chain", "on_chip", "l2", "memory", "latency", "atomics", "barriers", "block_starts"};
  return keys[static_cast<std::size_t>(wait)];
}

// What the SM, or a warp, waits for.
struct SmCause {
  SmWait wait = SmWait::blocks;
  // The item that is issued, or whose result, pipe or barrier is waited for. Null: a block starts.
  const Item* item = nullptr;
  Pipe pipe = Pipe::none;  // of SmWait::pipe
};

// A warp executes an item.
struct SmExecution {
  const Item* item = nullptr;
  std::uint32_t threads = 0;  // a bit each
  std::int64_t block = 0;     // in launch order
  std::int64_t warp = 0;      // of the block
  std::size_t partition = 0;
  // When the warp's item before was issued, what it waited for then, until when, and when this item was
  // issued: from `begin` to `end`.
  double since = 0, ready = 0, begin = 0, end = 0;
  SmCause cause;
  const SmCounts* before = nullptr;  // of the SM
  const SmCounts* after = nullptr;
};

class SmListener {
 public:
  virtual ~SmListener() = default;
  // The SM's time from `begin` to `end`: together the cycles of SmRun, in order. drains: blocks have ended,
  // and no more start.
  virtual void passed(double begin, double end, const SmCause& cause, bool drains) = 0;
  virtual void executed(const SmExecution& execution) = 0;
  // An access to shared memory with known addresses, of an item that executed() is called for next. `least`:
  // the ways that it would take without conflicts.
  virtual void shared_access(int ways, int least) = 0;
  // SmRun::second_half begins.
  virtual void half() {}
  // Whether it needs no more (SmOptions::known_run).
  virtual bool has_enough() const { return false; }
};

}  // namespace warptime
