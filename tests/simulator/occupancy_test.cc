#include "simulator/gpu/occupancy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "test_files.h"

namespace warptime {
namespace {

using Limit = Occupancy::Limit;

constexpr int unknown = -1;

// A GPU of which nothing but the compute capability is known.
Gpu gpu_of(ComputeCapability capability) {
  const ComputeLimits* limits = find_compute_limits(capability);
  Gpu gpu;
  gpu.name = fmt::format("sm-{}{}", capability.major, capability.minor);
  gpu.compute_capability = capability;
  gpu.max_threads_per_block = limits->max_threads_per_block;
  gpu.max_warps_per_sm = limits->max_warps_per_sm;
  gpu.max_blocks_per_sm = limits->max_blocks_per_sm;
  return gpu;
}

KernelResources resources_of(int registers, std::int64_t shared) {
  KernelResources resources;
  if (registers != unknown) resources.registers_per_thread = registers;
  resources.shared_bytes_static = shared;
  return resources;
}

// Worked by hand from NVIDIA's rules: the CUDA C Programming Guide's tables and formulas and the CUDA
// Occupancy Calculator.
struct Case {
  ComputeCapability capability;
  int threads, registers;
  std::int64_t shared;
  int blocks;
  Limit limit;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.capability.major << '.' << one.capability.minor << ' ' << one.threads << " threads, "
       << one.registers << " registers, " << one.shared << " bytes";
}
class ByHand : public testing::TestWithParam<Case> {};

TEST_P(ByHand, ActiveBlocks) {
  const Case& one = GetParam();
  const Occupancy found =
      occupancy(gpu_of(one.capability), one.threads, resources_of(one.registers, one.shared));
  EXPECT_EQ(found.active_blocks, one.blocks);
  EXPECT_EQ(to_string(found.limit), to_string(one.limit));
  EXPECT_EQ(found.active_warps, one.blocks * ((one.threads + 31) / 32));
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Published, ByHand, testing::Values(
    // 1.0, 1.1: 24 warps, 8 blocks, 8192 registers given to blocks by 256, 16 KiB shared by 512
    Case{{1, 0}, 256, unknown, 0, 3, Limit::warps},            // 24 / 8
    Case{{1, 0}, 256, 11, 0, 2, Limit::registers},             // 8 warps * 32 * 11 = 2816; 8192 / 2816 = 2
    Case{{1, 0}, 96, 10, 0, 6, Limit::registers},              // 3 warps count as 4: 4 * 320 = 1280; 6
    Case{{1, 1}, 64, 10, 2100, 6, Limit::shared_memory},       // ceil(2100, 512) = 2560; 16384 / 2560 = 6
    Case{{1, 1}, 32, 4, 0, 8, Limit::blocks},                  // 24 / 1 = 24 warps, 2 * 128 = 256: 32 blocks; 8
    // 1.2, 1.3: 32 warps, 16384 registers by 512
    Case{{1, 2}, 192, 17, 0, 4, Limit::registers},             // 6 * 32 * 17 = 3264 -> 3584; 16384 / 3584 = 4
    Case{{1, 3}, 256, 16, 0, 4, Limit::warps},                 // 32 / 8; 8 * 512 = 4096: 4 as well
    Case{{1, 3}, 256, 17, 0, 3, Limit::registers},             // 8 * 32 * 17 = 4352 -> 4608; 3
    Case{{1, 3}, 512, 33, 0, 0, Limit::registers},             // 16 * 32 * 33 = 16896 > 16384
    // 2.0, 2.1: 48 warps, 8 blocks, 32768 registers given to warps by 64, 48 KiB shared by 128
    Case{{2, 0}, 192, 20, 0, 8, Limit::warps},                 // 48 / 6; registers: 640; 25 * 2 = 50 warps, 8
    Case{{2, 0}, 192, 21, 0, 7, Limit::registers},             // 672 -> 768 (by 128); 16384 / 768 = 21, * 2 = 42; 7
    Case{{2, 0}, 256, 63, 0, 2, Limit::registers},             // 2016 -> 2048; 16384 / 2048 = 8, * 2 = 16; 2
    Case{{2, 0}, 64, 16, 12300, 3, Limit::shared_memory},      // -> 12416; 49152 / 12416 = 3
    Case{{2, 1}, 1024, 32, 0, 1, Limit::warps},                // 48 / 32; registers: 1024; 16 * 2 = 32 warps, 1
    Case{{2, 1}, 256, 64, 0, 0, Limit::registers},             // more than 63 per thread
    // 3.0: 64 warps, 16 blocks, 65536 registers by 256 in 4 partitions, 48 KiB shared by 256
    Case{{3, 0}, 256, 32, 0, 8, Limit::warps},                 // 64 / 8; 1024; 16 * 4 = 64 warps
    Case{{3, 0}, 256, 33, 0, 6, Limit::registers},             // 1056 -> 1280; 16384 / 1280 = 12, * 4 = 48; 6
    Case{{3, 0}, 128, 16, 3073, 14, Limit::shared_memory},     // -> 3328; 49152 / 3328 = 14
    Case{{3, 5}, 1024, 64, 0, 1, Limit::registers},            // 2048; 8 * 4 = 32 warps; 1
    Case{{3, 5}, 1024, 65, 0, 0, Limit::registers},            // 2304 * 32 = 73728 > 65536
    Case{{3, 5}, 64, 255, 0, 4, Limit::registers},             // 8160 -> 8192; 2 * 4 = 8 warps; 4
    Case{{3, 7}, 1024, 64, 0, 2, Limit::warps},                // 131072: 16 * 4 = 64 warps; 64 / 32
    Case{{3, 7}, 128, 32, 8192, 14, Limit::shared_memory},     // 114688 / 8192 = 14
    // 5.0, 5.2: 32 blocks; 64 and 96 KiB
    Case{{5, 0}, 32, 32, 0, 32, Limit::blocks},
    Case{{5, 0}, 128, 32, 6144, 10, Limit::shared_memory},     // 65536 / 6144 = 10
    Case{{5, 2}, 128, 32, 6144, 16, Limit::warps},             // 98304 / 6144 = 16 as well; 64 / 4
    Case{{5, 2}, 128, 32, 49153, 0, Limit::shared_memory},     // a block has 48 KiB at most
    // 6.0: 2 partitions, yet a block has to fit 6.1 too
    Case{{6, 0}, 96, 144, 0, 4, Limit::registers},             // 4608; 32768 / 4608 = 7, * 2 = 14 warps; 14 / 3
    Case{{6, 1}, 96, 168, 0, 4, Limit::registers},             // 16384 / 5376 = 3, * 4 = 12; 12 / 3
    Case{{6, 0}, 416, 144, 0, 0, Limit::registers},            // 13 warps count as 16: 16 * 4608 = 73728 > 65536
    // 7.0, 7.5
    Case{{7, 0}, 256, 128, 0, 2, Limit::registers},            // 4096; 4 * 4 = 16 warps; 2
    Case{{7, 0}, 256, 32, 98304, 1, Limit::shared_memory},     // all 96 KiB
    Case{{7, 5}, 256, 32, 0, 4, Limit::warps},                 // 32 / 8
    Case{{7, 5}, 64, 32, 0, 16, Limit::warps},                 // 32 / 2 and 16 blocks
    Case{{7, 5}, 32, 32, 0, 16, Limit::blocks},
    Case{{7, 5}, 64, 32, 8192, 8, Limit::shared_memory},       // 65536 / 8192
    // 8.0 and later: 1 KiB of each block's shared memory is reserved, given by 128
    Case{{8, 0}, 256, 32, 0, 8, Limit::warps},
    Case{{8, 0}, 256, 32, 32768, 4, Limit::shared_memory},     // 33792; 167936 / 33792 = 4
    Case{{8, 0}, 256, 32, 166912, 1, Limit::shared_memory},    // 163 KiB and the reserved one
    Case{{8, 0}, 256, 32, 166913, 0, Limit::shared_memory},
    Case{{8, 6}, 128, 40, 0, 12, Limit::warps},                // 48 / 4; 1280; 12 * 4 = 48 warps
    Case{{8, 6}, 32, 40, 0, 16, Limit::blocks},
    Case{{8, 6}, 128, 32, 8192, 11, Limit::shared_memory},     // 9216; 102400 / 9216 = 11
    Case{{8, 9}, 32, 40, 0, 24, Limit::blocks},
    Case{{8, 9}, 768, 41, 0, 1, Limit::registers},             // 1312 -> 1536; 10 * 4 = 40 warps; 40 / 24
    Case{{9, 0}, 128, 168, 0, 3, Limit::registers},            // 5376; 3 * 4 = 12 warps; 3
    Case{{9, 0}, 128, 32, 232448, 1, Limit::shared_memory},    // 227 KiB and the reserved one: 228
    Case{{9, 0}, 1024, 32, 0, 2, Limit::warps},
    Case{{10, 0}, 128, 32, 20000, 11, Limit::shared_memory},   // 21024 -> 21120; 233472 / 21120 = 11
    Case{{10, 0}, 32, 16, 0, 32, Limit::blocks},
    Case{{12, 0}, 1024, 32, 0, 1, Limit::warps},               // 48 / 32
    Case{{12, 0}, 256, 80, 0, 3, Limit::registers},            // 2560; 6 * 4 = 24 warps; 3
    Case{{12, 0}, 32, 16, 0, 24, Limit::blocks}));
// clang-format on

// occupancy_golden.csv: what cuda_occupancy.h of a CUDA Toolkit gives (see occupancy_golden.cc).
TEST(Occupancy, IsThatOfTheToolkit) {
  std::istringstream lines(test::read_file("tests/simulator/occupancy_golden.csv"));
  std::string line;
  int cases = 0;
  while (std::getline(lines, line)) {
    int major, minor, threads, registers, shared_static, shared_dynamic, blocks, by_warps, by_blocks,
        by_registers, by_shared, allocated;
    if (std::sscanf(line.c_str(), "%d.%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d", &major, &minor, &threads, &registers,
                    &shared_static, &shared_dynamic, &blocks, &by_warps, &by_blocks, &by_registers,
                    &by_shared, &allocated) != 12)
      continue;
    ++cases;
    KernelResources resources = resources_of(registers, shared_static);
    resources.shared_bytes_dynamic = shared_dynamic;
    const Occupancy found = occupancy(gpu_of({major, minor}), threads, resources);
    EXPECT_EQ(found.active_blocks, blocks) << line;
    EXPECT_EQ(found.blocks_by_warps, by_warps) << line;
    EXPECT_EQ(found.blocks_by_blocks, by_blocks) << line;
    EXPECT_EQ(found.blocks_by_registers.value_or(-1), by_registers) << line;
    EXPECT_EQ(found.blocks_by_shared_memory.value_or(-1), by_shared) << line;
    EXPECT_EQ(found.shared_bytes_per_block, allocated) << line;
  }
  EXPECT_GT(cases, 3000);
}

TEST(Occupancy, WithoutResourcesIsThePapersOwn) {
  // Algorithm 1: N_ab/sm = min(L_w/sm / N_w/b, L_b/sm), on every GPU of the catalogue.
  for (const Gpu& gpu : GpuCatalogue::bundled().gpus()) {
    for (int threads = 1; threads <= gpu.max_threads_per_block; ++threads) {
      const Occupancy found = occupancy(gpu, threads, {});
      EXPECT_EQ(found.active_blocks,
                std::min(gpu.max_warps_per_sm / ((threads + 31) / 32), gpu.max_blocks_per_sm))
          << gpu.name << ' ' << threads;
      EXPECT_FALSE(found.registers_known);
    }
  }
}

TEST(Occupancy, SaysWhatItDoesNotKnow) {
  KernelResources resources;
  resources.dynamic_shared_unknown = true;
  const Occupancy found = occupancy(gpu_of({8, 6}), 256, resources);
  EXPECT_EQ(found.notes,
            (std::vector<std::string>{"the kernel's registers are not known: they may allow fewer blocks",
                                      "how much shared memory the launch asks for is not known: it may allow "
                                      "fewer blocks"}));
}

TEST(Occupancy, BlocksThatTheKernelWasNotCompiledFor) {
  KernelResources resources;
  resources.max_threads = 128;
  const Gpu gpu = gpu_of({8, 6});
  EXPECT_EQ(occupancy(gpu, 128, resources).active_blocks, 12);
  EXPECT_EQ(occupancy(gpu, 129, resources).active_blocks, 0);
  EXPECT_EQ(occupancy(gpu, 129, resources).limit, Limit::threads);
  EXPECT_EQ(occupancy(gpu, 129, resources).notes.back(),
            "blocks of 129 threads: the kernel was compiled for at most 128");
  resources = {};
  resources.required_threads = 64;
  EXPECT_EQ(occupancy(gpu, 64, resources).active_blocks, 16);
  EXPECT_EQ(occupancy(gpu, 32, resources).active_blocks, 0);
  EXPECT_EQ(occupancy(gpu, 1025, {}).active_blocks, 0);
}

TEST(Occupancy, WhereNoBlockFitsTheLastNoteSaysWhy) {
  struct Reason {
    int threads, registers;
    std::int64_t shared;
    const char* why;
  };
  Gpu gpu = gpu_of({8, 6});
  for (const auto& [threads, registers, shared, why] : std::initializer_list<Reason>{
           {2048, 300, 500'000, "blocks of 2048 threads: sm-86 takes at most 1024"},
           {1024, 300, 500'000, "300 registers per thread: sm-86 has at most 255"},
           {1024, 255, 0, "255 registers per thread are too many for a block of 1024 threads"},
           {1024, 32, 500'000, "500000 bytes of shared memory: a block on sm-86 can have at most 101376"}}) {
    KernelResources resources = resources_of(registers, shared);
    resources.dynamic_shared_unknown = true;
    const Occupancy found = occupancy(gpu, threads, resources);
    EXPECT_EQ(found.active_blocks, 0);
    EXPECT_EQ(found.notes.back(), why);
  }
  gpu.max_warps_per_sm = 16;
  EXPECT_EQ(occupancy(gpu, 1024, {}).notes.back(),
            "blocks of 1024 threads are 32 warps: an SM of sm-86 takes at most 16");
}

TEST(Occupancy, AnyNumbersAreSafe) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  KernelResources resources;
  resources.registers_per_thread = std::numeric_limits<int>::max();
  resources.shared_bytes_static = resources.shared_bytes_dynamic = most;
  for (const ComputeLimits& limits : all_compute_limits()) {
    EXPECT_EQ(occupancy(gpu_of(limits.compute_capability), most, resources).active_blocks, 0);
    resources.registers_per_thread = 32;
    EXPECT_EQ(occupancy(gpu_of(limits.compute_capability), most, resources).active_blocks, 0);
  }
}

TEST(Occupancy, AFigureOfTheGpusFileBeatsTheTable) {
  Gpu gpu = gpu_of({7, 5});
  gpu.registers_per_sm = 32768;
  EXPECT_EQ(occupancy(gpu, 256, resources_of(64, 0)).active_blocks, 2);  // 2048; 4 * 4 = 16 warps
  gpu.shared_bytes_per_sm = 32768;
  EXPECT_EQ(occupancy(gpu, 64, resources_of(32, 16384)).active_blocks, 2);
}

TEST(Occupancy, AnUnknownCapabilityTakesTheRulesOfAnOlderOne) {
  Gpu gpu = gpu_of({8, 6});
  gpu.compute_capability = {8, 7};
  const Occupancy found = occupancy(gpu, 256, resources_of(32, 0));
  EXPECT_EQ(found.active_blocks, 6);
  EXPECT_EQ(found.notes, (std::vector<std::string>{"the rules of compute capability 8.6 are used for 8.7"}));
}

TEST(Occupancy, InWords) {
  const Gpu gpu = gpu_of({7, 0});
  EXPECT_EQ(to_text(gpu, occupancy(gpu, 256, resources_of(128, 0))),
            "2 blocks of 8 warps are active on an SM: 16 of 64 warps (25 %), limited by registers");
  EXPECT_EQ(to_text(gpu, occupancy(gpu, 256, resources_of(32, 98304))),
            "1 block of 8 warps is active on an SM: 8 of 64 warps (12 %), limited by shared memory");
  EXPECT_EQ(to_text(gpu, occupancy(gpu, 1024, resources_of(255, 0))),
            "no block can be active on an SM, because of its registers");
}

}  // namespace
}  // namespace warptime
