// A plan that is written is read again as the same plan.
#include <gtest/gtest.h>

#include "simulator/plan/plan_write.h"

namespace warptime {
namespace {

constexpr char every_key[] = R"yaml(# first
#
# third
name: steps
description: "a sum: then more"
parameters:
  N: number, of values
  K: ""
typical: {N: 1048576, K: 8}
arrays:
  data: N
  table: {elements: 2 * K, type: f64, fill: 0.5}
  zero: {elements: "max(N, K)", fill: zeros}
launches:
  - kernel: sum.cu
    entry: sum<float, 3>
    arguments: {n: "min(N, K)", f: 0.5, a: data}
    grid: [ceil_div(N, 32), min(N, 8), 2]
    block: [32, 8]
    shared: 4 * N
  - repeat: K / 2
    counter: step
    launches:
      - kernel: sum.cu
        threads: N / 2 ^ step
        repeat: 2
        counter: i
transfers:
  - {direction: host_to_device, bytes: 4 * N}
  - repeat: K
    counter: k
    transfers:
      - {direction: set, bytes: k}
      - {direction: device_to_host, bytes: "max(k, N)", repeat: 3}
calibrations:
  rtx-2080: {t_p: 5.6, t_m: 12.3, source: measured by hand}
)yaml";

TEST(PlanWrite, writes_every_key_in_the_order_of_the_documentation) {
  const auto plan = read_plan(every_key, "steps.plan.yaml");
  ASSERT_TRUE(plan) << to_text(plan.diagnostics());
  EXPECT_EQ(write_plan(*plan, {"first", "", "third"}), every_key);
}

TEST(PlanWrite, transfers_with_errors_say_where) {
  const auto plan = read_plan(
      "name: t\nlaunches: [{kernel: a.cu, threads: 1}]\ntransfers:\n  - {direction: sideways, bytes: 4}\n"
      "  - {direction: set, bytes: M}\n  - {bytes: 1}\n",
      "t.plan.yaml");
  ASSERT_FALSE(plan);
  const std::string text = to_text(plan.diagnostics());
  EXPECT_NE(text.find("t.plan.yaml:4:17: error: unknown direction `sideways`"), std::string::npos) << text;
  EXPECT_NE(text.find("t.plan.yaml:5:29: error: `bytes`: `M` is neither a parameter"), std::string::npos)
      << text;
  EXPECT_NE(text.find("t.plan.yaml:6:"), std::string::npos) << text;
}

}  // namespace
}  // namespace warptime
