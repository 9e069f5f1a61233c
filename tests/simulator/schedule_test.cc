#include "simulator/program/schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <ostream>

#include "random_program.h"
#include "test_files.h"

namespace warptime {
namespace {

using test::program_of;

// "c33 l120 s100": calculations, loads and stores with their cycles.
std::string shown(const std::vector<Period>& periods) {
  std::string text;
  for (const Period& period : periods) {
    const char kind = period.kind == PeriodKind::calculation ? 'c'
                      : period.kind == PeriodKind::load      ? 'l'
                                                             : 's';
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", kind, period.cycles);
  }
  return text;
}

struct FlatCase {
  const char* program;
  const char* periods;  // for K = 3, N = 0
};
void PrintTo(const FlatCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.program));
}
class Flat : public testing::TestWithParam<FlatCase> {};

TEST_P(Flat, IsTheSegmentationOfOneWarp) {
  const KernelProgram program = program_of(fmt::format("program: {}", GetParam().program));
  const auto schedule = make_schedule(program, {{"K", 3}, {"N", 0}}, paper_durations());
  ASSERT_TRUE(schedule) << to_text(schedule.diagnostics());
  const auto periods = written_out(*schedule, 1000);
  ASSERT_TRUE(periods);
  EXPECT_EQ(shown(*periods), GetParam().periods) << GetParam().program;
  EXPECT_EQ(schedule->period_count(), periods->size());
}

INSTANTIATE_TEST_SUITE_P(
    Table, Flat,
    testing::Values(
        FlatCase{"[]", ""}, FlatCase{"[calc: 33]", "c33"},
        // n instructions take n - 1 + 10 cycles, however many items they are of; calc is never merged
        FlatCase{"[instructions: 1]", "c10"}, FlatCase{"[instructions: 18]", "c27"},
        FlatCase{"[instructions: 0]", ""}, FlatCase{"[instructions: 2, instructions: 3]", "c14"},
        FlatCase{"[instructions: 2, calc: 5, instructions: 3]", "c11 c5 c12"},
        FlatCase{"[calc: 5, calc: 6]", "c5 c6"},
        FlatCase{"[instructions: 2, instructions: N, instructions: 1]", "c12"},
        // across repeats
        FlatCase{"[{repeat: K, body: [instructions: 2]}]", "c15"},
        FlatCase{"[instructions: 1, {repeat: K, body: [instructions: 2]}, instructions: 1]", "c17"},
        FlatCase{"[{repeat: K, body: [load: 5, instructions: 2]}]", "l5 c11 l5 c11 l5 c11"},
        FlatCase{"[{repeat: K, body: [instructions: 2, load: 5]}]", "c11 l5 c11 l5 c11 l5"},
        FlatCase{"[{repeat: K, body: [instructions: 1, load: 5, instructions: 2]}]",
                 "c10 l5 c12 l5 c12 l5 c11"},
        FlatCase{"[instructions: 4, {repeat: K, body: [instructions: 1, load: 5, instructions: 2]}, "
                 "instructions: 7]",
                 "c14 l5 c12 l5 c12 l5 c18"},
        FlatCase{"[{repeat: 2, body: [instructions: 1, {repeat: 2, body: [instructions: 1, load: 5, "
                 "instructions: 2]}]}]",
                 "c11 l5 c12 l5 c13 l5 c12 l5 c11"},
        FlatCase{"[instructions: 1, {repeat: N, body: [load: 5]}, instructions: 1]", "c11"},
        FlatCase{"[instructions: 1, {repeat: 1, body: [instructions: 2]}, store: 1]", "c12 s1"},
        FlatCase{"[{repeat: K, body: [load: 1, load: 2]}]", "l1 l2 l1 l2 l1 l2"},
        FlatCase{"[{repeat: 1000000000, body: []}]", ""},
        // conditions
        FlatCase{
            "[instructions: 1, {when: K > 2, then: [instructions: 2], else: [load: 9]}, instructions: 3]",
            "c15"},
        FlatCase{
            "[instructions: 1, {when: K < 2, then: [instructions: 2], else: [load: 9]}, instructions: 3]",
            "c10 l9 c12"},
        FlatCase{"[{when: K < 2, then: [calc: 1]}]", ""},
        // counters
        FlatCase{"[{repeat: K, counter: i, body: [calc: i]}]", "c0 c1 c2"},
        FlatCase{"[{repeat: K, counter: i, body: [{repeat: i, counter: j, body: [load: 10 * i + j]}]}]",
                 "l10 l20 l21"},
        FlatCase{"[{repeat: K, counter: i, body: [instructions: 1, {when: i == 1, then: [load: 7]}]}, "
                 "instructions: 1]",
                 "c11 l7 c11"},
        FlatCase{"[{repeat: 2, counter: K, body: [calc: K]}, calc: K]", "c0 c1 c3"},
        FlatCase{"[{repeat: 2, counter: i, body: [{repeat: 2, counter: i, body: [calc: i]}, calc: i + 7]}]",
                 "c0 c1 c7 c0 c1 c8"},
        // durations
        FlatCase{"[load: K / 2, store: 2.5, load: K * 10]", "l1.5 s2.5 l30"},
        FlatCase{"[load: {access: uniform}, load: {access: coalesced}, load: {access: strided}, load: "
                 "{access: scattered}]",
                 "l10 l120 l120 l160"},
        FlatCase{"[store: {access: uniform}, store: {access: scattered}, load: {access: uniform, cycles: 3}]",
                 "s100 s100 l3"}));

