#include "simulator/plan/plan.h"

#include <gtest/gtest.h>

#include "simulator/plan/plan_write.h"
#include "test_files.h"

namespace warptime {
namespace {

TEST(Plan, EveryKeyIsRead) {
  const auto plan = read_plan(R"(
warptime: 1
name: both
description: two kernels
parameters: {K: length of the filter, N: length of the transform}
launches:
  - kernel: mtx.cu
    entry: mtx
    arguments: {L: K / 2, total: blockDim.x * gridDim.x}
    threads: N
  - repeat: K
    counter: i
    launches:
      - {kernel: ltt.cu, blocks: N / 64 + i, threads_per_block: 64, repeat: i + 1, counter: j, arguments: {stage: j}}
calibrations:
  gtx-1070: {t_p: 5.8, t_m: 19, source: Table 3}
)",
                              "both.plan.yaml");
  ASSERT_TRUE(plan) << to_text(plan.diagnostics());
  EXPECT_EQ(plan->name, "both");
  EXPECT_EQ(plan->description, "two kernels");
  EXPECT_EQ(plan->file, "both.plan.yaml");
  EXPECT_EQ(plan->parameters,
            (std::vector<Parameter>{{"K", "length of the filter"}, {"N", "length of the transform"}}));
  EXPECT_EQ(plan->calibrations, (Calibrations{{"gtx-1070", {5.8, 19.0, "Table 3"}}}));
  ASSERT_EQ(plan->steps.size(), 2u);
  const PlanLaunch& first = *plan->steps[0].launch;
  EXPECT_EQ(plan->steps[0].line, 7);
  EXPECT_EQ(plan->steps[0].repeat, Expression(1));
  EXPECT_EQ(first.kernel, "mtx.cu");
  EXPECT_EQ(first.entry, "mtx");
  EXPECT_EQ(to_string(*first.threads), "N");
  ASSERT_EQ(first.arguments.size(), 2u);
  EXPECT_EQ(first.arguments[0].first, "L");
  EXPECT_EQ(to_string(first.arguments[1].second), "blockDim.x * gridDim.x");
  EXPECT_FALSE(plan->steps[1].launch);
  EXPECT_EQ(plan->steps[1].counter, "i");
  const PlanStep& inner = plan->steps[1].steps.at(0);
  EXPECT_EQ(to_string(inner.repeat), "i + 1");
  EXPECT_EQ(to_string(inner.launch->grid.at(0)), "N / 64 + i");
  EXPECT_EQ(to_string(inner.launch->block.at(0)), "64");
}

std::vector<std::string> texts(const Dim3Expressions& sizes) {
  std::vector<std::string> all;
  for (const Expression& size : sizes) all.push_back(to_string(size));
  return all;
}

TEST(Plan, AGridAndABlockHaveOneToThreeDimensions) {
  using Texts = std::vector<std::string>;
  const auto plan = read_plan(R"(
name: shapes
parameters: [N]
launches:
  - {kernel: k, grid: [ceil_div(N, 32), N / 8], block: [32, 8], shared: 4 * 33 * blockDim.y + N}
  - {kernel: k, grid: [N], block: [8, 8, 4]}
  - {kernel: k, grid: N, block: 64}
  - {kernel: k, blocks: [N, 2], threads_per_block: [16, 16]}
  - {kernel: k, blocks: N, block: 64}
  - {kernel: k, threads: N, shared: 1024}
)",
                              "shapes.plan.yaml");
  ASSERT_TRUE(plan) << to_text(plan.diagnostics());
  const auto launch = [&](std::size_t i) { return *plan->steps.at(i).launch; };
  EXPECT_EQ(texts(launch(0).grid), (Texts{"ceil_div(N, 32)", "N / 8"}));
  EXPECT_EQ(texts(launch(0).block), (Texts{"32", "8"}));
  EXPECT_EQ(to_string(*launch(0).shared), "4 * 33 * blockDim.y + N");
  EXPECT_EQ(texts(launch(1).grid), (Texts{"N"}));
  EXPECT_EQ(texts(launch(1).block), (Texts{"8", "8", "4"}));
  EXPECT_EQ(texts(launch(2).grid), (Texts{"N"}));
  EXPECT_EQ(texts(launch(2).block), (Texts{"64"}));
  EXPECT_FALSE(launch(2).shared);
  EXPECT_EQ(texts(launch(3).grid), (Texts{"N", "2"}));
  EXPECT_EQ(texts(launch(3).block), (Texts{"16", "16"}));
  EXPECT_EQ(texts(launch(4).grid), (Texts{"N"}));
  EXPECT_TRUE(launch(5).grid.empty());
  EXPECT_EQ(to_string(*launch(5).shared), "1024");
}

