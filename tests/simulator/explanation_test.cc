// Explanations: what they say sums up, and every gain that they claim is what the model gives for the changed
// kernel or launch.
#include "simulator/predict/explanation.h"
#include "simulator/model/puchala/core_package.h"
#include "simulator/program/place.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "random_program.h"
#include "test_files.h"
#include "test_plan.h"

namespace warptime {
namespace {

using test::loader_of;
using test::plan_of;

const Gpu& gpu(const std::string& name) {
  return **GpuCatalogue::bundled().find(name);
}

std::vector<NamedValues> parameters(const std::string& text) {
  return *parse_parameters(text);
}

constexpr char one_launch[] =
    "name: plan\nparameters: [K, N]\nlaunches: [{kernel: k, threads: N, arguments: {K: K}}]\n";

std::vector<Explanation> explained(const Plan& plan, const KernelProgram& program, const std::string& on,
                                   const std::string& values, const PredictionOptions& options = {}) {
  auto explanations = explain_all(plan, {&gpu(on)}, parameters(values), options, loader_of(program));
  EXPECT_TRUE(explanations) << to_text(explanations.diagnostics());
  return explanations ? *explanations : std::vector<Explanation>{};
}

PredictionRow predicted(const Plan& plan, const KernelProgram& program, const std::string& on,
                        const std::string& values, const PredictionOptions& options = {}) {
  PredictionRow row;
  const auto count = predict(plan, {&gpu(on)}, parameters(values), options, loader_of(program),
                             [&](const PredictionRow& one) {
                               row = one;
                               return true;
                             });
  EXPECT_TRUE(count) << to_text(count.diagnostics());
  return row;
}

void expect_lines_sum_up(const Explanation& explanation) {
  for (const char* key : {"calculation_us", "issue_us", "waiting_us", "tail_us"}) {
    const std::size_t part = *find_part(*explanation.row.model, key);
    double sum = 0;
    for (const LineShare& line : explanation.lines) sum += line.us[part];
    EXPECT_NEAR(sum, explanation.row.time.us[part], 1e-9 * explanation.row.time.total_us) << key;
  }
}

TEST(Explanation, TheLinesOfRandomProgramsSumToTheRow) {
  std::mt19937 random(21);
  const Plan plan = plan_of(
      "name: plan\nparameters: [K, N]\n"
      "launches: [{kernel: k, blocks: 3 * N, threads_per_block: 96, repeat: 2}, {kernel: k, threads: 700 * "
      "N}]\n");
  for (int i = 0; i < 400; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 2 == 0;
    options.counters = i % 3 == 0;
    const KernelProgram program = test::random_program(random, options);
    for (const char* on : {"rtx-2080", "gt-720m"}) {
      const auto explanations = explained(plan, program, on, fmt::format("K={},N={}", i % 4, 1 + i % 37));
      ASSERT_EQ(explanations.size(), 1u);
      expect_lines_sum_up(explanations.front());
      if (HasFailure()) FAIL() << to_yaml(program);
    }
  }
}

const Claim* find_claim(const Explanation& explanation, Claim::Kind kind) {
  for (const Claim& claim : explanation.claims)
    if (claim.kind == kind) return &claim;
  return nullptr;
}

// A kernel whose loads nobody hides: few warps, long loads, at two lines of the source.
KernelProgram waiting_kernel() {
  return test::program_of(
      "kernel: wait\nsource: wait.cu\nprogram:\n  - {instructions: 4, lines: 3}\n"
      "  - repeat: K\n    body: [{load: 400, lines: 11}, {instructions: 6, lines: 12}, {load: 500, lines: "
      "13}, "
      "{instructions: 2, lines: 13}]\n"
      "  - {store: 100, lines: 15}\n");
}

TEST(Explanation, HalfTheLoadsOfALineIsWhatTheModelGivesForThatKernel) {
  const Plan plan = plan_of(one_launch);
  const auto explanations = explained(plan, waiting_kernel(), "rtx-2080", "K=9,N=8192");
  const Claim* claim = find_claim(explanations.front(), Claim::Kind::fewer_loads);
  ASSERT_NE(claim, nullptr);
  EXPECT_NE(claim->text.find("half the loads of line 1"), std::string::npos) << claim->text;
  ASSERT_TRUE(claim->time_us && claim->program);
  const auto changed = predicted(plan, *claim->program, "rtx-2080", "K=9,N=8192");
  EXPECT_NEAR(*claim->time_us, changed.time.total_us, 1e-9 * changed.time.total_us);
  EXPECT_LT(*claim->time_us, explanations.front().row.time.total_us);
}

TEST(Explanation, EveryClaimOfATimeIsConfirmedByTheModel) {
  std::mt19937 random(22);
  const Plan plan = plan_of(one_launch);
  int best_launches = 0, fewer_loads = 0;
  for (int i = 0; i < 400; ++i) {
    test::RandomProgramOptions options;
    options.counters = i % 3 == 0;
    const KernelProgram program = test::random_program(random, options);
    const std::string values = fmt::format("K={},N={}", 2 + i % 5, 1000 + 977 * i);
    const auto explanations = explained(plan, program, "gtx-1070", values);
    for (const Claim& claim : explanations.front().claims) {
      if (!claim.time_us) continue;
      PredictionOptions best;
      best.best_launch = claim.kind == Claim::Kind::best_launch;
      const auto changed =
          predicted(plan, claim.program ? *claim.program : program, "gtx-1070", values, best);
      ASSERT_NEAR(*claim.time_us, changed.time.total_us, 1e-9 * changed.time.total_us) << claim.text << "\n"
                                                                                       << to_yaml(program);
      ++(best.best_launch ? best_launches : fewer_loads);
    }
  }
  EXPECT_GT(best_launches, 10);
  EXPECT_GT(fewer_loads, 10);
}

TEST(Explanation, TheWarpsThatHideTheWaitingDoHideIt) {
  const Plan plan = plan_of(one_launch);
  const KernelProgram program = waiting_kernel();
  const auto explanations = explained(plan, program, "rtx-2080", "K=9,N=8192");
  const Claim* claim = find_claim(explanations.front(), Claim::Kind::more_warps);
  ASSERT_NE(claim, nullptr);
  ASSERT_TRUE(claim->warps);
  const auto schedule = make_schedule(program, {{"K", 9}}, gpu("rtx-2080").durations);
  const double t_m = explanations.front().row.t_m_cycles;
  const auto hidden = simulate_plain(*schedule, *claim->warps, t_m);
  const auto not_yet = simulate_plain(*schedule, *claim->warps - 1, t_m);
  EXPECT_LE(hidden->waiting, 0.01 * hidden->total);
  EXPECT_GT(not_yet->waiting, 0.01 * not_yet->total);
}

TEST(Explanation, SaysWhatBoundsTheKernel) {
  const Plan plan = plan_of(one_launch);
  const auto bound = [&](const char* program, const char* values) {
    const auto all = explained(plan, test::program_of(program), "rtx-2080", values);
    return find_claim(all.front(), Claim::Kind::bound)->text;
  };
  EXPECT_EQ(bound("program: [calc: 1]", "K=1,N=32").find("launch-bound: "), 0u);
  EXPECT_EQ(bound("program: [calc: 100000]", "K=1,N=32").find("compute-bound: "), 0u);
  EXPECT_EQ(
      bound("program: [{repeat: 1000, body: [load: 400, calc: 5]}]", "K=1,N=32").find("latency-bound: "), 0u);
  EXPECT_EQ(bound("program: [{repeat: 10000, body: [store: 4]}]", "K=1,N=2^20").find("issue-bound: "), 0u);
}

struct HalfCase {
  const char* program;
  const char* half;  // nullptr: there is no second load
};
void PrintTo(const HalfCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.program));
}
class HalfTheLoads : public testing::TestWithParam<HalfCase> {};

