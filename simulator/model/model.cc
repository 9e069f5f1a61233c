#include "simulator/model/model.h"

#include <algorithm>
#include <array>

namespace warptime {
namespace {

// The session of a model without a cache of its own: it keeps the last schedule of each launch.
class PlainSession : public ModelSession {
 public:
  explicit PlainSession(const Model& model) : model_(model) {}

  void start(const ModelGpu& gpu, std::size_t launches) override {
    gpu_ = &gpu;
    kept_.assign(launches, {});
  }

  const TimeBreakdown* time(std::size_t number, const ModelLaunch& launch, Diagnostics& why) override {
    Kept& kept = kept_[number];
    if (!kept.schedule || kept.revision != launch.revision) {
      kept.schedule.reset();
      const TimedProgram& program = *launch.program;
      Bindings bindings;
      for (std::size_t i = 0; i < program.names.size(); ++i) bindings[program.names[i]] = (*launch.values)[i];
      auto schedule = make_schedule_of_bound(*program.program, std::move(bindings), program.durations);
      if (!schedule) {
        why = schedule.diagnostics();
        return nullptr;
      }
      kept.schedule = std::move(*schedule);
      kept.revision = launch.revision;
    }
    auto result = model_.time(*kept.schedule, *gpu_, launch);
    if (!result) {
      why = result.diagnostics();
      return nullptr;
    }
    time_ = *result;
    return &time_;
  }

 private:
  struct Kept {
    std::optional<Schedule> schedule;
    std::uint64_t revision = 0;
  };
  const Model& model_;
  const ModelGpu* gpu_ = nullptr;
  std::vector<Kept> kept_;  // by the launch's number
  TimeBreakdown time_;
};

}  // namespace

Diagnostics Model::check(const Gpu&) const {
  return {};
}

std::optional<BorrowedFigures> Model::borrow(const Gpu&, const GpuCatalogue&) const {
  return std::nullopt;
}

std::unique_ptr<ModelSession> Model::session(const ModelOptions&) const {
  return std::make_unique<PlainSession>(*this);
}

Result<std::vector<LineShare>> Model::line_shares(const ExplainedRow&) const {
  return std::vector<LineShare>();
}

std::vector<Claim> Model::claims(const ExplainedRow&, std::span<const LineShare>) const {
  return {};
}

std::string Model::about_bound(const TimePart&, const ExplainedRow&) const {
  return {};
}

void add_limit(std::vector<Limit>& limits, const Limit& more) {
  if (!(more.us > 0)) return;
  const auto known =
      std::find_if(limits.begin(), limits.end(), [&](const Limit& limit) { return limit.key == more.key; });
  if (known != limits.end())
    known->us += more.us;
  else
    limits.push_back(more);
}

void sort_longest_first(std::vector<Limit>& limits) {
  std::stable_sort(limits.begin(), limits.end(), [](const Limit& a, const Limit& b) { return a.us > b.us; });
}

double LineShare::total_us() const {
  double total = 0;
  for (const double one : us) total += one;
  return total;
}

std::optional<std::size_t> find_part(const Model& model, std::string_view key) {
  const auto parts = model.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].key == key) return i;
  }
  return std::nullopt;
}

std::string_view to_string(Claim::Kind kind) {
  static constexpr std::array<std::string_view, 15> kNames = {
      "bound",           "occupancy",          "more warps",       "partial run",     "best launch",
      "fewer loads",     "coalesced",          "no conflicts",     "no local memory", "no divergence",
      "fewer registers", "less shared memory", "single precision", "traffic",         "model terms"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace warptime