TEST(Schedule, EqualsTheNaiveFlatteningOfRandomPrograms) {
  std::mt19937 random(5);
  std::size_t longest = 0;
  for (int i = 0; i < 20'000; ++i) {
    test::RandomProgramOptions options;
    options.deepest = 1 + i % 4;
    options.whole_cycles = i % 2 == 0;
    const KernelProgram program = test::random_program(random, options);
    const Bindings bindings = {{"K", static_cast<std::int64_t>(random() % 5)},
                               {"N", static_cast<std::int64_t>(random() % 5)}};
    const std::vector<Period> expected = test::flattened_naively(program, bindings, paper_durations());
    const auto schedule = make_schedule(program, bindings, paper_durations());
    ASSERT_TRUE(schedule) << to_yaml(program) << to_text(schedule.diagnostics());
    ASSERT_EQ(schedule->period_count(), expected.size()) << to_yaml(program);
    const auto periods = written_out(*schedule, 10'000'000);
    ASSERT_TRUE(periods);
    ASSERT_EQ(*periods, expected) << to_yaml(program);
    longest = std::max(longest, expected.size());
  }
  EXPECT_GT(longest, 1000u);
}

TEST(Schedule, EveryPeriodKnowsWhichItemsItIsOf) {
  std::mt19937 random(6);
  for (int i = 0; i < 3000; ++i) {
    const KernelProgram program = test::random_program(random, {});
    const auto schedule = make_schedule(program, {{"K", 3}, {"N", 2}}, paper_durations());
    ASSERT_TRUE(schedule);
    const auto periods = written_out(*schedule, 10'000'000);
    ASSERT_TRUE(periods);
    for (const Period& period : *periods) {
      ASSERT_LT(period.origin, schedule->origins.size());
      const auto& shares = schedule->origins[period.origin];
      ASSERT_FALSE(shares.empty());
      std::uint64_t instructions = 0;
      for (const Schedule::Share& share : shares) {
        instructions += share.instructions;
        ASSERT_EQ(share.instructions > 0, std::holds_alternative<Instructions>(share.item->what));
      }
      if (instructions > 0) {
        ASSERT_EQ(period.cycles, static_cast<double>(instructions - 1 + 10));
      } else {
        ASSERT_EQ(shares.size(), 1u);
      }
    }
  }
}

