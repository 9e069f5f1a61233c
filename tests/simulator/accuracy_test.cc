#include "simulator/fit/accuracy.h"

#include <gtest/gtest.h>

namespace warptime {
namespace {

// Two lengths K, three sizes N; the second parameter is the size.
std::vector<ComparedRow> grid() {
  return {{"a", {8, 64}, 10, 11, 2},
          {"a", {8, 256}, 20, 20, 4},
          {"a", {8, 128}, 10, 8, 3},
          {"a", {10, 64}, 10, 10, 1},
          {"a", {10, 128}, 10, 15, 1}};
}

TEST(Accuracy, Equation16IsMeanAndMaximum) {
  const Errors errors = errors_of({11, 8, 20}, {10, 10, 20});
  EXPECT_DOUBLE_EQ(errors.mean, 0.1);
  EXPECT_DOUBLE_EQ(errors.maximum, 0.2);
  EXPECT_EQ(errors.worst, 1u);
  EXPECT_EQ(errors_of({}, {}).count, 0u);
}

TEST(Accuracy, ExperimentsRunOverTheParameterWithTheMostValues) {
  EXPECT_EQ(size_parameter(grid(), 2), 1u);
  const auto experiments = experiments_of(grid(), 1);
  ASSERT_EQ(experiments.size(), 2u);
  EXPECT_EQ(experiments[0].values[0], 8);
  ASSERT_EQ(experiments[0].rows.size(), 3u);
  EXPECT_EQ(experiments[0].rows[1].values[1], 128);  // by size
  EXPECT_DOUBLE_EQ(experiments[0].errors.mean, 0.1);
  EXPECT_DOUBLE_EQ(experiments[0].shortest_us, 10);
  EXPECT_DOUBLE_EQ(experiments[0].longest_us, 20);
}

TEST(Accuracy, Equations19And20AreOverExperimentsAndRows) {
  const GlobalErrors global = global_errors(experiments_of(grid(), 1));
  EXPECT_DOUBLE_EQ(global.mean, (0.1 + 0.25) / 2);
  EXPECT_DOUBLE_EQ(global.maximum, 0.5);
  EXPECT_DOUBLE_EQ(global.mean_prediction_us, 11.0 / 5);
  EXPECT_DOUBLE_EQ(global.longest_prediction_us, 4);
  const GlobalErrors both = total({global, GlobalErrors{0.025, 0.6, 1, 9, 1, 1}});
  EXPECT_DOUBLE_EQ(both.mean, 0.1);
  EXPECT_DOUBLE_EQ(both.maximum, 0.6);
  EXPECT_DOUBLE_EQ(both.longest_prediction_us, 9);
}

TEST(Accuracy, Equation21ComparesRatiosOfMethods) {
  const std::vector<ComparedRow> other{
      {"a", {8, 64}, 5, 5, 0}, {"b", {8, 128}, 1, 1, 0}, {"a", {10, 64}, 20, 40, 0}};
  const auto ratios = method_ratios(grid(), other);
  ASSERT_EQ(ratios.size(), 2u);  // pairs with the same GPU and values
  EXPECT_DOUBLE_EQ(ratios[0].measured_us, 2);
  EXPECT_DOUBLE_EQ(ratios[0].predicted_us, 2.2);
  EXPECT_DOUBLE_EQ(errors_of(ratios).mean, (0.1 + 0.5) / 2);
}

TEST(Accuracy, APlanWithoutParametersIsOneExperiment) {
  const std::vector<ComparedRow> rows{{"a", {}, 2, 1, 0}, {"a", {}, 2, 3, 0}};
  EXPECT_EQ(size_parameter(rows, 0), 0u);
  const auto experiments = experiments_of(rows, 0);
  ASSERT_EQ(experiments.size(), 1u);
  EXPECT_DOUBLE_EQ(experiments[0].errors.mean, 0.5);
}

}  // namespace
}  // namespace warptime
