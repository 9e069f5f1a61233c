// Periods as a line of text, executed and predicted alike: `12 load 3 store`.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/execute/execute.h"
#include "simulator/program/schedule.h"

namespace warptime::execute::testing {

inline std::string text_of(const std::vector<StreamPeriod>& periods) {
  std::string text;
  for (const auto& period : periods)
    text += period.kind == PeriodKind::calculation ? fmt::format("{} ", period.instructions)
            : period.kind == PeriodKind::load      ? "load "
                                                   : "store ";
  return text;
}

// A run of n instructions has n - 1 + 10 cycles.
inline std::string text_of(const std::vector<Period>& periods) {
  std::string text;
  for (const auto& period : periods)
    text += period.kind == PeriodKind::calculation ? fmt::format("{} ", period.cycles - 9)
            : period.kind == PeriodKind::load      ? "load "
                                                   : "store ";
  return text;
}

}  // namespace warptime::execute::testing
