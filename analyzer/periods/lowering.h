// The parts of lower(). Each class below uses only those above it, except that RegionLowering and
// LoopLowering use each other: loops contain regions, and regions contain loops.
#pragma once

#include "analyzer/periods/arrays.h"
#include "analyzer/periods/block_items.h"
#include "analyzer/periods/branch_joins.h"
#include "analyzer/periods/conditions.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/loop_counters.h"
#include "analyzer/periods/loop_lowering.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/notes.h"
#include "analyzer/periods/parameters.h"
#include "analyzer/periods/region_lowering.h"

namespace warptime::periods {

// Lowers one kernel: owns the parts and what they make.
class Lowering {
 public:
  // Both must outlive it.
  Lowering(analysis::KernelFlow& flow, const LowerOptions& options);
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  Result<Lowered> lower();  // once

 private:
  analysis::KernelFlow& flow_;
  Lowered out_;
  const LowerOptions& options_;
  Notes notes_;             // places in the source, errors, assumptions
  Parameters parameters_;   // names of arguments, and of what the user must give
  LoopCounters counters_;   // of the loops being lowered
  Conditions conditions_;   // symbolic expressions in the user's names
  Arrays arrays_;           // that accesses name
  BlockItems blocks_;       // straight-line code
  BranchJoins sides_;       // two sides of a branch into one list
  RegionLowering regions_;  // blocks and branches
  LoopLowering loops_;      // loops
};

}  // namespace warptime::periods
