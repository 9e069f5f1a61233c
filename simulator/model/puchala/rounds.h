// Algorithm 2 as a sequence of rounds. All warps run the same program and yield the core package at the same
// places. In each round, one warp after the other waits for its loads and then runs the same stretch of the
// program. Three numbers describe a round, whatever its length; repeats of a schedule become repeats of
// rounds.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "simulator/program/schedule.h"

namespace warptime {

// One warp's part of a round, relative to the time at which its loads are complete and it begins.
struct Round {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  double busy = 0;                    // time for which it holds the core package
  double loads_done = kNever;         // when the last of its loads is complete
  double transactions_done = kNever;  // when the last of its loads and stores is complete
  // Which ones these are: indices into Schedule::origins.
  std::uint32_t load_origin = 0, transaction_origin = 0;
};

struct RoundLoop;
struct RoundStep {
  Round round;  // where loop is empty
  std::shared_ptr<const RoundLoop> loop;
};
struct RoundLoop {
  std::uint64_t count = 0;  // at least 1; 1: a run of steps that is shared between several places
  std::vector<RoundStep> body;
};

struct RoundSchedule {
  std::vector<RoundStep> steps;
  bool nested = false;  // whether there are loops in loops
  // Of one warp:
  double calculation = 0;  // cycles
  double accesses = 0;     // loads and stores
};

RoundSchedule make_rounds(const Schedule& schedule, double t_m_cycles);

}  // namespace warptime
