// The extended model: one SM's blocks of a launch are simulated (simulator/sm), with dependences, caches and shares of
// bandwidth, and stand for those of the others. No constant belongs to a kernel; the figures are the GPU's.
//
//   kernel_us = (cycles of the SM) / clock + what an empty kernel takes
//   time_us   = what two events around all launches of a row see (launch_queue.h)
//
// With constants that were fitted to a kernel, both are t_p + scale * (cycles of the SM) / clock.
#pragma once

#include "simulator/model/model.h"

namespace warptime {

class ExtendedModel : public Model {
 public:
  std::string_view name() const override { return "extended"; }
  std::string_view title() const override { return "extended"; }
  std::span<const TimePart> parts() const override;
  FittedConstants fitted_constants() const override { return FittedConstants::t_p_and_scale; }
  // It needs a launch's warps: time() below is an error.
  bool takes_whole_launches() const override { return true; }
  Result<TimeBreakdown> time(const Schedule& schedule, const ModelGpu& gpu,
                             const ModelLaunch& launch) const override;
  // Timing figures that a GPU's file does not have are those of the nearest architecture (with_nearest_timing).
  std::optional<BorrowedFigures> borrow(const Gpu& gpu, const GpuCatalogue& catalogue) const override;
  std::unique_ptr<ModelSession> session(const ModelOptions& options) const override;
  // By line, with limits and traffic.
  Result<std::vector<LineShare>> line_shares(const ExplainedRow& row) const override;
  // What changes to lines, registers, shared memory and precision would gain: each is predicted.
  std::vector<Claim> claims(const ExplainedRow& row, std::span<const LineShare> lines) const override;
};

}  // namespace warptime
