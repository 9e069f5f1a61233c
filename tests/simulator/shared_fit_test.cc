#include "simulator/fit/shared_fit.h"

#include <gtest/gtest.h>

#include <random>

#include "test_files.h"

namespace warptime {
namespace {

constexpr const char* kPlan = R"(name: two
parameters: [A, B, N]
launches:
  - {kernel: two.yaml, threads: N}
)";
constexpr const char* kProgram = R"(program:
  - instructions: 20
  - repeat: A
    body: [{load: {access: coalesced}}, {instructions: 9}]
  - repeat: B
    body: [{load: {access: strided}}, {instructions: 15}]
  - store: {access: coalesced}
)";

struct MadeGpu {
  const char* name;
  double t_p_us, t_m_cycles;
};
constexpr MadeGpu kMade[] = {{"gtx-1070", 6.3, 18.5}, {"rtx-2060", 5.2, 4}, {"gt-720m", 11, 33}};
constexpr double kCoalesced = 137, kStrided = 310;

class SharedFit : public testing::Test {
 protected:
  // What the model says with the figures above, each time changed by up to `noise` of it.
  void make(double noise) {
    auto read = read_plan(kPlan, "two.plan.yaml");
    ASSERT_TRUE(read) << to_text(read.diagnostics());
    plan_ = std::move(*read);
    const KernelProgram program = test::program_of(kProgram);
    const ProgramLoader loader = [program](const Plan&, const PlanLaunch&,
                                           const Gpu&) -> Result<LoadedProgram> {
      return LoadedProgram(program, {});
    };
    std::mt19937 random(11);
    for (const MadeGpu& made : kMade) {
      std::vector<std::vector<std::int64_t>> sizes;
      for (const std::int64_t a : {8, 64})
        for (const std::int64_t b : {4, 96})
          for (std::int64_t n = 64; n <= 1 << 20; n *= 4) sizes.push_back({a, b, n});
      auto times =
          RowTimes::make(plan_, **GpuCatalogue::bundled().find(made.name), std::move(sizes), {}, loader);
      ASSERT_TRUE(times) << to_text(times.diagnostics());
      MemoryDurations durations = (*times)->durations();
      duration(durations, *find_duration_name("load.coalesced")) = kCoalesced;
      duration(durations, *find_duration_name("load.strided")) = kStrided;
      const auto rest = (*times)->rest_us(made.t_m_cycles, durations);
      ASSERT_TRUE(rest);
      SharedFitRows rows{times->get(), {}, {}};
      for (std::size_t i = 0; i < rest->size(); ++i) {
        const double share = static_cast<double>(random() % 2001) / 1000 - 1;
        rows.which.push_back(i);
        rows.measured_us.push_back((made.t_p_us * (*times)->launches()[i] + (*rest)[i]) *
                                   (1 + noise * share));
      }
      rows_.push_back(std::move(rows));
      times_.push_back(std::move(*times));
    }
  }

  static FitOptions options() {
    FitOptions options;
    options.durations = {{*find_duration_name("load.coalesced"), 20, 600},
                         {*find_duration_name("load.strided"), 20, 600}};
    return options;
  }

  // The durations, and each GPU's t_m with them, within this share of what they were made with.
  void expect_found(double duration_share, double t_m_share) {
    const auto shared = fit_shared_durations(rows_, options());
    ASSERT_TRUE(shared) << to_text(shared.diagnostics());
    ASSERT_EQ(shared->size(), 2u);
    EXPECT_NEAR((*shared)[0].cycles, kCoalesced, duration_share * kCoalesced);
    EXPECT_NEAR((*shared)[1].cycles, kStrided, duration_share * kStrided);
    for (std::size_t gpu = 0; gpu < rows_.size(); ++gpu) {
      FitOptions options;
      options.base = times_[gpu]->durations();
      for (const FittedDuration& one : *shared) duration(*options.base, one.name) = one.cycles;
      const auto fitted =
          fit(*times_[gpu], rows_[gpu].which, rows_[gpu].measured_us, rows_[gpu].which.size(), options);
      ASSERT_TRUE(fitted) << to_text(fitted.diagnostics());
      EXPECT_NEAR(fitted->t_m_cycles, kMade[gpu].t_m_cycles, t_m_share * kMade[gpu].t_m_cycles)
          << kMade[gpu].name;
      EXPECT_NEAR(fitted->t_p_us, kMade[gpu].t_p_us, 0.05 * kMade[gpu].t_p_us) << kMade[gpu].name;
    }
  }

  Plan plan_;
  std::vector<std::unique_ptr<RowTimes>> times_;
  std::vector<SharedFitRows> rows_;
};

TEST_F(SharedFit, FindsWhatTheModelMade) {
  make(0);
  expect_found(0.002, 0.005);
}

TEST_F(SharedFit, FindsItThroughNoiseOfTwoPercent) {
  make(0.02);
  expect_found(0.03, 0.05);
}

TEST_F(SharedFit, NeedsAsManyRowsAsConstants) {
  make(0);
  for (SharedFitRows& rows : rows_) rows.which.resize(2), rows.measured_us.resize(2);
  EXPECT_FALSE(fit_shared_durations(rows_, options()));
  EXPECT_FALSE(fit_shared_durations({}, options()));
}

}  // namespace
}  // namespace warptime
