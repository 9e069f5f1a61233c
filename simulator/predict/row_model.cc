#include "simulator/predict/row_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "simulator/gpu/occupancy.h"

namespace warptime {
namespace {

// Limit for repeats whose launches differ from iteration to iteration, per row.
constexpr std::uint64_t kMostLaunchIterations = std::uint64_t{1} << 22;

Diagnostics prefixed(std::string_view what, Diagnostics wrong) {
  wrong.front().message = fmt::format("{}: {}", what, wrong.front().message);
  return wrong;
}

}  // namespace

RowModel::RowModel(const PreparedPlan& plan, const PredictionOptions& options)
    : plan_(plan),
      options_(options),
      session_(options.model->session(options.model_options)),
      slots_(plan.slots.size(), 0),
      bound_(plan.slots.size(), false) {
  slots_[plan.one_slot] = 1;
  for (const Model* model : options.beside) beside_.push_back(model->session(options.model_options));
}

void RowModel::start(std::size_t gpu, const std::vector<std::int64_t>& values) {
  const PreparedGpu* next = &plan_.gpus[gpu];
  if (gpu_ != next) {
    gpu_ = next;
    last_.resize(gpu_->launches.size());
    for (std::size_t i = 0; i < last_.size(); ++i) {
      last_[i].forget();
      last_[i].model_launch.program = gpu_->launches[i].program;
      last_[i].model_launch.values = &last_[i].values;
    }
    session_->start(*gpu_, gpu_->launches.size());
    for (const auto& session : beside_) session->start(*gpu_, gpu_->launches.size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) slots_[i] = values[i];
  iterations_ = 0;
  algorithm_3_us_ = 0;
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
    row.model = options_.model;
    row.t_p_us = gpu_->constants.t_p_us;
    row.t_m_cycles = gpu_->constants.t_m_cycles;
    row.t_p_source = gpu_->t_p_source;
    row.t_m_source = gpu_->t_m_source;
    row.notes = gpu_->notes;
  }
  for (std::size_t i = 0; i < values.size(); ++i) row.parameters[i].second = values[i];
  row_ = &row;
  row.launches = 0;
  if (!beside_.empty()) row.beside_us.assign(beside_.size(), 0);
  try {
    run(gpu_->steps, 1);
  } catch (Failed& failed) {
    return with_row(std::move(failed.diagnostics));
  }
  if (row.launches == 0) {
    row.time = TimeBreakdown{};
    row.first_launch = Launch{};
  }
  if (options_.best_launch) row.algorithm_3_us = algorithm_3_us_;
  if (!(row.time.total_us <= std::numeric_limits<double>::max())) {
    return with_row({error("the time is too large for a number")});
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

// Adds the row's parameters to the first message.
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

// times: how often the steps run.
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

// Equal iterations are computed once.
void RowModel::repeated(const PreparedStep& step, std::int64_t count, std::int64_t times) {
  if (__builtin_mul_overflow(times, count, &times)) too_many_launches(*step.step);
  once(step, times);
}

void RowModel::counted(const PreparedStep& step, std::int64_t count, std::int64_t times) {
  iterations_ += static_cast<std::uint64_t>(std::min<std::int64_t>(count, kMostLaunchIterations + 1));
  if (iterations_ > kMostLaunchIterations) {
    fail(
        *step.step,
        {error(fmt::format("`repeat: {}` is {}: launches that depend on the counter `{}` can repeat at "
                           "most {} times",
                           to_string(step.step->repeat), count, step.step->counter, kMostLaunchIterations))});
  }
  for (std::int64_t iteration = 0; iteration < count; ++iteration) {
    slots_[static_cast<std::size_t>(step.counter_slot)] = iteration;
    once(step, times);
  }
}

void RowModel::launch(const PreparedLaunch& launch, std::size_t index, std::int64_t times) {
  Launch shape = shape_of(launch, index);
  const bool first = row_->launches == 0;
  const TimeBreakdown* time = &time_of(*session_, launch, index, shape);
  const auto number = static_cast<double>(times);
  if (options_.best_launch) {
    algorithm_3_us_ += number * time->total_us;
    if (launch.threads) {
      shape = best_shape(launch, index, shape, time->total_us);
      time = &time_of(*session_, launch, index, shape);
    }
  }
  if (__builtin_add_overflow(row_->launches, times, &row_->launches)) too_many_launches(*launch.step);
  if (terms_ != nullptr) add_term(launch, index, shape, *time, number);
  if (!beside_.empty()) times_beside(launch, index, shape, number);
  if (!first) {
    row_->time.add(*time, number);
    return;
  }
  row_->first_launch = shape;
  row_->time = *time;
  if (times != 1) row_->time.multiply(number);
}

void RowModel::add_term(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                        const TimeBreakdown& time, double times) {
  const std::vector<std::int64_t>& values = last_[index].values;
  for (LaunchTerm& term : *terms_) {
    if (term.launch != &launch || term.shape != shape || term.values != values) continue;
    term.times += times;
    return;
  }
  terms_->push_back({&launch, shape, values, times, time, last_[index].model_launch.active_blocks_per_sm});
}

// Good until the next call.
const Launch& RowModel::shape_of(const PreparedLaunch& launch, std::size_t index) {
  const PlanStep& step = *launch.step;
  const Gpu& gpu = *gpu_->gpu;
  Last& last = last_[index];
  if (launch.threads) {
    const std::int64_t threads = evaluate(*launch.threads, *step.launch->threads, step, "`threads`");
    // A hash with different slots for 32 consecutive powers of two, which are typical of sweeps: the upper
    // half is a de Bruijn sequence.
    constexpr std::uint64_t de_bruijn = 0x077CB53109E3779Bu;
    static_assert(ModelLaunch::kShapeSlots == 1 << 5);
    const std::size_t slot = (static_cast<std::uint64_t>(threads) * de_bruijn) >> (64 - 5);
    last.model_launch.shape_slot = slot;
    Sized& known = last.sized[slot];
    if (known.threads == threads && threads >= 1) return known.shape;
    Launch shape;
    if (threads >= 1) shape = algorithm_3(gpu, gpu_->divisors, threads);
    if (!fits(gpu, shape)) fail(step, choose_launch(gpu, threads).diagnostics());
    known = {threads, shape};
    return known.shape;
  }
  if (!launch.blocks || !launch.threads_per_block)
    fail(step, {error("the launch has neither threads nor blocks")});
  Launch& shape = last.sized.front().shape;
  shape.blocks = evaluate(*launch.blocks, *step.launch->blocks, step, "`blocks`");
  shape.threads_per_block =
      evaluate(*launch.threads_per_block, *step.launch->threads_per_block, step, "`threads_per_block`");
  if (!fits(gpu, shape)) fail(step, check_launch(gpu, shape.blocks, shape.threads_per_block).diagnostics());
  return shape;
}

// The fastest launch in blocks of whole warps with at least the launch's threads; `chosen`, which takes
// chosen_us, if none is faster.
Launch RowModel::best_shape(const PreparedLaunch& launch, std::size_t index, const Launch& chosen,
                            double chosen_us) {
  const std::int64_t threads =
      evaluate(*launch.threads, *launch.step->launch->threads, *launch.step, "`threads`");
  const Gpu& gpu = *gpu_->gpu;
  Launch best = chosen;
  double best_us = chosen_us;
  for (std::int64_t size = gpu.warp_size; size <= gpu.max_threads_per_block; size += gpu.warp_size) {
    const Launch candidate{threads / size + (threads % size != 0 ? 1 : 0), size};
    if (candidate == chosen || !fits(gpu, candidate)) continue;
    double us = 0;
    try {
      us = time_of(*session_, launch, index, candidate).total_us;
    } catch (Failed&) {
      continue;  // such as a block that does not fit the SM
    }
    if (us >= best_us) continue;
    best = candidate;
    best_us = us;
  }
  return best;
}

// Sets the values of the program's names for a launch of that shape.
void RowModel::prepare(const PreparedLaunch& launch, Last& last, const Launch& shape) {
  slots_[plan_.threads_per_block_slot] = shape.threads_per_block;
  slots_[plan_.blocks_slot] = shape.blocks;
  last.values.resize(launch.values.size());
  bool same = last.model_launch.revision != 0;
  for (std::size_t i = 0; i < launch.values.size(); ++i) {
    std::int64_t value = 0;
    if (!launch.values[i].evaluate(slots_.data(), value)) fail_argument(launch, i);
    same = same && value == last.values[i];
    last.values[i] = value;
  }
  if (!same) last.model_launch.revision = ++revisions_;
  if (launch.program->program->resources && last.threads_per_block != shape.threads_per_block)
    find_active_blocks(launch, last, shape);
}

void RowModel::find_active_blocks(const PreparedLaunch& launch, Last& last, const Launch& shape) const {
  const Occupancy occupied =
      occupancy(*gpu_->gpu, shape.threads_per_block, *launch.program->program->resources);
  if (occupied.active_blocks < 1) {
    const std::string why = occupied.notes.empty() ? "" : ": " + occupied.notes.back();
    fail(*launch.step, {error(fmt::format("no block of {} threads fits an SM of {}{}",
                                          shape.threads_per_block, gpu_->gpu->name, why))});
  }
  last.threads_per_block = shape.threads_per_block;
  last.model_launch.active_blocks_per_sm = occupied.active_blocks;
}

const TimeBreakdown& RowModel::time_of(ModelSession& session, const PreparedLaunch& launch, std::size_t index,
                                       const Launch& shape) {
  Last& last = last_[index];
  prepare(launch, last, shape);
  last.model_launch.shape = shape;
  const TimeBreakdown* time = session.time(index, last.model_launch, why_);
  if (time == nullptr) fail(*launch.step, std::exchange(why_, {}));
  return *time;
}

void RowModel::times_beside(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                            double times) {
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    row_->beside_us[i] += times * time_of(*beside_[i], launch, index, shape).total_us;
  }
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
