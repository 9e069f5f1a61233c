// The values that a user gives to parameters: lists and ranges, kept as they were written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime {

// The values of one --param: a list, a range of powers or a stepped range, kept as it was written (a
// range takes no memory).
class ParameterValues {
 public:
  // `64`; `2^6`; `8,10,12`; `2^6..2^20` (powers); `64..1024:64` (with a step); `1..8`; mixed with commas.
  // Errors: not a number, does not fit 64 bits, an empty range, a step below 1.
  static Result<ParameterValues> parse(std::string_view text);
  std::uint64_t size() const;
  std::int64_t at(std::uint64_t index) const;

 private:
  struct Range {  // first + i * step, or 2 ^ (first + i) where powers
    std::int64_t first = 0, step = 1;
    std::uint64_t count = 1;
    bool powers = false;
    std::int64_t base = 2;
  };
  std::vector<Range> ranges_;
};

struct NamedValues {
  std::string name;
  ParameterValues values;
};
// One --param argument: `K=8,10`, or several with commas between different names: `K=8,10,N=2^6..2^20`.
Result<std::vector<NamedValues>> parse_parameters(std::string_view text);

}  // namespace warptime
