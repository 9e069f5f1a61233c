#include "simulator/fit/row_times.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <set>

#include "simulator/predict/row_model.h"
#include "simulator/program/walk.h"

namespace warptime {
Result<std::unique_ptr<RowTimes>> RowTimes::make(const Plan& plan, const Gpu& gpu,
                                                 std::vector<std::vector<std::int64_t>> rows,
                                                 const PredictionOptions& options,
                                                 const ProgramLoader& loader) {
  std::unique_ptr<RowTimes> times(new RowTimes);
  times->options_ = options;
  times->values_ = std::move(rows);
  auto prepared = PreparedPlan::make(plan, {&gpu}, times->options_, loader);
  if (!prepared) return prepared.diagnostics();
  times->prepared_ = std::make_unique<PreparedPlan>(std::move(*prepared));
  PreparedGpu& on = times->prepared_->gpus.front();
  times->t_p_us_ = on.constants.t_p_us;
  times->t_m_cycles_ = on.constants.t_m_cycles;
  times->durations_ = on.durations;
  on.constants.t_p_us = 0;

  std::vector<std::size_t> all(times->values_.size());
  std::iota(all.begin(), all.end(), 0);
  const auto predicted = times->predict_rows(times->t_m_cycles_, times->durations_, all, times->failed_);
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
  for (const auto& program : prepared_->programs) {
    for_each_access(program->program->program, [&](const MemoryAccess& access) {
      if (!access.cycles)
        open.emplace(access.kind == MemoryAccess::Kind::store,
                     static_cast<int>(access.access.value_or(Access::uniform)));
    });
  }
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
  const auto kernel_part =
      options_.kernel_times ? find_part(*options_.model, "kernel_us") : std::optional<std::size_t>();
  for (const PredictionRow& row : rows)
    rest.push_back(kernel_part ? row.time.us[*kernel_part] : row.time.total_us);
  return rest;
}

Result<std::vector<double>> RowTimes::times_us() const {
  auto times = rest_us(t_m_cycles_, durations_);
  if (!times) return times;
  for (std::size_t i = 0; i < times->size(); ++i) (*times)[i] += t_p_us_ * launches_[i];
  return times;
}

std::vector<double> RowTimes::prediction_us() const {
  std::vector<double> durations;
  for (const std::size_t index : good_) {
    std::vector<FailedRow> failed;
    const auto begin = std::chrono::steady_clock::now();
    predict_rows(t_m_cycles_, durations_, {index}, failed);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    durations.push_back(took.count());
  }
  return durations;
}

std::vector<PredictionRow> RowTimes::predict_rows(double t_m_cycles, const MemoryDurations& durations,
                                                  const std::vector<std::size_t>& which,
                                                  std::vector<FailedRow>& failed) const {
  prepared_->gpus.front().constants.t_m_cycles = t_m_cycles;
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
