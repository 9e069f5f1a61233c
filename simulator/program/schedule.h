// A kernel program flattened for given parameters, without being written out: its calculation and memory
// access periods with their durations, with repeats kept as repeats. Runs of `instructions` that meet across
// items, repeats and conditions are merged into one period of n - 1 + 10 cycles (Puchala et al. 2022, section
// 5.3), so the first and the last iteration of a repeat may be peeled off.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/program/memory_durations.h"

namespace warptime {

enum class PeriodKind : std::uint8_t { calculation, load, store };

struct Period {
  PeriodKind kind = PeriodKind::calculation;
  double cycles = 0;
  // The items that it came from, for breakdowns per line: indices into Schedule::items with their share of
  // the cycles. (A merged run of instructions has several.) May be shared between periods.
  std::uint32_t origin = 0;  // index into Schedule::origins

  friend bool operator==(const Period& a, const Period& b) {
    return a.kind == b.kind && a.cycles == b.cycles;
  }
};

struct Schedule {
  struct Step;  // a period, or a repeat of steps
  struct Loop {
    std::uint64_t count =
        0;  // at least 1; a Loop with a count of 1 is a run of steps that is shared between several places
    std::vector<Step> body;     // not empty
    std::uint64_t periods = 0;  // of one iteration, written out; saturates at 2^64 - 1
  };
  struct Step {
    Period period;  // where loop is empty
    std::shared_ptr<const Loop> loop;
  };
  struct Share {                     // of one period
    const Item* item = nullptr;      // points into the KernelProgram, which must outlive the schedule
    std::uint64_t instructions = 0;  // 0 for calc, load and store items
  };
  std::vector<Step> steps;
  std::vector<std::vector<Share>> origins;

  // The number of periods when written out; saturates at 2^64 - 1.
  std::uint64_t period_count() const;
};

// Flattens `program` for `bindings`. Errors: a missing parameter (says which, and lists what the program
// needs), a negative count or duration, an expression that cannot be evaluated, a run of 2^64 instructions or
// more, a schedule that is too large (counter-dependent bodies that have to be written out for more than 2^22
// iterations in total, or for more than 2^23 steps). Within one schedule, Loops that are equal are the same
// object.
Result<Schedule> make_schedule(const KernelProgram& program, const Bindings& bindings,
                               const MemoryDurations& durations);

enum class Origins : std::uint8_t {
  kept,
  none
};  // none: no Schedule::origins, and every Period::origin is 0

// The same for bindings that have all names that the program needs.
Result<Schedule> make_schedule_of_bound(const KernelProgram& program, Bindings bindings,
                                        const MemoryDurations& durations, Origins origins = Origins::kept);

// The periods written out; fails when there are more than `limit`.
Result<std::vector<Period>> written_out(const Schedule& schedule, std::uint64_t limit);

}  // namespace warptime
