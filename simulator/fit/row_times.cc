#include "simulator/fit/row_times.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <set>

namespace warptime {
namespace {

constexpr std::array<const char*, 4> kAccessNames = {"uniform", "coalesced", "strided", "scattered"};

void collect_open(const Items& items, std::set<std::pair<bool, int>>& open) {
  for (const Item& item : items) {
    if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      if (!access->cycles)
        open.emplace(access->kind == MemoryAccess::Kind::store,
                     static_cast<int>(access->access.value_or(Access::uniform)));
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      collect_open(repeat->body, open);
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      collect_open(when->then_items, open);
      collect_open(when->else_items, open);
    }
  }
}

}  // namespace

std::string to_string(DurationName name) {
  return std::string(name.store ? "store." : "load.") +
         kAccessNames.at(static_cast<std::size_t>(name.access));
}

double& duration(MemoryDurations& durations, DurationName name) {
  return (name.store ? durations.store : durations.load).at(static_cast<std::size_t>(name.access));
}

Result<std::unique_ptr<RowTimes>> RowTimes::make(const Plan& plan, const Gpu& gpu,
                                                 std::vector<std::vector<std::int64_t>> rows,
                                                 const ProgramLoader& loader) {
  std::unique_ptr<RowTimes> times(new RowTimes);
  times->gpu_ = &gpu;
  times->values_ = std::move(rows);
  auto prepared = PreparedPlan::make(plan, {&gpu}, times->options_, loader);
  if (!prepared) return prepared.diagnostics();
  times->prepared_ = std::make_unique<PreparedPlan>(std::move(*prepared));
  PreparedGpu& on = times->prepared_->gpus.front();
  times->t_p_us_ = on.t_p_us;
  times->t_m_cycles_ = on.t_m_cycles;
  on.t_p_us = 0;

  std::vector<std::size_t> all(times->values_.size());
  std::iota(all.begin(), all.end(), 0);
  const auto predicted = times->predict_rows(times->t_m_cycles_, gpu.durations, all, times->failed_);
  for (const FailedRow& failed : times->failed_) std::erase(all, failed.row);
  times->good_ = std::move(all);
  for (const PredictionRow& row : predicted) {
    times->launches_.push_back(static_cast<double>(row.launches));
    times->first_launches_.push_back(row.first_launch);
  }
  return times;
}

std::vector<DurationName> RowTimes::open_durations() const {
  std::set<std::pair<bool, int>> open;
  for (const auto& program : prepared_->programs) collect_open(program->program->program, open);
  std::vector<DurationName> names;
  for (const auto& [store, access] : open) names.push_back({store, access});
  return names;
}

Result<std::vector<double>> RowTimes::rest_us(double t_m_cycles, const MemoryDurations& durations) const {
  std::vector<FailedRow> failed;
  const auto rows = predict_rows(t_m_cycles, durations, good_, failed);
  if (!failed.empty()) return failed.front().why;
  std::vector<double> rest;
  rest.reserve(rows.size());
  for (const PredictionRow& row : rows) rest.push_back(row.time.total_us);
  return rest;
}

std::vector<double> RowTimes::prediction_us(double t_m_cycles) const {
  std::vector<double> durations;
  for (const std::size_t index : good_) {
    std::vector<FailedRow> failed;
    const auto begin = std::chrono::steady_clock::now();
    predict_rows(t_m_cycles, gpu_->durations, {index}, failed);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    durations.push_back(took.count());
  }
  return durations;
}

std::vector<PredictionRow> RowTimes::predict_rows(double t_m_cycles, const MemoryDurations& durations,
                                                  const std::vector<std::size_t>& which,
                                                  std::vector<FailedRow>& failed) const {
  prepared_->gpus.front().t_m_cycles = t_m_cycles;
  for (const auto& program : prepared_->programs) program->durations = durations;
  RowModel model(*prepared_, options_);  // a new one: what it remembers is of these durations
  std::vector<PredictionRow> rows;
  rows.reserve(which.size());
  PredictionRow row;  // the model fills in once what does not depend on the parameters
  for (const std::size_t index : which) {
    auto wrong = model.row(0, values_[index], row);
    if (wrong.empty()) {
      rows.push_back(row);
    } else {
      failed.push_back({index, std::move(wrong)});
    }
  }
  return rows;
}

}  // namespace warptime
