#include "simulator/fit/grouped_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace warptime {
namespace {

// Rows of a few groups, and the same questions answered row by row.
struct Rows {
  std::vector<std::size_t> group_of;
  std::vector<double> launches, rest_us, measured_us;

  explicit Rows(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(0.5, 20);
    const std::size_t groups = 1 + random() % 9;
    for (std::size_t i = 0; i < groups; ++i) {
      launches.push_back(static_cast<double>(random() % 4));
      rest_us.push_back(any(random));
    }
    for (std::size_t i = 0; i < groups + random() % 200; ++i) {
      group_of.push_back(i < groups ? i : random() % groups);
      measured_us.push_back(random() % 3 == 0 ? 7 : any(random));  // equal ones, too
    }
  }
  double mean_error(double t_p_us) const {
    double sum = 0;
    for (std::size_t i = 0; i < measured_us.size(); ++i) {
      const std::size_t group = group_of[i];
      sum += std::abs(1 - (t_p_us * launches[group] + rest_us[group]) / measured_us[i]);
    }
    return sum / static_cast<double>(measured_us.size());
  }
};

TEST(GroupedRowsTest, MeanErrorIsThatOfTheSingleRows) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Rows rows(seed);
    const GroupedRows grouped(rows.group_of, rows.launches, rows.measured_us);
    for (const double t_p_us : {0.0, 0.3, 1.0, 5.0, 100.0})
      EXPECT_NEAR(grouped.mean_error(t_p_us, rows.rest_us), rows.mean_error(t_p_us), 1e-9) << seed;
  }
}

TEST(GroupedRowsTest, NoOtherLaunchOverheadIsBetter) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Rows rows(seed);
    const GroupedRows grouped(rows.group_of, rows.launches, rows.measured_us);
    const double best = grouped.best_t_p(rows.rest_us);
    EXPECT_GE(best, 0);
    for (double other = 0; other < 25; other += 0.05)
      EXPECT_LE(rows.mean_error(best), rows.mean_error(other) + 1e-9)
          << seed << ", " << best << ", " << other;
  }
}

}  // namespace
}  // namespace warptime
