// The model of Luo and Suda (2011) as a Model.
#pragma once

#include "simulator/model/model.h"

namespace warptime {

class LuoSudaModel : public Model {
 public:
  std::string_view name() const override { return "luo-suda"; }
  std::string_view title() const override { return "Luo-Suda"; }
  std::span<const TimePart> parts() const override;
  bool reads_instruction_classes() const override { return true; }
  Diagnostics check(const Gpu& gpu) const override;
  // Luo and Suda measured their figures on one GPU, the GTX 260; other GPUs borrow them.
  std::optional<BorrowedFigures> borrow(const Gpu& gpu, const GpuCatalogue& catalogue) const override;
  Result<TimeBreakdown> time(const Schedule& schedule, const ModelGpu& gpu,
                             const ModelLaunch& launch) const override;
  // P, CPD, MPD and the types of the calculation periods of each launch: equations (1) to (5), section 3.5.
  std::vector<Claim> claims(const ExplainedRow& row, std::span<const LineShare> lines) const override;
};

}  // namespace warptime
