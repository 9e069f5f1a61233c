// Lowers the two sides of a branch to one list of items.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/periods/conditions.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/notes.h"
#include "analyzer/periods/parameters.h"

namespace warptime::periods {

// Chooses the items for a branch: a `when` on kernel arguments; both sides if the threads of a warp diverge, each for
// the threads that take it; a `when` for the threads of some blocks; or a parameter, the share of the warps that take
// it.
class BranchJoins {
 public:
  // All must outlive it.
  BranchJoins(analysis::KernelFlow& flow, Parameters& parameters, Conditions& conditions, Notes& notes)
      : flow_(flow),
        exprs_(flow.evaluator.exprs()),
        parameters_(parameters),
        conditions_(conditions),
        notes_(notes) {}

  // Appends the items for the branch `last`, which is taken if `guard` holds, from the items of its two
  // sides. `at_end`: the sides join at the kernel's end.
  void append(std::uint32_t last, analysis::ExprId guard, Items taken, Items other, bool at_end,
              Items& items);

 private:
  bool append_when(std::uint32_t last, analysis::ExprId guard, Items& taken, Items& other, Items& items);
  void emit_when(Expression condition, Items then_items, Items else_items, std::uint32_t last, Items& items);
  int ptx_line(std::uint32_t instruction) const;
  bool is_slow_path(std::uint32_t last, bool taken);
  void restrict_sides(std::uint32_t last, analysis::ExprId guard, Items& taken, Items& other);
  void append_both(std::uint32_t last, analysis::ExprId guard, Items taken, Items other, bool at_end,
                   Items& items);

  analysis::KernelFlow& flow_;
  analysis::SymbolicExprs& exprs_;
  Parameters& parameters_;
  Conditions& conditions_;
  Notes& notes_;
};

}  // namespace warptime::periods
