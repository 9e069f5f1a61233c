// Plans written inline, and the one program that all their launches run.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "simulator/predict/prediction.h"

namespace warptime::test {

// Fails the test where the text is none.
inline Plan plan_of(const std::string& text) {
  const auto plan = read_plan(text, "");
  if (!plan) ADD_FAILURE() << to_text(plan.diagnostics());
  return plan ? *plan : Plan{};
}

inline ProgramLoader loader_of(const KernelProgram& program) {
  return [program](const Plan&, const PlanLaunch&, const Gpu&) -> Result<LoadedProgram> {
    return LoadedProgram{program, {}};
  };
}

// One part of a row's time; fails the test where the row's model has none of this key.
inline double part(const PredictionRow& row, std::string_view key) {
  const auto index = find_part(*row.model, key);
  EXPECT_TRUE(index) << key;
  return index ? row.time.us[*index] : 0;
}

}  // namespace warptime::test
