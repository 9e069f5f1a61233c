// Where the arrays of a launch lie: which of them are the same allocation, and how large that is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace warptime {

struct ArrayPlace {
  std::int64_t allocation = 0;             // equal ones are one piece of memory
  std::int64_t offset = 0;                 // in bytes, of the array's first element from the allocation's
  std::optional<std::int64_t> bytes = {};  // from there to the allocation's end
};

// By the names that MemoryAccess::array has. An array that is not among them is an allocation of its own, of a
// size that is not known.
using ArrayPlaces = std::map<std::string, ArrayPlace, std::less<>>;

}  // namespace warptime
