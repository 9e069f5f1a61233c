// What the model says for given runs of a plan on one GPU, as a function of what is fitted. A plan's time is
// t_p * launches + rest(t_m, durations), because t_p enters Algorithm 1 once per launch and nowhere else.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulator/predict/plan_model.h"
#include "simulator/predict/prediction.h"

namespace warptime {

// A row of which the model has no prediction, and why.
struct FailedRow {
  std::size_t row = 0;
  Diagnostics why;
};

// One of the GPU's memory durations: "load.coalesced".
struct DurationName {
  bool store = false;
  int access = 0;  // index into MemoryDurations::load or store
  friend bool operator==(const DurationName&, const DurationName&) = default;
};
std::string to_string(DurationName name);
double& duration(MemoryDurations& durations, DurationName name);

class RowTimes {
 public:
  // rows: values of the plan's parameters, in its order. The plan, the GPU and `rows` are copied or kept
  // alive by the caller as long as this lives (plan, gpu: by the caller). Rows that the model has no
  // prediction of are in failed(), and left out of what the other functions return. Errors: the loader's, a
  // name that nobody gives a value.
  static Result<std::unique_ptr<RowTimes>> make(const Plan& plan, const Gpu& gpu,
                                                std::vector<std::vector<std::int64_t>> rows,
                                                const ProgramLoader& loader);

  const std::vector<FailedRow>& failed() const { return failed_; }
  const std::vector<std::size_t>& rows() const { return good_; }     // indices into the rows given
  const std::vector<double>& launches() const { return launches_; }  // of rows(), same order
  const std::vector<Launch>& first_launches() const { return first_launches_; }
  const MemoryDurations& gpu_durations() const { return gpu_->durations; }
  double t_p_us() const { return t_p_us_; }          // without a fit: the plan's, or the GPU's default
  double t_m_cycles() const { return t_m_cycles_; }  // the same
  ParameterSource t_p_source() const { return prepared_->gpus.front().t_p_source; }
  ParameterSource t_m_source() const { return prepared_->gpus.front().t_m_source; }
  const std::vector<std::string>& notes() const { return prepared_->gpus.front().notes; }

  // The durations that the plan's programs leave to the GPU, which a fit can therefore change.
  std::vector<DurationName> open_durations() const;
  // Microseconds of each of rows() with t_p = 0. Errors: what a simulation says that went well in make().
  Result<std::vector<double>> rest_us(double t_m_cycles, const MemoryDurations& durations) const;
  // How many microseconds of this machine one prediction of each of rows() takes, nothing remembered from
  // another (T of equation 20).
  std::vector<double> prediction_us(double t_m_cycles) const;

 private:
  RowTimes() = default;
  std::vector<PredictionRow> predict_rows(double t_m_cycles, const MemoryDurations& durations,
                                          const std::vector<std::size_t>& which,
                                          std::vector<FailedRow>& failed) const;

  const Gpu* gpu_ = nullptr;
  std::vector<std::vector<std::int64_t>> values_;
  PredictionOptions options_;
  std::unique_ptr<PreparedPlan> prepared_;  // changed during a call: t_m and durations are written into it
  double t_p_us_ = 0, t_m_cycles_ = 0;
  std::vector<std::size_t> good_;
  std::vector<double> launches_;
  std::vector<Launch> first_launches_;
  std::vector<FailedRow> failed_;
};

}  // namespace warptime
