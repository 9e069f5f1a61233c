// What is in a plan's arrays before it runs.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/binding.h"

namespace warptime::measuring {

// The array's bytes; the same ones each time. Errors: cycle_leaders that are not as many as the array has
// elements (says how many there are), or of an odd number of chunks.
Result<std::vector<std::byte>> contents_of(const BoundArray& array);

// The least element of every cycle of i -> 2 i mod (n - 1) over 1 … n - 2, ascending. n is even:
// the map is then a permutation.
std::vector<std::int64_t> cycle_leaders(std::int64_t n);

}  // namespace warptime::measuring
