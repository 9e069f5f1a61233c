// Sweeps remember the runs of SMs: the figures are those of rows that are simulated each.
#include "simulator/sm/known_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "simulator/sm/memory_levels.h"
#include "test_files.h"

namespace warptime {
namespace {

MemoryLevels levels_of(const KernelProgram& program, std::int64_t n, std::int64_t block, CacheState caches,
                       KnownRuns* known) {
  const Gpu& gpu = **GpuCatalogue::bundled().find("h100-sxm");
  const LaunchSize size{{(n + block - 1) / block, 1, 1}, {block, 1, 1}};
  WarpOptions options;
  options.sectors = true;
  const auto warps = WarpProgram(program).launch({{"N", n}}, size, {}, options);
  EXPECT_TRUE(warps);
  const auto levels = memory_levels(
      {&program, {{"N", n}}, size, {}, &*warps, &gpu, occupancy(gpu, block, {}), {}, known}, caches);
  EXPECT_TRUE(levels);
  return *levels;
}

struct SweepCase {
  const char* name;
  const char* items;
  std::int64_t least, most, step;  // of N
};

// The index of the thread, which N limits.
#define INDEX "(threadIdx.x + blockDim.x * blockIdx.x)"

constexpr SweepCase kSweeps[] = {
    {"copy",
     "[{load: {access: coalesced, bytes: 4, array: a, address: 4 * " INDEX "}, threads: " INDEX " < N},"
     " {store: {access: coalesced, bytes: 4, array: b, address: 4 * " INDEX "}, threads: " INDEX " < N}]",
     1, 40'000'000, 1},
    {"periodic sums of neighbours",
     "[{repeat: 6, counter: i, body: [{load: {access: coalesced, bytes: 4, array: a, address: 4 * ((2 * "
     "(" INDEX " / 2) + i) % N)}, threads: " INDEX
     " < N}, {instructions: 9, machine: {fma: 4, alu: 5}, needs: [1]}]},"
     " {store: {access: coalesced, bytes: 4, array: b, address: 4 * " INDEX "}, threads: " INDEX " < N}]",
     64, 6'000'000, 32},
    {"two halves",
     "[{load: {access: strided, bytes: 4, array: a, address: 8 * " INDEX "}, threads: 2 * " INDEX " < N},"
     " {load: {access: strided, bytes: 4, array: a, address: 8 * " INDEX " + 4}, threads: 2 * " INDEX " < N},"
     " {instructions: 20, needs: [1, 2]},"
     " {store: {access: coalesced, bytes: 4, array: b, address: 4 * " INDEX "}, threads: 2 * " INDEX " < N},"
     " {store: {access: coalesced, bytes: 4, array: b, address: 4 * (" INDEX " + N / 2)}, threads: 2 * " INDEX
     " < N}]",
     2, 4'000'000, 2},
    {"rows that N makes longer",
     "[{repeat: N / 65536, counter: i, body: [{load: {access: coalesced, bytes: 4, array: a, address: 4 "
     "* " INDEX " + 1024 * i}, threads: " INDEX " < N}, {instructions: 4, needs: [1]}]}]",
     65536, 2'000'000, 4096},
};

TEST(KnownRuns, RowsOfASweepAreAsIfSimulatedEach) {
  for (const SweepCase& sweep : kSweeps) {
    const KernelProgram program = test::program_of(std::string("program: ") + sweep.items);
    for (const CacheState caches : {CacheState::warm, CacheState::cold}) {
      KnownRuns known;
      std::mt19937 random(1);
      constexpr int rows = 60;
      for (int row = 0; row < rows; ++row) {
        const std::int64_t n = sweep.least + static_cast<std::int64_t>(random()) %
                                                 ((sweep.most - sweep.least) / sweep.step) * sweep.step;
        SCOPED_TRACE(std::string(sweep.name) + " of " + std::to_string(n));
        const MemoryLevels alone = levels_of(program, n, 256, caches, nullptr);
        const MemoryLevels swept = levels_of(program, n, 256, caches, &known);
        EXPECT_NEAR(swept.cycles / alone.cycles, 1, 0.01);
        EXPECT_NEAR(swept.l2_reads, alone.l2_reads, 0.01 * alone.l2_reads);
        EXPECT_NEAR(swept.l2_writes, alone.l2_writes, 0.01 * alone.l2_writes);
        EXPECT_NEAR(swept.memory_read_bytes, alone.memory_read_bytes, 0.01 * alone.memory_read_bytes);
        EXPECT_NEAR(swept.memory_written_bytes, alone.memory_written_bytes,
                    0.01 * alone.memory_written_bytes);
      }
    }
  }
}

TEST(KnownRuns, RowsThatDifferInTheirBlocksAloneShareARun) {
  const KernelProgram program = test::program_of(std::string("program: ") + kSweeps[0].items);
  KnownRuns known;
  for (std::int64_t n = 20'000'000; n < 20'020'000; n += 100)
    levels_of(program, n, 256, CacheState::cold, &known);
  EXPECT_LT(known.size(), 20U);  // two of each row, were they not the same
}

}  // namespace
}  // namespace warptime
