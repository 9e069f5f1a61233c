// Compute targets (sm_XX), and which of a compiler's targets stands in for one that it does not have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

// sm_90a is number 90, suffix "a".
struct Target {
  int number = 0;
  std::string suffix;
};
std::string to_string(const Target& target);

// Nothing where `text` is not sm_ and two or three digits, perhaps followed by `a` or `f`.
std::optional<Target> parse_target(std::string_view text);
int target_number(std::string_view text);  // 90 of sm_90a; 0 where it is no target

struct TargetChoice {
  std::string target;  // as the compiler takes it
  std::string note;    // empty where the compiler has what was asked for
};

// `available`: ascending. Exactly what was asked for where it is there; else, each with a note, the oldest
// for a target that is older, the newest for a newer one, and the nearest older one for one in between.
// Errors: `wanted` is no sm_XX.
Result<TargetChoice> choose_target(std::string_view wanted, const std::vector<std::string>& available,
                                   const std::string& compiler);

}  // namespace warptime::compiling
