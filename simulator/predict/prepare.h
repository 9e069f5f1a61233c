// A plan prepared for its GPUs: kernel programs loaded, names resolved, expressions compiled.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/model/model.h"
#include "simulator/plan/plan.h"
#include "simulator/predict/known_warps.h"
#include "simulator/predict/prediction.h"
#include "simulator/predict/remembered_work.h"
#include "simulator/program/expression/compiled_expression.h"
#include "simulator/program/warps.h"

namespace warptime {

struct PreparedLaunch {
  const PlanStep* step = nullptr;
  const TimedProgram* program = nullptr;
  std::optional<CompiledExpression> threads;
  std::vector<CompiledExpression> grid, block;  // x, y and z, as many as the plan gives
  std::optional<CompiledExpression> shared;
  bool several_dimensions() const { return grid.size() > 1 || block.size() > 1; }
  std::vector<CompiledExpression> values;  // of program->names
  // Of a program whose warps differ; null: they do not.
  const WarpProgram* warps = nullptr;
  std::vector<std::pair<std::string, CompiledExpression>>
      thread_values;  // of warps->thread_names(), as far as known
  Shares shares;      // as given
};

struct PreparedStep {
  const PlanStep* step = nullptr;
  CompiledExpression repeat;
  bool plain = false;     // once, without a counter
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
  bool several_dimensions = false;  // a launch has them: else y and z are 1 throughout
  bool block_shapes = false;        // a program is made for one, and rows say where a launch has another
  bool differing_warps = false;     // a launch has PreparedLaunch::warps
};

// The values that expressions use stand in slots: the plan's parameters in their order, then counters, then
// the launch's dimensions in the order of launch_dimensions().
struct PreparedPlan {
  const Plan* plan = nullptr;
  std::vector<std::string> slots;             // their names
  std::size_t block_slot = 0, grid_slot = 0;  // of blockDim.x and gridDim.x; .y and .z follow
  std::vector<PreparedGpu> gpus;
  std::vector<std::unique_ptr<TimedProgram>> programs;
  std::map<const TimedProgram*, WarpProgram> warps;  // of those whose warps differ
  std::unique_ptr<KnownWarps> known_warps = std::make_unique<KnownWarps>();
  std::shared_ptr<RememberedWork> remembered;  // that of the options, or its own
  Diagnostics left_out;                        // why, of each launch without an answer

  int dimension_slot(std::string_view name) const;  // -1: it is no dimension of a launch
  // Errors: the loader's, names that kernel programs use and nobody gives a value: of all launches, or of those that are
  // left_out. `left_out`: why the plan has not all launches (known_part.h).
  static Result<PreparedPlan> make(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                   const PredictionOptions& options, const ProgramLoader& loader,
                                   Diagnostics left_out = {});
};

// The launch's kernel for people: as its program names it, or the plan.
const std::string& kernel_of(const PreparedLaunch& launch);

// Adds the step's place in the plan's file to diagnostics that have none.
Diagnostics at_step(const Plan& plan, const PlanStep& step, Diagnostics wrong);

}  // namespace warptime
