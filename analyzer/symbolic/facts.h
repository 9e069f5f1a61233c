// Facts that hold on a path, and what follows from them.
#pragma once

#include <memory>
#include <vector>

#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::analysis {

// The symbolic expressions that are not negative on a path.
class Facts {
 public:
  explicit Facts(SymbolicExprs& exprs) : exprs_(&exprs) {}
  // Learns from a condition that holds, or that does not.
  void assume(ExprId condition, bool holds);
  // Whether `id` is known to be at least 0; false: unknown.
  bool not_negative(ExprId id) const;
  // `id` simplified by the facts: max(0, n) if n >= 0, unsigned comparisons of numbers that are not negative,
  // …
  ExprId simplify(ExprId id) const;

 private:
  ExprId simplify_node(ExprId id) const;
  bool prove(ExprId id, int depth) const;
  bool structurally_not_negative(ExprId id, int depth) const;
  // Of number + Σ terms, which `make` makes an expression of.
  template <class Terms, class Make>
  bool sum_not_negative(std::int64_t number, const Terms& terms, Make make, int depth) const;
  // Whether a - b is not negative by its structure. Most differences are looked at once: they are not made.
  bool difference_not_negative(ExprId a, ExprId b, int depth) const;
  void add_fact(ExprId id);
  SymbolicExprs* exprs_;
  std::vector<ExprId> not_negative_;
  mutable int steps_ = 0;  // of the current proof
  // By the present facts: copies share it until they learn more. Null: nothing yet.
  mutable std::shared_ptr<ExprMemo> simplified_;
};

}  // namespace warptime::analysis
