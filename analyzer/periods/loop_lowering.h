// The items of a loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "analyzer/periods/block_items.h"
#include "analyzer/periods/conditions.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/loop_counters.h"
#include "analyzer/periods/notes.h"
#include "analyzer/periods/parameters.h"

namespace warptime::periods {

class RegionLowering;

// Lowers a loop to a `repeat` around the items of one iteration. If the loop is left in the middle of an
// iteration, the part of the last iteration that still runs follows it.
class LoopLowering {
 public:
  // `out` receives the loops' counts as texts. All arguments must outlive it; `regions` may be made later.
  LoopLowering(analysis::KernelFlow& flow, Lowered& out, BlockItems& blocks, RegionLowering& regions,
               Parameters& parameters, Conditions& conditions, LoopCounters& counters, Notes& notes)
      : flow_(flow),
        exprs_(flow.evaluator.exprs()),
        function_(flow.code.function()),
        out_(out),
        blocks_(blocks),
        regions_(regions),
        parameters_(parameters),
        conditions_(conditions),
        counters_(counters),
        notes_(notes) {}

  // Appends loop `index` as its parent reaches it, and returns the block that follows; none: the parent's
  // iteration ends.
  std::uint32_t append_loop(std::uint32_t index, const analysis::Facts& facts, int depth, Items& items);

 private:
  std::uint32_t instruction_of_loop(const analysis::Loop& loop) const;
  Expression trip_expression(std::uint32_t index, const analysis::TripCount& trip,
                             const analysis::Facts& facts);
  Items iteration_until_exit(std::uint32_t index, const analysis::Loop::Exit& exit, bool every_iteration,
                             const analysis::Facts& facts, int depth);
  Items if_left_here(const analysis::TripCount& trip, const analysis::Facts& facts,
                     const analysis::Loop::Exit& exit, Items last);
  // From the loop's header to `stop`, which may be the header itself: one whole iteration.
  Items iteration(std::uint32_t index, std::uint32_t from, std::uint32_t stop, const analysis::Facts& facts,
                  int depth);
  // The part of the last iteration that runs, with the loop's counter at its last value.
  Items last_iteration_items(std::uint32_t index, const analysis::Loop::Exit& exit,
                             const analysis::TripCount& trip, const Expression& count,
                             const analysis::Facts& facts, int depth);
  std::uint32_t append_endless_loop(std::uint32_t index, std::uint32_t instruction,
                                    const analysis::Facts& facts, int depth, Items& items);
  void emit_repeat(Expression count, std::optional<Expression> per_thread, const std::string& counter,
                   Items body, LineSet lines, LineSet ptx, Items& items);

  analysis::KernelFlow& flow_;
  analysis::SymbolicExprs& exprs_;
  const ptx::Function& function_;
  Lowered& out_;
  BlockItems& blocks_;
  RegionLowering& regions_;
  Parameters& parameters_;
  Conditions& conditions_;
  LoopCounters& counters_;
  Notes& notes_;
  std::size_t copied_items_ = 0;            // for last iterations
  std::set<std::uint32_t> written_counts_;  // loops whose count is an expression, not a parameter
};

}  // namespace warptime::periods
