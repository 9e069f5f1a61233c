// What profiles say of accesses: the file, what follows from reuse times, and addresses that are drawn with them.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>

#include "simulator/program/profile.h"
#include "simulator/program/profiled_program.h"
#include "simulator/sm/drawn_lines.h"
#include "simulator/sm/launch_footprint.h"
#include "simulator/sm/memory_levels.h"
#include "test_files.h"

namespace warptime {
namespace {

AccessProfile gather_profile() {
  AccessProfile profile;
  profile.requests = 8192;
  profile.sectors = 24;
  profile.lines = 20;
  profile.launch = {4096, 2048, 1024};
  profile.block = {64, 48, 32};
  profile.blocks = 256;
  profile.threads = 128;
  profile.repeats = 0.25;
  profile.sm = {0, 0, 0, 0, 0, 0, 0.125, 0, 0, 0.25};
  profile.all = {0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0.25, 0.125};
  return profile;
}

TEST(AccessProfiles, AreReadAsTheyWereWritten) {
  KernelProfile kernel;
  kernel.kernel = "gather";
  kernel.shares["taken_at_line_3"] = 0.25;
  kernel.iterations["iterations_at_line_4"] = {7.5, 2.25, 31};
  AccessProfile atomic = gather_profile();
  atomic.turns = 26;
  atomic.addresses = 25;
  atomic.hottest = 0.125;
  atomic.hottest_lines = 0.25;
  atomic.by_turn = {24, 12.5, 1};
  atomic.first = {0.5, 0.125, 0.125, 0.125, 0.125, 0, 0};
  kernel.accesses["load_of_in_at_line_5"] = std::make_shared<const AccessProfile>(gather_profile());
  kernel.accesses["atomic_at_line_6"] = std::make_shared<const AccessProfile>(atomic);
  kernel.chip_accesses["shared_load_at_line_7"] = {512, 2.5};
  const auto read = read_profile(to_yaml(Profile{{kernel}}), "written.yaml");
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  ASSERT_EQ(read->kernels.size(), 1U);
  const KernelProfile& again = read->kernels[0];
  EXPECT_EQ(again.shares, kernel.shares);
  EXPECT_EQ(again.chip_accesses, kernel.chip_accesses);
  ASSERT_EQ(again.accesses.size(), 2U);
  for (const auto& [name, access] : kernel.accesses) EXPECT_EQ(*again.accesses.at(name), *access) << name;
}

TEST(AccessProfiles, OfTheFirstFormatAreRead) {
  const auto read = read_profile("warptime: 1\nkernel: visit\nshares:\n  taken_at_line_3: 0.5\n", "old.yaml");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->find("visit", "taken_at_line_3"), 0.5);
}

TEST(ReuseTimes, OfACycleOfLinesAreFoundWhereTheCacheHoldsAllOfThem) {
  ReuseTimes cycle(11);
  cycle[10] = 1;  // every sector again after 1,024 to 2,047 groups
  EXPECT_EQ(share_missed(cycle, 512), 1);
  EXPECT_EQ(share_missed(cycle, 4096), 0);
  EXPECT_EQ(share_missed({}, 4096), 1);  // nothing is asked for again
  // Half of them soon: between two accesses of the others lie half as many lines.
  ReuseTimes half = {0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5};
  EXPECT_EQ(share_missed(half, 1200), 0);
  EXPECT_EQ(share_missed(half, 256), 0.5);
}

TEST(TouchedMemory, GrowsFromABlockToTheLaunch) {
  AccessProfile profile;
  profile.block = {100, 100, 100};
  profile.launch = {100, 1000, 10000};  // all share them; a table at random; each block has its own
  profile.blocks = 100;
  profile.threads = 128;
  const TouchedMemory some = touched_by(profile, 4, 128);
  EXPECT_NEAR(some.sectors, 100, 0.1);
  EXPECT_NEAR(some.pieces, 1000 * (1 - 0.9 * 0.9 * 0.9 * 0.9), 0.1);
  EXPECT_NEAR(some.lines, 400, 0.1);
  EXPECT_NEAR(touched_by(profile, 2, 256).lines, 400, 0.1);
  EXPECT_NEAR(touched_by(profile, 100, 128).pieces, 1000, 0.1);
}

// What a stream of requests is like, as a profile counts it.
struct Counted {
  double requests = 0, sectors = 0, groups = 0, repeats = 0, fresh = 0;
  std::map<int, double> times;
};

Counted count_drawn(const AccessProfile& profile, int warps, int requests) {
  DrawnLines drawn;
  Counted counted;
  std::map<std::int64_t, std::int64_t> last;  // by sector, in groups
  std::map<int, std::map<std::int64_t, bool>> of_warp;
  std::uint64_t state = 1;
  std::int64_t now = 0;
  std::vector<LineSectors> made;
  for (int i = 0; i < requests; ++i) {
    const int warp = i % warps;
    drawn.draw(profile, {3, 1000, 1.5}, static_cast<std::size_t>(warp), RandomNumbers(state), made);
    std::map<std::int64_t, bool> own;
    counted.requests += 1;
    for (const LineSectors& line : made) {
      ++now;
      counted.groups += 1;
      for (unsigned rest = line.sectors; rest != 0; rest &= rest - 1) {
        const std::int64_t sector = line.line * 4 + std::countr_zero(rest);
        counted.sectors += 1;
        own[sector] = true;
        const auto before = last.find(sector);
        if (of_warp[warp].contains(sector))
          counted.repeats += 1;
        else if (before == last.end())
          counted.fresh += 1;
        else
          counted.times[std::bit_width(static_cast<std::uint64_t>(now - before->second)) - 1] += 1;
        last[sector] = now;
      }
    }
    of_warp[warp] = std::move(own);
  }
  return counted;
}

TEST(DrawnLines, HaveTheSectorsRepeatsAndReuseTimesOfTheProfile) {
  AccessProfile profile = gather_profile();
  profile.launch = {1e6, 1e6, 1e6};  // more than is drawn
  const Counted drawn = count_drawn(profile, 64, 20'000);
  EXPECT_NEAR(drawn.sectors / drawn.requests, 24, 0.5);
  EXPECT_NEAR(drawn.groups / drawn.requests, 20, 0.1);
  EXPECT_NEAR(drawn.repeats / drawn.sectors, 0.25, 0.02);
  EXPECT_NEAR(drawn.fresh / drawn.sectors, 0.375, 0.03);
  const auto share = [&](int k) {
    const auto found = drawn.times.find(k);
    return found == drawn.times.end() ? 0 : found->second / drawn.sectors;
  };
  EXPECT_NEAR(share(6), 0.125, 0.04);
  EXPECT_NEAR(share(8) + share(9) + share(10), 0.25, 0.04);
}

TEST(DrawnLines, HaveFewerSectorsInLaterTurns) {
  AccessProfile profile = gather_profile();
  profile.launch = {1e6, 1e6, 1e6};
  profile.by_turn = {24, 16, 4};
  const auto sectors = [&](int turns) { return count_drawn(profile, 64, 64 * turns).sectors / 64; };
  EXPECT_NEAR(sectors(1), 24, 0.5);
  EXPECT_NEAR(sectors(2), 24 + 16, 1);
  EXPECT_NEAR(sectors(10), 24 + 16 + 8 * 4, 2);  // the third and all later ones
}

// Half of what the SM asks for the first time is among the first 64th of what it asks for, and none in the second half.
TEST(DrawnLines, AskForLinesTheFirstTimeWhenTheProfileDid) {
  AccessProfile profile = gather_profile();
  profile.blocks = 1;  // its 8,192 requests are the SM's
  profile.repeats = 0;
  profile.sm = {0, 0, 0, 0, 0, 0.5, 0.25, 0.125};
  const auto fresh = [&](int requests) { return count_drawn(profile, 64, requests).fresh; };
  const double all = fresh(8192), early = fresh(8192 / 64);
  EXPECT_LT(early / all, 0.12);  // with what is asked for again later, but was not yet there
  profile.first = {0.5, 0.125, 0.125, 0.125, 0.125, 0, 0};
  EXPECT_NEAR(fresh(8192) / all, 1, 0.35);
  EXPECT_GT(fresh(8192 / 64), 4 * early);
  EXPECT_NEAR(fresh(8192), fresh(8192 / 2), 0.05 * all);
}

TEST(DrawnLines, AreTheSameForTheSameState) {
  const Counted one = count_drawn(gather_profile(), 8, 500), other = count_drawn(gather_profile(), 8, 500);
  EXPECT_EQ(one.sectors, other.sectors);
  EXPECT_EQ(one.times, other.times);
}

// A gather from a table of 16 KiB, whose 512 sectors all warps of an SM ask for again and again.
TEST(MemoryLevels, OfAGatherWithAProfileAreItsSectorsHitsAndFootprint) {
  auto profile = std::make_shared<AccessProfile>();
  profile->requests = 32768;
  profile->sectors = profile->lines = 16;
  profile->launch = profile->block = {512, 256, 128};
  profile->blocks = 4096;
  profile->threads = 256;
  profile->sm.assign(10, 0);
  profile->sm[8] = profile->sm[9] = 0.435;  // the others are asked for the first time
  profile->all = profile->sm;
  KernelProgram program =
      test::program_of("program: [{load: {access: scattered, bytes: 4, array: table}, lines: 3, chain: 1}]");
  KernelProfile kernel;
  kernel.accesses["load_of_table_at_line_3"] = profile;
  const auto profiled =
      with_profile(std::make_shared<const KernelProgram>(std::move(program)), kernel, {}).program;
  const LaunchSize size{{4096, 1, 1}, {256, 1, 1}};
  const Footprint whole = LaunchFootprint(*profiled, {}, size).of_blocks(0, 4096);
  EXPECT_EQ(whole.read_bytes, 16 * 1024);
  EXPECT_FALSE(whole.estimated);
  WarpOptions options;
  options.sectors = true;
  const auto warps = WarpProgram(*profiled).launch({}, size, {}, options);
  ASSERT_TRUE(warps);
  EXPECT_FALSE(warps->sectors_unknown);
  const Gpu h100 = **GpuCatalogue::bundled().find("h100-sxm");
  const auto levels = memory_levels({profiled.get(), {}, size, {}, &*warps, &h100, occupancy(h100, 256, {})},
                                    CacheState::cold);
  ASSERT_TRUE(levels);
  EXPECT_NEAR(levels->l1_loads / 32768, 16, 0.1);
  EXPECT_NEAR(levels->l1_load_hits / levels->l1_loads, 0.87, 0.02);
  EXPECT_NEAR(levels->memory_read_bytes, 16 * 1024, 2048);
  EXPECT_EQ(levels->unknown_share, 0);
  EXPECT_EQ(levels->profiled_share, 1);
}

// 32 warps of an SM load a constant that data choose, one after the other: each address holds the cache for its cycles, also
// where all threads of a warp choose the same.
TEST(MemoryLevels, OfConstantsThatDataChooseEachHoldsTheCache) {
  const auto cycles_of = [](double ways) {
    KernelProfile kernel;
    kernel.chip_accesses["constant_load_at_line_3"] = {3200 * 132, ways};
    const auto profiled =
        with_profile(std::make_shared<const KernelProgram>(test::program_of(
                         "program: [{repeat: 100, body: [{instructions: 1, on_chip: [{load: constant, bytes: "
                         "4, scattered: 1024}], lines: 3}]}]")),
                     kernel, {})
            .program;
    const LaunchSize size{{132, 1, 1}, {1024, 1, 1}};
    const auto warps = WarpProgram(*profiled).launch({}, size, {}, {});
    const Gpu h100 = **GpuCatalogue::bundled().find("h100-sxm");
    return memory_levels({profiled.get(), {}, size, {}, &*warps, &h100, occupancy(h100, 1024, {})},
                         CacheState::warm)
        ->cycles;
  };
  const Gpu h100 = **GpuCatalogue::bundled().find("h100-sxm");
  // Until the last SM has its first block.
  const double start = *h100.timing.all_sms_us * h100.clock_mhz - 4 * 0.07 * *h100.timing.l2_latency_cycles;
  EXPECT_NEAR(cycles_of(1) - start, 100 * 32 * 2, 0.05 * 6400);
  EXPECT_NEAR(cycles_of(2) - start, 2 * 100 * 32 * 2, 0.05 * 12800);
}

// Atomics whose addresses data decide wait for the busiest slice of L2, and the busiest address.
TEST(MemoryLevels, AtomicsWithAProfileWaitForTheBusiestLines) {
  const Gpu h100 = **GpuCatalogue::bundled().find("h100-sxm");
  const auto cycles_of = [&](double hottest, double hottest_lines) {
    auto profile = std::make_shared<AccessProfile>();
    profile->requests = 13200 * 8;
    profile->sectors = profile->lines = 16;
    profile->turns = 32;
    profile->addresses = 16;
    profile->hottest = hottest;
    profile->hottest_lines = hottest_lines;
    profile->launch = {512, 256, 128};
    profile->block = {64, 64, 64};
    profile->blocks = 13200;
    profile->threads = 256;
    profile->sm = profile->all = ReuseTimes{0, 0, 0, 0, 0, 0, 0, 1};
    KernelProfile kernel;
    kernel.accesses["atomic_of_bins_at_line_3"] = profile;
    const auto profiled =
        with_profile(
            std::make_shared<const KernelProgram>(test::program_of(
                "program: [{store: {access: scattered, bytes: 4, array: bins, note: atomic}, lines: 3}]")),
            kernel, {})
            .program;
    const LaunchSize size{{13200, 1, 1}, {256, 1, 1}};
    const auto warps = WarpProgram(*profiled).launch({}, size, {}, {});
    return memory_levels({profiled.get(), {}, size, {}, &*warps, &h100, occupancy(h100, 256, {})},
                         CacheState::warm)
        ->cycles;
  };
  const double one = cycles_of(0.001, 1), turns = 13200 * 8 * 32;
  EXPECT_NEAR(one, turns * 0.83 * h100.clock_mhz / *h100.timing.atomic_one_address_per_us, 0.1 * one);
  EXPECT_NEAR(cycles_of(0.001, 0.5) / one, 0.5, 0.05);
  EXPECT_NEAR(cycles_of(0.5, 0.5) / one, 0.5 / 0.83, 0.06);
  EXPECT_NEAR(cycles_of(0, 0) / one, 1.0 / 32, 0.03);  // 128 lines in 32 slices
}

}  // namespace
}  // namespace warptime
