// The items of a part of the control-flow graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/cfg/iteration_joins.h"
#include "analyzer/periods/block_items.h"
#include "analyzer/periods/branch_joins.h"
#include "analyzer/periods/conditions.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/notes.h"

namespace warptime::periods {

class LoopLowering;

// Walks the blocks of the kernel or of one loop's iteration, lowers each, and at a branch lowers both sides
// up to where they join. Inner loops go to LoopLowering.
class RegionLowering {
 public:
  // All must outlive it; `loops` may be made later.
  RegionLowering(analysis::KernelFlow& flow, const Lowered& out, BlockItems& blocks, BranchJoins& sides,
                 Conditions& conditions, Notes& notes, LoopLowering& loops)
      : flow_(flow),
        exprs_(flow.evaluator.exprs()),
        function_(flow.code.function()),
        out_(out),
        blocks_(blocks),
        sides_(sides),
        conditions_(conditions),
        notes_(notes),
        loops_(loops),
        joins_in_(flow.cfg) {}

  // From block `b` until `stop`, which is not included, or the end of the kernel, within `loop` (none:
  // outside all loops). `depth` is that of the recursion. After a failure, which is in the notes, the items
  // are meaningless.
  Items region(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, analysis::Facts facts, int depth);

  // Appends the items for the branch at the end of block `b`, and returns the block in which its paths join;
  // none: they do not join before `stop`.
  std::uint32_t after_block(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, analysis::Facts& facts,
                            int depth, Items& items);

 private:
  // Of the assumptions of loops that are left early, that of the branch at the end of block `b`, which leaves `loop`.
  std::string_view why_left_early(std::uint32_t b, std::uint32_t loop, const analysis::Facts& facts);

  std::uint32_t after_switch(std::uint32_t b, const std::vector<std::uint32_t>& targets, std::uint32_t join,
                             std::uint32_t loop, const analysis::Facts& facts, int depth, Items& items);
  void append_jumps(std::uint32_t last, analysis::ExprId guard, Items jumps, Items& items);
  bool within_budget(std::uint32_t b, int depth);
  bool only_jumps(std::uint32_t b, std::uint32_t end) const;
  bool only_returns(std::uint32_t b) const;

  analysis::KernelFlow& flow_;
  analysis::SymbolicExprs& exprs_;
  const ptx::Function& function_;
  const Lowered& out_;
  BlockItems& blocks_;
  BranchJoins& sides_;
  Conditions& conditions_;
  Notes& notes_;
  LoopLowering& loops_;
  analysis::IterationJoins joins_in_;
  std::size_t lowered_blocks_ = 0;
  bool entangled_ = false;  // and noted
};

}  // namespace warptime::periods