TEST_P(HalfTheLoads, LeavesEverySecondOneOut) {
  const auto program = test::program_of(std::string("program: ") + GetParam().program);
  const auto half = with_half_the_loads(program, "load: 9");
  ASSERT_EQ(half.has_value(), GetParam().half != nullptr);
  if (!half) return;
  const auto expected = test::program_of(std::string("program: ") + GetParam().half);
  for (std::int64_t k = 0; k < 8; ++k) {
    const auto is = written_out(*make_schedule(*half, {{"K", k}}, paper_durations()), 1000);
    const auto should_be = written_out(*make_schedule(expected, {{"K", k}}, paper_durations()), 1000);
    EXPECT_EQ(*is, *should_be) << "K = " << k << "\n" << to_yaml(*half);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, HalfTheLoads,
    testing::Values(
        HalfCase{"[load: 9, calc: 1]", nullptr}, HalfCase{"[store: 9, store: 9]", nullptr},
        HalfCase{"[load: 9, load: 9, calc: 1, load: 9]", "[load: 9, calc: 1, load: 9]"},
        HalfCase{"[{repeat: K, body: [load: 9, calc: 2]}]",
                 "[{repeat: K, counter: i, body: [{when: i % 2 == 0, then: [load: 9]}, calc: 2]}]"},
        HalfCase{"[{repeat: K, counter: i, body: [load: 9, calc: i]}]",
                 "[{repeat: K, counter: i, body: [{when: i % 2 == 0, then: [load: 9]}, calc: i]}]"},
        HalfCase{"[{repeat: K, body: [load: 9, load: 9, calc: 2]}]",
                 "[{repeat: K, body: [load: 9, calc: 2]}]"},
        HalfCase{"[{repeat: 3, body: [store: 1, {repeat: K, body: [load: 9, calc: 2]}]}]",
                 "[{repeat: 3, body: [store: 1, {repeat: K, counter: i, body: [{when: i % 2 == 0, then: "
                 "[load: 9]}, "
                 "calc: 2]}]}]"},
        HalfCase{
            "[{repeat: K, counter: i, body: [{when: i < 3, then: [load: 9]}, calc: 2]}]",
            "[{repeat: K, counter: i, body: [{when: i < 3 && i % 2 == 0, then: [load: 9]}, calc: 2]}]"}));

TEST(BestLaunch, IsNeverSlowerThanAlgorithm3AndCoversTheThreads) {
  const Plan plan = plan_of(one_launch);
  const KernelProgram program = waiting_kernel();
  PredictionOptions best;
  best.best_launch = true;
  int quicker = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string values = fmt::format("K={},N={}", 1 + i % 7, 1 + 4099 * i);
    const auto with = predicted(plan, program, "gtx-1070", values, best);
    const auto without = predicted(plan, program, "gtx-1070", values);
    ASSERT_TRUE(with.algorithm_3_us);
    EXPECT_EQ(*with.algorithm_3_us, without.time.total_us);
    EXPECT_LE(with.time.total_us, without.time.total_us);
    EXPECT_GE(with.first_launch.blocks * with.first_launch.threads_per_block, 1 + 4099 * i);
    if (with.time.total_us < without.time.total_us) ++quicker;
    // The same launch given outright takes as long.
    const Plan outright = plan_of(fmt::format(
        "name: plan\nparameters: [K, N]\nlaunches: [{{kernel: k, blocks: {}, threads_per_block: {}}}]\n",
        with.first_launch.blocks, with.first_launch.threads_per_block));
    EXPECT_EQ(predicted(outright, program, "gtx-1070", values).time.total_us, with.time.total_us);
  }
  EXPECT_GT(quicker, 5);
}

