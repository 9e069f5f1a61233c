#include "simulator/predict/row_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "simulator/gpu/occupancy.h"
#include "simulator/predict/array_places.h"
#include "simulator/predict/fixed_block.h"
#include "simulator/sm/launch_footprint.h"

namespace warptime {
namespace {

// Limit for repeats whose launches differ from iteration to iteration, per row.
constexpr std::uint64_t kMostLaunchIterations = std::uint64_t{1} << 22;
constexpr std::size_t kMostTimed = 1 << 13;                        // programs of warps that are remembered
constexpr std::size_t kMostSharesTried = 16, kMostSharesSaid = 6;  // in the notes of a row
// What errors are about.
constexpr char kGrid[] = "the grid", kBlock[] = "the block";

// Whether --best-launch may look for another block: in two dimensions, that is.
bool is_two_dimensional(const GridAndBlock& shape, const PreparedLaunch& launch) {
  return launch.several_dimensions() && shape.grid.z == 1 && shape.block.z == 1;
}

bool is_power_of_two(std::int64_t number) {
  return (number & (number - 1)) == 0;
}

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
      bound_(plan.slots.size(), 0) {
  std::fill_n(slots_.begin() + static_cast<std::ptrdiff_t>(plan.block_slot), launch_dimensions().size(), 1);
  for (const Model* model : options.beside) beside_.push_back(model->session(options.model_options));
  own_known_warps_.remember_programs_only();
}

void RowModel::start_gpu(const PreparedGpu& gpu) {
  gpu_ = &gpu;
  last_.resize(gpu_->launches.size());
  for (std::size_t i = 0; i < last_.size(); ++i) {
    last_[i].forget();
    last_[i].values.resize(gpu_->launches[i].values.size());
    last_[i].model_launch.program = gpu_->launches[i].program;
    last_[i].model_launch.values = &last_[i].values;
    last_[i].limited =
        gpu_->launches[i].shared.has_value() || gpu_->launches[i].program->program->resources.has_value();
  }
  start_sessions();
}

void RowModel::start_sessions() {
  session_->start(*gpu_, gpu_->launches.size());
  for (const auto& session : beside_) session->start(*gpu_, gpu_->launches.size());
}

// ---- What is done for each row, innermost first.

inline Launch RowModel::shape_of(const PreparedLaunch& launch, std::size_t index) {
  Last& last = last_[index];
  if (!launch.threads) return given_shape(launch, last);
  const std::int64_t threads =
      evaluate(*launch.threads, *launch.step->launch->threads, *launch.step, "`threads`");
  // A hash with a slot of its own for each of 16 powers of two in a row, as sweeps have them: a de Bruijn sequence of
  // 4 bits, again and again.
  constexpr std::uint64_t de_bruijn = 0x09AF09AF09AF09AFu;
  static_assert(ModelLaunch::kShapeSlots == 1 << 4);
  const std::size_t slot = (static_cast<std::uint64_t>(threads) * de_bruijn) >> (64 - 4);
  last.model_launch.shape_slot = slot;
  Sized& known = last.sized[slot];
  if (known.threads != threads || threads < 1) return new_shape(launch, threads, known);
  return known.shape;
}

// Gives the program's names their values for a launch of that shape.
inline void RowModel::prepare(const PreparedLaunch& launch, Last& last, const Launch& shape) {
  last.model_launch.shape = shape;
  slots_[plan_.block_slot] = shape.threads_per_block;
  slots_[plan_.grid_slot] = shape.blocks;
  if (gpu_->several_dimensions) set_dimensions(launch, last, shape);
  bool same = last.model_launch.revision != 0;
  const std::int64_t* slots = slots_.data();
  std::int64_t* values = last.values.data();
  for (std::size_t i = 0, size = last.values.size(); i < size; ++i) {
    std::int64_t value = 0;
    if (!launch.values[i].evaluate(slots, value)) fail_argument(launch, i);
    same &= value == values[i];
    values[i] = value;
  }
  if (!same) last.model_launch.revision = ++revisions_;
  if (!last.limited) return;
  if (launch.shared) take_shared(launch, last);
  if (last.threads_per_block != shape.threads_per_block) find_active_blocks(launch, last, shape);
}

inline const TimeBreakdown& RowModel::time_of(ModelSession& session, const PreparedLaunch& launch,
                                              std::size_t index, const Launch& shape) {
  Last& last = last_[index];
  prepare(launch, last, shape);
  if (launch.warps != nullptr) return time_of_variants(session, launch, index, shape);
  const TimeBreakdown* time = session.time(index, last.model_launch, why_);
  if (time == nullptr) fail_time(*launch.step);
  return *time;
}

inline void RowModel::launch(const PreparedLaunch& launch, std::size_t index, std::int64_t times) {
  if (more_than_times_) return launch_and_more(launch, index, times);
  const Launch shape = shape_of(launch, index);
  Last& last = last_[index];
  prepare(launch, last, shape);
  const auto number = static_cast<double>(times);
  const bool first = row_->launches == 0;
  if (launch.warps != nullptr) {
    row_->time.take(time_of_variants(*session_, launch, index, shape), number, first);
  } else if (!session_->add_time(index, last.model_launch, number, first, row_->time, why_)) {
    fail_time(*launch.step);
  }
  count_launches(launch, shape, times);
}

inline void RowModel::count_launches(const PreparedLaunch& launch, const Launch& shape, std::int64_t times) {
  if (row_->launches == 0) row_->first_launch = shape;
  if (__builtin_add_overflow(row_->launches, times, &row_->launches)) too_many_launches(*launch.step);
}

// What few rows ask for: the best launch, the terms of the sum, other models beside.
void RowModel::launch_and_more(const PreparedLaunch& launch, std::size_t index, std::int64_t times) {
  if (walk_) return add_kernel(launch, index, times);
  Launch shape = shape_of(launch, index);
  if (work_ != nullptr && !assumes_shares()) {  // whoever counts needs no time
    prepare(launch, last_[index], shape);
    add_work(launch, index, shape, static_cast<double>(times));
    row_->time = TimeBreakdown{};
    count_launches(launch, shape, times);
    return;
  }
  const TimeBreakdown* time = &time_of_any(*session_, *options_.model, launch, index, shape);
  const auto number = static_cast<double>(times);
  if (options_.best_launch) {
    algorithm_3_us_ += number * time->total_us;
    if (algorithm_3_queue_)
      algorithm_3_queue_->queue.add(time->us[algorithm_3_queue_->run.kernel_part], number);
    shape = best_of(launch, index, shape, time->total_us);
    time = &time_of_any(*session_, *options_.model, launch, index, shape);
  }
  if (gpu_->block_shapes) note_other_shape(launch, index, shape);
  if (terms_ != nullptr) add_term(launch, index, shape, *time, number);
  if (work_ != nullptr) add_work(launch, index, shape, number);
  const bool first = row_->launches == 0;
  row_->time.take(*time, number, first);
  count_launches(launch, shape, times);
  if (queue_) queue_->queue.add(time->us[queue_->run.kernel_part], number);
  if (first && gpu_->several_dimensions) set_first_dimensions(launch, index, shape);
  if (!beside_.empty()) times_beside(launch, index, shape, number);
}

// To the kernels that follow each other. What repeats is computed once.
void RowModel::add_kernel(const PreparedLaunch& launch, std::size_t index, std::int64_t times) {
  Launch shape = shape_of(launch, index);
  Last& last = last_[index];
  prepare(launch, last, shape);
  walk_->known.resize(std::max(walk_->known.size(), index + 1));
  Walk::Kernel kernel{shape, {}, last.values, last.shared_bytes, 0};
  if (launch.several_dimensions()) kernel.dimensions = last.dimensions;
  Walk::Kernel& known = walk_->known[index];
  const bool same = known.shape == kernel.shape && known.dimensions == kernel.dimensions &&
                    known.values == kernel.values && known.shared_bytes == kernel.shared_bytes;
  if (!same) {
    const TimeBreakdown* time = &time_of_any(*session_, *options_.model, launch, index, shape);
    if (options_.best_launch) {
      shape = best_of(launch, index, shape, time->total_us);
      time = &time_of_any(*session_, *options_.model, launch, index, shape);
    }
    kernel.us = walk_->has_run ? time->us[walk_->run.kernel_part] : time->total_us;
    known = std::move(kernel);
  }
  const auto number = static_cast<double>(times);
  if (!std::exchange(walk_->kernels, true)) walk_->queue = LaunchQueue(walk_->run.overheads);
  walk_->queue.add(known.us, number);
  walk_->kernels_us += number * known.us;
}

inline void RowModel::once(const PreparedStep& step, std::int64_t times) {
  if (step.launch < 0) {
    for (const PreparedStep& inner : step.steps) run(inner, times);
    return;
  }
  const auto index = static_cast<std::size_t>(step.launch);
  launch(gpu_->launches[index], index, times);
}

// times: how often all this is done.
void RowModel::run(const PreparedStep& step, std::int64_t times) {
  if (step.plain) return once(step, times);
  const std::int64_t count = evaluate(step.repeat, step.step->repeat, *step.step, "`repeat`");
  if (count <= 0) {
    if (count < 0) fail_negative(*step.step, count);
    return;
  }
  if (step.counter_slot < 0) {
    if (__builtin_mul_overflow(times, count, &times)) too_many_launches(*step.step);
    return once(step, times);
  }
  const auto slot = static_cast<std::size_t>(step.counter_slot);
  slots_[slot] = 0;
  bound_[slot] = 1;
  if (step.counted) {
    counted(step, count, times);
  } else {  // iterations that are all the same are computed once
    if (__builtin_mul_overflow(times, count, &times)) too_many_launches(*step.step);
    once(step, times);
  }
  bound_[slot] = 0;
}

void RowModel::counted(const PreparedStep& step, std::int64_t count, std::int64_t times) {
  iterations_ += static_cast<std::uint64_t>(std::min<std::int64_t>(count, kMostLaunchIterations + 1));
  if (iterations_ > kMostLaunchIterations) {
    fail(*step.step,
         {error(fmt::format(
             "`repeat: {}` is {}: launches that depend on the counter `{}` can repeat at most {} times",
             to_string(step.step->repeat), count, step.step->counter, kMostLaunchIterations))});
  }
  for (std::int64_t iteration = 0; iteration < count; ++iteration) {
    slots_[static_cast<std::size_t>(step.counter_slot)] = iteration;
    once(step, times);
  }
}

Diagnostics RowModel::row(std::size_t gpu, const std::vector<std::int64_t>& values, PredictionRow& row) {
  const PreparedGpu& prepared = plan_.gpus[gpu];
  if (gpu_ != &prepared || filled_ != &row) start_gpu_or_row(prepared, row);
  row_ = &row;
  iterations_ = 0;
  if (more_per_row_) start_more();
  for (std::size_t i = 0; i < values.size(); ++i) {
    slots_[i] = values[i];
    row.parameters[i].second = values[i];
  }
  row.launches = 0;
  try {
    for (const PreparedStep& step : gpu_->steps) run(step, 1);
  } catch (Failed& failed) {
    return with_row(std::move(failed.diagnostics));
  }
  if (more_per_row_) {
    if (options_.transfers && noting_)
      if (auto wrong = add_copies(); !wrong.empty()) return wrong;
    take_more(values);
  }
  if (row.launches == 0) {
    row.time = TimeBreakdown{};
    row.first_launch = Launch{};
    row.first_dimensions.reset();
  }
  if (!(row.time.total_us <= std::numeric_limits<double>::max())) return out_of_range();
  return {};
}

// ---- The rest.

void RowModel::start_gpu_or_row(const PreparedGpu& gpu, PredictionRow& row) {
  if (gpu_ != &gpu) start_gpu(gpu);
  start_row(row);
  const bool whole_launches = takes_whole_launches(options_);
  more_than_times_ = options_.best_launch || terms_ != nullptr || work_ != nullptr || !beside_.empty() ||
                     gpu_->block_shapes || gpu_->several_dimensions || whole_launches || options_.transfers;
  more_per_row_ = options_.best_launch || !beside_.empty() || gpu_->block_shapes || gpu_->differing_warps ||
                  whole_launches || options_.transfers;
}

// What few plans need before the launches of a row, …
void RowModel::start_more() {
  if (gpu_->differing_warps && noting_ && timed_.size() > kMostTimed) forget_variants();
  row_->notes = gpu_->notes;
  row_->beside_us.assign(beside_.size(), 0);
  algorithm_3_us_ = 0;
  if (takes_whole_launches(options_)) start_queues();
}

// … and after them.
void RowModel::take_more(const std::vector<std::int64_t>& values) {
  if (takes_whole_launches(options_)) take_queues();
  if (gpu_->differing_warps && noting_) note_shares(values);
  if (options_.best_launch) row_->algorithm_3_us = algorithm_3_us_;
}

void RowModel::start_queues() {
  const auto start = [](std::optional<Queue>& queue, const ModelSession& session) {
    queue.reset();
    if (const auto run = session.launch_run()) queue.emplace(Queue{*run});
  };
  start(queue_, *session_);
  if (options_.best_launch) start(algorithm_3_queue_, *session_);
  queues_beside_.resize(beside_.size());
  for (std::size_t i = 0; i < beside_.size(); ++i) start(queues_beside_[i], *beside_[i]);
}

void RowModel::take_queues() {
  if (queue_) {
    const double total_us = queue_->queue.total_us();
    row_->time.us[queue_->run.launch_part] += total_us - row_->time.total_us;
    row_->time.total_us = total_us;
  }
  if (algorithm_3_queue_) algorithm_3_us_ = algorithm_3_queue_->queue.total_us();
  for (std::size_t i = 0; i < queues_beside_.size(); ++i)
    if (queues_beside_[i]) row_->beside_us[i] = queues_beside_[i]->queue.total_us();
}

void RowModel::start_row(PredictionRow& row) {
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

Launch RowModel::new_shape(const PreparedLaunch& launch, std::int64_t threads, Sized& known) {
  Launch shape;
  if (threads >= 1) shape = algorithm_3(*gpu_->gpu, gpu_->divisors, threads);
  constexpr std::int64_t many_blocks = std::int64_t{1}
                                       << 50;  // only these come near the limit on their number
  if (!fits(*gpu_->gpu, shape) || shape.blocks > many_blocks)
    if (const auto checked = choose_launch(*gpu_->gpu, threads); !checked)
      fail(*launch.step, checked.diagnostics());
  known = {threads, shape};
  return shape;
}

Launch RowModel::given_shape(const PreparedLaunch& launch, Last& last) {
  const PlanStep& step = *launch.step;
  if (launch.grid.empty() || launch.block.empty()) fail(step, {error("the launch has no size")});
  if (launch.several_dimensions()) {
    find_dimensions(launch, last);
    return last.dimensions.launch();
  }
  const Launch shape{evaluate(launch.grid[0], step.launch->grid[0], step, kGrid),
                     evaluate(launch.block[0], step.launch->block[0], step, kBlock)};
  if (!fits(*gpu_->gpu, shape) || shape.blocks > kLargestGrid.x)
    fail(step, check_launch(*gpu_->gpu, one_dimensional(shape)).diagnostics());
  return shape;
}

void RowModel::find_dimensions(const PreparedLaunch& launch, Last& last) {
  const PlanStep& step = *launch.step;
  const auto sizes = [&](const std::vector<CompiledExpression>& compiled, const Dim3Expressions& expressions,
                         const char* what) {
    Dim3 found;
    for (std::size_t i = 0; i < compiled.size(); ++i)
      found.at(i) = evaluate(compiled[i], expressions[i], step, what);
    return found;
  };
  last.dimensions = {sizes(launch.grid, step.launch->grid, kGrid),
                     sizes(launch.block, step.launch->block, kBlock)};
  if (const auto checked = check_launch(*gpu_->gpu, last.dimensions); !checked)
    fail(step, checked.diagnostics());
}

Result<std::vector<LaunchTerm>> RowModel::terms(std::size_t gpu, const std::vector<std::int64_t>& values,
                                                bool by_warps, PredictionRow& row) {
  terms_by_warps_ = by_warps;
  std::vector<LaunchTerm> terms;
  terms_ = &terms;
  auto wrong = this->row(gpu, values, row);
  terms_ = nullptr;
  filled_ = nullptr;
  if (!wrong.empty()) return wrong;
  return terms;
}

Result<std::vector<LaunchWork>> RowModel::work(std::size_t gpu, const std::vector<std::int64_t>& values,
                                               PredictionRow& row) {
  std::vector<LaunchWork> work;
  work_ = &work;
  auto wrong = this->row(gpu, values, row);
  work_ = nullptr;
  filled_ = nullptr;
  if (!wrong.empty()) return wrong;
  return work;
}

void RowModel::add_work(const PreparedLaunch& launch, std::size_t index, const Launch& shape, double times) {
  LaunchWork one;
  one.launch = &launch;
  one.size = shape_with_dimensions(launch, index, shape);
  one.values = last_[index].values;
  one.times = times;
  if (launch.shared) one.shared_bytes = last_[index].shared_bytes;
  for (LaunchWork& known : *work_) {
    if (known.launch != one.launch || known.size != one.size || known.values != one.values ||
        known.shared_bytes != one.shared_bytes)
      continue;
    known.times += times;
    return;
  }
  one.whole = whole_launch(launch, index, shape);
  work_->push_back(std::move(one));
}

const TimeBreakdown& RowModel::time_of_any(ModelSession& session, const Model& model,
                                           const PreparedLaunch& launch, std::size_t index,
                                           const Launch& shape) {
  if (!model.takes_whole_launches()) return time_of(session, launch, index, shape);
  prepare(launch, last_[index], shape);
  ModelLaunch of = last_[index].model_launch;
  of.shape = shape;
  const auto whole = whole_launch(launch, index, shape);
  of.whole = &whole->on_gpu;
  const TimeBreakdown* time = session.time(index, of, why_);
  if (time == nullptr) fail_time(*launch.step);
  if (noting_)
    for (const std::string& note : session.notes()) add_row_note(note);
  return *time;
}

// Of the shape and values that were prepared last.
std::shared_ptr<const WholeLaunch> RowModel::whole_launch(const PreparedLaunch& launch, std::size_t index,
                                                          const Launch& shape) const {
  const KernelProgram& program = *launch.program->program;
  const GridAndBlock size = shape_with_dimensions(launch, index, shape);
  auto whole = std::make_shared<WholeLaunch>();
  LaunchOnGpu& on_gpu = whole->on_gpu;
  on_gpu.program = &program;
  on_gpu.values = bindings_of(launch, index);
  on_gpu.size = {{size.grid.x, size.grid.y, size.grid.z}, {size.block.x, size.block.y, size.block.z}};
  on_gpu.shares = shares_of(launch);
  KnownLaunches& known_launches = plan_.remembered->launches;
  KnownLaunches::Key key{&program, on_gpu.size, on_gpu.values, on_gpu.shares};
  if (const auto known = known_launches.find(key)) {
    whole->warps = *known;
  } else {
    auto warps = launch.warps->launch(on_gpu.values, on_gpu.size, on_gpu.shares, whole_launch_options());
    if (!warps) fail(*launch.step, warps.diagnostics());
    whole->warps = std::move(*warps);
    known_launches.add(std::move(key), whole->warps);
  }
  on_gpu.warps = &whole->warps;
  on_gpu.gpu = gpu_->gpu;
  on_gpu.known_runs = &plan_.remembered->runs;
  whole->resources =
      resources_of(program, launch.shared ? std::optional(last_[index].shared_bytes) : std::nullopt);
  whole->registers_estimated = !(program.resources && program.resources->registers_per_thread) &&
                               program.estimated_registers.has_value();
  on_gpu.occupancy = occupancy(*gpu_->gpu, size.block.product(), whole->resources);
  Bindings names = on_gpu.values;
  for (const auto& [name, value] : bindings()) names.insert_or_assign(name, value);
  on_gpu.places = array_places(*plan_.plan, *launch.step->launch, names);
  auto allocation = static_cast<std::int64_t>(plan_.plan->arrays.size());
  for (const Array& array : on_gpu.program->arrays)
    if (array.bytes) on_gpu.places.try_emplace(array.name, ArrayPlace{allocation++, 0, array.bytes});
  return whole;
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

// Notes a launch whose block is not the one that its program is made for.
void RowModel::note_other_shape(const PreparedLaunch& launch, std::size_t index, const Launch& shape) {
  const KernelProgram& program = *launch.program->program;
  if (!program.block_shape) return;
  const auto& [x, y, z] = *program.block_shape;
  const Dim3 block = shape_with_dimensions(launch, index, shape).block;
  if (block == Dim3{x, y, z}) return;
  add_row_note(
      fmt::format("the program of {} is made for blocks of {}, not {}: its access patterns may differ",
                  kernel_of(launch), to_string(Dim3{x, y, z}), to_string(block)));
}

void RowModel::add_row_note(std::string note) {
  auto& notes = row_->notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

// All dimensions of a launch that was computed last.
GridAndBlock RowModel::shape_with_dimensions(const PreparedLaunch& launch, std::size_t index,
                                             const Launch& shape) const {
  return launch.several_dimensions() ? last_[index].dimensions : one_dimensional(shape);
}

void RowModel::add_term(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                        const TimeBreakdown& time, double times) {
  if (launch.warps == nullptr || !terms_by_warps_ || options_.model->takes_whole_launches())
    return add_term(launch, *launch.program, index, shape, time, times);
  for (const WarpVariant& variant : variants_of(launch, index, shape).all) {
    ModelLaunch of = last_[index].model_launch;
    of.program = variant.timed->program.get();
    of.shape = shape;
    of.revision = last_[index].model_launch.revision = ++revisions_;
    last_[index].variant = of.program;
    const TimeBreakdown* alone = session_->time(index, of, why_);
    if (alone == nullptr) fail_time(*launch.step);
    add_term(launch, *of.program, index, shape, *alone, times * variant.weight);
  }
}

void RowModel::add_term(const PreparedLaunch& launch, const TimedProgram& program, std::size_t index,
                        const Launch& shape, const TimeBreakdown& time, double times) {
  const std::vector<std::int64_t>& values = last_[index].values;
  std::shared_ptr<const WholeLaunch> whole;
  if (options_.model->takes_whole_launches()) whole = whole_launch(launch, index, shape);
  for (LaunchTerm& term : *terms_) {
    if (term.launch != &launch || term.program != &program || term.shape != shape || term.values != values ||
        (whole && term.whole->on_gpu.size != whole->on_gpu.size))
      continue;
    term.times += times;
    return;
  }
  terms_->push_back({&launch,
                     &program,
                     shape,
                     values,
                     times,
                     time,
                     last_[index].model_launch.active_blocks_per_sm,
                     {},
                     std::move(whole)});
  if (launch.shared) terms_->back().shared_bytes = last_[index].shared_bytes;
}

double RowModel::share_of(const PreparedLaunch& launch, const Parameter& parameter) const {
  if (instead_ && instead_->first == parameter.name) return instead_->second;
  const auto given = launch.shares.find(parameter.name);
  return given == launch.shares.end() ? *parameter.share : given->second;
}

// The mean of the times that the launch would take if all its warps were like these or those.
const TimeBreakdown& RowModel::time_of_variants(ModelSession& session, const PreparedLaunch& launch,
                                                std::size_t index, const Launch& shape) {
  const WarpVariants& variants = variants_of(launch, index, shape);
  TimeBreakdown& mixed = &session == session_.get() ? mixed_ : mixed_beside_;
  mixed = {};
  Last& last = last_[index];
  for (const WarpVariant& variant : variants.all) {
    ModelLaunch of = last.model_launch;
    of.program = variant.timed->program.get();
    // What it does not use does not make it another program.
    variant_values_.resize(last.values.size());
    for (std::size_t i = 0; i < last.values.size(); ++i)
      variant_values_[i] = variant.timed->uses[i] != 0 ? last.values[i] : 0;
    of.values = &variant_values_;
    if (last.variant != of.program) of.revision = last.model_launch.revision = ++revisions_;
    last.variant = of.program;
    const TimeBreakdown* time = session.time(index, of, why_);
    if (time == nullptr) fail_time(*launch.step);
    mixed.add(*time, variant.weight);
  }
  if (variants.sampled)
    add_row_note("the warps of a launch are too many to look at each: a sample stands for them");
  if (variants.threads_unknown)
    add_row_note(
        "which threads execute some of the kernel depends on arguments without a value: taken as all");
  return mixed;
}

// Those of the shape and values that were prepared last.
const RowModel::WarpVariants& RowModel::variants_of(const PreparedLaunch& launch, std::size_t index,
                                                    const Launch& shape) {
  const GridAndBlock size = shape_with_dimensions(launch, index, shape);
  KnownWarps::Key& key = variant_key_;
  key.program = launch.program;
  key.values = last_[index].values;
  for (const auto& [name, expression] : launch.thread_values) {
    std::int64_t value = 0;
    key.values.push_back(expression.evaluate(slots_.data(), value) ? 1 : 0);
    key.values.push_back(value);
  }
  key.values.insert(key.values.end(),
                    {size.grid.x, size.grid.y, size.grid.z, size.block.x, size.block.y, size.block.z});
  for (const Parameter& parameter : launch.program->program->parameters)
    if (parameter.share) key.values.push_back(std::llround(share_of(launch, parameter) * 1e9));
  if (const auto known = variants_.find(key); known != variants_.end()) return known->second;
  if (variants_.size() >= plan_.known_warps->most()) variants_.clear();
  auto warps = known_warps().find(key);
  if (!warps) {
    const LaunchSize launch_size{{size.grid.x, size.grid.y, size.grid.z},
                                 {size.block.x, size.block.y, size.block.z}};
    warps = make_variants(launch, index, launch_size, key);
  }
  WarpVariants variants;
  variants.sampled = warps->sampled;
  variants.threads_unknown = warps->threads_unknown;
  for (const KnownWarps::Kind& kind : warps->kinds)
    variants.all.push_back({timed(*launch.program, kind.program), kind.weight});
  return variants_.emplace(key, std::move(variants)).first->second;
}

// The names that the program's counts and conditions use, as far as known.
Bindings RowModel::bindings_of(const PreparedLaunch& launch, std::size_t index) const {
  Bindings values;
  for (std::size_t i = 0; i < launch.program->names.size(); ++i)
    values[launch.program->names[i]] = last_[index].values[i];
  for (const auto& [name, expression] : launch.thread_values) {
    std::int64_t value = 0;
    if (expression.evaluate(slots_.data(), value)) values[name] = value;
  }
  return values;
}

Shares RowModel::shares_of(const PreparedLaunch& launch) const {
  Shares shares;
  for (const Parameter& parameter : launch.program->program->parameters)
    if (parameter.share) shares[parameter.name] = share_of(launch, parameter);
  return shares;
}

std::shared_ptr<const KnownWarps::Launch> RowModel::make_variants(const PreparedLaunch& launch,
                                                                  std::size_t index, const LaunchSize& size,
                                                                  const KnownWarps::Key& key) {
  const Bindings values = bindings_of(launch, index);
  const Shares shares = shares_of(launch);
  // Where data decide, several warps of each group stand for the shares that do one thing and the other.
  bool fractions = false;
  for (const auto& [name, share] : shares) fractions = fractions || (share > 0 && share < 1);
  const std::size_t phases = fractions ? 4 : 1;
  WarpOptions options;
  options.decisions = !fractions;
  auto warps = launch.warps->launch(values, size, shares, options);
  if (!warps) fail(*launch.step, warps.diagnostics());
  double all = 0;
  for (const WarpGroup& group : warps->groups) all += group.warps;
  const auto write = [&](std::size_t part) {
    const double phase = (static_cast<double>(part % phases) + 0.5) / static_cast<double>(phases);
    auto items = launch.warps->of_warp(values, size, warps->groups[part / phases], shares, phase);
    if (!items) fail(*launch.step, items.diagnostics());
    return std::move(*items);
  };
  std::vector<KnownWarps::Part> parts(warps->groups.size() * phases);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    WarpGroup& group = warps->groups[part / phases];
    parts[part].weight = group.warps / all / static_cast<double>(phases);
    parts[part].decisions = std::move(group.decisions);
    if (!parts[part].decisions) parts[part].items = write(part);
  }
  return known_warps().add(key, {{}, warps->sampled, warps->threads_unknown}, std::move(parts), write);
}

// Between rows: sessions know programs by their addresses.
void RowModel::forget_variants() {
  variants_.clear();
  timed_.clear();
  for (Last& last : last_) last.forget();
  session_ = options_.model->session(options_.model_options);
  for (std::size_t i = 0; i < beside_.size(); ++i)
    beside_[i] = options_.beside[i]->session(options_.model_options);
  start_sessions();
}

const RowModel::Timed* RowModel::timed(const TimedProgram& of,
                                       const std::shared_ptr<const KernelProgram>& program) {
  auto& known = timed_[program.get()];
  for (const auto& one : known)
    if (one->like == &of) return one.get();
  auto made = std::make_unique<Timed>();
  made->like = &of;
  made->program = std::make_unique<TimedProgram>(TimedProgram{program, of.durations, of.names});
  const std::vector<std::string> used = used_names(*program);
  for (const std::string& name : of.names)
    made->uses.push_back(static_cast<char>(std::find(used.begin(), used.end(), name) != used.end()));
  known.push_back(std::move(made));
  return known.back().get();
}

// Whether note_shares() has something to say.
bool RowModel::assumes_shares() const {
  return std::any_of(gpu_->launches.begin(), gpu_->launches.end(), [&](const PreparedLaunch& launch) {
    const auto& parameters = launch.program->program->parameters;
    return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
      return parameter.share &&
             (!launch.shares.contains(parameter.name) || options_.assumed_ranges.contains(parameter.name));
    });
  });
}

// Says what was assumed of what data decide, and what part of the time hangs on it.
void RowModel::note_shares(const std::vector<std::int64_t>& values) {
  struct Effect {
    std::string text;
    double part = 0;
  };
  std::vector<Effect> effects;
  std::vector<std::string> seen;
  PredictionRow* const row = row_;
  const double total = row->time.total_us;
  const auto gpu = static_cast<std::size_t>(gpu_ - plan_.gpus.data());
  std::vector<LaunchTerm>* const terms = std::exchange(terms_, nullptr);
  std::vector<LaunchWork>* const work = std::exchange(work_, nullptr);
  const auto with = [&](const std::string& name, double share) {
    instead_ = {name, share};
    PredictionRow other;
    filled_ = nullptr;
    const bool failed = !this->row(gpu, values, other).empty();
    instead_.reset();
    return failed ? total : other.time.total_us;
  };
  noting_ = false;
  std::size_t passed_over = 0;
  for (const PreparedLaunch& launch : gpu_->launches) {
    for (const Parameter& parameter : launch.program->program->parameters) {
      if (!parameter.share || launch.warps == nullptr ||
          std::find(seen.begin(), seen.end(), parameter.name) != seen.end())
        continue;
      const auto range = options_.assumed_ranges.find(parameter.name);
      if (range != options_.assumed_ranges.end()) {
        seen.push_back(parameter.name);
        const auto& [from, to] = range->second;
        const double low = with(parameter.name, from), high = with(parameter.name, to);
        effects.push_back(
            {fmt::format("{} from {} to {}: {:.4g} to {:.4g} us", parameter.name, from, to, low, high),
             std::numeric_limits<double>::max()});
        continue;
      }
      if (launch.shares.contains(parameter.name)) continue;
      seen.push_back(parameter.name);
      if (seen.size() > kMostSharesTried) {
        ++passed_over;
        continue;
      }
      const double low = with(parameter.name, 0), high = with(parameter.name, 1);
      effects.push_back(
          {fmt::format("assumed: {} = {} ({}); 0 to 1 of them take {:.4g} to {:.4g} us, {:.0f}% of the "
                       "time (`--assume {}=SHARE`)",
                       parameter.name, *parameter.share, parameter.description, low, high,
                       total > 0 ? 100 * std::abs(high - low) / total : 0, parameter.name),
           std::abs(high - low)});
    }
  }
  noting_ = true;
  terms_ = terms;
  work_ = work;
  row_ = row;
  filled_ = row;
  std::stable_sort(effects.begin(), effects.end(),
                   [](const Effect& a, const Effect& b) { return a.part > b.part; });
  if (effects.size() > kMostSharesSaid) {
    passed_over += effects.size() - kMostSharesSaid;
    effects.resize(kMostSharesSaid);
  }
  for (Effect& effect : effects) add_row_note(std::move(effect.text));
  if (passed_over > 0)
    add_row_note(fmt::format("assumed: {} more shares of warps, as the kernel programs say", passed_over));
}

Launch RowModel::best_of(const PreparedLaunch& launch, std::size_t index, const Launch& chosen,
                         double chosen_us) {
  const KernelProgram& program = *launch.program->program;
  const bool in_one = !launch.several_dimensions();
  const bool given = options_.best_of_given_blocks && in_one && !launch.threads && uses_block_size(program);
  if (!launch.threads && !given && !is_two_dimensional(last_[index].dimensions, launch)) return chosen;
  if (const std::string why = why_block_is_fixed(program); !why.empty()) {
    if (!options_.best_of_given_blocks)
      add_row_note(
          fmt::format("{}: --best-launch leaves its blocks as they are: {}", kernel_of(launch), why));
    return chosen;
  }
  const GridAndBlock before = shape_with_dimensions(launch, index, chosen);
  Launch best;
  if (in_one) {
    const std::int64_t threads =
        launch.threads ? evaluate(*launch.threads, *launch.step->launch->threads, *launch.step, "`threads`")
                       : chosen.blocks * chosen.threads_per_block;
    best = best_shape(launch, index, threads, chosen, chosen_us);
  } else {
    best = best_block(launch, index, chosen_us);
  }
  if (may_have_fixed_block(program) && !(shape_with_dimensions(launch, index, best) == before))
    add_row_note(fmt::format("{}: its {} bytes of static shared memory may be made for other blocks",
                             kernel_of(launch), program.resources->shared_bytes_static));
  return best;
}

// The bytes that a launch accesses, each counted once; nothing where some addresses are not known. A kernel that takes
// blockIdx.x for a row, say, does other work in other blocks.
std::optional<double> RowModel::footprint_of(const PreparedLaunch& launch, std::size_t index,
                                             const Launch& shape) {
  const auto whole = whole_launch(launch, index, shape);
  const LaunchOnGpu& on_gpu = whole->on_gpu;
  const Footprint footprint = LaunchFootprint(*on_gpu.program, on_gpu.values, on_gpu.size, on_gpu.places)
                                  .of_blocks(0, on_gpu.size.blocks());
  if (footprint.estimated) return std::nullopt;
  return footprint.all_bytes;
}

// Whether other blocks of a launch that has its own do the same work: they access the same bytes.
bool RowModel::same_work(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                         const std::optional<double>& bytes) {
  constexpr double same = 0.01;
  if (!options_.best_of_given_blocks || launch.threads) return true;
  const std::optional<double> others = bytes ? footprint_of(launch, index, shape) : std::nullopt;
  return others && std::abs(*others - *bytes) <= same * *bytes;
}

// The fastest launch in blocks of whole warps with at least so many threads; `chosen`, which takes chosen_us, if
// none is faster.
Launch RowModel::best_shape(const PreparedLaunch& launch, std::size_t index, std::int64_t threads,
                            const Launch& chosen, double chosen_us) {
  const Gpu& gpu = *gpu_->gpu;
  Launch best = chosen;
  double best_us = chosen_us;
  const std::optional<double> bytes =
      options_.best_of_given_blocks && !launch.threads ? footprint_of(launch, index, chosen) : std::nullopt;
  for (std::int64_t size = gpu.warp_size; size <= gpu.max_threads_per_block; size += gpu.warp_size) {
    if (options_.best_of_given_blocks && !is_power_of_two(size)) continue;
    const Launch candidate{threads / size + (threads % size != 0 ? 1 : 0), size};
    if (candidate == chosen || !fits(gpu, candidate)) continue;
    double us = 0;
    try {
      if (!same_work(launch, index, candidate, bytes)) continue;
      us = time_of_any(*session_, *options_.model, launch, index, candidate).total_us;
    } catch (Failed&) {
      continue;  // such as a block that does not fit the SM
    }
    if (us >= best_us) continue;
    best = candidate;
    best_us = us;
  }
  return best;
}

// The quickest block in two dimensions with a grid that has at least the launch's threads in each: 8 to 256
// threads in x, a power of two, 1 to 32 in y, whole warps together. Leaves it in last_[index].dimensions.
Launch RowModel::best_block(const PreparedLaunch& launch, std::size_t index, double chosen_us) {
  constexpr std::int64_t least_x = 8, most_x = 256, most_y = 32;
  const Gpu& gpu = *gpu_->gpu;
  Last& last = last_[index];
  const GridAndBlock chosen = last.dimensions;
  const std::int64_t threads_x = chosen.grid.x * chosen.block.x, threads_y = chosen.grid.y * chosen.block.y;
  GridAndBlock best = chosen;
  double best_us = chosen_us;
  const std::optional<double> bytes = options_.best_of_given_blocks && !launch.threads
                                          ? footprint_of(launch, index, chosen.launch())
                                          : std::nullopt;
  for (std::int64_t x = least_x; x <= most_x; x *= 2) {
    for (std::int64_t y = 1; y <= most_y; ++y) {
      if (x * y % gpu.warp_size != 0 || (options_.best_of_given_blocks && !is_power_of_two(y))) continue;
      last.dimensions = {{divide_up(threads_x, x), divide_up(threads_y, y), 1}, {x, y, 1}};
      const auto candidate = check_launch(gpu, last.dimensions);
      if (!candidate || last.dimensions == chosen) continue;
      double us = 0;
      try {
        if (!same_work(launch, index, *candidate, bytes)) continue;
        us = time_of_any(*session_, *options_.model, launch, index, *candidate).total_us;
      } catch (Failed&) {
        continue;  // not one such block fits the SM, say
      }
      if (us >= best_us) continue;
      best = last.dimensions;
      best_us = us;
    }
  }
  last.dimensions = best;
  return best.launch();
}

void RowModel::set_first_dimensions(const PreparedLaunch& launch, std::size_t index, const Launch& shape) {
  row_->first_dimensions = shape_with_dimensions(launch, index, shape);
}

// In a plan where y and z are not 1 throughout.
void RowModel::set_dimensions(const PreparedLaunch& launch, const Last& last, const Launch& shape) {
  const auto [grid, block] = launch.several_dimensions() ? last.dimensions : one_dimensional(shape);
  const std::array values = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
  std::copy(values.begin(), values.end(), slots_.begin() + static_cast<std::ptrdiff_t>(plan_.block_slot));
}

// How much dynamic shared memory the launch asks for. Another amount makes active_blocks_per_sm invalid, and
// what sessions remember of shapes.
void RowModel::take_shared(const PreparedLaunch& launch, Last& last) {
  const PlanStep& step = *launch.step;
  std::int64_t bytes = 0;
  if (!launch.shared->evaluate(slots_.data(), bytes)) fail_expression(*step.launch->shared, step, "`shared`");
  if (bytes < 0) fail(step, {error(fmt::format("`shared` is {}: it must be at least 0", bytes))});
  if (bytes == last.shared_bytes) return;
  last.shared_bytes = bytes;
  last.threads_per_block = 0;
  start_sessions();
}

void RowModel::find_active_blocks(const PreparedLaunch& launch, Last& last, const Launch& shape) const {
  const auto resources = with_shared_bytes(launch.program->program->resources,
                                           launch.shared ? std::optional(last.shared_bytes) : std::nullopt);
  const Occupancy occupied = occupancy(*gpu_->gpu, shape.threads_per_block, resources);
  if (occupied.active_blocks < 1) {
    const std::string why = occupied.notes.empty() ? "" : ": " + occupied.notes.back();
    fail(*launch.step, {error(fmt::format("no block of {} threads fits an SM of {}{}",
                                          shape.threads_per_block, gpu_->gpu->name, why))});
  }
  last.threads_per_block = shape.threads_per_block;
  last.model_launch.active_blocks_per_sm = occupied.active_blocks;
}

void RowModel::times_beside(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                            double times) {
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    const TimeBreakdown& time = time_of_any(*beside_[i], *options_.beside[i], launch, index, shape);
    row_->beside_us[i] += times * time.total_us;
    if (auto& queue = queues_beside_[i]) queue->queue.add(time.us[queue->run.kernel_part], times);
  }
}

void RowModel::fail_argument(const PreparedLaunch& launch, std::size_t index) const {
  const std::string& name = launch.program->names[index];
  Expression expression = Expression::name(name);
  for (const auto& [argument, value] : launch.step->launch->arguments) {
    if (argument == name) expression = value;
  }
  Bindings all = bindings();
  add_dimensions(all);
  const auto value = evaluate_count(expression, all);
  fail(*launch.step, value ? Diagnostics{error(fmt::format("the argument `{}` has no value", name))}
                           : prefixed(fmt::format("the argument `{}`", name), value.diagnostics()));
}

void RowModel::fail_expression(const Expression& expression, const PlanStep& step, const char* what) const {
  Bindings all = bindings();
  add_dimensions(all);
  const auto why = evaluate_count(expression, all);
  fail(step,
       why ? Diagnostics{error(fmt::format("{} has no value", what))} : prefixed(what, why.diagnostics()));
}

// The parameters and the counters that are counting.
Bindings RowModel::bindings() const {
  Bindings bindings;
  for (std::size_t i = 0; i < plan_.block_slot; ++i) {
    if (i < plan_.plan->parameters.size() || bound_[i]) bindings[plan_.slots[i]] = slots_[i];
  }
  return bindings;
}

void RowModel::add_dimensions(Bindings& to) const {
  for (std::size_t i = plan_.block_slot; i < plan_.slots.size(); ++i) to.emplace(plan_.slots[i], slots_[i]);
}

void RowModel::fail(const PlanStep& step, Diagnostics wrong) const {
  throw Failed{at_step(*plan_.plan, step, std::move(wrong))};
}

void RowModel::fail_time(const PlanStep& step) {
  fail(step, std::exchange(why_, {}));
}

void RowModel::fail_negative(const PlanStep& step, std::int64_t count) const {
  fail(step, {error(fmt::format("`repeat: {}` is negative: {}", to_string(step.repeat), count))});
}

Diagnostics RowModel::out_of_range() const {
  return with_row({error("the time is out of the range of numbers")});
}

void RowModel::too_many_launches(const PlanStep& step) const {
  fail(step, {error("the number of launches does not fit 64 bits")});
}

}  // namespace warptime
