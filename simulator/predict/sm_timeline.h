// What the partitions and the warps of one SM do over its cycles, by the extended model's simulation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/predict/row_model.h"

namespace warptime {

struct SmTimeline {
  // What a partition or a warp does, or waits for.
  struct State {
    char symbol;
    std::string_view key, title;
  };
  static std::span<const State> states();  // the first: it issues

  struct Interval {
    double begin = 0, end = 0;  // cycles
    std::uint32_t state = 0;    // index into states()
    std::uint32_t place = 0;    // index into places: what is issued or waited for
  };
  struct WarpRow {
    std::int64_t block = 0, warp = 0;  // in launch order; in its block
    std::size_t partition = 0;
    std::vector<Interval> intervals;
  };

  PredictionRow row;
  std::string kernel;
  GridAndBlock size;
  std::vector<std::string> places;                // "line 25", "starts of blocks"
  std::vector<std::vector<Interval>> partitions;  // in order
  std::vector<WarpRow> warps;                     // in the order of their first instructions
  double sm_cycles = 0;                           // until the SM has ended, as predicted
  double collected = 0;                           // until then the intervals are complete
};

// Of the launch of the row that takes longest, the SM with block 0; at most `most` executed items are
// collected. The model of `options` must take whole launches. Errors: the row's own; a row without launches.
Result<SmTimeline> sm_timeline(const PreparedPlan& plan, std::size_t gpu,
                               const std::vector<std::int64_t>& values, const PredictionOptions& options,
                               std::size_t most);

// Of every row that predict() would give, in its order. Errors: predict()'s.
Result<std::vector<SmTimeline>> sm_timelines(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                             const std::vector<NamedValues>& parameters,
                                             const PredictionOptions& options, const ProgramLoader& loader,
                                             std::size_t most);

}  // namespace warptime
