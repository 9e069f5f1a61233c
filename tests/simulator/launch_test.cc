#include "simulator/plan/launch.h"

#include <gtest/gtest.h>

#include <ostream>

#include "simulator/model/puchala/kernel_time.h"

namespace warptime {
namespace {

Gpu gpu(int sms = 10) {
  Gpu made;
  made.name = "some-gpu";
  made.sms = sms;
  made.clock_mhz = 1000;
  made.cores_per_sm = 64;
  made.max_blocks_per_sm = 4;
  made.max_warps_per_sm = 32;
  return made;
}

struct LaunchCase {
  int sms;
  std::int64_t threads;
  Launch launch;
};
void PrintTo(const LaunchCase& one, std::ostream* out) {
  *out << one.threads << " threads on " << one.sms << " SMs";
}
class Algorithm3 : public testing::TestWithParam<LaunchCase> {};

TEST_P(Algorithm3, SpreadsThreadsEvenly) {
  const auto launch = choose_launch(gpu(GetParam().sms), GetParam().threads);
  ASSERT_TRUE(launch) << to_text(launch.diagnostics());
  EXPECT_EQ(*launch, GetParam().launch) << GetParam().threads;
}

INSTANTIATE_TEST_SUITE_P(Table, Algorithm3,
                         testing::Values(
                             // fewer threads than a warp
                             LaunchCase{10, 1, {1, 1}}, LaunchCase{10, 31, {1, 31}},
                             // fewer than a warp for each SM: blocks of one warp
                             LaunchCase{10, 32, {1, 32}}, LaunchCase{10, 33, {2, 32}},
                             LaunchCase{10, 319, {10, 32}},
                             // one block for each SM
                             LaunchCase{10, 320, {10, 32}}, LaunchCase{10, 325, {10, 33}},
                             LaunchCase{10, 10240, {10, 1024}},
                             // as many blocks of the largest size as it takes
                             LaunchCase{10, 10241, {11, 1024}}, LaunchCase{10, 1 << 20, {1024, 1024}},
                             LaunchCase{10, std::int64_t{1} << 62, {std::int64_t{1} << 52, 1024}},
                             // an odd number of SMs counts as the even one above
                             LaunchCase{5, 6 * 32, {6, 32}}, LaunchCase{5, 6 * 1024, {6, 1024}}));

TEST(Launch, IsRefusedWithAReason) {
  EXPECT_EQ(to_text(choose_launch(gpu(), 0).diagnostics()),
            "error: a launch of 0 threads: the number must be at least 1\n");
  EXPECT_EQ(to_text(choose_launch(gpu(), -5).diagnostics()),
            "error: a launch of -5 threads: the number must be at least 1\n");
  EXPECT_EQ(to_text(check_launch(gpu(), 0, 32).diagnostics()),
            "error: a launch of 0 blocks: the number must be at least 1\n");
  EXPECT_EQ(to_text(check_launch(gpu(), 1, 0).diagnostics()),
            "error: blocks of 0 threads: the number must be at least 1\n");
  EXPECT_EQ(to_text(check_launch(gpu(), 1, 1025).diagnostics()),
            "error: blocks of 1025 threads: some-gpu takes at most 1024\n");
  Gpu small = gpu();
  small.max_warps_per_sm = 16;
  EXPECT_EQ(to_text(check_launch(small, 1, 544).diagnostics()),
            "error: blocks of 544 threads are 17 warps: an SM of some-gpu takes at most 16\n");
  EXPECT_TRUE(check_launch(small, 1, 512));
}

// T_c is the number of warps, in thousands of cycles.
class Linear : public CorePackageModel {
 public:
  Result<CorePackageTime> time(std::int64_t warps) override {
    const double cycles = 1000.0 * static_cast<double>(warps);
    return CorePackageTime{cycles, cycles / 2, cycles / 4, cycles / 8, cycles / 8};
  }
};

struct TimeCase {
  std::int64_t blocks, threads_per_block;
  std::int64_t full_runs, warps, remaining_warps;
  double total_us;
};
void PrintTo(const TimeCase& one, std::ostream* out) {
  *out << one.blocks << " blocks of " << one.threads_per_block << " threads";
}
class Algorithm1 : public testing::TestWithParam<TimeCase> {};

TEST_P(Algorithm1, IsFullRunsAndARemainingOne) {
  const TimeCase& test = GetParam();
  Linear model;
  const auto time = kernel_time(gpu(), {test.blocks, test.threads_per_block}, 5, model);
  ASSERT_TRUE(time) << to_text(time.diagnostics());
  const Runs runs = runs_of(gpu(), GpuDivisors(gpu()), {test.blocks, test.threads_per_block});
  EXPECT_EQ(runs.full, test.full_runs);
  EXPECT_EQ(runs.warps_per_core_package, test.warps);
  EXPECT_EQ(runs.remaining_warps_per_core_package, test.remaining_warps);
  EXPECT_DOUBLE_EQ(time->total_us, test.total_us);
  using Parts = PuchalaParts;
  const auto& us = time->us;
  EXPECT_DOUBLE_EQ(time->total_us, us[Parts::launch_overhead] + us[Parts::calculation] + us[Parts::issue] +
                                       us[Parts::waiting] + us[Parts::tail]);
  EXPECT_DOUBLE_EQ(time->total_us,
                   us[Parts::launch_overhead] + us[Parts::full_runs] + us[Parts::remaining_run]);
}

// 10 SMs of two core packages, at most 4 blocks and 32 warps each, 1000 MHz, t_p = 5 µs.
INSTANTIATE_TEST_SUITE_P(Table, Algorithm1,
                         testing::Values(TimeCase{1, 1, 1, 1, 0, 6},        // one warp on one core package
                                         TimeCase{10, 128, 1, 2, 0, 7},     // 4 warps on two
                                         TimeCase{40, 128, 1, 8, 0, 13},    // 4 blocks at a time is the limit
                                         TimeCase{41, 128, 1, 8, 2, 15},    // the fifth has to wait
                                         TimeCase{80, 128, 2, 8, 0, 21},    // two full runs
                                         TimeCase{20, 1024, 2, 16, 0, 37},  // 32 warps at a time is the limit
                                         TimeCase{70, 96, 1, 6, 5, 16}));   // ceil(3 blocks * 3 warps / 2)

}  // namespace
}  // namespace warptime
