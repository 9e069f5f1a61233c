// Lists of names in messages, and the "did you mean" for an unknown name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warptime {

// The candidate nearest to `wanted` (edit distance), else the shortest that contains it, else an empty
// string.
std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates);

// "a, b and c"
std::string enumerate(const std::vector<std::string>& words);

}  // namespace warptime
