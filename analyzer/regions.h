// The parts of a source that a report is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/program/kernel_program.h"

namespace warptime {

// The lines between `// warptime-begin NAME` and `// warptime-end NAME`, without the comments' own lines.
// Both names are optional. Regions may nest and overlap, and several regions may have the same name.
struct Region {
  std::string name;  // empty: not named
  LineSet lines;
};

// In order of their beginnings. Errors: an end without a beginning, a beginning without an end, each with its
// line.
Result<std::vector<Region>> find_regions(std::string_view source, const std::string& file);

}  // namespace warptime
