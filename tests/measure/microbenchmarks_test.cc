// The micro-benchmarks on a GPU that is made up: the figures that they find are the ones that it has.
#include "measure/device/microbenchmarks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "measure/device/kernels.h"

namespace warptime::measuring {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

// Its times follow from these figures and the launches alone.
class MadeUpGpu : public BenchSession {
 public:
  explicit MadeUpGpu(bool has_cupti = true) : has_cupti_(has_cupti) {
    device_.description.figures = {"Made Up", sms, clock_mhz_};
    device_.description.l2_bytes = 32 * kMiB;
    device_.memory_bytes = 16'384 * kMiB;
  }

  static constexpr int sms = 100;
  static constexpr double clock_mhz_ = 1500;
  static constexpr double launch = 4, gap = 1, empty = 2, all_sms = 0.5;  // µs
  static constexpr double l1 = 40, l2 = 280, memory = 700;
  static constexpr std::uint64_t l1_bytes = 200 * 1024, l2_bytes = 20 * kMiB;
  static constexpr double memory_bytes_per_us = 3e6, l2_bytes_per_us = 5e6, sm_bytes_per_us = 5e4;

  const DeviceInfo& device() const override { return device_; }
  std::optional<double> clock_mhz() override { return clock_mhz_; }

  std::uint64_t allocate(std::uint64_t bytes) override {
    const std::uint64_t address = next_;
    sizes_[address] = bytes;
    next_ += bytes + 4096;
    return address;
  }
  void release() override { sizes_.clear(); }
  void write(std::uint64_t address, std::span<const std::byte> bytes) override {
    EXPECT_LE(bytes.size(), sizes_.at(address));
  }
  void read(std::uint64_t, std::span<std::byte> bytes) override {
    // Every warp's clocks, before and after: the last one's end latest.
    std::vector<std::uint64_t> clocks(bytes.size() / 8);
    for (std::size_t i = 0; i < clocks.size(); i += 2) {
      clocks[i] = 1000 + i;
      clocks[i + 1] = 1000 + static_cast<std::uint64_t>(cycles_) - (clocks.size() - 2 - i);
    }
    std::memcpy(bytes.data(), clocks.data(), bytes.size());
  }

  void run(const BenchLaunch& one) override { cycles_ = cycles_of(one); }
  double time_us(const BenchLaunch& one, int launches) override {
    return 2 + launches * (launch + work_us(one));
  }
  std::optional<std::vector<KernelSpan>> spans(const BenchLaunch& of, int launches, bool) override {
    if (!has_cupti_) return std::nullopt;
    std::vector<KernelSpan> spans;
    const double takes = of.blocks > 1 ? empty + all_sms : empty;
    for (int i = 0; i < launches; ++i) spans.push_back({i * (takes + gap), i * (takes + gap) + takes});
    return spans;
  }

 private:
  double cycles_of(const BenchLaunch& one) const {
    const auto& a = one.arguments;
    if (a.empty()) return 0;
    const double steps = static_cast<double>(a.back()) * kStepsPerIteration;
    const double warps = one.threads / 32.0;
    if (one.kernel.starts_with("chase")) {
      const auto bytes = sizes_.at(a[1]);
      return steps * (one.kernel == "chase_ca" && bytes <= l1_bytes ? l1 : bytes <= l2_bytes ? l2 : memory);
    }
    if (one.kernel == "store_load") return (a[3] == 0 ? 45 : 330) * steps;
    if (one.kernel == "global_index") return 40 * steps;
    if (one.kernel == "shared_index") return 29 * steps;
    if (one.kernel == "constant") return 30 * steps;
    if (one.kernel == "global_atomic") return 600 * steps;
    if (one.kernel == "shared_atomic") return 60 * steps;
    const auto ways = [&](std::uint64_t stride) { return static_cast<double>(stride) / 4; };
    if (one.kernel == "shared_chain") return (32 + 2 * ways(a[1])) * steps;
    if (one.kernel == "shared_rate") return ways(a[1]) * steps * 2 * warps;
    if (one.kernel == "shared_atomic_rate") return 64 * steps * warps;
    if (one.kernel == "l1_4") return static_cast<double>(a[2]) / 4 * steps * warps;
    if (one.kernel == "l1_16") return 4 * steps * warps;
    if (one.kernel == "barrier") return (13 + one.threads / 16.0) * steps;
    for (const InstructionBenchmark& known : instruction_benchmarks()) {
      const double count = static_cast<double>(a.back()) * known.unrolled * known.instructions;
      if (one.kernel == "latency_" + std::string(known.name))
        return count * (latency_of(known) + (known.apart != nullptr ? 10 : 0));
      if (one.kernel == "rate_" + std::string(known.name))
        return count * kChains * warps / 4 * latency_of(known) / 5;
    }
    return 0;
  }
  // 10 of the first instruction, 11 of the next, …
  static double latency_of(const InstructionBenchmark& one) {
    return 10 + static_cast<double>(&one - instruction_benchmarks().data());
  }

