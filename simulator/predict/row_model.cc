#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "simulator/gpu/occupancy.h"
#include "simulator/predict/plan_model.h"

namespace warptime {
namespace {

constexpr std::uint64_t kMostTurns = std::uint64_t{1}
                                     << 22;  // of repeats whose launches differ from turn to turn, per row

// The times of a KernelTime, but not its numbers of runs and warps.
constexpr std::array kTimes = {&KernelTime::total_us,       &KernelTime::preparation_us,
                               &KernelTime::calculation_us, &KernelTime::issue_us,
                               &KernelTime::waiting_us,     &KernelTime::tail_us,
                               &KernelTime::full_runs_us,   &KernelTime::remaining_run_us};

void add_times(KernelTime& into, const KernelTime& time, double times) {
  for (const auto member : kTimes) into.*member += times * time.*member;
}

void multiply(KernelTime& time, double times) {
  for (const auto member : kTimes) time.*member *= times;
}

// The other model's time in the terms of this one: it knows calculation and waiting.
KernelTime as_kernel_time(const LuoSudaTime& luo_suda) {
  KernelTime time;
  time.total_us = luo_suda.total_us;
  time.calculation_us = luo_suda.computation_us;
  time.waiting_us = luo_suda.waiting_previous_us + luo_suda.waiting_current_us;
  time.full_runs_us = luo_suda.full_runs_us;
  time.remaining_run_us = luo_suda.remaining_run_us;
  time.full_runs = luo_suda.full_runs;
  return time;
}

Diagnostics prefixed(std::string_view what, Diagnostics wrong) {
  wrong.front().message = fmt::format("{}: {}", what, wrong.front().message);
  return wrong;
}

}  // namespace

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
    last_.resize(gpu_->launches.size());
    for (Last& last : last_) last.forget();
  }
  for (std::size_t i = 0; i < values.size(); ++i) slots_[i] = values[i];
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
  row_ = &row;
  row.launches = 0;
  luo_suda_us_ = 0;
  try {
    run(gpu_->steps, 1);
  } catch (Failed& failed) {
    return with_row(std::move(failed.diagnostics));
  }
  if (row.launches == 0) {
    row.time = KernelTime{};
    row.first_launch = Launch{};
  }
  if (options_.best_launch) row.algorithm_3_us = plain_us_;
  if (options_.model == Model::all) row.luo_suda_us = luo_suda_us_;
  if (!(row.time.total_us <= std::numeric_limits<double>::max())) {
    return with_row({error("the time is out of the range of numbers")});
  }
  return {};
}

