// The copies of rows, over time (PredictionOptions::transfers): a plan's steps once more, with the times of its launches.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulator/predict/row_model.h"

namespace warptime {
namespace {

constexpr std::uint64_t kMostCopyIterations = std::uint64_t{1} << 22;  // of repeats, per row
constexpr std::size_t kMostOperations = std::size_t{1} << 22;          // of a group in streams
constexpr std::int64_t kMostStreams = 1 << 16;

}  // namespace

Diagnostics RowModel::add_copies() {
  iterations_ = 0;
  walk_.emplace(gpu_->gpu->copies ? gpu_->gpu->copies->both_ways : 1);
  try {
    const auto run = session_->launch_run();
    if (run) walk_->run = *run;
    walk_->has_run = run.has_value();
    for (const PreparedStep& step : gpu_->steps) walk(step);
    end_kernels();
    if (!has_copies(plan_.plan->steps))
      for (const PlanTransfer& transfer : plan_.plan->transfers) walk(transfer, bindings());
    row_->with_copies = {walk_->copies_us, walk_->timeline.total_us()};
  } catch (Failed& failed) {
    walk_.reset();
    return with_row(std::move(failed.diagnostics));
  }
  walk_.reset();
  return {};
}

// The kernels that follow each other are one operation.
void RowModel::end_kernels() {
  if (!walk_->kernels) return;
  const double us = walk_->has_run ? walk_->queue.total_us() : walk_->kernels_us;
  walk_->kernels = false;
  walk_->kernels_us = 0;
  add_operation(StreamEngine::kernels, us);
}

void RowModel::add_operation(StreamEngine engine, double us) {
  walk_->timeline.add(walk_->stream, engine, us);
  if (!walk_->in_streams) walk_->timeline.join();
}

void RowModel::count_iteration(const PlanStep* step) {
  if (++iterations_ <= kMostCopyIterations && walk_->timeline.waiting() <= kMostOperations) return;
  Diagnostics wrong = {error(fmt::format(
      "with --transfers, what has copies can repeat at most {} times, with at most {} operations in streams",
      kMostCopyIterations, kMostOperations))};
  if (step != nullptr) fail(*step, std::move(wrong));
  throw Failed{std::move(wrong)};
}

void RowModel::walk(const PreparedStep& step) {
  const PlanStep& of = *step.step;
  if (!of.copy && !has_copies(of.steps)) return run(step, 1);
  const std::int64_t count = evaluate(step.repeat, of.repeat, of, "`repeat`");
  if (count < 0) fail_negative(of, count);
  const bool begins_streams = of.streams.has_value();
  std::int64_t streams = 1;
  if (begins_streams) {
    streams = count_of(*of.streams, of, "`streams`");
    if (streams < 1 || streams > kMostStreams)
      fail(of, {error(fmt::format("`streams: {}` is {}: it must be 1 to {}", to_string(*of.streams), streams,
                                  kMostStreams))});
    end_kernels();
    walk_->in_streams = true;
  }
  for (std::int64_t iteration = 0; iteration < count; ++iteration) {
    count_iteration(&of);
    if (step.counter_slot >= 0) {
      slots_[static_cast<std::size_t>(step.counter_slot)] = iteration;
      bound_[static_cast<std::size_t>(step.counter_slot)] = 1;
    }
    if (begins_streams) walk_->stream = static_cast<std::size_t>(iteration % streams);
    if (of.copy && step.counter_slot < 0) {
      add_copy(of, static_cast<double>(count));
      break;
    }
    if (of.copy) add_copy(of, 1);
    for (const PreparedStep& inner : step.steps) walk(inner);
    if (begins_streams) end_kernels();
  }
  if (step.counter_slot >= 0) bound_[static_cast<std::size_t>(step.counter_slot)] = 0;
  if (!begins_streams) return;
  walk_->timeline.join();
  walk_->in_streams = false;
  walk_->stream = 0;
}

void RowModel::add_copy(const PlanStep& step, double times) {
  end_kernels();
  const std::int64_t bytes = count_of(step.copy->bytes, step, "`bytes`");
  if (bytes < 0) fail(step, {error(fmt::format("`bytes` is {}: it must be at least 0", bytes))});
  const CopyFigures& copies = *gpu_->gpu->copies;
  const bool to_host = step.copy->direction == PlanTransferDirection::device_to_host;
  const auto size = static_cast<double>(bytes);
  const double us = times * (to_host ? copies.to_host_us(size) : copies.to_device_us(size));
  walk_->copies_us += us;
  add_operation(to_host ? StreamEngine::to_host : StreamEngine::to_device, us);
}

std::int64_t RowModel::count_of(const Expression& expression, const PlanStep& step, const char* what) const {
  const auto value = evaluate_count(expression, bindings());
  if (!value) fail_expression(expression, step, what);
  return *value;
}

// One after the other, and with the launches: their order does not change the time.
void RowModel::walk(const PlanTransfer& transfer, const Bindings& bindings) {
  const auto value_of = [](const Expression& expression, const Bindings& with, const char* what) {
    const auto value = evaluate_count(expression, with);
    if (!value) throw Failed{value.diagnostics()};
    if (*value < 0)
      throw Failed{{error(fmt::format("{} of a transfer is {}: it must be at least 0", what, *value))}};
    return *value;
  };
  const std::int64_t count = value_of(transfer.repeat, bindings, "`repeat`");
  const bool once = transfer.counter.empty() && transfer.transfers.empty();
  Bindings inner = bindings;
  for (std::int64_t iteration = 0; iteration < (once ? std::min<std::int64_t>(count, 1) : count);
       ++iteration) {
    count_iteration(nullptr);
    if (!transfer.counter.empty()) inner[transfer.counter] = iteration;
    for (const PlanTransfer& one : transfer.transfers) walk(one, inner);
    if (!transfer.transfers.empty()) continue;
    const double us =
        (once ? static_cast<double>(count) : 1.0) *
        transfer_us(transfer.direction, static_cast<double>(value_of(transfer.bytes, inner, "`bytes`")));
    walk_->copies_us += us;
    add_operation(StreamEngine::kernels, us);
  }
}

double RowModel::transfer_us(PlanTransferDirection direction, double bytes) const {
  const Gpu& gpu = *gpu_->gpu;
  switch (direction) {
    case PlanTransferDirection::host_to_device:
      return gpu.copies->to_device_us(bytes);
    case PlanTransferDirection::device_to_host:
      return gpu.copies->to_host_us(bytes);
    case PlanTransferDirection::device_to_device:
      return 2 * bytes / (*gpu.memory_bandwidth_gb_s * 1e3);
    case PlanTransferDirection::set:
      break;
  }
  return bytes / (*gpu.memory_bandwidth_gb_s * 1e3);
}

}  // namespace warptime