  double work_us(const BenchLaunch& one) const {
    const auto& a = one.arguments;
    const double threads = static_cast<double>(one.blocks) * one.threads;
    if (one.kernel == "spin") return static_cast<double>(a[0]) / clock_mhz_;
    if (one.kernel == "empty" || one.kernel == "load_store") return 0;
    if (one.kernel == "next_to_nothing") return one.blocks / (one.threads < 1024 ? 1600.0 : 900.0);
    if (one.kernel == "empty_registers") return one.blocks / 800.0;
    if (one.kernel == "atomics")
      return threads * static_cast<double>(a[4]) / (a[2] == 0 ? 1400 : a[1] == 5 ? 40'000 : 500'000);
    if (one.kernel == "copy_16") return 2 * static_cast<double>(a[2] * a[3]) / memory_bytes_per_us;
    const auto bytes = static_cast<double>(a[1] * a[2]);
    const double most = a[1] <= l2_bytes ? l2_bytes_per_us : memory_bytes_per_us;
    return bytes / std::min(most, one.kernel == "read_4" ? threads * 4 * 4 : one.blocks * sm_bytes_per_us);
  }

  const bool has_cupti_;
  DeviceInfo device_;
  std::map<std::uint64_t, std::uint64_t> sizes_;
  std::uint64_t next_ = 4096;
  double cycles_ = 0;
};

TEST(Microbenchmarks, FindTheFiguresOfTheGpu) {
  MadeUpGpu gpu;
  int groups = 0;
  const auto measured = run_microbenchmarks(gpu, 3, [&] { ++groups; });
  ASSERT_TRUE(measured) << to_text(measured.diagnostics());
  EXPECT_EQ(groups, kMicrobenchmarkGroups);
  EXPECT_TRUE(measured->notes.empty());
  const TimingFigures& t = measured->figures;
  for (const TimingFigure& figure : timing_figures()) {
    EXPECT_TRUE((t.*figure.member).has_value()) << figure.name;
    const auto spread = measured->spreads.find(figure.name);
    ASSERT_NE(spread, measured->spreads.end()) << figure.name;
    EXPECT_EQ(spread->second, 0) << figure.name;
  }
  const auto is = [](std::optional<double> figure, double wanted, double tolerance = 1e-3) {
    return figure && std::abs(*figure / wanted - 1) <= tolerance;
  };
  EXPECT_TRUE(is(t.measured_clock_mhz, 1500));
  EXPECT_TRUE(is(t.l1_latency_cycles, 40));
  EXPECT_TRUE(is(t.l2_latency_cycles, 280));
  EXPECT_TRUE(is(t.memory_cold_latency_cycles, 700));
  EXPECT_TRUE(is(t.memory_latency_cycles, 700));
  EXPECT_TRUE(is(t.memory_large_latency_cycles, 700));
  EXPECT_EQ(t.l1_capacity_bytes, 200 * 1024);
  EXPECT_EQ(t.l2_capacity_bytes, 20 * kMiB);
  EXPECT_TRUE(is(t.store_load_latency_cycles, 330));
  EXPECT_TRUE(is(t.store_load_l1_latency_cycles, 45));
  EXPECT_TRUE(is(t.l1_indexed_latency_cycles, 40));
  EXPECT_TRUE(is(t.shared_indexed_latency_cycles, 29));
  EXPECT_TRUE(is(t.constant_latency_cycles, 30));
  EXPECT_TRUE(is(t.global_atomic_latency_cycles, 600));
  EXPECT_TRUE(is(t.shared_atomic_latency_cycles, 60));
  EXPECT_TRUE(is(t.shared_latency_cycles, 34));
  EXPECT_TRUE(is(t.shared_latency_2_ways_cycles, 36));
  EXPECT_TRUE(is(t.shared_latency_32_ways_cycles, 96));
  int place = 0;
  for (const InstructionBenchmark& one : instruction_benchmarks()) {
    EXPECT_TRUE(is(t.*one.latency, 10 + place, 0.01)) << one.name << " " << *(t.*one.latency);
    EXPECT_TRUE(is(t.*one.issue, (10 + place) / 5.0)) << one.name << " " << *(t.*one.issue);
    ++place;
  }
  EXPECT_TRUE(is(t.shared_load_cycles, 1));
  EXPECT_TRUE(is(t.shared_load_32_ways_cycles, 32));
  EXPECT_TRUE(is(t.l1_coalesced_load_cycles, 1));
  EXPECT_TRUE(is(t.l1_strided_load_cycles, 2));
  EXPECT_TRUE(is(t.l1_scattered_load_cycles, 32));
  EXPECT_TRUE(is(t.l1_read_bytes_per_cycle, 128));
  EXPECT_TRUE(is(t.shared_atomic_one_address_cycles, 64));
  EXPECT_TRUE(is(t.barrier_32_cycles, 15, 0.01));
  EXPECT_TRUE(is(t.barrier_1024_cycles, 77));
  EXPECT_TRUE(is(t.block_starts_32_per_us, 1600));
  EXPECT_TRUE(is(t.block_starts_1024_per_us, 900));
  EXPECT_TRUE(is(t.block_starts_256_many_registers_per_us, 800));
  EXPECT_TRUE(is(t.empty_kernel_us, 2));
  EXPECT_TRUE(is(t.small_kernel_us, 2.5));
  EXPECT_TRUE(is(t.one_block_kernel_us, 2));
  EXPECT_TRUE(is(t.all_sms_us, 0.5));
  EXPECT_TRUE(is(t.launch_gap_us, 1));
  EXPECT_TRUE(is(t.launch_us, 4, 0.01));
  EXPECT_TRUE(is(t.event_launch_us, 6));
  // Launches are part of what is measured here.
  EXPECT_TRUE(is(t.memory_read_bytes_per_us, 3e6, 0.02));
  EXPECT_TRUE(is(t.memory_write_bytes_per_us, 3e6, 0.02));
  EXPECT_TRUE(is(t.memory_copy_bytes_per_us, 3e6, 0.02));
  EXPECT_TRUE(is(t.memory_read_1_sm_bytes_per_us, 5e4, 0.02));
  EXPECT_TRUE(is(t.memory_read_1_warp_bytes_per_us, 100 * 32 * 16, 0.02));
  EXPECT_TRUE(is(t.memory_read_4_warps_bytes_per_us, 4 * 100 * 32 * 16, 0.02));
  EXPECT_TRUE(is(t.l2_read_bytes_per_us, 5e6));
  EXPECT_TRUE(is(t.l2_write_bytes_per_us, 5e6));
  EXPECT_TRUE(is(t.l2_read_1_sm_bytes_per_us, 5e4));
  EXPECT_TRUE(is(t.atomic_one_address_per_us, 1400));
  EXPECT_TRUE(is(t.atomic_warp_address_per_us, 40'000));
  EXPECT_TRUE(is(t.atomic_own_address_per_us, 500'000));
}

TEST(Microbenchmarks, WithoutCuptiTheDurationOfAKernelIsNotKnown) {
  MadeUpGpu gpu(false);
  const auto measured = run_microbenchmarks(gpu, 1, [] {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->notes.size(), 1U);
  EXPECT_EQ(measured->figures.empty_kernel_us, std::nullopt);
  EXPECT_EQ(measured->figures.launch_gap_us, std::nullopt);
  EXPECT_TRUE(measured->figures.launch_us.has_value());
}

// What the driver reports is an error, not an exception.
TEST(Microbenchmarks, AFailureOfTheDriverIsAnError) {
  class Broken : public MadeUpGpu {
    void run(const BenchLaunch& one) override { throw DeviceError(one.kernel + ": an illegal address"); }
  } gpu;
  const auto measured = run_microbenchmarks(gpu, 1, [] {});
  ASSERT_FALSE(measured);
  EXPECT_EQ(to_text(measured.diagnostics()), "error: spin: an illegal address\n");
}

}  // namespace
}  // namespace warptime::measuring