TEST(Plan, CopiesAndStreamsAreRead) {
  const auto plan = read_plan(R"(
name: tiles
parameters: [N, s]
launches:
  - repeat: N
    counter: i
    streams: s
    launches:
      - copy: {bytes: 4 * N, to: device}
      - {kernel: mtx.cu, threads: N}
      - {copy: {bytes: i, to: host}, repeat: 2}
)",
                              "tiles.plan.yaml");
  ASSERT_TRUE(plan) << to_text(plan.diagnostics());
  const PlanStep& group = plan->steps.at(0);
  EXPECT_EQ(to_string(*group.streams), "s");
  ASSERT_EQ(group.steps.size(), 3u);
  EXPECT_FALSE(group.steps[0].launch);
  EXPECT_EQ(group.steps[0].copy->direction, PlanTransferDirection::host_to_device);
  EXPECT_EQ(to_string(group.steps[0].copy->bytes), "4 * N");
  EXPECT_EQ(group.steps[2].copy->direction, PlanTransferDirection::device_to_host);
  EXPECT_EQ(group.steps[2].repeat, Expression(2));
  EXPECT_TRUE(has_copies(plan->steps));
  int launches = 0;
  for_each_launch(plan->steps, [&](const PlanStep&) { ++launches; });
  EXPECT_EQ(launches, 1);
  const auto again = read_plan(write_plan(*plan, {}), "again.plan.yaml");
  ASSERT_TRUE(again) << to_text(again.diagnostics());
  EXPECT_EQ(write_plan(*again, {}), write_plan(*plan, {}));
}

TEST(Plan, CopiesThatAreWrong) {
  const auto wrong_of = [](const std::string& steps) {
    return to_text(read_plan("name: a\nparameters: [N]\nlaunches:\n" + steps, "a.plan.yaml").diagnostics());
  };
  EXPECT_NE(wrong_of("  - copy: {bytes: M, to: device}\n").find("a.plan.yaml:4:19: error: `bytes`: `M` is"),
            std::string::npos);
  EXPECT_NE(
      wrong_of("  - copy: {bytes: N, to: disk}\n").find("a.plan.yaml:4:26: error: a copy is to `device`"),
      std::string::npos);
  EXPECT_NE(wrong_of("  - copy: {bytes: N}\n").find("`to`"), std::string::npos);
  EXPECT_NE(
      wrong_of("  - {copy: {bytes: N, to: host}, threads: N}\n").find("unknown key `threads` in a copy"),
      std::string::npos);
  EXPECT_NE(wrong_of("  - {streams: 2, launches: [{streams: 2, launches: [{copy: {bytes: N, to: host}}]}]}\n")
                .find("`streams` in a group that is in streams itself"),
            std::string::npos);
}

TEST(Plan, TheOrderOfParametersIsKept) {
  const auto plan = read_plan("name: p\nparameters: [z, a, m]\nlaunches: [{kernel: k, threads: z}]\n", "p");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->parameters, (std::vector<Parameter>{{"z", ""}, {"a", ""}, {"m", ""}}));
}

TEST(Plan, TheSamplesAreEquations17And18) {
  const auto matrix = read_plan(test::read_file("samples/puchala2022/matrix.plan.yaml"), "matrix.plan.yaml");
  ASSERT_TRUE(matrix) << to_text(matrix.diagnostics());
  EXPECT_EQ(matrix->name, "matrix");
  EXPECT_EQ(matrix->calibrations.size(), 6u);
  const auto lattice =
      read_plan(test::read_file("samples/puchala2022/lattice.plan.yaml"), "lattice.plan.yaml");
  ASSERT_TRUE(lattice) << to_text(lattice.diagnostics());
  EXPECT_EQ(lattice->name, "lattice");
  EXPECT_EQ(to_string(lattice->steps.at(0).repeat), "K / 2 + 1");
  EXPECT_EQ(to_string(*lattice->steps.at(0).launch->threads), "N / 2");
}

TEST(Plan, IsToldFromAKernelProgram) {
  EXPECT_TRUE(looks_like_plan(test::read_file("samples/puchala2022/matrix.plan.yaml")));
  EXPECT_FALSE(looks_like_plan(test::read_file("samples/puchala2022/listing_7.yaml")));
  EXPECT_FALSE(looks_like_plan(""));
  EXPECT_FALSE(looks_like_plan("[not: closed"));
}

TEST(Plan, GroupsNestUpTo100Deep) {
  const auto nested = [](int depth) {
    std::string text = "name: deep\nlaunches: ";
    for (int i = 0; i < depth; ++i) text += "[{repeat: 2, launches: ";
    text += "[{kernel: k, threads: 1}]";
    for (int i = 0; i < depth; ++i) text += "}]";
    return text;
  };
  EXPECT_TRUE(read_plan(nested(99), "deep"));
  EXPECT_FALSE(read_plan(nested(100), "deep"));
  EXPECT_FALSE(read_plan(nested(10'000), "deep"));
}

}  // namespace
}  // namespace warptime
