// What each warp does in each cycle, for `warptime simulate --timeline`: collected once from the simulator's
// events, then rendered as text, SVG or a trace. These are Figures 7 and 8 of Puchala et al. (2022), for any
// kernel program.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "simulator/model/puchala/core_package.h"

namespace warptime::cli {

// What the core package does: one thing at a time.
enum class Activity : std::uint8_t { issue, calculation, waiting, tail };

// Times are cycles as drawn: they continue across a gap as if there were no gap.
struct Timeline {
  struct Interval {  // of the core package
    double begin = 0, end = 0;
    int warp = 0;  // that it works for, or whose loads it waits for; -1: the tail
    Activity activity = Activity::calculation;
    PeriodKind kind = PeriodKind::calculation;
    std::uint32_t origin = 0;  // index into lines
  };
  // The part of a memory access after its issue. (A transaction in progress at a gap ends there; one in
  // progress after a gap begins there.)
  struct Transaction {
    double begin = 0, end = 0;
    int warp = 0;
    PeriodKind kind = PeriodKind::load;
    std::uint32_t origin = 0;
    bool from_gap = false, into_gap = false;
  };
  // An elided stretch: it repeats the one before it, many times.
  struct Gap {
    double at = 0;            // as drawn
    double period = 0;        // cycles of one repetition
    std::uint64_t times = 0;  // how often
    CorePackageTime time;     // all of it
  };

  std::string kernel;
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  std::int64_t warps = 0;
  double t_m_cycles = 0;

  std::vector<Interval> intervals;  // in order; the sums of their lengths and of the gaps are `time`
  std::vector<Transaction> transactions;
  std::vector<Gap> gaps;
  double end = 0;            // of what was collected
  bool ended_early = false;  // the rest was too much to collect
  bool time_known = true;  // of the whole; where it takes too long to find out, `time` is what was collected
  CorePackageTime time;
  std::vector<std::string> lines;  // source lines by origin, "5-7,12"; may be empty

  // Cycles elided before `drawn`; at a gap, without it.
  double elided_before(double drawn) const;
  // Whether a warp issues or calculates while one of its transactions is in progress.
  bool overlaps() const;
};

struct TimelineLimits {
  double whole_up_to = 0;                                      // cycles: up to here nothing is elided
  std::uint64_t whole_up_to_steps = 0;                         // nor up to so many periods of all warps
  double least_elided = 1;                                     // cycles: a shorter stretch is not worth a gap
  std::size_t most_steps = 1 << 18;                            // more are not collected
  double beginning = std::numeric_limits<double>::infinity();  // cycles of it, then, that are
};

// Errors: those of watch_core_package.
Result<Timeline> collect_timeline(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                  const TimelineLimits& limits);

// Each view's own.
TimelineLimits text_limits(std::size_t columns);
TimelineLimits svg_limits();
TimelineLimits perfetto_limits();

// timeline_text.cc; at most `columns` wide, but for names of any length.
std::string timeline_text(const Timeline& timeline, std::size_t columns);
// timeline_svg.cc
std::string timeline_svg(const Timeline& timeline);
// timeline_perfetto.cc
std::string timeline_perfetto(const Timeline& timeline);

// For all views.
std::string timeline_title(const Timeline& timeline);  // "112 cycles: mtx, 3 warps, t_m = 2 cycles, K = 8"
// "after cycle 45: 997 times the 15 cycles before it, 14955 cycles"
std::string gap_note(const Timeline& timeline, const Timeline::Gap& gap);
// What a timeline that ended early lacks; empty for others.
std::string ending_note(const Timeline& timeline);
// 1, 2, 3, 4, 5, 6 or 8 times a power of ten: not below `least`. (`least` itself where it is below 1e-300 or
// above 1e300.)
double round_step(double least);
std::string cycles_text(double cycles);  // 12, 1.5, 1.234e+18

}  // namespace warptime::cli