TEST(Schedule, ARepeatIsNotWrittenOut) {
  const KernelProgram program = program_of(
      "program: [{repeat: 10 ^ 18, body: [instructions: 1, load: 5, {repeat: 10 ^ 9, body: [store: 2, "
      "instructions: 3]}]}]");
  const auto schedule = make_schedule(program, {}, paper_durations());
  ASSERT_TRUE(schedule) << to_text(schedule.diagnostics());
  EXPECT_LT(schedule->steps.size(), 10u);
  EXPECT_EQ(schedule->period_count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(written_out(*schedule, 1'000'000));
}

TEST(Schedule, DeepNestsDoNotGrowOutOfHand) {
  // Each level takes its last iteration out of the repeat: written down naively, 2^150 steps.
  std::string text = "[instructions: 1, load: 5, store: 1, load: 2, instructions: 2]";
  for (int i = 0; i < 150; ++i) text = "[{repeat: 3, body: " + text + "}, load: 1, instructions: 1]";
  const auto schedule = make_schedule(program_of("program: " + text), {}, paper_durations());
  ASSERT_TRUE(schedule) << to_text(schedule.diagnostics());
  EXPECT_LT(schedule->steps.size(), 100u);
}

TEST(Schedule, CountsThatDoNotFitAreRefused) {
  const auto refused = [](const std::string& items) {
    const auto schedule = make_schedule(program_of("program: " + items), {{"K", -2}}, paper_durations());
    return schedule ? "accepted" : to_text(schedule.diagnostics());
  };
  EXPECT_EQ(refused("[{repeat: 10 ^ 18, body: [instructions: 10 ^ 18]}]"),
            "error: a run of instructions does not fit 64 bits\n");
  EXPECT_EQ(refused("[{repeat: 10 ^ 12, counter: i, body: [calc: i]}]"),
            "error: `repeat: 10 ^ 12` has 1000000000000 iterations that depend on its counter `i`: too "
            "many to write out\n"
            "hint: at most 4194304 such iterations are written out\n");
  EXPECT_NE(
      refused("[{repeat: 10 ^ 4, counter: i, body: [{repeat: 10 ^ 4, counter: j, body: [calc: i + j]}]}]")
          .find("too many to write out"),
      std::string::npos);
  EXPECT_EQ(refused("[{repeat: K, body: []}]"), "error: `repeat: K` is negative: -2 (K = -2)\n");
  EXPECT_EQ(refused("[instructions: K + 1]"), "error: `instructions: K + 1` is negative: -1 (K = -2)\n");
  EXPECT_EQ(refused("[calc: K / 4]"), "error: `calc: K / 4` is negative: -0.5 (K = -2)\n");
  EXPECT_EQ(refused("[load: K]"), "error: `load: K` is negative: -2 (K = -2)\n");
  EXPECT_EQ(refused("[{when: 1 / (K + 2), then: []}]"),
            "error: `when: 1 / (K + 2)`: division by zero in `1 / (K + 2)` (K = -2)\n");
  EXPECT_EQ(refused("[instructions: 10 ^ 18]"), "accepted");
}

TEST(Schedule, AMissingParameterIsNamed) {
  const KernelProgram program = program_of(
      "parameters: {K: argument 0 (int K)}\n"
      "program: [{repeat: K, body: [calc: N]}]");
  const auto schedule = make_schedule(program, {{"N", 1}}, paper_durations());
  ASSERT_FALSE(schedule);
  EXPECT_EQ(to_text(schedule.diagnostics()),
            "error: the parameter `K` (argument 0 (int K)) has no value\n"
            "hint: the program needs `K` and `N`: `--param K=VALUES`\n");
}

TEST(Schedule, ACounterThatIsNotUsedCostsNothing) {
  const KernelProgram program =
      program_of("program: [{repeat: 10 ^ 15, counter: i, body: [load: 1, calc: 2]}]");
  const auto schedule = make_schedule(program, {}, paper_durations());
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->period_count(), 2'000'000'000'000'000u);
}

TEST(Schedule, EqualTurnsOfACounterAreTakenTogether) {
  const KernelProgram program = program_of(
      "program: [{repeat: 10 ^ 6, counter: i, body: [load: 1, {when: i == 5, then: [calc: 9]}, store: 2]}]");
  const auto schedule = make_schedule(program, {}, paper_durations());
  ASSERT_TRUE(schedule);
  EXPECT_LT(schedule->steps.size(), 10u);
  EXPECT_EQ(schedule->period_count(), 2'000'001u);
}

}  // namespace
}  // namespace warptime
