// The model of Puchala, Stokfiszewski and Wieloch (2022) as a Model: Algorithm 1 (runs of active blocks)
// around Algorithm 2 (the simulation of a core package).
#pragma once

#include "simulator/model/model.h"

namespace warptime {

class PuchalaModel : public Model {
 public:
  std::string_view name() const override { return "puchala"; }
  std::string_view title() const override { return "Puchala"; }
  std::span<const TimePart> parts() const override;
  FittedConstants fitted_constants() const override { return FittedConstants::t_p_and_t_m; }
  Diagnostics check(const Gpu& gpu) const override;
  Result<TimeBreakdown> time(const Schedule& schedule, const ModelGpu& gpu,
                             const ModelLaunch& launch) const override;
  // Caches schedules, and times of core packages by warps.
  std::unique_ptr<ModelSession> session(const ModelOptions& options) const override;
  Result<std::vector<LineShare>> line_shares(const ExplainedRow& row) const override;
  std::vector<Claim> claims(const ExplainedRow& row, std::span<const LineShare>) const override;
  std::string about_bound(const TimePart& part, const ExplainedRow& row) const override;
};

}  // namespace warptime
