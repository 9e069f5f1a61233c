// One SM, its L1, and what a launch asks of L2 and of memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "simulator/predict/array_places.h"
#include "simulator/sm/launch_footprint.h"
#include "simulator/sm/line_table.h"
#include "simulator/sm/memory_levels.h"
#include "simulator/sm/sector_cache.h"
#include "simulator/sm/sm_simulation.h"
#include "test_files.h"

namespace warptime {
namespace {

using test::program_of;

TEST(SectorCache, KeepsTheLinesThatWereUsedLast) {
  constexpr std::size_t lines = 7;  // one set
  SectorCache cache(lines);
  std::list<std::int64_t> newest_first;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto address = static_cast<std::int64_t>(random() % 40) * 1000 - 20'000;
    const auto known = std::find(newest_first.begin(), newest_first.end(), address);
    const bool kept = known != newest_first.end();
    if (random() % 4 == 0) {
      ASSERT_EQ(cache.find(address) != nullptr, kept);
      if (kept) newest_first.splice(newest_first.begin(), newest_first, known);
      continue;
    }
    SectorCache::Line& line = cache.find_or_add(address);
    ASSERT_EQ(line.address, address);
    ASSERT_EQ(line.loaded != 0, kept);
    line.loaded = 1;
    if (kept) newest_first.erase(known);
    newest_first.push_front(address);
    if (newest_first.size() > lines) newest_first.pop_back();
  }
}

// As many lines as it holds, side by side, and far apart, over and over: the share that is found again.
double kept_of(std::int64_t count, std::int64_t apart) {
  constexpr std::size_t lines = 2048;
  SectorCache cache(lines);
  int found = 0;
  constexpr int rounds = 8;
  for (int round = 0; round <= rounds; ++round)
    for (std::int64_t i = 0; i < count; ++i) {
      found += round > 0 && cache.find(i * apart) != nullptr ? 1 : 0;
      cache.find_or_add(i * apart);
    }
  return found / static_cast<double>(count * rounds);
}

TEST(SectorCache, LosesLinesLongBeforeItIsFull) {
  EXPECT_EQ(kept_of(1024, 1), 1);  // side by side
  for (const std::int64_t apart : {3, 8, 33, 128, 1000}) {
    EXPECT_GT(kept_of(512, apart), 0.9) << apart;
    EXPECT_LT(kept_of(2048, apart), 0.7) << apart;
    EXPECT_EQ(kept_of(40'000, apart), 0) << apart;
  }
}

TEST(SectorCache, HoldsNoMoreLinesThanItHasRoomFor) {
  SectorCache cache(100, 2048);
  for (std::int64_t line = 0; line < 300; ++line) cache.find_or_add(line);
  for (std::int64_t line = 0; line < 300; ++line) EXPECT_EQ(cache.find(line) != nullptr, line >= 200) << line;
}

TEST(LineTable, KeepsAllLines) {
  LineTable<LineAtL2> map;
  std::map<std::int64_t, std::uint8_t> expected;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto line = static_cast<std::int64_t>(random() % 5'000) << (i % 2 * 36);
    const auto sector = static_cast<std::uint8_t>(1U << (random() & 3));
    map[line].sectors |= sector;
    expected[line] |= sector;
  }
  EXPECT_EQ(map.size(), expected.size());
  for (const auto& [line, sectors] : expected) ASSERT_EQ(map[line].sectors, sectors);
}

Gpu gpu() {
  return **GpuCatalogue::bundled().find("h100-sxm");
}

struct Case {
  std::string items;
  LaunchSize size;
  ArrayPlaces places = {};
};

MemoryLevels levels_of(const Case& of, CacheState caches = CacheState::cold) {
  const KernelProgram program = program_of("program: " + of.items);
  const Gpu h100 = gpu();
  WarpOptions options;
  options.sectors = true;
  const auto warps = WarpProgram(program).launch({}, of.size, {}, options);
  EXPECT_TRUE(warps);
  const Occupancy occupied = occupancy(h100, of.size.threads_per_block(), {});
  const auto levels = memory_levels({&program, {}, of.size, {}, &*warps, &h100, occupied, of.places}, caches);
  EXPECT_TRUE(levels);
  return *levels;
}

constexpr double kMib = 1 << 20;

// Cycles until the last of all SMs has its first block.
double start_of_all() {
  const TimingFigures timing = gpu().timing;
  return *timing.all_sms_us * gpu().clock_mhz - 4 * 0.07 * *timing.l2_latency_cycles;
}

// data/hardware/h200_cold_chains.csv
TEST(MemoryLevels, BlocksInStepWaitForMemoryAsOneAlone) {
  const auto cycles = [](const std::string& threads, std::int64_t blocks, CacheState caches) {
    return levels_of({"[{repeat: 64, counter: k, body: [{load: {access: uniform, bytes: 4, array: a, "
                      "address: 128 * k}" +
                          threads + "}, {instructions: 4}]}]",
                      {{blocks, 1, 1}, {32, 1, 1}}},
                     caches)
        .cycles;
  };
  const double alone = cycles("", 1, CacheState::cold);
  EXPECT_NEAR(cycles("", 132, CacheState::cold) / alone, 0.9, 0.1);
  EXPECT_LT(cycles("", 132, CacheState::warm), 0.6 * alone);
  // Some blocks come to lines before the others.
  EXPECT_LT(cycles(", threads: k >= blockIdx.x", 132, CacheState::cold), 0.6 * alone);
}

TEST(MemoryLevels, OfACopyAreItsBytes) {
  const Case copy = {
      "[{load: {access: coalesced, bytes: 4, array: a, address: 4 * (blockIdx.x * 256 + threadIdx.x)}},"
      " {store: {access: coalesced, bytes: 4, array: b, address: 4 * (blockIdx.x * 256 + threadIdx.x)}}]",
      {{4096, 1, 1}, {256, 1, 1}}};
  const MemoryLevels cold = levels_of(copy);
  EXPECT_EQ(cold.l1_load_hits, 0);
  EXPECT_EQ(cold.l2_reads, 4 * kMib / 32);
  EXPECT_EQ(cold.l2_writes, 4 * kMib / 32);
  EXPECT_EQ(cold.memory_read_bytes, 4 * kMib);
  EXPECT_EQ(cold.memory_written_bytes, 0);  // L2 holds them
  const MemoryLevels warm = levels_of(copy, CacheState::warm);
  EXPECT_EQ(warm.l2_reads, 4 * kMib / 32);
  EXPECT_EQ(warm.memory_read_bytes, 0);
  EXPECT_LT(warm.cycles, cold.cycles);
}

// Only the first of 33 blocks has something to do, which is more than is simulated: counters are those of its SM, and the time is not
// that of the mean.
TEST(MemoryLevels, AreOfTheBlocksThatWork) {
  const auto of_blocks = [](std::int64_t blocks) {
    return levels_of(
        {"[{repeat: 400, threads: blockIdx.x == 0, body: ["
         "  {repeat: 500, counter: i, body: [{load: {access: coalesced, bytes: 4, array: a,"
         "   address: 4 * threadIdx.x + 128 * (i % 64)}, machine: {lsu: 1}},"
         "   {instructions: 2, machine: {fma: 2}, needs: [1]}]}]}]",
         {{blocks, 1, 1}, {32, 1, 1}}});
  };
  const MemoryLevels alone = of_blocks(1), among_others = of_blocks(33);
  EXPECT_GT(alone.l1_load_hits, 0.99 * alone.l1_loads);
  EXPECT_GT(among_others.l1_load_hits, 0.99 * among_others.l1_loads);
  EXPECT_NEAR(among_others.cycles / alone.cycles, 1, 0.02);
}

// 200 sweeps over 1,000 lines, of which L1 has all, or those after the 50th are of new lines. What is left of a launch that is not
// simulated whole goes on as in the middle of it.
TEST(MemoryLevels, OfALongLoopAreTakenFromItsMiddle) {
  const auto sweeps = [](const std::string& line) {
    return levels_of(
        {"[{repeat: 200, counter: k, body: [{repeat: 1000, counter: i, body: [{load: {access: coalesced,"
         " bytes: 4, array: a, address: \"4 * threadIdx.x + 128 * (" +
             line + ")\"}, machine: {lsu: 1}}, {instructions: 2, machine: {fma: 2}, needs: [1]}]}]}]",
         {{1, 1, 1}, {32, 1, 1}}},
        CacheState::warm);
  };
  const MemoryLevels same = sweeps("i"), others = sweeps("i + 1000 * k * (k > 50)");
  EXPECT_GT(same.l1_load_hits, 0.99 * same.l1_loads);
  EXPECT_LT(others.l1_load_hits, 0.3 * others.l1_loads);
  EXPECT_GT(others.cycles, 2 * same.cycles);
}

double sum_of(const MemoryLevels& levels) {
  double sum = 0;
  for (const double cycles : levels.waits) sum += cycles;
  return sum;
}

double wait_of(const MemoryLevels& levels, SmWait wait) {
  return levels.waits[static_cast<std::size_t>(wait)];
}

// An SM's cycles are those that it waited for something, or issued.
TEST(MemoryLevels, SayWhatTheSmWaitsFor) {
  const std::string address = "address: 4 * (blockIdx.x * 256 + threadIdx.x)";
  const std::string load = "{load: {access: coalesced, bytes: 4, array: a, " + address + "}}";
  const Case issues = {"[{repeat: 100, body: [{instructions: 40, machine: {fma: 40}}]}]",
                       {{1320, 1, 1}, {256, 1, 1}}};
  const Case fp64 = {"[{repeat: 100, body: [{instructions: 40, machine: {fp64: 40}}]}]",
                     {{1320, 1, 1}, {256, 1, 1}}};
  const Case chain = {"[{repeat: 100, body: [{instructions: 4, chain: 40}]}]", {{132, 1, 1}, {32, 1, 1}}};
  const Case waits = {"[" + load + ", {instructions: 1, needs: [1]}]", {{132, 1, 1}, {32, 1, 1}}};
  const Case barrier = {"[{repeat: 100, body: [{instructions: 1, barrier: true}]}]",
                        {{132, 1, 1}, {1024, 1, 1}}};
  for (const auto& [of, wait, least] :
       std::vector<std::tuple<Case, SmWait, double>>{{issues, SmWait::issue, 0.8},
                                                     {fp64, SmWait::pipe, 0.4},
                                                     {chain, SmWait::chain, 0.8},
                                                     {waits, SmWait::latency, 0.8},
                                                     {barrier, SmWait::barrier, 0.8}}) {
    const MemoryLevels levels = levels_of(of);
    EXPECT_NEAR(sum_of(levels), levels.cycles, 1e-6 * levels.cycles) << of.items;
    EXPECT_GT(wait_of(levels, wait), least * (levels.cycles - start_of_all())) << of.items;
  }
  // A pipe that takes two cycles for an instruction takes twice as long.
  EXPECT_NEAR((levels_of(fp64).cycles - start_of_all()) / (levels_of(issues).cycles - start_of_all()), 2,
              0.1);
}

// Atomics on one address go one after the other, over all SMs; those on addresses of their own do not.
TEST(MemoryLevels, OfAtomicsDependOnTheirAddresses) {
  const auto atomics = [](const std::string& access, const std::string& address) {
    return levels_of({"[{load: {access: " + access + ", bytes: 4, array: a, address: \"" + address +
                          "\", note: atomic}}, {instructions: 1, needs: [1]}]",
                      {{1320, 1, 1}, {256, 1, 1}}});
  };
  const double one = atomics("uniform", "0").cycles;
  const double own = atomics("coalesced", "4 * (blockIdx.x * 256 + threadIdx.x)").cycles;
  // The first wave's atomics find out that they share an address only as the second block comes.
  EXPECT_NEAR(one, 1320 * 8 * 1.45, 0.1 * 1320 * 8 * 1.45);  // 1.45 cycles for each warp
  EXPECT_LT(own, one / 4);
}

// … also beside atomics that blocks have for themselves.
TEST(MemoryLevels, AtomicsOnOneAddressMeetThoseOfAllSms) {
  const Case both = {
      "[{store: {access: coalesced, bytes: 4, array: a, address: 4 * (blockIdx.x * 256 + threadIdx.x),"
      " note: reduction}}, {store: {access: uniform, bytes: 4, array: b, address: \"0\", note: reduction}}]",
      {{1320, 1, 1}, {256, 1, 1}}};
  EXPECT_NEAR(levels_of(both).cycles, 1320 * 8 * 1.45, 0.1 * 1320 * 8 * 1.45);
}

// … and those that a few neighbours share meet few others, however often a block goes on to other ones.
TEST(MemoryLevels, AtomicsOfGroupsMeetThoseOfNeighbours) {
  const auto cycles = [](std::int64_t iterations) {
    return levels_of(
               {fmt::format(
                    "[{{repeat: {}, counter: i, body: [{{store: {{access: scattered, bytes: 4, array: a, "
                    "address: \"4 * ((threadIdx.x + 256 * blockIdx.x + 33792 * i) / 32)\", "
                    "note: reduction}}}}]}}]",
                    iterations),
                {{132, 1, 1}, {256, 1, 1}}})
        .cycles;
  };
  EXPECT_LT(cycles(4), 6 * cycles(1));
}

// 26 words of 8 bytes are in one slice of L2, which takes the atomics of all SMs one after the other
// (data/hardware/h200_atomic_slices.csv); as many that are 4 KiB apart are in 26.
TEST(MemoryLevels, AtomicsOnNeighbouringAddressesShareASlice) {
  const auto cycles = [](std::int64_t apart) {
    return levels_of({fmt::format("[{{store: {{access: uniform, bytes: 8, array: a, "
                                  "address: \"{} * blockIdx.y\", note: reduction}}}}]",
                                  apart),
                      {{66, 26, 1}, {256, 1, 1}}})
        .cycles;
  };
  const double one_by_one = 66 * 26 * 8 * 1.45 * 0.83;
  EXPECT_NEAR(cycles(8), one_by_one, 0.15 * one_by_one);
  EXPECT_LT(cycles(4096), 0.4 * cycles(8));
}

// Of a row that blocks share, each SM takes its part at all times, though each block adds to a part of its own: 32 lines are eight
// slices, at which the rows of all blocks take their turns (measured on an H200: 44 us of 125,000 rows of floats).
TEST(MemoryLevels, AtomicsOfBlocksInTurnTakeAllSlices) {
  const auto us = [](std::int64_t elements) {
    return levels_of({fmt::format("[{{load: {{access: coalesced, bytes: 4, array: a, address: "
                                  "4 * ((threadIdx.x + 128 * blockIdx.x) % {}), note: atomic}}, floating: "
                                  "true}}]",
                                  elements),
                      {{31250, 1, 1}, {128, 1, 1}}},
                     CacheState::warm)
               .cycles /
           gpu().clock_mhz;
  };
  EXPECT_NEAR(us(1024), 42, 5);
  EXPECT_LT(us(1 << 17), 0.5 * us(1024));
}

// Private arrays of all threads that run at once, which L2 has room for or has not.
TEST(MemoryLevels, LocalMemoryBeyondL2IsOfMemory) {
  const auto of = [](std::int64_t words) {
    return levels_of(
        {fmt::format("[{{repeat: 4, body: [{{repeat: {0}, counter: i, body: [{{instructions: 1, on_chip: "
                     "[{{store: local, bytes: 4, address: 4 * i}}]}}]}}, {{repeat: {0}, counter: j, body: "
                     "[{{instructions: 1, on_chip: [{{load: local, bytes: 4, address: 4 * j}}]}}]}}]}}]",
                     words),
         {{1056, 1, 1}, {256, 1, 1}}});
  };
  const MemoryLevels little = of(16), much = of(512);
  EXPECT_EQ(little.memory_read_bytes, 0);
  EXPECT_EQ(little.memory_written_bytes, 0);
  EXPECT_GT(much.memory_read_bytes, 0.4 * 32 * much.l1_local_loads);
  EXPECT_LT(much.memory_read_bytes, 0.9 * 32 * much.l1_local_loads);
  EXPECT_GT(much.memory_written_bytes, 0.4 * 32 * much.l1_local_stores);
}

// A column's factors are stored on the way up and loaded on the way down: what streams by meanwhile takes L2's room from them
// (`mix_vertically` and `two_stream` in data/development).
TEST(MemoryLevels, WhatStreamsByTakesTheRoomOfLocalMemory) {
  const auto of = [](bool streams) {
    const std::string load =
        ", {load: {access: coalesced, bytes: 8, array: a, address: 8 * (threadIdx.x + 128 * blockIdx.x) + "
        "1081344 * i}}";
    return levels_of(
        {fmt::format("[{{repeat: 36, counter: i, body: [{{instructions: 1, on_chip: [{{store: local, bytes: "
                     "8, address: 8 * i}}]}}{}]}}, {{repeat: 36, counter: j, body: [{{instructions: 1, "
                     "on_chip: [{{load: local, bytes: 8, address: 280 - 8 * j}}]}}]}}]",
                     streams ? load : ""),
         {{1056, 1, 1}, {128, 1, 1}}});
  };
  const MemoryLevels alone = of(false), beside = of(true);
  const double stored = 32 * beside.l1_local_stores;
  EXPECT_LT(alone.memory_read_bytes, 0.1 * stored);
  EXPECT_LT(alone.memory_written_bytes, 0.75 * stored);
  EXPECT_GT(beside.memory_read_bytes - 36 * 1081344, 0.1 * stored);
  EXPECT_GT(beside.memory_written_bytes, alone.memory_written_bytes);
}

// What is changed in place in turns, and is more than L2 holds, is written back in each turn (`implicit_grid` in data/development:
// 8.1 of 9.4 GB).
TEST(MemoryLevels, WhatIsChangedAgainIsWrittenBackAgain) {
  const std::string at = "8 * (threadIdx.x + 256 * blockIdx.x) + 2162688 * k";
  const MemoryLevels levels = levels_of(
      {"[{repeat: 4, body: [{repeat: 60, counter: k, body: [{load: {access: coalesced, bytes: 8, array: a, "
       "address: " +
           at +
           "}}, {instructions: 4, needs: [1]}, {store: {access: coalesced, bytes: 8, array: a, address: " +
           at + "}}]}]}]",
       {{1056, 1, 1}, {256, 1, 1}}},
      CacheState::cold);
  const double stored = 32 * levels.l1_stores;
  EXPECT_GT(levels.memory_written_bytes, 0.75 * stored);
  EXPECT_LE(levels.memory_written_bytes, stored);
}

// Of few lines of constants warps take none from each other, of more they do (loops over 8 and over 12 lines in data/development).
TEST(MemoryLevels, WarpsShareFewLinesOfConstants) {
  const auto cycles = [](std::int64_t words) {
    return levels_of({fmt::format("[{{repeat: 8, body: [{{repeat: {}, counter: i, body: [{{instructions: 4, "
                                  "on_chip: [{{load: constant, bytes: 4, address: 4 * i}}]}}]}}]}}]",
                                  words),
                      {{132, 1, 1}, {1024, 1, 1}}},
                     CacheState::warm)
               .cycles /
           static_cast<double>(words);
  };
  EXPECT_LT(cycles(128), 1.5 * cycles(32));
  EXPECT_GT(cycles(192), 2 * cycles(32));
}

// Where all blocks run at once, and some SMs have three and others two, the memory is busy until the end.
TEST(MemoryLevels, SmsWithMoreBlocksHaveMoreBandwidthWhenOthersHaveEnded) {
  const auto cycles = [](std::int64_t blocks) {
    return levels_of(
               {"[{repeat: 64, counter: i, body: [{load: {access: coalesced, bytes: 16, array: a, address: "
                "16 * (threadIdx.x + 512 * (blockIdx.x + 400 * i))}}, {instructions: 1}]}]",
                {{blocks, 1, 1}, {512, 1, 1}}},
               CacheState::cold)
        .cycles;
  };
  EXPECT_NEAR(cycles(330) / cycles(264), 330.0 / 264, 0.08);
  EXPECT_NEAR(cycles(396) / cycles(264), 396.0 / 264, 0.08);
}

TEST(MemoryLevels, BeyondL2AreReadAndWrittenAnew) {
  const Case copy = {
      "[{load: {access: coalesced, bytes: 16, array: a, address: 16 * (blockIdx.x * 256 + threadIdx.x)}},"
      " {store: {access: coalesced, bytes: 16, array: b, address: 16 * (blockIdx.x * 256 + threadIdx.x)}}]",
      {{65536, 1, 1}, {256, 1, 1}}};
  const MemoryLevels warm = levels_of(copy, CacheState::warm);
  EXPECT_EQ(warm.memory_read_bytes, 256 * kMib);
  EXPECT_GT(warm.memory_written_bytes, 230 * kMib);
  EXPECT_LT(warm.memory_written_bytes, 256 * kMib);
}

TEST(MemoryLevels, LinesThatWarpsReadAgainAreInL1) {
  // Each thread reads its element 10 times.
  const MemoryLevels levels = levels_of(
      {"[{repeat: 10, body: [{load: {access: coalesced, bytes: 4, array: a, address: 4 * threadIdx.x}}]}]",
       {{132, 1, 1}, {256, 1, 1}}});
  EXPECT_NEAR(levels.l2_reads, 132 * 32 * (1 - 0.9 * 0.75), 1);  // joined with those of other SMs
  EXPECT_EQ(levels.l1_load_hits, 132 * 32 * 9);
  EXPECT_EQ(levels.memory_read_bytes, 1024);  // all blocks read the same
}

TEST(MemoryLevels, TooManyLinesForL1AreReadAgain) {
  // 1 MiB, over and over.
  const MemoryLevels levels = levels_of(
      {"[{repeat: 4, body: [{repeat: 8192, counter: i, body: [{load: {access: coalesced, bytes: 4, array: a,"
       " address: 128 * i + 4 * threadIdx.x}}]}]}]",
       {{1, 1, 1}, {32, 1, 1}}});
  EXPECT_EQ(levels.l1_load_hits, 0);
  EXPECT_EQ(levels.memory_read_bytes, kMib);
}

TEST(MemoryLevels, LoadsFindWhatWasStored) {
  // data/hardware/h100_stores_and_loads.csv: a store leaves the line that was loaded, whole sectors or a part of each; where it
  // was not loaded, only whole sectors are there.
  const std::string load = "{load: {access: coalesced, bytes: 4, array: a, address: ADDRESS}}",
                    store = "{store: {access: coalesced, bytes: 4, array: a, address: ADDRESS}}";
  const auto hits = [&](const std::string& items, const std::string& address) {
    std::string text = items;
    for (auto at = text.find("ADDRESS"); at != std::string::npos; at = text.find("ADDRESS"))
      text.replace(at, 7, address);
    return levels_of({"[" + text + "]", {{1, 1, 1}, {32, 1, 1}}}).l1_load_hits;
  };
  EXPECT_EQ(hits(load + ", " + store + ", " + load, "4 * threadIdx.x"), 4);
  EXPECT_EQ(hits(load + ", " + store + ", " + load, "128 * threadIdx.x"), 32);
  EXPECT_EQ(hits(store + ", " + load, "4 * threadIdx.x"), 4);
  EXPECT_EQ(hits(store + ", " + load, "128 * threadIdx.x"), 0);
}

// Word by word, as a sweep along a row that another sweep goes back through: L1 has what it fills, L2 what L1 has lost, and
// memory is not asked for any of it.
TEST(MemoryLevels, StoresFillSectorsWordByWord) {
  const auto sweeps = [](std::int64_t words) {
    return levels_of(
        {fmt::format(
             "[{{repeat: {0}, counter: i, body: [{{store: {{access: strided, bytes: 4, array: a, address: "
             "{1} * threadIdx.x + 4 * i}}}}, {{instructions: 100}}]}}, {{repeat: {0}, counter: j, body: "
             "[{{load: {{access: strided, bytes: 4, array: a, address: {1} * threadIdx.x + 4 * j}}}}, "
             "{{instructions: 100}}]}}]",
             words, 4 * words),
         {{1, 1, 1}, {32, 1, 1}}});
  };
  const MemoryLevels few = sweeps(256), many = sweeps(8192);
  EXPECT_EQ(few.l1_load_hits, 32 * 256);
  EXPECT_EQ(few.memory_read_bytes, 0);
  EXPECT_LT(many.l1_load_hits, 32 * 8192 * 0.95);
  EXPECT_EQ(many.memory_read_bytes, 0);
}

// data/hardware/h100_atomic_rates.csv, in us: additions to elements 32 bytes apart, whose results nothing uses or something does, of
// an array that L2 has and of one that memory has.
TEST(MemoryLevels, AdditionsTakeL2AndMemoryTheirTime) {
  const auto us = [](const std::string& needs, std::int64_t elements) {
    return levels_of({fmt::format("[{{repeat: 16, counter: i, body: [{{load: {{access: strided, bytes: 4, "
                                  "array: a, address: 32 * "
                                  "((256 * blockIdx.x + threadIdx.x + 270336 * i) % {}), note: atomic}}}}, "
                                  "{{instructions: 3{}}}]}}]",
                                  elements, needs),
                      {{1056, 1, 1}, {256, 1, 1}}},
                     CacheState::warm)
               .cycles /
           gpu().clock_mhz;
  };
  EXPECT_NEAR(us(", needs: [2]", 1 << 19), 44, 5);
  EXPECT_NEAR(us(", needs: [1]", 1 << 19), 66, 7);
  EXPECT_NEAR(us(", needs: [1]", 1 << 25), 123, 12);
}

// data/hardware/h100_stored_rows.csv: 132 SMs with four warps each, 120 us where memory has the rows, and 40 where L2 has.
TEST(MemoryLevels, RowsThatMemoryHasAreSlowToChangeInPlace) {
  const auto cycles = [](const std::string& to, CacheState caches) {
    const std::string at = "288 * (128 * blockIdx.x + threadIdx.x) + 4 * i";
    return levels_of(
               {"[{repeat: 64, counter: i, body: [{load: {access: strided, bytes: 4, array: a, address: " +
                    at + " + 4}, rises: 0}, {store: {access: strided, bytes: 4, array: " + to +
                    ", address: " + at + "}}, {instructions: 3, needs: [1]}]}]",
                {{132, 1, 1}, {128, 1, 1}}},
               caches)
        .cycles;
  };
  const double in_place = cycles("a", CacheState::cold), apart = cycles("b", CacheState::cold);
  EXPECT_NEAR(in_place / cycles("a", CacheState::warm), 3, 1);
  EXPECT_LT(apart, in_place / 2);
}

// data/hardware/h100_row_copies.csv, rows of 544 bytes: 528 blocks of 64 threads take 82 us in place and 90 to another array. Of 2,112
// blocks L2 writes sectors back that it has a part of: 123 MB instead of 69.
// An array of 256 MiB that is changed in place: where a block's part begins in the middle of a line, another block has the rest, and
// both wait for memory (data/hardware/h200_shared_lines.csv: 143 and 258 us for 542 MB). Reading one array and writing another
// does not.
TEST(MemoryLevels, LinesThatBlocksShareAreSlowToChangeInPlace) {
  const auto cycles = [](const std::string& to, int offset) {
    return levels_of(
               {fmt::format("[{{load: {{access: coalesced, bytes: 4, array: a, address: {0}}}}}, "
                            "{{instructions: 1, needs: [1]}}, "
                            "{{store: {{access: coalesced, bytes: 4, array: {1}, address: {0}}}}}]",
                            fmt::format("4 * (blockIdx.x * 32 + 65536 * (blockIdx.y * 8 + threadIdx.y) + "
                                        "threadIdx.x) + {}",
                                        offset),
                            to),
                {{2048, 128, 1}, {32, 8, 1}}},
               CacheState::warm)
        .cycles;
  };
  const double whole = cycles("a", 0);
  EXPECT_GT(cycles("a", 64), 1.4 * whole);
  EXPECT_LT(cycles("a", 64), 2.2 * whole);
  EXPECT_LT(cycles("b", 64), 1.15 * cycles("b", 0));
}

TEST(MemoryLevels, RowsAreCopiedAsMeasured) {
  const auto levels = [](const std::string& to, std::int64_t blocks) {
    const std::string at = "544 * (64 * blockIdx.x + threadIdx.x) + 4 * i";
    return levels_of(
        {"[{repeat: 128, counter: i, body: [{load: {access: strided, bytes: 4, array: a, address: " + at +
             "}}, {instructions: 4, needs: [1]}, {store: {access: strided, bytes: 4, array: " + to +
             ", address: " + at + "}}]}]",
         {{blocks, 1, 1}, {64, 1, 1}}},
        CacheState::cold);
  };
  EXPECT_NEAR(levels("a", 528).cycles / gpu().clock_mhz, 82, 12);
  EXPECT_NEAR(levels("b", 528).cycles / gpu().clock_mhz, 90, 12);
  const MemoryLevels copied = levels("b", 2'112);
  EXPECT_NEAR(copied.memory_written_bytes / 1e6, 123, 25);
  EXPECT_NEAR(copied.memory_read_bytes / 1e6, 142, 25);
}

// `warptime measure --device`: an SM moves the words of one shuffle a cycle.
TEST(SmSimulation, ShufflesTakeACycleEach) {
  const auto cycles = [](const std::string& shuffles) {
    return levels_of(
               {"[{repeat: 64, counter: i, body: [{instructions: 20, machine: {lsu: 20}" + shuffles + "}]}]",
                {{132, 1, 1}, {1024, 1, 1}}},
               CacheState::warm)
        .cycles;
  };
  EXPECT_NEAR(cycles(", shuffles: 20") - cycles(""), 64 * 32 * (20 - 5), 64 * 32);
}

// data/hardware/h200_match_costs.csv: two cycles of the SM for each different value of a warp.
TEST(SmSimulation, MatchesTakeTwoCyclesForEachValue) {
  const auto cycles = [](const std::string& matches) {
    return levels_of(
               {"[{repeat: 64, counter: i, body: [{instructions: 1, machine: {adu: 1}" + matches + "}]}]",
                {{132, 1, 1}, {1024, 1, 1}}},
               CacheState::warm)
        .cycles;
  };
  EXPECT_NEAR(cycles(", matches: 8") / 64, 511, 15);
  EXPECT_NEAR(cycles(", matches: 32") / 64, 2044, 40);
}

// Each time that a loop is reached, what is before it is executed; it counts no instruction of PTX.
TEST(SmSimulation, ExecutesWhatIsBeforeALoop) {
  const auto levels = [](const std::string& before, int warps) {
    return levels_of({"[{repeat: 10, counter: i, body: [{repeat: 2, counter: j, " + before +
                          "body: [{instructions: 4, machine: {alu: 4, cycles: 20}}]}]}]",
                      {{132, 1, 1}, {32 * warps, 1, 1}}},
                     CacheState::warm);
  };
  const MemoryLevels without = levels("", 1), chain = levels("machine: {alu: 10, cycles: 400}, ", 1);
  EXPECT_NEAR(chain.cycles - without.cycles, 10 * 400, 1);
  // Eight warps of a partition are bound by its ALU, which takes two cycles for an instruction.
  const double busy = levels("machine: {alu: 100, cycles: 200}, ", 32).cycles - levels("", 32).cycles;
  EXPECT_NEAR(busy, 10 * 8 * 100 * 2, 0.1 * 10 * 8 * 100 * 2);
}

TEST(MemoryLevels, StridesTakeL1AsLongAsTheirBanks) {
  // data/hardware/h100_l1_strides.csv: cycles of a load by the words between the elements of threads.
  for (const auto& [stride, cycles] :
       {std::pair(1, 1.06), std::pair(2, 2.0), std::pair(8, 8.01), std::pair(17, 5.0), std::pair(31, 8.0),
        std::pair(32, 31.99), std::pair(33, 8.5), std::pair(48, 16.0)}) {
    const MemoryLevels levels = levels_of(
        {fmt::format("[{{repeat: 50, body: [{{load: {{access: strided, bytes: 4, array: a, address: {} *"
                     " threadIdx.x}}}}]}}]",
                     4 * stride),
         {{1, 1, 1}, {1024, 1, 1}}});
    EXPECT_NEAR(levels.cycles / (50 * 32), cycles, 0.15 * cycles + 0.6) << stride;
  }
}

TEST(MemoryLevels, WhatL2DoesNotHoldIsReadAgain) {
  // 132 MiB twice, and 8.25 MiB twice.
  const auto reads = [](int iterations) {
    const std::string load =
        "{load: {access: coalesced, bytes: 16, array: a, address: 16 * (threadIdx.x + 256 * (blockIdx.x + "
        "1056 * i))}}";
    return levels_of(
               {fmt::format(
                    "[{{repeat: 2, body: [{{repeat: {}, counter: i, body: [{}, {{instructions: 1}}]}}]}}]",
                    iterations, load),
                {{1056, 1, 1}, {256, 1, 1}}})
        .memory_read_bytes;
  };
  EXPECT_NEAR(reads(32), 2 * 132 * kMib, 0.1 * 132 * kMib);
  EXPECT_NEAR(reads(2), 8.25 * kMib, 0.1 * kMib);
}

TEST(MemoryLevels, RowsThatWrapAroundAreNotReadThreeTimes) {
  // 256 MiB, whose first row follows the last one.
  const std::string own = "8 * (threadIdx.x + 128 * blockIdx.x) + 8 * (blockIdx.y * 4096)";
  const auto load = [](const std::string& address) {
    return fmt::format("{{load: {{access: coalesced, bytes: 8, sectors: 8, array: a, address: \"{}\"}}}}",
                       address);
  };
  const std::string below = own + " + 8 * 4096 - 8 * (4096 * 8192 * ((blockIdx.y + 1) / 8192))";
  const std::string above =
      own + " + 8 * (4096 * 8192) - 8 * 4096 - 8 * (4096 * 8192 * ceil_div(blockIdx.y, 8192))";
  Case stencil = {fmt::format("[{}, {}, {}]", load(own), load(below), load(above)),
                  {{32, 8192, 1}, {128, 1, 1}}};
  stencil.places = {{"a", {0, 0, 256 << 20}}};
  const MemoryLevels levels = levels_of(stencil);
  EXPECT_GE(levels.memory_read_bytes, 256 * kMib);
  EXPECT_LT(levels.memory_read_bytes, 2 * 256 * kMib);
}

TEST(MemoryLevels, StoresToPartsOfSectorsAreMerged) {
  // Pairs of words, one after the other; and the same with a long calculation in between.
  for (const auto& [instructions, writes] : {std::pair(1, 2048), std::pair(1000, 4096)}) {
    const MemoryLevels levels = levels_of(
        {fmt::format("[{{store: {{access: strided, bytes: 4, array: a, address: 8 * (blockIdx.x * 256 +"
                     " threadIdx.x)}}}}, {{instructions: {}}},"
                     " {{store: {{access: strided, bytes: 4, array: a, address: 8 * (blockIdx.x * 256 +"
                     " threadIdx.x) + 4}}}}]",
                     instructions),
         {{32, 1, 1}, {256, 1, 1}}});
    EXPECT_EQ(levels.l2_writes, writes);
    EXPECT_EQ(levels.l1_store_hits, 2048);
  }
}

// As data/hardware/h100_strided_stores.csv has it: fields of structures of so many words, one after the other. One warp of an SM has
// them joined, wherever the lines of four stores are not too many; the warps of 32 blocks on an SM, which store at the same time,
// have those of few lines joined.
TEST(MemoryLevels, StoresToTheFieldsOfStructuresAreOne) {
  const auto joined = [](int words, int warps) {
    std::string items;
    for (int field = 0; field < std::min(words, 8); ++field)
      items += fmt::format(
          "{}{{store: {{access: strided, bytes: 4, array: a, address: {} * (blockIdx.x * {} + "
          "threadIdx.x) + {}}}, machine: {{lsu: 1, cycles: 2.6}}}}",
          field > 0 ? ", " : "", 4 * words, 32 * warps, 4 * field);
    const MemoryLevels levels = levels_of({"[" + items + "]", {{132, 1, 1}, {32 * warps, 1, 1}}});
    return levels.l1_stores / levels.l2_writes;
  };
  EXPECT_DOUBLE_EQ(joined(6, 1), 6);
  EXPECT_DOUBLE_EQ(joined(6, 4), 6);
  EXPECT_DOUBLE_EQ(joined(8, 1), 8);
  EXPECT_DOUBLE_EQ(joined(32, 1), 1);  // 32 lines for each store
  EXPECT_DOUBLE_EQ(joined(2, 32), 2);
  EXPECT_LT(joined(8, 32), 2);
}

TEST(MemoryLevels, ReadsThatNeighboursMakeAtTheSameTimeAreJoined) {
  // Every block reads the same 1 KiB.
  const Case same = {"[{load: {access: coalesced, bytes: 4, array: a, address: 4 * threadIdx.x}}]",
                     {{132, 1, 1}, {256, 1, 1}}};
  const double apart = 132 * 32;
  EXPECT_NEAR(levels_of(same).l2_reads, apart * (1 - 0.9 * 0.75), 1);  // four at a time
  Case own = same;
  own.items =
      "[{load: {access: coalesced, bytes: 4, array: a, address: 1024 * blockIdx.x + 4 * threadIdx.x}}]";
  EXPECT_EQ(levels_of(own).l2_reads, apart);
  Case one_block = same;
  one_block.size.grid[0] = 1;
  EXPECT_EQ(levels_of(one_block).l2_reads, 32);
}

TEST(MemoryLevels, ArraysOfOneAllocationShareAddresses) {
  Case two = {
      "[{load: {access: coalesced, bytes: 4, array: a, address: 1024 * blockIdx.x + 4 * threadIdx.x}},"
      " {load: {access: coalesced, bytes: 4, array: b, address: 1024 * blockIdx.x + 4 * threadIdx.x}}]",
      {{132, 1, 1}, {256, 1, 1}}};
  EXPECT_EQ(levels_of(two).l1_load_hits, 0);
  EXPECT_EQ(levels_of(two).memory_read_bytes, 2 * 132 * 1024);
  two.places = {{"a", {0, 0}}, {"b", {0, 0}}};
  EXPECT_EQ(levels_of(two).l1_load_hits, 132 * 32);
  EXPECT_EQ(levels_of(two).memory_read_bytes, 132 * 1024);
  two.places = {{"a", {0, 0}}, {"b", {0, 1 << 20}}};
  EXPECT_EQ(levels_of(two).l1_load_hits, 0);
}

TEST(MemoryLevels, UnknownAddressesLieInTheirArray) {
  // What gathers mostly ask for, 12 sectors a request, some of which fall together; L1 has them after the first warps.
  Case gather = {"[{repeat: 100, body: [{load: {access: scattered, bytes: 4, sectors: 32, array: a}}]}]",
                 {{132, 1, 1}, {256, 1, 1}}};
  gather.places = {{"a", {0, 0, 1024}}};
  const MemoryLevels levels = levels_of(gather);
  EXPECT_NEAR(levels.l1_loads / (132 * 8 * 100), 12 * 0.82, 0.25);
  EXPECT_LE(levels.l2_reads, 132 * 32);
  EXPECT_EQ(levels.memory_read_bytes, 1024);
}

// Elements at random are in sectors of their own, each time in others; rows at random are whole.
TEST(MemoryLevels, RandomAddressesAreAnywhereInTheirArray) {
  const auto levels = [](const std::string& access) {
    Case random = {"[{repeat: 100, body: [{load: {" + access + ", array: a}, random: true}]}]",
                   {{132, 1, 1}, {256, 1, 1}}};
    random.places = {{"a", {0, 0, std::int64_t{1} << 30}}};
    return levels_of(random);
  };
  const MemoryLevels elements = levels("access: scattered, bytes: 4, sectors: 32");
  EXPECT_NEAR(elements.l1_loads, 132 * 8 * 100 * 32, 132);
  EXPECT_LT(elements.l1_load_hits, 0.01 * elements.l1_loads);
  EXPECT_NEAR(elements.memory_read_bytes, 64 * elements.l2_reads, 0.1 * 64 * elements.l2_reads);
  const MemoryLevels rows = levels("access: coalesced, bytes: 4, sectors: 4");
  EXPECT_NEAR(rows.l1_loads, 132 * 8 * 100 * 4, 132);
  EXPECT_LT(rows.l1_load_hits, 0.01 * rows.l1_loads);
}

// An index for each warp, which chooses a row of 256 bytes: half of it is 4 sectors, and the other half is asked for by the next
// access. Atomics on a row are on different addresses. Warps with the same index share the row.
TEST(MemoryLevels, DataChooseRows) {
  const auto rows = [](const std::string& kind, const std::string& of, const std::string& note) {
    const auto access = [&](const std::string& at) {
      return fmt::format(
          "{{{}: {{access: scattered, bytes: 4, sectors: 32, array: a{}}}, row: {{by: index, of: {}, bytes: "
          "256, "
          "at: {}}}}}",
          kind, note, of, at);
    };
    Case two = {fmt::format("[{}, {}]", access("4 * threadIdx.x"), access("4 * threadIdx.x + 128")),
                {{132, 1, 1}, {32, 8, 1}}};
    two.places = {{"a", {0, 0, 1 << 24}}};
    return levels_of(two);
  };
  const std::string own = "4 * threadIdx.y + 32 * blockIdx.x";
  const MemoryLevels loads = rows("load", own, "");
  EXPECT_EQ(loads.l1_loads, 132 * 8 * 8);
  EXPECT_EQ(loads.l1_load_hits, 0);
  EXPECT_NEAR(loads.l2_reads, 132 * 8 * 8, 132 * 8);  // few warps choose the same
  const MemoryLevels same = rows("load", "4 * blockIdx.x", "");
  EXPECT_EQ(same.l1_loads, 132 * 8 * 8);
  EXPECT_EQ(same.l1_load_hits, 132 * 7 * 8);
  EXPECT_EQ(rows("store", own, ", note: reduction").l2_atomics, 132 * 8 * 8);
}

// Threads with rows of their own gather; what all of them choose is one place.
TEST(MemoryLevels, RowsOfThreadsAreGathers) {
  const auto sectors = [](const std::string& row) {
    Case one = {"[{load: {access: scattered, bytes: 4, sectors: 32, array: a}" + row + "}]",
                {{132, 1, 1}, {256, 1, 1}}};
    one.places = {{"a", {0, 0, 1 << 24}}};
    return levels_of(one).l1_loads;
  };
  EXPECT_EQ(sectors(", row: {of: 4 * threadIdx.x, bytes: 64, at: 0}"), sectors(""));
  EXPECT_EQ(sectors(", row: {of: 4 * threadIdx.x, bytes: unknown, at: 0}"), sectors(""));
  EXPECT_EQ(sectors(", row: {of: 0, bytes: 4, at: 0}"), 132 * 8);
  EXPECT_EQ(sectors(", row: {of: threadIdx.x / 8, bytes: 32, at: 4 * (threadIdx.x % 8)}"), 132 * 8 * 4);
}

// A block reads the lines of a table one after the other, as all others do. Those of the first wave keep step and share
// them in L1, those of later waves do not.
TEST(MemoryLevels, BlocksOfLaterWavesAreAtDifferentPlaces) {
  const auto of_blocks = [](std::int64_t blocks) {
    const MemoryLevels levels =
        levels_of({"[{repeat: 8000, counter: i, body: [{load: {access: coalesced, bytes: 4, array: a, "
                   "address: 4 * threadIdx.x + 1024 * i}}, {instructions: 1, needs: [1]}]}]",
                   {{blocks, 1, 1}, {256, 1, 1}}});
    return levels.l1_load_hits / levels.l1_loads;
  };
  EXPECT_NEAR(of_blocks(132 * 8), 7.0 / 8, 0.05);
  EXPECT_LT(of_blocks(132 * 8 * 10), 0.2);
}

// Of 64 words 32 threads choose 64 (1 - (63 / 64)^32) = 25.3 different ones, if each is as likely; of 1,024 words in 32
// banks, 3.5 are in the fullest bank; of the eight threads of a sector, 7.6 choose different ones of 64 words.
// Where L2 is the limit, stores wait for their turn, and those of one warp meet there.
TEST(MemoryLevels, StoresOfOneWarpMeetInTheQueue) {
  const auto cycles_of = [](const std::string& more) {
    return levels_of({"[{store: {access: strided, bytes: 4, array: a, address: 8 * (blockIdx.x * 256 + "
                      "threadIdx.x)}}, "
                      "{instructions: 30}, {store: {access: strided, bytes: 4, array: " +
                          more + "}}]",
                      {{13200, 1, 1}, {256, 1, 1}}},
                     CacheState::warm)
        .cycles;
  };
  EXPECT_LT(cycles_of("a, address: 8 * (blockIdx.x * 256 + threadIdx.x) + 4"),
            0.7 * cycles_of("b, address: 8 * (blockIdx.x * 256 + threadIdx.x) + 4"));
}

TEST(MemoryLevels, DataChooseAmongSharedLocalAndConstantWords) {
  const auto of = [](const std::string& access) {
    return levels_of(
        {"[{repeat: 100, body: [{instructions: 1, on_chip: [" + access + "]}]}]", {{132, 1, 1}, {32, 1, 1}}});
  };
  const double uniform = of("{load: constant, bytes: 4, address: 0}").cycles;
  // Of 64 constants, 32 threads choose 25 different ones on average; of 4, all.
  EXPECT_NEAR(of("{load: constant, bytes: 4, scattered: 256}").cycles - uniform, 100 * (44 + 24.3 * 11),
              1500);
  EXPECT_NEAR(of("{load: constant, bytes: 4, scattered: 16}").cycles - uniform, 100 * (44 + 3 * 11), 1000);
  EXPECT_GT(of("{load: constant, bytes: 4, scattered: 65536}").cycles, 5 * 100 * 44 + uniform);
  EXPECT_NEAR(of("{load: shared, bytes: 4, scattered: 4096}").shared_load_conflicts / 132 / 100, 2.5, 0.3);
  EXPECT_EQ(of("{load: shared, bytes: 4, address: 4 * threadIdx.x}").shared_load_conflicts, 0);
  const MemoryLevels chosen = of("{store: local, bytes: 4, scattered: 256}");
  EXPECT_NEAR(chosen.l1_local_stores / 132 / 100, 4 * 64 * (1 - std::pow(63.0 / 64, 8)), 1e-6);
  EXPECT_EQ(of("{store: local, bytes: 4, address: 0}").l1_local_stores / 132 / 100, 4);
}

// Lines lie in slices of L2 at different distances: a warp waits for the farthest of those that it asks for.
TEST(MemoryLevels, LoadsOfSeveralLinesWaitForTheFarthestSlice) {
  const auto cycles_of = [](int apart) {
    return levels_of({fmt::format(
                          "[{{load: {{access: scattered, bytes: 4, array: a, address: {} * threadIdx.x}}}}, "
                          "{{instructions: 1, needs: [1]}}]",
                          apart),
                      {{1, 1, 1}, {32, 1, 1}}},
                     CacheState::warm)
        .cycles;
  };
  const double l2 = *gpu().timing.l2_latency_cycles, one_line = cycles_of(4), all = cycles_of(2048);
  EXPECT_GT(all, one_line + 0.2 * l2);
  EXPECT_LT(all, one_line + 0.28 * l2 + 70);  // 32 lines take L1 and L2 some cycles
}

// The SM that starts last begins later, the more SMs there are, and the way from the farthest one to L2 is longer.
TEST(MemoryLevels, LaunchesOnAllSmsTakeLonger) {
  const auto us_of = [](std::int64_t blocks) {
    const MemoryLevels levels = levels_of(
        {"[{load: {access: uniform, bytes: 4, array: a, address: 0}}, {instructions: 1, needs: [1]}]",
         {{blocks, 1, 1}, {32, 1, 1}}},
        CacheState::warm);
    return levels.cycles / gpu().clock_mhz;
  };
  const TimingFigures timing = gpu().timing;
  const double of_one = us_of(1), quarter = us_of(33), all = us_of(132);
  const double figure = *timing.all_sms_us, way = 0.07 * *timing.l2_latency_cycles / gpu().clock_mhz;
  EXPECT_NEAR(all - of_one, figure - 3 * way, 0.1 * figure);  // the figure is of four loads, this is of one
  EXPECT_GT(quarter - of_one, 0.4 * (all - of_one));
  EXPECT_LT(quarter - of_one, 0.6 * (all - of_one));
}

// A constant that all threads load costs nothing where the SM has its line. The first one of each line comes from L2, and the
// block's other warps wait for it, too.
TEST(MemoryLevels, ConstantsOfALaunchComeFromL2LineByLine) {
  const auto cycles_of = [](const std::string& address, std::int64_t threads) {
    return levels_of({"[{repeat: 64, counter: i, body: [{instructions: 1, on_chip: [{load: constant, bytes: "
                      "4, address: " +
                          address + "}]}]}]",
                      {{132, 1, 1}, {threads, 1, 1}}})
        .cycles;
  };
  const double l2 = *gpu().timing.l2_latency_cycles, one = cycles_of("0", 32);
  EXPECT_NEAR(cycles_of("4 * i", 32) - one, 3 * l2, 10);  // 256 bytes are four lines
  EXPECT_NEAR(cycles_of("64 * i", 32) - one, 63 * l2, 0.01 * 63 * l2);
  EXPECT_NEAR(cycles_of("64 * i", 256) - cycles_of("0", 256), 63 * l2, 0.01 * 63 * l2);
}

// Where the index is in a register that the warp shares, a partition waits for each of its lines, and more warps than it has
// lines take them from each other.
TEST(MemoryLevels, WarpsAtDifferentConstantsWaitForEachOther) {
  const auto cycles_of = [](int lines, std::int64_t threads) {
    const std::string loop = "{repeat: " + std::to_string(8 * lines) +
                             ", counter: i, body: [{instructions: 1, on_chip: [{load: constant, bytes: 8, "
                             "address: 8 * i}]}]}";
    const auto times = [&](int rounds) {
      return levels_of({"[{repeat: " + std::to_string(rounds) + ", body: [" + loop + "]}]",
                        {{132, 1, 1}, {threads, 1, 1}}})
          .cycles;
    };
    return (times(12) - times(2)) / (10.0 * 8 * lines);  // of an access, once L2 has been asked for all
  };
  // One warp: 50 cycles a line that the partition does not hold, each of eight accesses.
  EXPECT_NEAR(cycles_of(16, 32) - cycles_of(4, 32), 50 / 8.0, 1);
  // Eight warps a partition: hardly any has what it needs. Few lines are enough for all.
  EXPECT_GT(cycles_of(64, 1024), 5 * cycles_of(4, 1024));
  EXPECT_LT(cycles_of(4, 1024), 1.5 * 8);
}

// Floating-point numbers are added by comparing and exchanging: threads with one address take turns, and each turn is
// longer than an access.
TEST(MemoryLevels, FloatingAtomicsInSharedMemoryTakeTurns) {
  const auto cycles_of = [](const std::string& address, const std::string& more) {
    return levels_of(
               {"[{repeat: 100, body: [{instructions: 1, on_chip: [{atomic: shared, bytes: 4, address: \"" +
                    address + "\"}]" + more + "}]}]",
                {{132, 1, 1}, {32, 1, 1}}})
        .cycles;
  };
  const double apart = cycles_of("4 * threadIdx.x", ", floating: true"),
               together = cycles_of("0", ", floating: true");
  EXPECT_NEAR(apart / 100, 95, 5);
  EXPECT_NEAR(together / 100, 32 * 95, 32 * 3);
  EXPECT_LT(cycles_of("0", ""), 0.2 * apart);
  // Threads with one bank take turns, too, and their loads conflict.
  EXPECT_NEAR(cycles_of("128 * threadIdx.x", ", floating: true") / 100, 4030, 0.03 * 4030);  // `stride`, 32
}

// Warps of a block that add to the same addresses succeed one after another; each of those that fail executes the loop again
// (data/hardware/h100_shared_exchanges.csv: pattern `common`, parameter 1).
TEST(MemoryLevels, FloatingAtomicsOfSeveralWarpsTakeTurns) {
  const auto levels = [](const std::string& address, std::int64_t warps) {
    return levels_of(
        {"[{repeat: 100, body: [{instructions: 1, on_chip: [{atomic: shared, bytes: 4, address: \"" +
             address + "\"}], floating: true}]}]",
         {{132, 1, 1}, {32 * warps, 1, 1}}});
  };
  const auto own = levels("4 * threadIdx.x", 8), one = levels("4 * (threadIdx.x % 32)", 1),
             common = levels("4 * (threadIdx.x % 32)", 8), many = levels("4 * (threadIdx.x % 32)", 32);
  EXPECT_NEAR(own.cycles / 100, 97, 5);
  EXPECT_NEAR(common.cycles / 100, 684, 0.1 * 684);
  EXPECT_NEAR(many.cycles / 100, 1391, 0.1 * 1391);
  EXPECT_EQ(own.exchange_rounds, 0);
  EXPECT_EQ(one.exchange_rounds, 0);
  EXPECT_GT(common.exchange_rounds, 3.0 * 132 * 8 * 100);
}

// Of blocks that all run at the same time the longest ends the launch; it need not be on the first SM. Blocks of about
// the same length are not told apart.
TEST(MemoryLevels, OfOneWaveAreThoseOfTheSlowestSm) {
  const auto cycles_of = [](const std::string& iterations) {
    return levels_of(
               {"[{repeat: \"" + iterations + "\", body: [{instructions: 4, chain: 40, machine: {fma: 4}}]}]",
                {{100, 1, 1}, {32, 1, 1}}})
        .cycles;
  };
  const double longest = cycles_of("300");
  const auto differing = [&](const std::string& of_block) {
    return levels_of({"[{repeat: 300, per_thread: \"" + of_block +
                          "\", body: [{instructions: 4, chain: 40, machine: {fma: 4}}]}]",
                      {{100, 1, 1}, {32, 1, 1}}})
        .cycles;
  };
  EXPECT_NEAR(differing("3 * blockIdx.x + 3"), longest, 0.15 * longest);
  EXPECT_NEAR(differing("300 - 3 * blockIdx.x"), longest, 0.15 * longest);
}

// Two loops, one after the other, more of which is executed than is simulated: the launch takes what each takes alone.
TEST(MemoryLevels, OfOneWaveAreThoseOfAllItsParts) {
  const std::string quick =
      "{repeat: 20000, body: [{instructions: 8, machine: {fma: 8}},"
      " {load: {access: coalesced, bytes: 4, array: a, address: 4 * threadIdx.x}, machine: {lsu: 1}}]}";
  const std::string slow =
      "{repeat: 20000, counter: i, body: [{load: {access: coalesced, bytes: 4, array: b,"
      " address: 4 * threadIdx.x + 128 * i}, machine: {lsu: 1}},"
      " {instructions: 8, machine: {fma: 8}, needs: [LOAD]}]}";
  const auto slow_after = [&](const std::string& load) {
    return std::string(slow).replace(slow.find("LOAD"), 4, load);
  };
  const auto cycles_of = [](const std::string& items) {
    return levels_of({"[" + items + "]", {{132, 1, 1}, {64, 1, 1}}}, CacheState::warm).cycles;
  };
  const double first = cycles_of(quick), second = cycles_of(slow_after("1"));
  EXPECT_GT(second, 3 * first);
  EXPECT_NEAR(cycles_of(quick + ", " + slow_after("2")), first + second, 0.1 * second);
}

// 1,024 blocks at once, of which those that work most come after each other: 132 blocks further is 4 further in a row of 128, and each
// third time 12, so that some SMs have those of two fifths of the row.
TEST(MemoryLevels, OfBlocksThatDifferAreThoseOfTheSmWithMostOfTheWork) {
  const auto cycles_of = [](const std::string& iterations) {
    return levels_of({"[{repeat: 256, per_thread: \"" + iterations +
                          "\", body: [{instructions: 32, machine: {fma: 32}}]}]",
                      {{128, 8, 1}, {256, 1, 1}}})
        .cycles;
  };
  // Those of 78, 82, 86, 98, 102, 106, 118 and 122.
  const double expected = 2 * 99 * cycles_of("127") / 127;
  EXPECT_NEAR(cycles_of("2 * blockIdx.x"), expected, 0.02 * expected);
}

// On an H200 each third turn begins eight blocks later: 132 is 4 more than a multiple of 16, and 140 is 12 more.
TEST(BlockTurns, AreThoseThatWereMeasured) {
  const BlockTurns turns = block_turns({9, 0});
  const std::vector<std::int64_t> measured = {8, 140, 272, 412, 544, 676, 816, 948, 1080, 1220, 1352, 1484};
  for (std::size_t turn = 0; turn < measured.size(); ++turn)
    EXPECT_EQ(turns.block(8, 132, static_cast<std::int64_t>(turn)), measured[turn]);
  EXPECT_EQ(turns.count(8, 132, 412), 3);
  EXPECT_EQ(turns.count(8, 132, 413), 4);
  EXPECT_EQ(turns.count(131, 132, 131), 0);
  for (const std::int64_t block : {0, 131, 412, 544, 1352}) {
    const std::int64_t sm = turns.sm_of(block, 132);
    EXPECT_EQ((block - sm) / 132 * 132 + sm <= block && sm < 132, true) << block;
  }
  EXPECT_EQ(turns.sm_of(412, 132), 8);
  EXPECT_EQ(block_turns({7, 5}), BlockTurns{});
  EXPECT_EQ(BlockTurns{}.block(8, 132, 5), 8 + 5 * 132);
}

// Of the few warps of an SM perhaps none is among those that do something; the launch ends with those that are.
TEST(MemoryLevels, OfFewWarpsAreThoseOfAnSmThatWorks) {
  const auto cycles_of = [](const std::string& share) {
    return levels_of(
               {"[{repeat: 300, shares: [found], body: [{instructions: 4, chain: 40, machine: {fma: 4}}]}]\n"
                "parameters: {found: {share: " +
                    share + "}}",
                {{132, 1, 1}, {64, 1, 1}}})
        .cycles;
  };
  const double all = cycles_of("1");
  for (const char* const share : {"0.7", "0.5", "0.4", "0.3"})
    EXPECT_GT(cycles_of(share), 0.9 * all) << share;
}

TEST(ArrayPlaces, AreWhatTheLaunchsArgumentsPointTo) {
  const auto plan = read_plan(
      "name: p\nparameters: [n]\narrays: {x: n, y: {elements: 2 * n, type: f64}}\n"
      "launches: [{kernel: k.yaml, arguments: {n: n, a: y, b: y + n, c: \"if(n > 5, x, y)\"}, grid: [1], "
      "block: [32]}]",
      "p.plan.yaml");
  ASSERT_TRUE(plan);
  const ArrayPlaces places = array_places(*plan, *plan->steps[0].launch, {{"n", 100}});
  EXPECT_EQ(places.at("a").allocation, places.at("b").allocation);
  EXPECT_EQ(places.at("a").bytes, 1600);
  EXPECT_EQ(places.at("b").offset, 800);
  EXPECT_EQ(places.at("b").bytes, 800);
  EXPECT_EQ(places.at("c").allocation, places.at("x").allocation);
  EXPECT_NE(places.at("a").allocation, places.at("c").allocation);
  EXPECT_FALSE(places.contains("n"));
}

TEST(MemoryLevels, OfLoopsWithoutEndAreCut) {
  for (const char* body : {"[]", "[{instructions: 1}]", "[{when: 0, then: [{instructions: 1}]}]"}) {
    const std::string items = fmt::format(
        "[{{repeat: 1000000000, body: [{{repeat: 1000000000, body: {}}}]}}, {{load: {{access: coalesced, "
        "bytes: 4, "
        "array: a, address: 4 * threadIdx.x}}}}]",
        body);
    const MemoryLevels levels = levels_of({items, {{1 << 20, 1, 1}, {1024, 1, 1}}});
    EXPECT_LT(levels.simulated_share, 1) << body;
  }
}

double footprint(const std::string& items, const LaunchSize& size) {
  const KernelProgram program = program_of("program: " + items);
  return LaunchFootprint(program, {}, size).of_blocks(0, size.blocks()).read_bytes;
}

TEST(LaunchFootprint, OfAStencilIsItsArray) {
  const auto load = [](const char* at) {
    return fmt::format(
        "{{load: {{access: coalesced, bytes: 4, array: a, address: 4 * (({}) + 1024 * (blockIdx.y * 8 + "
        "threadIdx.y) + 32 * blockIdx.x + threadIdx.x)}}}}",
        at);
  };
  const double bytes = footprint(
      fmt::format("[{}, {}, {}, {}, {}]", load("0"), load("1"), load("2"), load("1024"), load("2048")),
      {{32, 128, 1}, {32, 8, 1}});
  EXPECT_NEAR(bytes, 4 * kMib, 4 * 1024 * 3);
}

// Where neighbouring floating-point numbers are further apart than an access is long: an access ends where it begins.
TEST(LaunchFootprint, OfAddressesBeyond2To53Ends) {
  const LaunchSize size{{4, 1, 1}, {32, 1, 1}};
  for (const char* far : {"2^62", "2^61 + threadIdx.x * 4096", "-(2^61)"}) {
    const double bytes = footprint(
        fmt::format("[{{load: {{access: coalesced, bytes: 4, array: a, address: \"{}\"}}}}]", far), size);
    EXPECT_LE(bytes, 4 * 32 * 4096) << far;
  }
}

// The row above, which is the last one for the first: of blocks of few rows it is few rows, though they may lie anywhere
// in the array.
TEST(LaunchFootprint, OfIndicesThatWrapAroundIsNoMoreThanThreadsAskFor) {
  const KernelProgram program = program_of(
      "program: [{load: {access: coalesced, bytes: 4, sectors: 4, array: a, address: "
      "\"4 * (threadIdx.x + 128 * blockIdx.x) + 4 * (blockIdx.y * 1024) + 4 * (1024 * 1024) - 4 * 1024 - "
      "4 * (1024 * 1024 * ceil_div(blockIdx.y, 1024))\"}}]");
  const LaunchFootprint footprint(program, {}, {{8, 1024, 1}, {128, 1, 1}});
  EXPECT_LE(footprint.of_blocks(0, 4 * 8).read_bytes, 4 * 8 * 128 * 64);
  EXPECT_EQ(footprint.of_blocks(400 * 8, 4 * 8).read_bytes, 4 * 4096);
}

// A neighbour beyond the border is elsewhere, for the threads there alone.
TEST(LaunchFootprint, OfConditionalAddressesIsThatOfBoth) {
  const std::string place = "1024 * (blockIdx.y * 8 + threadIdx.y) + 32 * blockIdx.x + threadIdx.x";
  const KernelProgram program = program_of(
      "program: [{load: {access: coalesced, bytes: 4, sectors: 4, array: a, address: \"4 * if("
      "blockIdx.y * 8 + threadIdx.y == 0, " +
      place + " + 1024 * 1023, " + place + " - 1024)\"}}]");
  const LaunchFootprint footprint(program, {}, {{32, 128, 1}, {32, 8, 1}});
  const double row = 1024 * 4;
  EXPECT_EQ(footprint.of_blocks(64 * 32, 4 * 32).read_bytes, 32 * row);
  // The first rows and the last one, of which each thread asks for a piece.
  EXPECT_LT(footprint.of_blocks(0, 4 * 32).read_bytes, (32 + 1 + 16) * row);
  EXPECT_GT(footprint.of_blocks(0, 4 * 32).read_bytes, 32 * row);
}

// Blocks that end one plane and begin another are part of both.
TEST(LaunchFootprint, OfPartsOfPlanesIsNotThatOfWholeOnes) {
  const KernelProgram program = program_of(
      "program: [{load: {access: coalesced, bytes: 4, sectors: 4, array: a, address: "
      "4 * (threadIdx.x + 128 * (blockIdx.x + 8 * (blockIdx.y + 64 * blockIdx.z)))}}]");
  const LaunchFootprint footprint(program, {}, {{8, 64, 16}, {128, 1, 1}});
  const std::int64_t plane = 8 * 64;
  EXPECT_EQ(footprint.of_blocks(5 * plane - 16, 32).read_bytes, 32 * 512);
  EXPECT_EQ(footprint.of_blocks(5 * plane - 16, 2 * plane + 32).read_bytes, (2 * plane + 32) * 512);
  EXPECT_EQ(footprint.of_blocks(0, 16 * plane).read_bytes, 16 * plane * 512);
}

// Blocks of a part of each row, whose accesses are shifted by elements and by rows.
TEST(LaunchFootprint, OfShiftedTilesIsEachPieceOnce) {
  const auto load = [](const char* by) {
    return fmt::format(
        "{{load: {{access: coalesced, bytes: 4, array: a, address: \"4 * (32 * blockIdx.x + threadIdx.x + "
        "1024 * "
        "(16 * blockIdx.y + threadIdx.y) + {})\"}}}}",
        by);
  };
  const KernelProgram program =
      program_of(fmt::format("program: [{}, {}, {}, {}, {}]", load("1024 + 8"), load("7"), load("2048 + 8"),
                             load("1024"), load("1024 + 31")));
  const LaunchFootprint footprint(program, {}, {{32, 64, 1}, {32, 16, 1}});
  // 16 rows of 63 elements from a line's begin on, and parts of one row above (39 of 7) and of one below (40 of 8).
  EXPECT_EQ(footprint.of_blocks(33, 1).read_bytes, 16 * 256 + 192 + 192);
}

// A minimum is one of its operands where they meet at an end: tiles that exactly fill the rows.
TEST(LaunchFootprint, OfTilesThatFitIsThatOfTheirRows) {
  const std::string row = "min(rows, 4 + 4 * threadIdx.y) - 4";
  const KernelProgram program = program_of(
      "parameters: {rows: ~}\nprogram: [{load: {access: coalesced, bytes: 4, array: a, address: \"4096 * (" +
      row + ") + 4 * threadIdx.x\"}}]");
  const LaunchFootprint footprint(program, {{"rows", 64}}, {{1, 1, 1}, {32, 16, 1}});
  EXPECT_EQ(footprint.of_blocks(0, 1).read_bytes, 16 * 128);
}

// Elements that lie a grid apart, each of which belongs to a group of `each`: those of a block are few groups, and so are its
// places, though they lie all over the array.
TEST(LaunchFootprint, OfQuotientsIsThatOfWhatIsDivided) {
  const auto bytes_of_groups = [](const std::string& of_group, std::int64_t blocks) {
    const KernelProgram program = program_of(
        "parameters: {each: ~}\nprogram: [{repeat: 8, counter: i, body: [{load: {access: uniform, bytes: 4, "
        "array: a, "
        "address: \"" +
        of_group + "\"}}]}]");
    return LaunchFootprint(program, {{"each", 64}}, {{128, 1, 1}, {256, 1, 1}})
        .of_blocks(40, blocks)
        .read_bytes;
  };
  const std::string element = "(threadIdx.x + 256 * blockIdx.x + 32768 * i)";
  EXPECT_EQ(bytes_of_groups("4 * (" + element + " / 64)", 1), 8 * 64);
  EXPECT_EQ(bytes_of_groups("4 * (" + element + " / each)", 1), 8 * 64);
  EXPECT_EQ(bytes_of_groups("8 * (" + element + " / each) + 16384 - 4 * (" + element + " / each)", 1),
            8 * 64);
  // An element more than there are, where the first one may be the end of a group.
  EXPECT_LE(bytes_of_groups("4 * (" + element + " / 64)", 4), 8 * 128);
  EXPECT_NEAR(bytes_of_groups("4 * (" + element + " / 64)", 128), 4 * 8 * 32768 / 64, 64);
}

TEST(LaunchFootprint, OfStridesIsInPiecesOf64Bytes) {
  EXPECT_EQ(footprint("[{load: {access: strided, bytes: 4, array: a, address: 256 * threadIdx.x}}]",
                      {{1, 1, 1}, {128, 1, 1}}),
            128 * 64);
  // Two fields of the same structure.
  EXPECT_EQ(footprint("[{load: {access: strided, bytes: 4, array: a, address: 256 * threadIdx.x}},"
                      " {load: {access: strided, bytes: 4, array: a, address: 256 * threadIdx.x + 8}}]",
                      {{1, 1, 1}, {128, 1, 1}}),
            128 * 64);
}

}  // namespace
}  // namespace warptime
