// Fits: what the model made itself is found again, for every plan of the repository.
#include "simulator/fit/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace warptime {
namespace {

namespace fs = std::filesystem;

constexpr double t_p_us = 6.5, t_m_cycles = 9.25;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> all_plans() {
  std::vector<std::string> files;
  for (const char* room : {"dwt_kernels", "samples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(WARPTIME_SOURCE_DIR) / room)) {
      const auto name = entry.path().string();
      if (name.ends_with(".plan.yaml")) files.push_back(name);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The kernel programs that a plan names, or the committed models of the kernels that it names.
Result<LoadedProgram> load(const Plan& plan, const PlanLaunch& launch, const Gpu&) {
  const fs::path folder = fs::path(plan.file).parent_path();
  const fs::path file = launch.kernel.ends_with(".cu")
                            ? folder / "models" / (launch.kernel + "." + launch.entry + ".yaml")
                            : folder / launch.kernel;
  auto programs = read_kernel_programs(text_of(file), file.string());
  if (!programs) return programs.diagnostics();
  return LoadedProgram(programs->front(), {});
}

Plan plan_of(const std::string& file) {
  auto plan = read_plan(text_of(file), file);
  EXPECT_TRUE(plan) << to_text(plan.diagnostics());
  return *plan;
}

// The typical sizes, and one parameter after the other halved again and again.
std::vector<std::vector<std::int64_t>> sizes_of(const Plan& plan) {
  std::vector<std::int64_t> typical;
  for (const Parameter& parameter : plan.parameters) {
    const auto found = std::find_if(plan.typical.begin(), plan.typical.end(),
                                    [&](const auto& value) { return value.first == parameter.name; });
    typical.push_back(found == plan.typical.end() ? 1024 : found->second);
  }
  std::vector<std::vector<std::int64_t>> sizes{typical};
  for (std::size_t i = 0; i < typical.size(); ++i) {
    for (std::int64_t value = typical[i] / 2; typical[i] >= 256 && value >= 64; value /= 2) {
      sizes.push_back(typical);
      sizes.back()[i] = value;
    }
  }
  return sizes;
}

std::unique_ptr<RowTimes> times_of(const Plan& plan, std::vector<std::vector<std::int64_t>> sizes) {
  auto times = RowTimes::make(plan, **GpuCatalogue::bundled().find("rtx-2080"), std::move(sizes), {}, load);
  EXPECT_TRUE(times) << to_text(times.diagnostics());
  return times ? std::move(*times) : nullptr;
}

std::vector<std::size_t> all_of(const RowTimes& times) {
  std::vector<std::size_t> which(times.rows().size());
  for (std::size_t i = 0; i < which.size(); ++i) which[i] = i;
  return which;
}

// What the model says with the t_p and t_m above, each time changed by up to `noise` of it.
std::vector<double> made(const RowTimes& times, double noise) {
  std::mt19937 random(7);
  const auto rest = times.rest_us(t_m_cycles, times.durations());
  EXPECT_TRUE(rest);
  std::vector<double> measured;
  for (std::size_t i = 0; i < rest->size(); ++i) {
    const double share = static_cast<double>(random() % 2001) / 1000 - 1;
    measured.push_back((t_p_us * times.launches()[i] + (*rest)[i]) * (1 + noise * share));
  }
  return measured;
}

bool within(const FitRange& range, double value) {
  return range.low <= value * 1.001 && (range.open || value <= range.high * 1.001);
}

class FitOfPlan : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, FitOfPlan, testing::ValuesIn(all_plans()), [](const auto& of) {
  std::string name = fs::path(of.param).filename().string();
  name.resize(name.find('.'));
  return name;
});

TEST_P(FitOfPlan, FindsWhatTheModelMade) {
  const Plan plan = plan_of(GetParam());
  const auto times = times_of(plan, sizes_of(plan));
  ASSERT_TRUE(times);
  ASSERT_GE(times->rows().size(), 4u);
  const auto fitted = fit(*times, all_of(*times), made(*times, 0), times->rows().size(), {});
  ASSERT_TRUE(fitted) << to_text(fitted.diagnostics());
  EXPECT_LT(fitted->errors.mean, 1e-5);
  EXPECT_LT(fitted->errors.maximum, 1e-3);
  EXPECT_TRUE(within(fitted->t_p_range, t_p_us)) << fitted->t_p_us;
  EXPECT_TRUE(within(fitted->t_m_range, t_m_cycles)) << fitted->t_m_cycles;
  EXPECT_NEAR(fitted->t_p_us, t_p_us, 0.01 * t_p_us);
  if (!hardly_determined(fitted->t_m_range, 0.5)) {
    EXPECT_NEAR(fitted->t_m_cycles, t_m_cycles, 0.5);
  }
}

TEST_P(FitOfPlan, FindsItThroughNoiseOfTwoPercent) {
  const Plan plan = plan_of(GetParam());
  const auto times = times_of(plan, sizes_of(plan));
  ASSERT_TRUE(times);
  const auto measured = made(*times, 0.02);
  const auto fitted = fit(*times, all_of(*times), measured, times->rows().size(), {});
  ASSERT_TRUE(fitted) << to_text(fitted.diagnostics());
  EXPECT_LT(fitted->errors.maximum, 0.04);
  EXPECT_LT(fitted->errors.mean, 0.015);
  // Not worse than what it was made with.
  Fit truth;
  truth.t_p_us = t_p_us;
  truth.t_m_cycles = t_m_cycles;
  truth.memory_cycles = times->durations();
  const auto predicted = predicted_us(*times, all_of(*times), truth);
  ASSERT_TRUE(predicted);
  EXPECT_LE(fitted->errors.mean, errors_of(*predicted, measured).mean + 1e-9);
}

TEST_P(FitOfPlan, IsTheSameEachTime) {
  const Plan plan = plan_of(GetParam());
  const auto times = times_of(plan, sizes_of(plan));
  ASSERT_TRUE(times);
  const auto measured = made(*times, 0.02);
  const auto first = fit(*times, all_of(*times), measured, times->rows().size(), {});
  const auto again = fit(*times, all_of(*times), measured, times->rows().size(), {});
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->t_p_us, again->t_p_us);
  EXPECT_EQ(first->t_m_cycles, again->t_m_cycles);
}

struct MatrixFit : testing::Test {
  Plan plan = plan_of(std::string(WARPTIME_SOURCE_DIR) + "/dwt_kernels/mtx.plan.yaml");
  std::unique_ptr<RowTimes> make(const std::vector<std::int64_t>& sizes) {
    std::vector<std::vector<std::int64_t>> rows;
    for (const std::int64_t K : {8, 14})
      for (const std::int64_t N : sizes) rows.push_back({K, N});
    return times_of(plan, rows);
  }
};

TEST_F(MatrixFit, FindsDurationsToo) {
  const auto times = make({64, 1024, 1 << 14, 1 << 17, 1 << 20});
  ASSERT_TRUE(times);
  const auto open = times->open_durations();
  ASSERT_FALSE(open.empty());
  MemoryDurations durations = times->durations();
  FitOptions options;
  for (const DurationName& name : open) {
    duration(durations, name) *= 1.5;
    options.durations.push_back({name, 1, 500});
  }
  const auto rest = times->rest_us(t_m_cycles, durations);
  ASSERT_TRUE(rest);
  std::vector<double> measured;
  for (std::size_t i = 0; i < rest->size(); ++i)
    measured.push_back(t_p_us * times->launches()[i] + (*rest)[i]);
  const auto without = fit(*times, all_of(*times), measured, measured.size(), {});
  const auto with = fit(*times, all_of(*times), measured, measured.size(), options);
  ASSERT_TRUE(without && with);
  EXPECT_LT(with->errors.mean, 0.005);
  EXPECT_LE(with->errors.mean, without->errors.mean);
  for (const FittedDuration& fitted : with->durations)
    EXPECT_TRUE(fitted.cycles >= 1 && fitted.cycles <= 500);
}

TEST_F(MatrixFit, SaysThatSmallSizesDoNotDetermineTm) {
  const auto times = make({32, 64, 96, 128});
  ASSERT_TRUE(times);
  std::vector<double> measured = made(*times, 0.02);
  const auto fitted = fit(*times, all_of(*times), measured, measured.size(), {});
  ASSERT_TRUE(fitted);
  EXPECT_TRUE(hardly_determined(fitted->t_m_range, 0.5))
      << fitted->t_m_range.low << " to " << fitted->t_m_range.high;
  const auto large = make({1 << 17, 1 << 18, 1 << 19, 1 << 20});
  measured = made(*large, 0.02);
  const auto better = fit(*large, all_of(*large), measured, measured.size(), {});
  ASSERT_TRUE(better);
  EXPECT_FALSE(hardly_determined(better->t_m_range, 0.5))
      << better->t_m_range.low << " to " << better->t_m_range.high;
}

TEST_F(MatrixFit, TakesWhatIsGiven) {
  const auto times = make({64, 1 << 18, 1 << 20});
  ASSERT_TRUE(times);
  const auto measured = made(*times, 0);
  FitOptions options;
  options.t_p_us = t_p_us;
  auto fitted = fit(*times, all_of(*times), measured, measured.size(), options);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->t_p_us, t_p_us);
  EXPECT_NEAR(fitted->t_m_cycles, t_m_cycles, 0.01);
  options = {};
  options.t_m_cycles = t_m_cycles;
  fitted = fit(*times, all_of(*times), measured, measured.size(), options);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->t_m_cycles, t_m_cycles);
  EXPECT_NEAR(fitted->t_p_us, t_p_us, 1e-6);
}

TEST_F(MatrixFit, RefusesWhatCannotFit) {
  const auto times = make({1024});
  ASSERT_TRUE(times);
  const std::vector<double> one{7.0};
  EXPECT_FALSE(fit(*times, {0}, one, 1, {}));
  FitOptions given;
  given.t_p_us = given.t_m_cycles = 1;
  EXPECT_FALSE(fit(*times, {0}, one, 1, given));
  FitOptions unknown;
  unknown.durations.push_back({{true, 3}, 1, 2});
  EXPECT_FALSE(fit(*times, {0, 1}, {7.0, 8.0}, 9, unknown));
}

TEST(HoldOut, IsSpreadEvenly) {
  EXPECT_EQ(hold_out(8, 0.25), (std::vector<bool>{false, false, false, true, false, false, false, true}));
  EXPECT_EQ(hold_out(3, 0.5), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(hold_out(0, 0.5), std::vector<bool>{});
}

}  // namespace
}  // namespace warptime
