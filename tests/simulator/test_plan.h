// Plans written inline, and the one program that all their launches run.
#pragma once

#include <gtest/gtest.h>

#include <string>

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

}  // namespace warptime::test
