// A plan prepared for its GPUs: kernel programs loaded, names resolved, expressions compiled.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/model/model.h"
#include "simulator/plan/plan.h"
#include "simulator/predict/prediction.h"
#include "simulator/program/expression/compiled_expression.h"

namespace warptime {

struct PreparedLaunch {
  const PlanStep* step = nullptr;
  const TimedProgram* program = nullptr;
  std::optional<CompiledExpression> threads, blocks, threads_per_block;
  std::vector<CompiledExpression> values;  // of program->names
};

struct PreparedStep {
  const PlanStep* step = nullptr;
  CompiledExpression repeat;
  int counter_slot = -1;  // -1: it has no counter
  bool counted = false;   // whether iterations depend on the counter
  int launch = -1;        // index into PreparedGpu::launches; -1: `steps`
  std::vector<PreparedStep> steps;
};

struct PreparedGpu : ModelGpu {
  explicit PreparedGpu(const Gpu& of) : ModelGpu(of) {}
  ConstantSource t_p_source = ConstantSource::gpu_default, t_m_source = ConstantSource::gpu_default;
  MemoryDurations durations;  // of accesses whose programs leave theirs open
  std::vector<PreparedLaunch> launches;
  std::vector<PreparedStep> steps;
  std::vector<std::string> notes;
};

// Expressions read their values from slots: the plan's parameters in their order, then counters, then the
// launch's dimensions.
struct PreparedPlan {
  const Plan* plan = nullptr;
  std::vector<std::string> slots;  // their names
  std::size_t threads_per_block_slot = 0, blocks_slot = 0, one_slot = 0;
  std::vector<PreparedGpu> gpus;
  std::vector<std::unique_ptr<TimedProgram>> programs;

  // Errors: the loader's, a name without a value that a kernel program uses.
  static Result<PreparedPlan> make(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                   const PredictionOptions& options, const ProgramLoader& loader);
};

// Adds the step's place in the plan's file to diagnostics that have none.
Diagnostics at_step(const Plan& plan, const PlanStep& step, Diagnostics wrong);

}  // namespace warptime
