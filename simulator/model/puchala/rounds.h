// Algorithm 2 seen from above. All warps run the same program and give way at the same places, so that the
// simulation is a sequence of rounds: in each, every warp in its turn waits for its loads and then runs one
// and the same stretch of the program. A round needs three numbers, whatever its length; a schedule's repeats
// become repeats of rounds.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "simulator/program/schedule.h"

namespace warptime {

// One warp's turn, relative to the time at which its loads are complete and it begins.
struct Round {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  double busy = 0;                    // it holds the core package for so long
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