TEST(BestLaunch, LooksOverBlocksInTwoDimensions) {
  // Each block reads what its shape does not share: fewer, larger blocks in x are quicker.
  const KernelProgram program =
      read_kernel_programs(
          "program: [{repeat: K, body: [{load: 400}, {calc: 2 + 640 / blockDim.x}]}, {store: 100}]", "k.yaml")
          ->front();
  PredictionOptions best;
  best.best_launch = true;
  for (const std::string block : {"[8, 4]", "[16, 16]", "[32, 32]"}) {
    const Plan plan = plan_of(
        "name: plan\nparameters: [K, N]\nlaunches: [{kernel: k, grid: [N, 33], block: " + block + "}]\n");
    const auto with = predicted(plan, program, "gtx-1070", "K=4,N=100", best);
    const auto without = predicted(plan, program, "gtx-1070", "K=4,N=100");
    EXPECT_EQ(with.algorithm_3_us, without.time.total_us);
    EXPECT_LT(with.time.total_us, without.time.total_us) << block;
    const auto [grid, found] = with.first_shape();
    const auto given = without.first_shape();
    EXPECT_GE(grid.x * found.x, 100 * given.block.x);
    EXPECT_GE(grid.y * found.y, 33 * given.block.y);
    EXPECT_EQ(grid.x, (100 * given.block.x + found.x - 1) / found.x);
    EXPECT_EQ(found.product() % 32, 0);
    EXPECT_EQ(with.first_launch, with.first_shape().launch());
    const auto explanations = explained(plan, program, "gtx-1070", "K=4,N=100");
    const Claim* claim = find_claim(explanations.front(), Claim::Kind::best_launch);
    ASSERT_NE(claim, nullptr);
    EXPECT_EQ(claim->time_us, with.time.total_us);
    EXPECT_NE(claim->text.find(" x " + to_string(found) + " in place of "), std::string::npos) << claim->text;
    // The same launch given outright takes as long.
    const Plan outright = plan_of(fmt::format(
        "name: plan\nparameters: [K, N]\nlaunches: [{{kernel: k, grid: [{}, {}], block: [{}, {}]}}]\n",
        grid.x, grid.y, found.x, found.y));
    EXPECT_EQ(predicted(outright, program, "gtx-1070", "K=4,N=100").time.total_us, with.time.total_us);
  }
}

}  // namespace
}  // namespace warptime
