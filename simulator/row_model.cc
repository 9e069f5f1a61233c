#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "simulator/occupancy.h"
#include "simulator/plan_model.h"

namespace warptime {
namespace {

constexpr std::uint64_t kMostTurns = std::uint64_t{1}
                                     << 22;  // of repeats whose launches differ from turn to turn, per row

void add_times(KernelTime& into, const KernelTime& time, double times) {
  into.total_us += times * time.total_us;
  into.preparation_us += times * time.preparation_us;
  into.calculation_us += times * time.calculation_us;
  into.issue_us += times * time.issue_us;
  into.waiting_us += times * time.waiting_us;
  into.tail_us += times * time.tail_us;
  into.full_runs_us += times * time.full_runs_us;
  into.remaining_run_us += times * time.remaining_run_us;
}

Diagnostics prefixed(std::string_view what, Diagnostics wrong) {
  wrong.front().message = fmt::format("{}: {}", what, wrong.front().message);
  return wrong;
}

}  // namespace

// What some steps of a plan take, launched once.
struct RowModel::Sum {
  KernelTime time;         // the run counts and warps are the first launch's
  double luo_suda_us = 0;  // where both models are asked
  std::int64_t launches = 0;
  std::optional<Launch> first_launch;
};

RowModel::RowModel(const PreparedPlan& plan, const PredictionOptions& options)
    : plan_(plan),
      options_(options),
      times_(options.core_package),
      slots_(plan.slots.size(), 0),
      bound_(plan.slots.size(), false) {
  slots_[plan.one_slot] = 1;
}

void RowModel::start(std::size_t gpu, const std::vector<std::int64_t>& values) {
  const PreparedGpu* next = &plan_.gpus[gpu];
  if (gpu_ != next) {
    gpu_ = next;
    last_.assign(gpu_->launches.size(), Last{});
  }
  std::copy(values.begin(), values.end(), slots_.begin());
  turns_ = 0;
  plain_us_ = 0;
}

Diagnostics RowModel::row(std::size_t gpu, const std::vector<std::int64_t>& values, PredictionRow& row) {
  const bool same_gpu = gpu_ == &plan_.gpus[gpu] && filled_ == &row;
  start(gpu, values);
  if (!same_gpu) {
    filled_ = &row;
    row.plan = plan_.plan->name;
    row.gpu = gpu_->gpu->name;
    row.parameters.clear();
    for (const Parameter& parameter : plan_.plan->parameters) row.parameters.emplace_back(parameter.name, 0);
    row.t_p_us = gpu_->t_p_us;
    row.t_m_cycles = gpu_->t_m_cycles;
    row.t_p_source = gpu_->t_p_source;
    row.t_m_source = gpu_->t_m_source;
    row.notes = gpu_->notes;
  }
  for (std::size_t i = 0; i < values.size(); ++i) row.parameters[i].second = values[i];
  try {
    const Sum sum = run(gpu_->steps, 1);
    row.time = sum.time;
    row.launches = sum.launches;
    row.first_launch = sum.first_launch.value_or(Launch{});
    if (options_.best_launch) row.algorithm_3_us = plain_us_;
    if (options_.model == Model::all) row.luo_suda_us = sum.luo_suda_us;
  } catch (Failed& failed) {
    return with_row(std::move(failed.diagnostics));
  }
  if (!(row.time.total_us <= std::numeric_limits<double>::max())) {
    return with_row({error("the time is out of the range of numbers")});
  }
  return {};
}

Result<std::vector<LaunchTerm>> RowModel::terms(std::size_t gpu, const std::vector<std::int64_t>& values) {
  start(gpu, values);
  std::vector<LaunchTerm> terms;
  terms_ = &terms;
  try {
    run(gpu_->steps, 1);
  } catch (Failed& failed) {
    terms_ = nullptr;
    return with_row(std::move(failed.diagnostics));
  }
  terms_ = nullptr;
  return terms;
}

// Says for which row it is, after the first message.
Diagnostics RowModel::with_row(Diagnostics wrong) const {
  for (Diagnostic& diagnostic : wrong) {
    if (diagnostic.severity != Severity::error) continue;
    std::string parameters;
    for (std::size_t i = 0; i < plan_.plan->parameters.size(); ++i)
      parameters += fmt::format(", {} = {}", plan_.plan->parameters[i].name, slots_[i]);
    diagnostic.message += fmt::format(" (on {}{})", gpu_->gpu->name, parameters);
    break;
  }
  return wrong;
}

RowModel::Sum RowModel::run(const std::vector<PreparedStep>& steps, double times) {
  if (steps.size() == 1) return run(steps.front(), times);
  Sum sum;
  for (const PreparedStep& step : steps) {
    const Sum part = run(step, times);
    add(part, *step.step, sum);
  }
  return sum;
}

// The first launch is that of the first part that has one.
void RowModel::add(const Sum& part, const PlanStep& step, Sum& into) const {
  if (!into.first_launch && part.first_launch) {
    into.first_launch = part.first_launch;
    into.time.full_runs = part.time.full_runs;
    into.time.warps_per_core_package = part.time.warps_per_core_package;
    into.time.remaining_warps_per_core_package = part.time.remaining_warps_per_core_package;
  }
  add_times(into.time, part.time, 1);
  into.luo_suda_us += part.luo_suda_us;
  if (__builtin_add_overflow(into.launches, part.launches, &into.launches)) too_many_launches(step);
}

RowModel::Sum RowModel::run(const PreparedStep& step, double times) {
  const std::int64_t count = evaluate(step.repeat, step.step->repeat, *step.step, "`repeat`");
  if (count < 0) {
    fail(*step.step,
         {error(fmt::format("`repeat: {}` is negative: {}", to_string(step.step->repeat), count))});
  }
  if (count == 0) return Sum{};
  if (step.counter_slot < 0) return repeated(step, count, times);
  const auto slot = static_cast<std::size_t>(step.counter_slot);
  slots_[slot] = 0;
  bound_[slot] = true;
  const Sum sum = step.counted ? counted(step, count, times) : repeated(step, count, times);
  bound_[slot] = false;
  return sum;
}

RowModel::Sum RowModel::once(const PreparedStep& step, double times) {
  if (step.launch < 0) return run(step.steps, times);
  const auto index = static_cast<std::size_t>(step.launch);
  return launch(gpu_->launches[index], index, times);
}

// Turns that are all the same are run once.
RowModel::Sum RowModel::repeated(const PreparedStep& step, std::int64_t count, double times) {
  const double plain_before = plain_us_;
  Sum sum = once(step, times * static_cast<double>(count));
  if (count == 1) return sum;
  const KernelTime turn = sum.time;
  sum.time = KernelTime{};
  sum.time.full_runs = turn.full_runs;
  sum.time.warps_per_core_package = turn.warps_per_core_package;
  sum.time.remaining_warps_per_core_package = turn.remaining_warps_per_core_package;
  add_times(sum.time, turn, static_cast<double>(count));
  sum.luo_suda_us *= static_cast<double>(count);
  plain_us_ = plain_before + static_cast<double>(count) * (plain_us_ - plain_before);
  if (__builtin_mul_overflow(sum.launches, count, &sum.launches)) too_many_launches(*step.step);
  return sum;
}

RowModel::Sum RowModel::counted(const PreparedStep& step, std::int64_t count, double times) {
  turns_ += static_cast<std::uint64_t>(std::min<std::int64_t>(count, kMostTurns + 1));
  if (turns_ > kMostTurns) {
    fail(
        *step.step,
        {error(fmt::format("`repeat: {}` is {}: launches that differ with the counter `{}` can be {} at most",
                           to_string(step.step->repeat), count, step.step->counter, kMostTurns))});
  }
  Sum sum;
  for (std::int64_t turn = 0; turn < count; ++turn) {
    slots_[static_cast<std::size_t>(step.counter_slot)] = turn;
    add(once(step, times), *step.step, sum);
  }
  return sum;
}

RowModel::Sum RowModel::launch(const PreparedLaunch& launch, std::size_t index, double times) {
  Launch size = size_of(launch);
  auto time = time_of(launch, index, size);
  if (options_.best_launch && time) {
    plain_us_ += time->total_us;
    if (launch.threads) {
      const Launch best = best_size(launch, index, size, time->total_us);
      if (best != size) {
        size = best;
        time = time_of(launch, index, size);
      }
    }
  }
  if (!time) fail(*launch.step, time.diagnostics());
  if (terms_ != nullptr) add_term(launch, index, size, *time, times);
  if (options_.model != Model::all) return Sum{*time, 0, 1, size};
  const auto luo_suda = luo_suda_time_of(index, size);
  if (!luo_suda) fail(*launch.step, luo_suda.diagnostics());
  return Sum{*time, luo_suda->total_us, 1, size};
}

void RowModel::add_term(const PreparedLaunch& launch, std::size_t index, const Launch& size,
                        const KernelTime& time, double times) {
  const std::vector<std::int64_t>& values = last_[index].values;
  for (LaunchTerm& term : *terms_) {
    if (term.launch != &launch || term.size != size || term.values != values) continue;
    term.times += times;
    return;
  }
  terms_->push_back({&launch, size, values, times, time, last_[index].active_blocks});
}

Launch RowModel::size_of(const PreparedLaunch& launch) {
  const PlanStep& step = *launch.step;
  const auto checked = [&](const Result<Launch>& size) {
    if (!size) fail(step, size.diagnostics());
    return *size;
  };
  if (launch.threads) {
    const std::int64_t threads = evaluate(*launch.threads, *step.launch->threads, step, "`threads`");
    return checked(choose_launch(*gpu_->gpu, threads));
  }
  if (!launch.blocks || !launch.threads_per_block) fail(step, {error("the launch has no size")});
  const std::int64_t blocks = evaluate(*launch.blocks, *step.launch->blocks, step, "`blocks`");
  const std::int64_t threads_per_block =
      evaluate(*launch.threads_per_block, *step.launch->threads_per_block, step, "`threads_per_block`");
  return checked(check_launch(*gpu_->gpu, blocks, threads_per_block));
}

// The quickest of all blocks of whole warps that have at least the launch's threads; `chosen`, which takes
// chosen_us, where none is quicker.
Launch RowModel::best_size(const PreparedLaunch& launch, std::size_t index, const Launch& chosen,
                           double chosen_us) {
  const std::int64_t threads =
      evaluate(*launch.threads, *launch.step->launch->threads, *launch.step, "`threads`");
  const Gpu& gpu = *gpu_->gpu;
  Launch best = chosen;
  double best_us = chosen_us;
  for (std::int64_t size = gpu.warp_size; size <= gpu.max_threads_per_block; size += gpu.warp_size) {
    const Launch candidate{threads / size + (threads % size != 0 ? 1 : 0), size};
    if (candidate == chosen || !check_launch(gpu, candidate.blocks, candidate.threads_per_block)) continue;
    const auto time = time_of(launch, index, candidate);
    if (!time || time->total_us >= best_us) continue;
    best = candidate;
    best_us = time->total_us;
  }
  return best;
}

// Finds what a launch of that size is simulated with.
RowModel::Last& RowModel::prepare(const PreparedLaunch& launch, std::size_t index, const Launch& size) {
  slots_[plan_.threads_per_block_slot] = size.threads_per_block;
  slots_[plan_.blocks_slot] = size.blocks;
  Last& last = last_[index];
  values_.resize(launch.values.size());
  for (std::size_t i = 0; i < launch.values.size(); ++i) {
    if (!launch.values[i].evaluate(slots_.data(), values_[i])) fail_argument(launch, i);
  }
  if (last.instance == nullptr || last.generation != times_.generation() || last.values != values_) {
    const auto found = times_.find(*launch.program, values_, gpu_->t_m_cycles);
    if (!found) fail(*launch.step, found.diagnostics());
    last.instance = *found;
    last.generation = times_.generation();
    last.values = values_;
    last.luo_suda.reset();
  }
  const auto& resources = launch.program->program->resources;
  if (resources && last.threads_per_block != size.threads_per_block) {
    const Occupancy occupied = occupancy(*gpu_->gpu, size.threads_per_block, *resources);
    if (occupied.active_blocks < 1) {
      const std::string why = occupied.notes.empty() ? "" : ": " + occupied.notes.back();
      fail(*launch.step, {error(fmt::format("not one block of {} threads fits an SM of {}{}",
                                            size.threads_per_block, gpu_->gpu->name, why))});
    }
    last.threads_per_block = size.threads_per_block;
    last.active_blocks = occupied.active_blocks;
  }
  return last;
}

Result<KernelTime> RowModel::time_of(const PreparedLaunch& launch, std::size_t index, const Launch& size) {
  Last& last = prepare(launch, index, size);
  if (options_.model != Model::luo_suda)
    return kernel_time(*gpu_->gpu, size, gpu_->t_p_us, *last.instance, last.active_blocks);
  const auto luo_suda = luo_suda_time_of(index, size);
  if (!luo_suda) return luo_suda.diagnostics();
  KernelTime time;
  time.total_us = luo_suda->total_us;
  time.calculation_us = luo_suda->computation_us;
  time.waiting_us = luo_suda->waiting_previous_us + luo_suda->waiting_current_us;
  time.full_runs_us = luo_suda->full_runs_us;
  time.remaining_run_us = luo_suda->remaining_run_us;
  time.full_runs = luo_suda->full_runs;
  return time;
}

// After prepare().
Result<LuoSudaTime> RowModel::luo_suda_time_of(std::size_t index, const Launch& size) {
  Last& last = last_[index];
  if (auto wrong = check_luo_suda(*gpu_->gpu); !wrong.empty()) return wrong;
  if (!last.luo_suda) {
    auto made = make_luo_suda_program(last.instance->schedule(), *gpu_->gpu->luo_suda);
    if (!made) return made.diagnostics();
    last.luo_suda = std::move(*made);
  }
  return luo_suda_time(*gpu_->gpu, size, *last.luo_suda, last.active_blocks);
}

void RowModel::fail_argument(const PreparedLaunch& launch, std::size_t index) const {
  const std::string& name = launch.program->names[index];
  Expression expression = Expression::name(name);
  for (const auto& [argument, value] : launch.step->launch->arguments) {
    if (argument == name) expression = value;
  }
  Bindings all = bindings();
  for (const std::string& used : expression.names()) {
    if (!is_launch_dimension(used)) continue;
    all.emplace(used, slots_[used == "blockDim.x"  ? plan_.threads_per_block_slot
                             : used == "gridDim.x" ? plan_.blocks_slot
                                                   : plan_.one_slot]);
  }
  const auto value = evaluate_count(expression, all);
  fail(*launch.step, value ? Diagnostics{error(fmt::format("the argument `{}` has no value", name))}
                           : prefixed(fmt::format("the argument `{}`", name), value.diagnostics()));
}

std::int64_t RowModel::evaluate(const CompiledExpression& compiled, const Expression& expression,
                                const PlanStep& step, const char* what) {
  std::int64_t value = 0;
  if (compiled.evaluate(slots_.data(), value)) return value;
  const auto why = evaluate_count(expression, bindings());
  fail(step,
       why ? Diagnostics{error(fmt::format("{} has no value", what))} : prefixed(what, why.diagnostics()));
}

// The parameters and the counters that are counting.
Bindings RowModel::bindings() const {
  Bindings bindings;
  for (std::size_t i = 0; i < plan_.threads_per_block_slot; ++i) {
    if (i < plan_.plan->parameters.size() || bound_[i]) bindings[plan_.slots[i]] = slots_[i];
  }
  return bindings;
}

// With the place in the plan's file where the diagnostics have none.
void RowModel::fail(const PlanStep& step, Diagnostics wrong) const {
  for (Diagnostic& diagnostic : wrong) {
    if (!diagnostic.file.empty() || plan_.plan->file.empty()) continue;
    diagnostic.file = plan_.plan->file;
    diagnostic.line = step.line;
    diagnostic.column = 0;
    diagnostic.source_line.clear();
  }
  throw Failed{std::move(wrong)};
}

void RowModel::too_many_launches(const PlanStep& step) const {
  fail(step, {error("the number of launches does not fit 64 bits")});
}

}  // namespace warptime