Result<std::vector<LaunchTerm>> RowModel::terms(std::size_t gpu, const std::vector<std::int64_t>& values) {
  std::vector<LaunchTerm> terms;
  PredictionRow row;
  terms_ = &terms;
  auto wrong = this->row(gpu, values, row);
  terms_ = nullptr;
  filled_ = nullptr;
  if (!wrong.empty()) return wrong;
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

void RowModel::run(const std::vector<PreparedStep>& steps, std::int64_t times) {
  for (const PreparedStep& step : steps) run(step, times);
}

// times: how often all this is done.
void RowModel::run(const PreparedStep& step, std::int64_t times) {
  const std::int64_t count = evaluate(step.repeat, step.step->repeat, *step.step, "`repeat`");
  if (count < 0) {
    fail(*step.step,
         {error(fmt::format("`repeat: {}` is negative: {}", to_string(step.step->repeat), count))});
  }
  if (count == 0) return;
  if (step.counter_slot < 0) return repeated(step, count, times);
  const auto slot = static_cast<std::size_t>(step.counter_slot);
  slots_[slot] = 0;
  bound_[slot] = true;
  if (step.counted) {
    counted(step, count, times);
  } else {
    repeated(step, count, times);
  }
  bound_[slot] = false;
}

void RowModel::once(const PreparedStep& step, std::int64_t times) {
  if (step.launch < 0) return run(step.steps, times);
  const auto index = static_cast<std::size_t>(step.launch);
  launch(gpu_->launches[index], index, times);
}

// Turns that are all the same are computed once.
void RowModel::repeated(const PreparedStep& step, std::int64_t count, std::int64_t times) {
  if (__builtin_mul_overflow(times, count, &times)) too_many_launches(*step.step);
  once(step, times);
}

void RowModel::counted(const PreparedStep& step, std::int64_t count, std::int64_t times) {
  turns_ += static_cast<std::uint64_t>(std::min<std::int64_t>(count, kMostTurns + 1));
  if (turns_ > kMostTurns) {
    fail(
        *step.step,
        {error(fmt::format("`repeat: {}` is {}: launches that differ with the counter `{}` can be {} at most",
                           to_string(step.step->repeat), count, step.step->counter, kMostTurns))});
  }
  for (std::int64_t turn = 0; turn < count; ++turn) {
    slots_[static_cast<std::size_t>(step.counter_slot)] = turn;
    once(step, times);
  }
}

void RowModel::launch(const PreparedLaunch& launch, std::size_t index, std::int64_t times) {
  Sized& chosen = sized(launch, index);
  Launch size = chosen.size;
  KernelTime time = time_of(launch, index, chosen);
  const auto number = static_cast<double>(times);
  if (options_.best_launch) {
    plain_us_ += number * time.total_us;
    if (launch.threads) {
      const Launch best = best_size(launch, index, size, time.total_us);
      if (best != size) {
        size = best;
        Sized other{0, best, {}};
        time = time_of(launch, index, other);
      }
    }
  }
  if (row_->launches == 0) {
    row_->first_launch = size;
    row_->time = time;
    if (times != 1) multiply(row_->time, number);
  } else {
    add_times(row_->time, time, number);
  }
  if (__builtin_add_overflow(row_->launches, times, &row_->launches)) too_many_launches(*launch.step);
  if (terms_ != nullptr) add_term(launch, index, size, time, number);
  if (options_.model == Model::all) luo_suda_us_ += number * luo_suda_time_of(launch, index, size).total_us;
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

// Good until the next call.
RowModel::Sized& RowModel::sized(const PreparedLaunch& launch, std::size_t index) {
  const PlanStep& step = *launch.step;
  const Gpu& gpu = *gpu_->gpu;
  Last& last = last_[index];
  if (launch.threads) {
    const std::int64_t threads = evaluate(*launch.threads, *step.launch->threads, step, "`threads`");
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;
    Sized& known = last.sized[(static_cast<std::uint64_t>(threads) * golden) >> 59];
    if (known.threads == threads && threads >= 1) return known;
    Launch size;
    if (threads >= 1) size = algorithm_3(gpu, gpu_->divisors, threads);
    if (!fits(gpu, size)) fail(step, choose_launch(gpu, threads).diagnostics());
    known = {threads, size, {}};
    return known;
  }
  if (!launch.blocks || !launch.threads_per_block) fail(step, {error("the launch has no size")});
  Launch size;
  size.blocks = evaluate(*launch.blocks, *step.launch->blocks, step, "`blocks`");
  size.threads_per_block =
      evaluate(*launch.threads_per_block, *step.launch->threads_per_block, step, "`threads_per_block`");
  if (!fits(gpu, size)) fail(step, check_launch(gpu, size.blocks, size.threads_per_block).diagnostics());
  Sized& only = last.sized.front();
  if (only.size != size) only = {0, size, {}};
  return only;
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
    if (candidate == chosen || !fits(gpu, candidate)) continue;
    double candidate_us = 0;
    try {
      Sized sized{0, candidate, {}};
      candidate_us = time_of(launch, index, sized).total_us;
    } catch (Failed&) {
      continue;  // not one such block fits the SM, say
    }
    if (candidate_us >= best_us) continue;
    best = candidate;
    best_us = candidate_us;
  }
  return best;
}

// Finds what a launch of that size is simulated with.
RowModel::Last& RowModel::prepare(const PreparedLaunch& launch, std::size_t index, const Launch& size) {
  slots_[plan_.threads_per_block_slot] = size.threads_per_block;
  slots_[plan_.blocks_slot] = size.blocks;
  Last& last = last_[index];
  last.values.resize(launch.values.size());
  bool same = last.instance != nullptr && last.generation == times_.generation();
  for (std::size_t i = 0; i < launch.values.size(); ++i) {
    std::int64_t value = 0;
    if (!launch.values[i].evaluate(slots_.data(), value)) fail_argument(launch, i);
    same = same && value == last.values[i];
    last.values[i] = value;
  }
  if (!same) {
    last.instance = nullptr;
    const auto found = times_.find(*launch.program, last.values, gpu_->t_m_cycles);
    if (!found) fail(*launch.step, found.diagnostics());
    last.instance = *found;
    last.generation = times_.generation();
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

KernelTime RowModel::time_of(const PreparedLaunch& launch, std::size_t index, Sized& sized) {
  Last& last = prepare(launch, index, sized.size);
  if (options_.model == Model::luo_suda) return as_kernel_time(luo_suda_time_of(launch, index, sized.size));
  const Gpu& gpu = *gpu_->gpu;
  if (!gpu_->has_core_packages) fail(*launch.step, check_core_packages(gpu));
  if (sized.runs.full == 0) sized.runs = runs_of(gpu, gpu_->divisors, sized.size, last.active_blocks);
  const Runs& runs = sized.runs;
  static constexpr CorePackageTime nothing;
  const CorePackageTime* full = last.instance->find(runs.warps_per_core_package);
  if (full == nullptr) full = simulate(launch, last, runs.warps_per_core_package, own_full_);
  const CorePackageTime* rest = &nothing;
  if (runs.remaining_warps_per_core_package > 0) {
    rest = last.instance->find(runs.remaining_warps_per_core_package);
    if (rest == nullptr) {
      own_full_ = *full;  // it may have to move
      full = &own_full_;
      rest = simulate(launch, last, runs.remaining_warps_per_core_package, own_rest_);
    }
  }
  return time_of_runs(gpu_->cycle_us, runs, gpu_->t_p_us, *full, *rest);
}

const CorePackageTime* RowModel::simulate(const PreparedLaunch& launch, Last& last, std::int64_t warps,
                                          CorePackageTime& own) const {
  const auto time = last.instance->time(warps);
  if (!time) fail(*launch.step, time.diagnostics());
  own = *time;
  return &own;
}

// After prepare().
LuoSudaTime RowModel::luo_suda_time_of(const PreparedLaunch& launch, std::size_t index, const Launch& size) {
  Last& last = last_[index];
  if (auto wrong = check_luo_suda(*gpu_->gpu); !wrong.empty()) fail(*launch.step, std::move(wrong));
  if (!last.luo_suda) {
    auto made = make_luo_suda_program(last.instance->schedule(), *gpu_->gpu->luo_suda);
    if (!made) fail(*launch.step, made.diagnostics());
    last.luo_suda = std::move(*made);
  }
  const auto time = luo_suda_time(*gpu_->gpu, size, *last.luo_suda, last.active_blocks);
  if (!time) fail(*launch.step, time.diagnostics());
  return *time;
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

void RowModel::fail_expression(const Expression& expression, const PlanStep& step, const char* what) const {
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

void RowModel::fail(const PlanStep& step, Diagnostics wrong) const {
  throw Failed{at_step(*plan_.plan, step, std::move(wrong))};
}

void RowModel::too_many_launches(const PlanStep& step) const {
  fail(step, {error("the number of launches does not fit 64 bits")});
}

}  // namespace warptime
