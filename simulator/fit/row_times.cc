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
                                                 const ProgramLoader& loader, MeasuredTime time) {
  std::unique_ptr<RowTimes> times(new RowTimes);
  times->options_ = options;
  times->options_.places = true;
  times->values_ = std::move(rows);
  auto prepared = PreparedPlan::make(plan, {&gpu}, times->options_, loader);
  if (!prepared) return prepared.diagnostics();
  times->prepared_ = std::make_unique<PreparedPlan>(std::move(*prepared));
  PreparedGpu& on = times->prepared_->gpus.front();
  times->t_p_us_ = on.constants.t_p_us;
  times->t_m_cycles_ = on.constants.t_m_cycles;
  times->durations_ = on.durations;
  times->scale_ = on.constants.scale;
  on.constants.t_p_us = 0;
  on.constants.scale.reset();

  std::vector<std::size_t> all(times->values_.size());
  std::iota(all.begin(), all.end(), 0);
  const auto predicted = times->predict_rows(times->t_m_cycles_, times->durations_, all, times->failed_);
  std::vector<bool> without_prediction(all.size());
  for (const FailedRow& failed : times->failed_) without_prediction[failed.row] = true;
  std::erase_if(all, [&](std::size_t row) { return without_prediction[row]; });
  times->good_ = std::move(all);
  for (const PredictionRow& row : predicted) {
    times->launches_.push_back(static_cast<double>(row.launches));
    times->first_launches_.push_back(row.first_launch);
  }
  if (times->model().fitted_constants() != FittedConstants::t_p_and_t_m) times->keep_times(predicted, time);
  return times;
}

void RowTimes::keep_times(const std::vector<PredictionRow>& rows, MeasuredTime time) {
  const auto parts = model().parts();
  const auto kernels = time == MeasuredTime::kernels ? find_part(model(), "kernel_us") : std::nullopt;
  for (const PredictionRow& row : rows) {
    own_us_.push_back(kernels ? row.time.us[*kernels] : row.time.total_us);
    double launches_us = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].kind == TimePart::Kind::launch) launches_us += row.time.us[i];
    without_launches_us_.push_back(row.time.total_us - launches_us);
  }
  std::vector<double> took;
  for (const std::size_t index : good_) took.push_back(took_us_[index]);
  took_us_ = std::move(took);
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

std::vector<std::string> RowTimes::kernels_with(const DurationName& access) const {
  std::vector<std::string> kernels;
  for (const auto& program : prepared_->programs) {
    const std::string& kernel = program->program->provenance.kernel;
    if (has_access(*program->program, access) &&
        std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
      kernels.push_back(kernel);
  }
  return kernels;
}

Result<std::vector<double>> RowTimes::rest_us(double t_m_or_scale, const MemoryDurations& durations) const {
  std::vector<std::size_t> all(good_.size());
  std::iota(all.begin(), all.end(), 0);
  return rest_us(t_m_or_scale, durations, all);
}

Result<std::vector<double>> RowTimes::rest_us(double t_m_or_scale, const MemoryDurations& durations,
                                              const std::vector<std::size_t>& which) const {
  std::vector<double> rest;
  rest.reserve(which.size());
  if (model().has_scale() || !own_us_.empty()) {
    for (const std::size_t index : which)
      rest.push_back(model().has_scale() ? without_launches_us_[index] * t_m_or_scale : own_us_[index]);
    return rest;
  }
  std::vector<std::size_t> given;
  given.reserve(which.size());
  for (const std::size_t index : which) given.push_back(good_[index]);
  std::vector<FailedRow> failed;
  const auto rows = predict_rows(t_m_or_scale, durations, given, failed);
  if (!failed.empty()) return failed.front().why;
  for (const PredictionRow& row : rows) rest.push_back(row.time.total_us);
  return rest;
}

Result<std::vector<double>> RowTimes::times_us() const {
  if (model().has_scale() && !scale_) return own_us_;
  auto times = rest_us(scale_.value_or(t_m_cycles_), durations_);
  if (!times) return times;
  for (std::size_t i = 0; i < times->size(); ++i) (*times)[i] += t_p_us_ * launches_[i];
  return times;
}

std::vector<double> RowTimes::prediction_us() const {
  if (!own_us_.empty()) return took_us_;
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
  for (const auto& program : prepared_->programs)
    program->durations = durations_of(*program->program, durations);
  RowModel model(*prepared_, options_);  // a new one: what it remembers is of these durations
  std::vector<PredictionRow> rows;
  rows.reserve(which.size());
  took_us_.clear();
  PredictionRow row;  // the model fills in once what does not depend on the parameters
  for (const std::size_t index : which) {
    const auto begin = std::chrono::steady_clock::now();
    auto wrong = model.row(0, values_[index], row);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    took_us_.push_back(took.count());
    if (wrong.empty()) {
      rows.push_back(row);
    } else {
      failed.push_back({index, std::move(wrong)});
    }
  }
  return rows;
}

}  // namespace warptime
