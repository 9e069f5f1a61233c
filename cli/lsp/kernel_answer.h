// What is shown of one kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lsp/answer.h"
#include "simulator/predict/explanation.h"
#include "simulator/program/kernel_program.h"

namespace warptime::cli {

// A kernel's program, and what the model says of a launch of it.
struct KernelFindings {
  const KernelProgram* program = nullptr;
  int line = 1;                              // where its definition begins
  const Explanation* explanation = nullptr;  // null: not known yet, or there is none
  std::string why_no_time;                   // empty: there is one, or not yet
  std::string launch;                        // "4096 x 256", with "assumed" where nobody gave it
};

// Lines as in the source.
lsp::Answer answer_of(const KernelFindings& kernel);

// What a kernel is launched with where nobody says: blocks of one or two dimensions, as it uses its indices.
struct AssumedLaunch {
  std::vector<std::int64_t> grid, block;
};
AssumedLaunch assumed_launch(const KernelProgram& program);
// The value of a parameter that nobody gave: as many as the launch's threads in x for one that guards are about.
std::int64_t assumed_value(const KernelProgram& program, const std::string& name);

}  // namespace warptime::cli
