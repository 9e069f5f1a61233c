// What is known to hold on a path, and what it decides.
#pragma once

#include <vector>

#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::analysis {

// Values that are not negative on a path.
class Facts {
 public:
  explicit Facts(SymbolicExprs& values) : exprs_(&values) {}
  Facts(const Facts& other) : exprs_(other.exprs_), not_negative_(other.not_negative_) {}
  Facts& operator=(const Facts& other) {
    not_negative_ = other.not_negative_;
    return *this;
  }
  void assume(ExprId condition, bool holds);
  bool not_negative(ExprId value) const;
  // `value` with what the facts decide taken out: max(0, n) where n >= 0, unsigned comparisons of numbers
  // that are not negative, …
  ExprId simplify(ExprId value) const;

 private:
  ExprId simplify_node(ExprId value) const;
  bool prove(ExprId value, int depth) const;
  bool structurally_not_negative(ExprId value, int depth) const;
  void add_fact(ExprId value);
  SymbolicExprs* exprs_;
  std::vector<ExprId> not_negative_;
  mutable int steps_ = 0;         // of the proof under way
  mutable ValueMemo simplified_;  // of the call under way
  mutable int simplify_depth_ = 0;
};

}  // namespace warptime::analysis
