// What branches on loaded data typically do, where nobody says.
#include "simulator/program/typical_shares.h"

#include <gtest/gtest.h>

#include <string>

#include "simulator/program/profiled_program.h"
#include "test_files.h"

namespace warptime {
namespace {

std::string parameter(const std::string& name, const std::string& condition, const std::string& share = "1") {
  return "  " + name + ": {share: " + share +
         ", ptx: 9, description: \"share of the warps of which some thread " +
         (name.starts_with("not_") ? "does not take" : "takes") + " the branch at line 4: data decide `" +
         condition + "`\"}\n";
}

std::string calculation(const std::string& shares) {
  return "  - {instructions: 9, shares: [" + shares + "]}\n";
}

std::string atomic(const std::string& shares, const std::string& threads = "") {
  return "  - {load: {access: scattered, bytes: 4, sectors: 32, note: atomic}, shares: [" + shares + "]" +
         (threads.empty() ? "" : ", threads: \"" + threads + "\"") + "}\n";
}

std::map<std::string, double> shares_of(const std::string& parameters, const std::string& program) {
  return typical_shares(test::program_of("parameters:\n" + parameters + "program:\n" + program));
}

// The share of a branch with nothing but calculation that is executed where the condition holds; 1: it is left as it is.
double share_where(const std::string& condition) {
  const auto shares = shares_of(parameter("taken_at_line_4", condition), calculation("taken_at_line_4"));
  return shares.empty() ? 1 : shares.begin()->second;
}

TEST(TypicalShares, OfConditions) {
  EXPECT_EQ(share_where("data == 7"), 0.3);
  EXPECT_EQ(share_where("data == data"), 0.3);
  EXPECT_EQ(share_where("data % 256 == 7"), 0.3);
  EXPECT_EQ(share_where("data % 4 == 3"), 1);             // some thread of 32 mostly has it
  EXPECT_EQ(share_where("threadIdx.x % 32 == data"), 1);  // data say which one
  EXPECT_EQ(share_where("threadIdx.x + data == data"), 0.3);
  EXPECT_EQ(share_where("data != 7"), 1);
  EXPECT_EQ(share_where("data < 7"), 0.75);
  EXPECT_EQ(share_where("data"), 0.75);
  EXPECT_EQ(share_where("!(data < 7)"), 0.75);
  EXPECT_EQ(share_where("!(data != 7)"), 0.3);
  EXPECT_EQ(share_where("n < 7"), 1);
  EXPECT_EQ(share_where("\xe2\x80\xa6"), 0.75);  // too long to be written out
}

TEST(TypicalShares, OfConjunctionsAndDisjunctions) {
  EXPECT_EQ(share_where("data == 7 && data < 9"), 0.3);
  EXPECT_EQ(share_where("data == 7 || data < 9"), 0.75);
  EXPECT_EQ(share_where("data < 9 || data != 7"), 1);
  EXPECT_EQ(share_where("!(data != 7 || data < 9)"), 0.3);
  EXPECT_EQ(share_where("n < 7 && data == 7"), 0.3);
}

TEST(TypicalShares, OfTheSideThatIsExecutedWhereTheConditionDoesNotHold) {
  const auto shares =
      shares_of(parameter("taken_at_line_4", "data != 7") + parameter("not_taken_at_line_4", "data != 7"),
                calculation("taken_at_line_4") + calculation("not_taken_at_line_4"));
  EXPECT_EQ(shares, (std::map<std::string, double>{{"not_taken_at_line_4", 0.3}}));
}

TEST(TypicalShares, OfWhatIsCountedOrCollected) {
  const std::string hits = parameter("not_taken_at_line_4", "data == 0");
  EXPECT_EQ(shares_of(hits, atomic("not_taken_at_line_4")).at("not_taken_at_line_4"), 0.4);
  // In a loop behind the branch.
  EXPECT_EQ(shares_of(hits,
                      "  - repeat: 9\n    shares: [not_taken_at_line_4]\n    body:\n"
                      "      - {load: {access: scattered, note: atomic}}\n")
                .at("not_taken_at_line_4"),
            0.4);
  // What must be equal is rarer.
  EXPECT_EQ(shares_of(parameter("taken_at_line_4", "data == data"), atomic("taken_at_line_4"))
                .at("taken_at_line_4"),
            0.3);
  // An exchange that is tried again has atomics on both sides.
  EXPECT_TRUE(shares_of(hits + parameter("taken_at_line_4", "data == 0"),
                        atomic("not_taken_at_line_4") + atomic("taken_at_line_4"))
                  .empty());
}

// What lies in an image, say: no few of many.
TEST(TypicalShares, AreAllBetweenBounds) {
  const std::string outside = "data < 1 || n <= data + 1 || (m < data || data < 0)";
  EXPECT_TRUE(shares_of(parameter("not_taken_at_line_4", outside), atomic("not_taken_at_line_4")).empty());
  EXPECT_TRUE(
      shares_of(parameter("taken_at_line_4", "!(" + outside + ")"), atomic("taken_at_line_4")).empty());
  EXPECT_EQ(share_where("0 <= data && n > data"), 1);
  EXPECT_EQ(share_where("0 <= data && n > data && m < threadIdx.x"), 1);
  EXPECT_EQ(share_where("0 <= data && m < threadIdx.x"), 0.75);
  // Some are outside, or there is one bound, or both are numbers: it picks values.
  EXPECT_EQ(share_where(outside), 0.75);
  EXPECT_EQ(share_where("data < n"), 0.75);
  EXPECT_EQ(share_where("data >= 10 && data < 20"), 0.75);
  EXPECT_EQ(share_where("data >= 0 && data < n && data == 7"), 0.3);
  EXPECT_EQ(share_where("data >= 0 && n < data"), 0.75);
}

TEST(TypicalShares, AreAllWhereOneThreadOfAWarpAddsForTheOthers) {
  EXPECT_TRUE(shares_of(parameter("not_taken_at_line_4", "data == 0"),
                        atomic("not_taken_at_line_4", "threadIdx.x % 32 == 0"))
                  .empty());
  EXPECT_TRUE(shares_of(parameter("not_taken_at_line_4", "threadIdx.x % 32 != 0 || data < 1"),
                        atomic("not_taken_at_line_4"))
                  .empty());
  // Also where data say so: it is not one thread alone.
  EXPECT_EQ(shares_of(parameter("taken_at_line_4", "threadIdx.x % 32 == 31 || data != 0"),
                      atomic("taken_at_line_4"))
                .at("taken_at_line_4"),
            0.4);
}

TEST(TypicalShares, OfBranchesInEachOtherAreTheLeast) {
  const auto shares =
      shares_of(parameter("taken_at_line_4", "data < 7") + parameter("taken_at_line_5", "data < 8") +
                    parameter("taken_at_line_6", "data == 8"),
                calculation("taken_at_line_4, taken_at_line_5, taken_at_line_6"));
  EXPECT_EQ(shares,
            (std::map<std::string, double>{{"taken_at_line_4", 0.75}, {"taken_at_line_6", 0.3 / 0.75}}));
}

TEST(TypicalShares, LeaveAloneWhatIsKnown) {
  EXPECT_TRUE(
      shares_of(parameter("taken_at_line_4", "data == 7", "0.9"), calculation("taken_at_line_4")).empty());
  EXPECT_TRUE(shares_of("  part: {share: 1}\n", calculation("part")).empty());
}

TEST(TypicalShares, GiveWayToProfilesAndToWhatIsGiven) {
  const auto program = std::make_shared<const KernelProgram>(
      test::program_of("parameters:\n" + parameter("taken_at_line_4", "data == 7") + "program:\n" +
                       calculation("taken_at_line_4")));
  const auto share = [&](const KernelProfile& profile,
                         const std::map<std::string, double, std::less<>>& given, Unsaid unsaid) {
    return *with_profile(program, profile, given, unsaid).program->parameters.at(0).share;
  };
  EXPECT_EQ(share({}, {}, Unsaid::typical), 0.3);
  EXPECT_EQ(share({}, {}, Unsaid::most), 1);
  EXPECT_EQ(share({}, {{"taken_at_line_4", 0.6}}, Unsaid::typical), 1);  // who gives it has it
  KernelProfile profile;
  profile.shares["taken_at_line_4"] = 0.6;
  EXPECT_EQ(share(profile, {}, Unsaid::typical), 1);
}

TEST(TypicalShares, AreOfWarpsOfWhichHalfTheThreadsGo) {
  const auto program = std::make_shared<const KernelProgram>(
      test::program_of("parameters:\n" + parameter("taken_at_line_4", "data % 2 == 1") + "program:\n" +
                       calculation("taken_at_line_4")));
  const auto threads = [&](const KernelProfile& profile, Unsaid unsaid) {
    return with_profile(program, profile, {}, unsaid).program->parameters.at(0).threads;
  };
  EXPECT_EQ(threads({}, Unsaid::typical), 0.5);
  EXPECT_EQ(threads({}, Unsaid::most), 1);
  Parameter within;
  within.name = "not_taken_at_line_4";
  within.description = "data decide `data < 0 || n <= data`";
  EXPECT_EQ(typical_threads(within), 1);
  within.name = "taken_at_line_4";
  EXPECT_EQ(typical_threads(within), 0.5);
  KernelProfile profile;
  profile.shares["taken_at_line_4"] = 1;
  EXPECT_EQ(threads(profile, Unsaid::typical), 1);
}

}  // namespace
}  // namespace warptime
