// What is known to hold on a path, and what it decides.
#pragma once

#include <vector>

#include "analyzer/flow/values.h"

namespace warptime::flow {

// Values that are not negative on a path.
class Facts {
 public:
  explicit Facts(Values& values) : values_(&values) {}
  Facts(const Facts& other) : values_(other.values_), not_negative_(other.not_negative_) {}
  Facts& operator=(const Facts& other) {
    not_negative_ = other.not_negative_;
    return *this;
  }
  void assume(ValueId condition, bool holds);
  bool not_negative(ValueId value) const;
  // `value` with what the facts decide taken out: max(0, n) where n >= 0, unsigned comparisons of numbers that are not negative, …
  ValueId simplify(ValueId value) const;

 private:
  ValueId simplify_node(ValueId value) const;
  bool prove(ValueId value, int depth) const;
  bool structurally_not_negative(ValueId value, int depth) const;
  void add_fact(ValueId value);
  Values* values_;
  std::vector<ValueId> not_negative_;
  mutable int steps_ = 0;  // of the proof under way
  mutable ValueMemo simplified_;  // of the call under way
  mutable int simplify_depth_ = 0;
};

}  // namespace warptime::flow
