#include "simulator/model/launch_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace warptime {
namespace {

constexpr LaunchOverheads kOverheads = {4, 3, 1};  // events, host, gap

double total_of(const std::vector<double>& kernels) {
  LaunchQueue queue(kOverheads);
  for (const double kernel_us : kernels) queue.add(kernel_us, 1);
  return queue.total_us();
}

// The recurrence of the header, launch by launch.
double plainly(const std::vector<double>& kernels) {
  double ready = 0, end = -kOverheads.gap_us;
  for (const double kernel_us : kernels) {
    end = std::max(ready, end + kOverheads.gap_us) + kernel_us;
    ready += kOverheads.host_us;
  }
  return end + kOverheads.events_us;
}

TEST(LaunchQueue, WithoutLaunchesTakesNoTime) {
  EXPECT_EQ(LaunchQueue(kOverheads).total_us(), 0);
}

TEST(LaunchQueue, OneKernelTakesWhatTheEventsSeeMore) {
  EXPECT_DOUBLE_EQ(total_of({7}), 11);
}

TEST(LaunchQueue, ShortKernelsWaitForTheHost) {
  EXPECT_DOUBLE_EQ(total_of({1, 1, 1}), 4 + 2 * 3 + 1);
}

TEST(LaunchQueue, LongKernelsWaitForEachOther) {
  EXPECT_DOUBLE_EQ(total_of({10, 10, 10}), 4 + 30 + 2 * 1);
}

// The calls of the short kernels are done while the long one runs: only their gaps remain.
TEST(LaunchQueue, ALongKernelHidesTheCallsBehindIt) {
  EXPECT_DOUBLE_EQ(total_of({10, 1, 1}), 4 + 10 + 2 * (1 + 1));
  EXPECT_DOUBLE_EQ(total_of({1, 1, 10}), 4 + 2 * 3 + 10);
}

TEST(LaunchQueue, ManyAtOnceAreLikeOneByOne) {
  for (const double first : {0.5, 2.0, 9.0, 40.0})
    for (const double second : {0.1, 1.9, 2.0, 2.1, 8.0})
      for (const int times : {1, 2, 5, 30}) {
        LaunchQueue queue(kOverheads);
        queue.add(first, 2);
        queue.add(second, times);
        queue.add(first, 1);
        std::vector<double> kernels(2, first);
        kernels.insert(kernels.end(), static_cast<std::size_t>(times), second);
        kernels.push_back(first);
        EXPECT_NEAR(queue.total_us(), plainly(kernels), 1e-9) << first << ", " << times << " of " << second;
      }
}

}  // namespace
}  // namespace warptime
