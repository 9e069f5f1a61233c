// Loops that warps leave at different times, as a profile has seen.
#include "simulator/program/iteration_spread.h"

#include <gtest/gtest.h>

#include <cmath>

#include "simulator/gpu/gpu.h"
#include "simulator/program/profiled_program.h"
#include "simulator/sm/memory_levels.h"
#include "test_files.h"

namespace warptime {
namespace {

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments_of(const IterationSpread& spread) {
  const IterationQuantiles quantiles(spread);
  constexpr int warps = 10'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < warps; ++i) {
    const auto iterations = static_cast<double>(quantiles.iterations((i + 0.5) / warps));
    sum += iterations;
    squares += iterations * iterations;
  }
  return {sum / warps, std::sqrt(std::max(0.0, squares / warps - sum / warps * sum / warps))};
}

TEST(IterationQuantiles, HaveTheMeanTheDeviationAndTheMostOfTheProfile) {
  for (const IterationSpread& spread :
       {IterationSpread{508, 158, 1000}, {170, 60, 255}, {40, 40, 400}, {9, 3, 31}}) {
    const auto [mean, deviation] = moments_of(spread);
    EXPECT_NEAR(mean, spread.mean, 0.02 * spread.mean + 0.1);
    EXPECT_NEAR(deviation, spread.deviation, 0.05 * spread.deviation + 0.3);
    EXPECT_LE(IterationQuantiles(spread).iterations(1), spread.most);
    EXPECT_GE(IterationQuantiles(spread).iterations(0), 0);
  }
}

// As far apart as possible: three of four warps make none, the others the most.
TEST(IterationQuantiles, AreTwoNumbersWhereTheDeviationIsTheWidest) {
  const IterationQuantiles quantiles({25, std::sqrt(0.25 * 0.75) * 100, 100});
  EXPECT_EQ(quantiles.iterations(0.5), 0);
  EXPECT_EQ(quantiles.iterations(0.9), 100);
}

TEST(IterationSpread, OfPiecesAndWhatIsLeftAddUp) {
  const IterationSpread whole{508, 158, 1000};
  for (const int times : {2, 4, 8}) {
    const Moments pieces = moments_of(of_pieces(whole, times)), left = moments_of(left_of_pieces(times));
    EXPECT_NEAR(times * pieces.mean + left.mean, whole.mean, 0.02 * whole.mean) << times;
    EXPECT_NEAR(times * pieces.deviation, whole.deviation, 0.06 * whole.deviation) << times;
  }
}

// A launch whose blocks all run at the same time ends with the longest warp: its time is that of nearly the most
// iterations, not of the mean. The sum of what is executed stays that of the mean.
TEST(IterationSpread, TheLongestWarpEndsTheLaunch) {
  const auto cycles_of = [](const KernelProfile::Iterations& iterations) {
    KernelProfile profile;
    profile.iterations["iterations_at_line_4"] = iterations;
    const auto program =
        with_profile(std::make_shared<const KernelProgram>(test::program_of(
                         "program: [{repeat: iterations_at_line_4, body: [{instructions: 4, chain: 40}]}]")),
                     profile, {});
    const Gpu gpu = **GpuCatalogue::bundled().find("h100-sxm");
    const LaunchSize size{{66, 1, 1}, {256, 1, 1}};
    const Bindings values{{"iterations_at_line_4", std::llround(iterations.mean)}};
    const auto warps = WarpProgram(*program.program).launch(values, size, program.shares, {});
    EXPECT_TRUE(warps);
    const auto levels = memory_levels(
        {program.program.get(), values, size, program.shares, &*warps, &gpu, occupancy(gpu, 256, {})},
        CacheState::warm);
    EXPECT_TRUE(levels);
    return levels->cycles;
  };
  const double alike = cycles_of({400, 0, 400}), spread = cycles_of({400, 120, 900});
  EXPECT_NEAR(alike / 400, 40, 1);
  EXPECT_GT(spread, 1.6 * alike);
  EXPECT_LT(spread, 900.0 / 400 * alike);
}

// ---- loops that data may leave before their count

std::shared_ptr<const KernelProgram> left_early(const std::string& loops,
                                                const std::string& parameters = "") {
  return std::make_shared<const KernelProgram>(
      test::program_of("assumptions:\n"
                       "  - {line: 4, ptx: 12, text: \"the loop may be left early, which data decide: taken "
                       "to run to its end\"}\n"
                       "  - {line: 4, ptx: 22, text: \"the loop may be left early, which data decide: taken "
                       "to run to its end\"}\n" +
                       (parameters.empty() ? "" : "parameters:\n" + parameters) + "program:\n" + loops));
}

double iterations_of(const KernelProgram& program, std::size_t item) {
  const auto& repeat = std::get<Repeat>(program.program.at(item).what);
  const auto count = evaluate_count(repeat.count, {{"n", 100}});
  EXPECT_TRUE(count);
  return count ? static_cast<double>(*count) : 0;
}

const char* const kComputes = "  - {repeat: 64, lines: 4, ptx: 12, body: [{instructions: 9}]}\n";
const char* const kSearches =
    "  - {repeat: 64, lines: 4, ptx: 22, body: [{load: {access: scattered, bytes: 4}}, {instructions: 9}]}\n";

TEST(EarlyExits, AreTypicalWhereNobodySays) {
  const auto program = left_early(std::string(kComputes) + kSearches);
  const auto made = with_profile(program, {}, {}, Unsaid::typical);
  EXPECT_EQ(iterations_of(*made.program, 0), 48);
  EXPECT_EQ(iterations_of(*made.program, 1), 4);
  // Nor are steps of which each does much, or takes one of two sides.
  const std::string steps =
      "  - {repeat: 64, lines: 4, ptx: 12, body: [{load: {access: scattered, bytes: 4}}, ";
  for (const char* rest : {"{instructions: 90}]}\n", "{instructions: 9, shares: [taken_at_line_5]}]}\n"})
    EXPECT_EQ(iterations_of(*with_profile(left_early(steps + rest, "  taken_at_line_5: {share: 1}\n"), {}, {},
                                          Unsaid::typical)
                                 .program,
                            0),
              48)
        << rest;
  // What the counter says where to load from is no search.
  const auto table = left_early(
      "  - {repeat: 64, counter: i, lines: 4, ptx: 12, body: [{load: {access: coalesced, "
      "bytes: 4, address: 4 * i}}]}\n");
  EXPECT_EQ(iterations_of(*with_profile(table, {}, {}, Unsaid::typical).program, 0), 48);
  ASSERT_EQ(made.notes.size(), 2U);
  EXPECT_NE(made.notes[0].find("48 of 64 iterations"), std::string::npos) << made.notes[0];
  // A count that the launch gives: three quarters, whatever the body does.
  const auto given = left_early("  - {repeat: n, lines: 4, ptx: 12, body: [{load: {access: scattered}}]}\n");
  EXPECT_EQ(iterations_of(*with_profile(given, {}, {}, Unsaid::typical).program, 0), 75);
}

// What is behind the exit of an iteration that begins with it is executed as often as what is before.
TEST(EarlyExits, MayBeginAnIteration) {
  const auto made = [](const std::string& body) {
    auto program = std::make_shared<KernelProgram>(
        *left_early("  - {repeat: 64, lines: 4, ptx: 12, body: [" + body + "]}\n"));
    program->assumptions.push_back({4, 14, std::string(kDataMayLeaveHere)});
    return with_profile(program, {}, {}, Unsaid::typical);
  };
  const auto body_of = [](const ProfiledProgram& program) -> const Items& {
    return std::get<Repeat>(program.program->program.at(0).what).body;
  };
  const auto first = made(
      "{instructions: 2, ptx: 14}, {load: {access: coalesced, bytes: 4, address: 0}, ptx: 15}, "
      "{instructions: 9, ptx: 16}");
  EXPECT_EQ(iterations_of(*first.program, 0), 48);
  ASSERT_EQ(body_of(first).size(), 3U);
  for (const Item& item : body_of(first)) EXPECT_FALSE(std::holds_alternative<When>(item.what));
  // What is behind the exit at an iteration's end is executed by none.
  const auto last =
      made("{instructions: 9, ptx: 13}, {instructions: 2, ptx: 14}, {instructions: 1, ptx: 15}");
  ASSERT_EQ(body_of(last).size(), 3U);
  EXPECT_TRUE(std::holds_alternative<When>(body_of(last)[2].what));
}

TEST(EarlyExits, AreSoonWhereDataDiffer) {
  const auto leave = [](const std::string& count) {
    auto program = std::make_shared<KernelProgram>(
        *left_early("  - {repeat: " + count +
                    ", lines: 4, ptx: 12, body: [{instructions: 9, ptx: 14}, {load: {access: "
                    "scattered, bytes: 4}, ptx: 15}]}\n"));
    program->assumptions.push_back({4, 14, std::string(kDifferentDataLeaveHere)});
    return with_profile(program, {}, {}, Unsaid::typical);
  };
  EXPECT_EQ(iterations_of(*leave("n").program, 0), 3);
  EXPECT_EQ(iterations_of(*leave("64").program, 0), 3);
  const auto few = leave("2");
  EXPECT_TRUE(few.notes.empty());
  EXPECT_EQ(iterations_of(*few.program, 0), 2);
}

TEST(EarlyExits, AreAtTheEndForThePapersModel) {
  const auto program = left_early(kComputes);
  EXPECT_EQ(with_profile(program, {}, {}).program, program);
}

TEST(EarlyExits, AreWhatIsGivenAndElseTheProfiles) {
  const auto program = left_early(std::string(kComputes) + kSearches);
  KernelProfile profile;
  profile.iterations["iterations_at_line_4"] = {20, 0, 20};
  // Of one line: both, as long as the second has no iterations of its own.
  const auto both = with_profile(program, profile, {}, Unsaid::typical);
  EXPECT_EQ(iterations_of(*both.program, 0), 20);
  EXPECT_EQ(iterations_of(*both.program, 1), 20);
  profile.iterations["iterations_at_line_4_2"] = {10, 0, 10};
  const auto own = with_profile(program, profile, {}, Unsaid::typical);
  EXPECT_EQ(iterations_of(*own.program, 0), 20);
  EXPECT_EQ(iterations_of(*own.program, 1), 10);
  const auto given = with_profile(program, profile, {{"iterations_at_line_4", 30}}, Unsaid::typical);
  EXPECT_EQ(iterations_of(*given.program, 0), 30);
}

}  // namespace
}  // namespace warptime
