#include "simulator/plan/arrays.h"

#include <gtest/gtest.h>

#include "simulator/plan/plan.h"

namespace warptime {
namespace {

TEST(PlanArrays, EveryKeyIsRead) {
  const auto plan = read_plan(R"yaml(
name: p
parameters: [N, l]
arrays:
  x: 2 * N
  y: {elements: N, type: f64, fill: 0.5}
  leaders: {elements: l, type: i32, fill: cycle_leaders, of: N / 8}
  counts: {elements: N, type: i8, fill: iota}
launches: [{kernel: k.cu, threads: N}]
)yaml",
                              "p");
  ASSERT_TRUE(plan) << to_text(plan.diagnostics());
  ASSERT_EQ(plan->arrays.size(), 4u);
  const auto& x = plan->arrays[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.line, 5);
  EXPECT_EQ(to_string(x.elements), "2 * N");
  EXPECT_EQ(x.type, ElementType::f32) << "unless said otherwise";
  EXPECT_EQ(x.fill, ArrayFill::random) << "unless said otherwise";
  EXPECT_EQ(plan->arrays[1].fill, ArrayFill::constant);
  EXPECT_EQ(plan->arrays[1].value, 0.5);
  EXPECT_EQ(bytes_of(plan->arrays[1].type), 8u);
  EXPECT_EQ(plan->arrays[2].fill, ArrayFill::cycle_leaders);
  EXPECT_EQ(to_string(plan->arrays[2].of), "N / 8");
  EXPECT_EQ(to_string(plan->arrays[3].type), "i8");
  EXPECT_EQ(to_string(plan->arrays[3].fill), "iota");
}

// What a prediction needs stays apart from what only a run needs.
TEST(PlanArrays, PointersAndDecimalsAreNoArgumentsOfAModel) {
  const auto plan = read_plan(R"yaml(
name: p
parameters: [N]
arrays: {a: N, b: N}
launches:
  - {kernel: k.cu, threads: N, repeat: 2, counter: i, arguments: {n: N / 2, in: "if(i % 2 == 0, a, b)", out: b + N / 2, weight: -0.5, whole: 2.0}}
)yaml",
                              "p");
  ASSERT_TRUE(plan) << to_text(plan.diagnostics());
  const auto names = [](const auto& arguments) {
    std::string text;
    for (const auto& [name, value] : arguments) text += name + " ";
    return text;
  };
  const auto& launch = *plan->steps.at(0).launch;
  EXPECT_EQ(names(launch.arguments), "n whole ");
  EXPECT_EQ(names(launch.data), "in out weight ");
}

}  // namespace
}  // namespace warptime
