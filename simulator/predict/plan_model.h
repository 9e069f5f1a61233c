// A plan made ready for its GPUs: kernel programs loaded, names found, expressions compiled. What
// predictions, sweeps and explanations are computed with.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/model/luo_suda/luo_suda.h"
#include "simulator/model/puchala/core_package_times.h"
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
  bool counted = false;   // whether turns differ with the counter
  int launch = -1;        // index into PreparedGpu::launches; -1: `steps`
  std::vector<PreparedStep> steps;
};

struct PreparedGpu {
  explicit PreparedGpu(const Gpu& of)
      : gpu(&of),
        divisors(of),
        cycle_us(1 / of.clock_mhz),
        has_core_packages(of.core_packages_per_sm() > 0) {}
  const Gpu* gpu;
  GpuDivisors divisors;
  double cycle_us;
  bool has_core_packages;
  double t_p_us = 0, t_m_cycles = 0;
  ParameterSource t_p_source = ParameterSource::gpu_default, t_m_source = ParameterSource::gpu_default;
  std::vector<PreparedLaunch> launches;
  std::vector<PreparedStep> steps;
  std::vector<std::string> notes;
};

// The values that expressions use stand in slots: the plan's parameters in their order, then counters, then
// the launch's dimensions.
struct PreparedPlan {
  const Plan* plan = nullptr;
  std::vector<std::string> slots;  // their names
  std::size_t threads_per_block_slot = 0, blocks_slot = 0, one_slot = 0;
  std::vector<PreparedGpu> gpus;
  std::vector<std::unique_ptr<TimedProgram>> programs;

  // Errors: the loader's, a name that a kernel program uses and nobody gives a value.
  static Result<PreparedPlan> make(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                   const PredictionOptions& options, const ProgramLoader& loader);
};

// Puts the step's place in the plan's file to diagnostics that have none.
Diagnostics at_step(const Plan& plan, const PlanStep& step, Diagnostics wrong);

// One launch of a row, and how often the row has it like this.
struct LaunchTerm {
  const PreparedLaunch* launch = nullptr;
  Launch size;
  std::vector<std::int64_t> values;  // of the program's names
  double times = 0;
  KernelTime time;                            // of one
  std::optional<std::int64_t> active_blocks;  // per SM, that the kernel's resources allow
};

// Computes rows. One thread at a time; several models may share a plan.
class RowModel {
 public:
  RowModel(const PreparedPlan& plan, const PredictionOptions& options);

  // Fills in what depends on the parameters (values in the plan's order); the rest of `row` is set where it
  // is another GPU's than the last one. Errors: see predict(), with the row's parameters.
  Diagnostics row(std::size_t gpu, const std::vector<std::int64_t>& values, PredictionRow& row);
  // The launches of one row, equal ones taken together; row.time is their sum.
  Result<std::vector<LaunchTerm>> terms(std::size_t gpu, const std::vector<std::int64_t>& values);
  CorePackageTimes& times() { return times_; }

 private:
  // The size of a launch of so many threads, and how its blocks come to run: sweeps ask for the same ones
  // again and again.
  struct Sized {
    std::int64_t threads = 0;  // 0: none yet
    Launch size;
    Runs runs;  // full == 0: not yet
  };
  struct Last {  // the instance that a launch used last
    CorePackageTimes::Instance* instance = nullptr;
    std::uint64_t generation = 0;
    std::vector<std::int64_t> values;
    std::optional<LuoSudaProgram> luo_suda;  // of the instance's schedule
    std::int64_t threads_per_block = 0;      // that the next is for
    std::optional<std::int64_t> active_blocks;
    std::array<Sized, 32> sized;  // by a hash of their threads; the newest stay
    void forget() {
      instance = nullptr;
      luo_suda.reset();
      threads_per_block = 0;
      active_blocks.reset();
      for (Sized& known : sized) known.threads = known.size.blocks = 0;
    }
  };
  struct Failed {
    Diagnostics diagnostics;
  };
  void start(std::size_t gpu, const std::vector<std::int64_t>& values);
  Diagnostics with_row(Diagnostics wrong) const;
  void run(const std::vector<PreparedStep>& steps, std::int64_t times);
  void run(const PreparedStep& step, std::int64_t times);
  void once(const PreparedStep& step, std::int64_t times);
  void repeated(const PreparedStep& step, std::int64_t count, std::int64_t times);
  void counted(const PreparedStep& step, std::int64_t count, std::int64_t times);
  void launch(const PreparedLaunch& launch, std::size_t index, std::int64_t times);
  Sized& sized(const PreparedLaunch& launch, std::size_t index);
  [[gnu::noinline]] Launch best_size(const PreparedLaunch& launch, std::size_t index, const Launch& chosen,
                                     double chosen_us);
  [[gnu::noinline]] void add_term(const PreparedLaunch& launch, std::size_t index, const Launch& size,
                                  const KernelTime& time, double times);
  KernelTime time_of(const PreparedLaunch& launch, std::size_t index, Sized& sized);
  [[gnu::noinline]] LuoSudaTime luo_suda_time_of(const PreparedLaunch& launch, std::size_t index,
                                                 const Launch& size);
  [[gnu::noinline]] const CorePackageTime* simulate(const PreparedLaunch& launch, Last& last,
                                                    std::int64_t warps, CorePackageTime& own) const;
  Last& prepare(const PreparedLaunch& launch, std::size_t index, const Launch& size);
  std::int64_t evaluate(const CompiledExpression& compiled, const Expression& expression,
                        const PlanStep& step, const char* what) const {
    std::int64_t value = 0;
    if (!compiled.evaluate(slots_.data(), value)) fail_expression(expression, step, what);
    return value;
  }
  [[noreturn, gnu::noinline, gnu::cold]] void fail_expression(const Expression& expression,
                                                              const PlanStep& step, const char* what) const;
  [[noreturn, gnu::noinline, gnu::cold]] void fail_argument(const PreparedLaunch& launch,
                                                            std::size_t index) const;
  [[gnu::noinline]] Bindings bindings() const;
  [[noreturn, gnu::noinline, gnu::cold]] void fail(const PlanStep& step, Diagnostics wrong) const;
  [[noreturn, gnu::noinline, gnu::cold]] void too_many_launches(const PlanStep& step) const;

  const PreparedPlan& plan_;
  const PredictionOptions& options_;
  CorePackageTimes times_;
  const PreparedGpu* gpu_ = nullptr;
  std::vector<std::int64_t> slots_;
  std::vector<bool> bound_;  // counters that are counting
  std::uint64_t turns_ = 0;
  std::vector<Last> last_;
  std::vector<LaunchTerm>* terms_ = nullptr;
  PredictionRow* row_ = nullptr;         // that is being computed
  CorePackageTime own_full_, own_rest_;  // of the row, where they are not remembered
  double luo_suda_us_ = 0;
  double plain_us_ = 0;                    // with Algorithm 3's launches
  const PredictionRow* filled_ = nullptr;  // what does not depend on parameters is filled in for gpu_
};

}  // namespace warptime
