#include "simulator/plan/calibration.h"

#include <gtest/gtest.h>

namespace warptime {
namespace {

TEST(Calibration, IsReadByGpu) {
  const auto file = read_calibration_file(
      "warptime: 1\n"
      "plan: lattice\n"
      "calibrations:\n"
      "  gtx-1070: {t_p: 5.8, t_m: 19, source: Table 3}\n"
      "  h200: {t_m: 2.5}\n",
      "c.yaml");
  ASSERT_TRUE(file) << to_text(file.diagnostics());
  EXPECT_EQ(file->plan, "lattice");
  EXPECT_EQ(file->calibrations,
            (Calibrations{{"gtx-1070", {5.8, 19.0, "Table 3"}}, {"h200", {{}, 2.5, ""}}}));
}

}  // namespace
}  // namespace warptime
