// A cost more in a model: Puchala's, with what it takes to start blocks. A cost is a part, and the time that goes into
// it.
#include <algorithm>
#include <array>

#include "simulator/model/puchala/puchala.h"
#include "simulator/predict/models.h"

namespace warptime {
namespace {

constexpr double kBlockStartUs = 0.0006;  // of one block, for the whole GPU

class PuchalaWithBlockStarts : public PuchalaModel {
 public:
  PuchalaWithBlockStarts() {
    const auto known = PuchalaModel::parts();
    std::copy(known.begin(), known.end(), parts_.begin());
    parts_.back() = {"block_start_us", "start", "starting blocks", "block-bound", TimePart::Kind::launch};
  }
  std::string_view name() const override { return "puchala-block-start"; }
  std::string_view title() const override { return "Block start"; }
  std::span<const TimePart> parts() const override { return parts_; }

  Result<TimeBreakdown> time(const Schedule& schedule, const ModelGpu& gpu,
                             const ModelLaunch& launch) const override {
    auto time = PuchalaModel::time(schedule, gpu, launch);
    if (!time) return time;
    const double start_us = kBlockStartUs * static_cast<double>(launch.shape.blocks);
    time->us[parts_.size() - 1] = start_us;
    time->total_us += start_us;
    return time;
  }
  std::unique_ptr<ModelSession> session(const ModelOptions& options) const override {
    return Model::session(options);
  }

 private:
  std::array<TimePart, 8> parts_;
};

const PuchalaWithBlockStarts model;
[[maybe_unused]] const bool registered_block_starts = (register_model(model), true);

}  // namespace
}  // namespace warptime
