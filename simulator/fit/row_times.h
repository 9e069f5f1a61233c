// The times that a model predicts for given runs of a plan on one GPU, as a function of the fitted constants.
// With a model that has constants, a plan's time is t_p * launches + rest(t_m, durations): t_p enters once
// per launch and nowhere else (Algorithm 1). With a model whose second constant is a scale, the rest is scale
// times what the model predicts without launch overhead (FittedConstants). With another model, the time is
// the rest alone, and there is nothing to fit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/predict/prediction.h"
#include "simulator/predict/prepare.h"

namespace warptime {

// A row without a prediction, and why.
struct FailedRow {
  std::size_t row = 0;
  Diagnostics why;
};

// What was measured, and so what is predicted by models that tell the two apart.
enum class MeasuredTime : std::uint8_t {
  kernels,  // the sum of the kernels' own durations
  plan      // from the first launch to the end of the last
};

class RowTimes {
 public:
  // rows: values of the plan's parameters, in its order. The plan, the GPU and `rows` are copied or kept
  // alive by the caller as long as this lives (plan, gpu: by the caller). Rows without a prediction are in
  // failed(), and the other functions do not return them. Errors: the loader's, a name without a value.
  static Result<std::unique_ptr<RowTimes>> make(const Plan& plan, const Gpu& gpu,
                                                std::vector<std::vector<std::int64_t>> rows,
                                                const PredictionOptions& options, const ProgramLoader& loader,
                                                MeasuredTime time = MeasuredTime::kernels);

  const Model& model() const { return *options_.model; }
  const std::vector<FailedRow>& failed() const { return failed_; }
  const std::vector<std::size_t>& rows() const { return good_; }     // indices into the rows given
  const std::vector<double>& launches() const { return launches_; }  // of rows(), same order
  const std::vector<Launch>& first_launches() const { return first_launches_; }
  // Before a fit: those of the options, the plan or the GPU (constants.h).
  double t_p_us() const { return t_p_us_; }
  double t_m_cycles() const { return t_m_cycles_; }
  std::optional<double> scale() const { return scale_; }
  const MemoryDurations& durations() const { return durations_; }
  ConstantSource t_p_source() const { return prepared_->gpus.front().t_p_source; }
  ConstantSource t_m_source() const { return prepared_->gpus.front().t_m_source; }
  const std::vector<std::string>& notes() const { return prepared_->gpus.front().notes; }

  // The durations that the plan's programs leave to the GPU, which a fit can therefore change.
  std::vector<DurationName> open_durations() const;
  // The kernels that have this single access.
  std::vector<std::string> kernels_with(const DurationName& access) const;
  // Microseconds of each of rows() with t_p = 0 and this t_m, or this scale. Errors: the simulation's.
  Result<std::vector<double>> rest_us(double t_m_or_scale, const MemoryDurations& durations) const;
  // The same of some rows, given by their indices into rows(), in that order.
  Result<std::vector<double>> rest_us(double t_m_or_scale, const MemoryDurations& durations,
                                      const std::vector<std::size_t>& which) const;
  // The values of the plan's parameters in the row at this index of rows().
  const std::vector<std::int64_t>& values(std::size_t index) const { return values_[good_[index]]; }
  // The times with the constants above.
  Result<std::vector<double>> times_us() const;
  // The microseconds that one prediction of each of rows() takes on this machine, without results cached from
  // another (T of equation 20).
  std::vector<double> prediction_us() const;

 private:
  RowTimes() = default;
  std::vector<PredictionRow> predict_rows(double t_m_cycles, const MemoryDurations& durations,
                                          const std::vector<std::size_t>& which,
                                          std::vector<FailedRow>& failed) const;
  void keep_times(const std::vector<PredictionRow>& rows, MeasuredTime time);

  std::vector<std::vector<std::int64_t>> values_;
  PredictionOptions options_;
  std::unique_ptr<PreparedPlan> prepared_;  // changed during a call: t_m and durations are written into it
  double t_p_us_ = 0, t_m_cycles_ = 0;
  std::optional<double> scale_;
  // Of a model without t_m, whose times are the same in every call: those of good_, and without launch
  // overhead.
  std::vector<double> own_us_, without_launches_us_;
  mutable std::vector<double> took_us_;  // that predict_rows() took for each row, in its last call
  MemoryDurations durations_;
  std::vector<std::size_t> good_;
  std::vector<double> launches_;
  std::vector<Launch> first_launches_;
  std::vector<FailedRow> failed_;
};

}  // namespace warptime
