#include "measure/device/microbenchmarks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "measure/device/kernels.h"
#include "measure/statistics.h"

namespace warptime::measuring {
namespace {

using Member = std::optional<double> TimingFigures::*;

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
constexpr std::uint64_t kLine = 128;
constexpr int kWarp = 32;
constexpr int kFullBlock = 1024;
constexpr int kFullBlockWarps = kFullBlock / kWarp;
constexpr int kCapacityRepetitions = 3;        // they take the most time
constexpr int kPartitions = 4;                 // of an SM
constexpr std::uint64_t kLongChain = 1 << 16;  // so that the first loads, which miss, do not count
constexpr std::uint64_t kNoMask = 0xffff'ffff;
constexpr std::uint64_t kNoThread = std::uint64_t{1} << 62U;
constexpr std::uint64_t kSteps = 2048;  // of a chain of instructions
constexpr int kVector = 16;             // bytes of a thread in an instruction of read_16, l1_16, …
constexpr int kLoads = 4;               // that a thread of read_4 and read_16 has in flight

double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - digits + 1);
  // Dividing by a power of ten keeps the decimals short; multiplying by 0.01 would not.
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit) : std::round(value / unit) * unit;
}

// The order of a chain through `lines` lines: line i is followed by the i-th number. One cycle through all
// (Sattolo's algorithm), the same each time.
std::vector<std::uint32_t> shuffled_cycle(std::uint64_t lines) {
  std::vector<std::uint32_t> next(lines);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(lines);
  for (std::uint64_t i = lines; i-- > 1;) std::swap(next[i], next[random() % i]);
  return next;
}

class Microbenchmarks {
 public:
  Microbenchmarks(BenchSession& session, int repetitions)
      : session_(session),
        repetitions_(repetitions),
        sms_(std::max(session.device().description.figures.sms, 1)),
        l2_bytes_(std::max<std::int64_t>(session.device().description.l2_bytes, kMiB)) {}

  MeasuredTiming run(const std::function<void()>& group_done) {
    using Group = void (Microbenchmarks::*)();
    // Launches stand last: after CUPTI has looked at some, all of them may take longer.
    constexpr std::array<Group, kMicrobenchmarkGroups> groups = {
        &Microbenchmarks::clock,     &Microbenchmarks::cache_latencies, &Microbenchmarks::memory_latencies,
        &Microbenchmarks::latencies, &Microbenchmarks::instructions,    &Microbenchmarks::sm_rates,
        &Microbenchmarks::barriers,  &Microbenchmarks::block_starts,    &Microbenchmarks::bandwidths,
        &Microbenchmarks::atomics,   &Microbenchmarks::launches};
    for (const Group group : groups) {
      session_.release();
      out_ = session_.allocate(kOutBytes);
      (this->*group)();
      group_done();
    }
    session_.release();
    return std::move(result_);
  }

 private:
  // ---- Samples.

  void record(Member member, const std::vector<double>& values) {
    const auto figures = timing_figures();
    const auto figure = std::find_if(figures.begin(), figures.end(),
                                     [&](const TimingFigure& one) { return one.member == member; });
    const double value = median(values);
    result_.figures.*member = figure->unit == "bytes" ? value : rounded(value, 5);
    result_.spreads[std::string(figure->name)] = rounded(interquartile_range(values), 2);
  }

  template <class Sample>
  std::vector<double> samples(const Sample& sample) {
    std::vector<double> values;
    for (int i = 0; i < repetitions_; ++i) values.push_back(sample());
    return values;
  }

  template <class Sample>
  void measure(Member member, const Sample& sample) {
    record(member, samples(sample));
  }

  // From the first clock to the last of a block that writes its clocks to out_.
  double cycles(const BenchLaunch& launch) {
    session_.run(launch);
    const int warps = (launch.threads + kWarp - 1) / kWarp;
    std::vector<std::uint64_t> clocks(2 * static_cast<std::size_t>(warps));
    session_.read(out_, std::as_writable_bytes(std::span(clocks)));
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
    for (std::size_t i = 0; i < clocks.size(); i += 2) {
      first = std::min(first, clocks[i]);
      last = std::max(last, clocks[i + 1]);
    }
    return static_cast<double>(last - first);
  }

  // The same, after a run that brings the code and data into the caches, for one of `count` things.
  void measure_cycles(Member member, const BenchLaunch& launch, double count) {
    session_.run(launch);
    measure(member, [&] { return cycles(launch) / count; });
  }

  // What `more` times as much work takes longer, per unit of work: the launch overhead is in both.
  double difference_us(const BenchLaunch& launch, std::size_t argument, std::uint64_t more) {
    BenchLaunch longer = launch;
    longer.arguments[argument] *= more;
    const double less_us = session_.time_us(launch, 1);
    return (session_.time_us(longer, 1) - less_us) / static_cast<double>(more - 1);
  }

  // ---- The clock; the GPU's first work, so that it raises its clocks.

  void clock() {
    constexpr std::uint64_t short_spin = 2'000'000, long_spin = 10'000'000;
    constexpr auto warm_up = std::chrono::milliseconds(500);
    const auto begin = std::chrono::steady_clock::now();
    do {
      session_.run({"spin", sms_, kWarp, {long_spin}});
    } while (std::chrono::steady_clock::now() - begin < warm_up);
    measure(&TimingFigures::measured_clock_mhz, [&] {
      const double shorter = session_.time_us({"spin", 1, kWarp, {short_spin}}, 1);
      return (long_spin - short_spin) / (session_.time_us({"spin", 1, kWarp, {long_spin}}, 1) - shorter);
    });
  }

  // ---- Chains of loads.

  // A chain through all lines of new memory, in random order.
  std::uint64_t chain(std::uint64_t bytes) {
    const std::uint64_t lines = bytes / kLine;
    const auto next = shuffled_cycle(lines);
    const std::uint64_t address = session_.allocate(bytes);
    const std::uint64_t order = session_.allocate(4 * lines);
    session_.write(order, std::as_bytes(std::span(next)));
    session_.run({"fill_chain", 4 * sms_, kFullBlock, {address, order, lines, kLine}});
    return address;
  }

  // Cycles of a load, after `warm` loads along the chain.
  double chase(const char* kernel, std::uint64_t address, std::uint64_t warm, std::uint64_t loads) {
    const std::uint64_t warm_iterations = std::max<std::uint64_t>(1, warm / kStepsPerIteration);
    const std::uint64_t iterations = std::max<std::uint64_t>(1, loads / kStepsPerIteration);
    return cycles({kernel, 1, 1, {out_, address, warm_iterations, iterations}}) /
           static_cast<double>(iterations * kStepsPerIteration);
  }

  // The largest footprint, in steps of `step`, with loads of at most `most` cycles; between `from`, which has
  // them, and `to`, which does not.
  double capacity(const char* kernel, std::uint64_t from, std::uint64_t to, std::uint64_t step, double most) {
    while (to - from > step) {
      const std::uint64_t middle = (from + to) / 2 / step * step;
      if (middle <= from) break;
      session_.release();
      out_ = session_.allocate(kOutBytes);
      const auto address = chain(middle);
      const std::uint64_t lines = middle / kLine;
      const bool fits = chase(kernel, address, lines, lines) <= most;
      (fits ? from : to) = middle;
    }
    return static_cast<double>(from);
  }

  void cache_latencies() {
    constexpr std::uint64_t l1_footprint = 16 * kKiB;
    const std::uint64_t l2_footprint = std::min(4 * kMiB, l2_bytes_ / 4);
    const auto small = chain(l1_footprint), large = chain(l2_footprint);
    measure(&TimingFigures::l1_latency_cycles,
            [&] { return chase("chase_ca", small, l1_footprint / kLine, 4096); });
    measure(&TimingFigures::l2_latency_cycles,
            [&] { return chase("chase_cg", large, l2_footprint / kLine, l2_footprint / kLine); });
    const std::uint64_t indices = session_.allocate(l1_footprint);
    std::vector<std::uint32_t> words(l1_footprint / 4);
    constexpr std::uint32_t words_per_line = kLine / 4;
    const auto next = shuffled_cycle(l1_footprint / kLine);
    for (std::size_t i = 0; i < next.size(); ++i) words[words_per_line * i] = words_per_line * next[i];
    session_.write(indices, std::as_bytes(std::span(words)));
    measure_cycles(&TimingFigures::l1_indexed_latency_cycles,
                   {"global_index", 1, 1, {out_, indices, kLongChain / kStepsPerIteration}}, kLongChain);
    // A tenth of the loads that miss is the edge of a cache.
    constexpr double edge = 0.1;
    const double l1 = *result_.figures.l1_latency_cycles, l2 = *result_.figures.l2_latency_cycles;
    const double memory = 2 * l2;  // at least
    std::vector<double> l1_sizes, l2_sizes;
    for (int i = 0; i < kCapacityRepetitions; ++i) {
      l1_sizes.push_back(capacity("chase_ca", l1_footprint, 512 * kKiB, 2 * kKiB, l1 + edge * (l2 - l1)));
      l2_sizes.push_back(capacity("chase_cg", l2_footprint, 2 * l2_bytes_, l2_bytes_ / 64 / kLine * kLine,
                                  l2 + edge * (memory - l2)));
    }
    record(&TimingFigures::l1_capacity_bytes, l1_sizes);
    record(&TimingFigures::l2_capacity_bytes, l2_sizes);
  }

  // Reads other memory until the caches hold nothing else.
  void evict(std::uint64_t other, std::uint64_t bytes) { session_.run(stream("read_16", other, bytes)); }

  std::uint64_t evicting_bytes() const { return std::max(256 * kMiB, 4 * l2_bytes_); }

  void memory_latencies() {
    constexpr std::uint64_t loads = 16384;
    const auto other = session_.allocate(evicting_bytes());
    const auto measured = [&](Member member, std::uint64_t footprint, std::uint64_t warm) {
      if (footprint > session_.device().memory_bytes / 4) return;
      const auto address = chain(footprint);
      measure(member, [&] {
        evict(other, evicting_bytes());
        return chase("chase_cg", address, warm, loads);
      });
    };
    measured(&TimingFigures::memory_cold_latency_cycles, 64 * kMiB, 0);
    measured(&TimingFigures::memory_latency_cycles, 256 * kMiB, loads / 4);
    measured(&TimingFigures::memory_large_latency_cycles, kGiB, loads / 4);
  }

  // Some addresses are nearer to an SM than others: the mean over several.
  double atomic_latency(std::uint64_t lines) {
    constexpr int addresses = 64;
    constexpr std::uint64_t iterations = 16;
    double sum = 0;
    for (std::uint64_t i = 0; i < addresses; ++i)
      sum += cycles({"global_atomic", 1, 1, {out_, lines + i * kSteps / addresses * kLine, 0, iterations}});
    return sum / (addresses * iterations * kStepsPerIteration);
  }

  void latencies() {
    constexpr std::uint64_t iterations = kSteps / kStepsPerIteration;
    const auto lines = session_.allocate(kSteps * kLine);
    measure_cycles(&TimingFigures::store_load_latency_cycles,
                   {"store_load", 1, kWarp, {out_, lines, lines, kLine, iterations}}, kSteps);
    measure_cycles(&TimingFigures::store_load_l1_latency_cycles,
                   {"store_load", 1, kWarp, {out_, lines, lines, 0, iterations}}, kSteps);
    measure_cycles(&TimingFigures::constant_latency_cycles, {"constant", 1, 1, {out_, 0, iterations}},
                   kSteps);
    measure(&TimingFigures::global_atomic_latency_cycles, [&] { return atomic_latency(lines); });
    measure_cycles(&TimingFigures::shared_indexed_latency_cycles,
                   {"shared_index", 1, kWarp, {out_, iterations}}, kSteps);
    measure_cycles(&TimingFigures::shared_atomic_latency_cycles,
                   {"shared_atomic", 1, 1, {out_, 0, iterations}}, kSteps);
    constexpr std::array<std::pair<std::uint64_t, Member>, 6> ways = {
        {{1, &TimingFigures::shared_latency_cycles},
         {2, &TimingFigures::shared_latency_2_ways_cycles},
         {4, &TimingFigures::shared_latency_4_ways_cycles},
         {8, &TimingFigures::shared_latency_8_ways_cycles},
         {16, &TimingFigures::shared_latency_16_ways_cycles},
         {32, &TimingFigures::shared_latency_32_ways_cycles}}};
    for (const auto& [words, member] : ways)
      measure_cycles(member, {"shared_chain", 1, kWarp, {out_, 4 * words, iterations}}, kSteps);
  }

  // ---- Instructions.

  void instructions() {
    for (const InstructionBenchmark& one : instruction_benchmarks()) {
      const std::uint64_t iterations = std::max<std::uint64_t>(1, kSteps / one.unrolled);
      const double counted = static_cast<double>(iterations) * one.unrolled * one.instructions;
      const auto launch = [&](const std::string& kind, int threads) {
        return BenchLaunch{
            kind + std::string(one.name), 1, threads, {out_, one.x, one.a, one.b, 0, iterations}};
      };
      const auto chain = launch("latency_", kWarp);
      const double apart = one.apart == nullptr ? 0 : (result_.figures.*one.apart).value_or(0);
      session_.run(chain);
      measure(one.latency, [&] { return cycles(chain) / counted - apart; });
      constexpr int warps = kFullBlockWarps / kPartitions;
      measure_cycles(one.issue, launch("rate_", kFullBlock), counted * kChains * warps);
    }
  }

  // ---- One SM at its full rate.

  void sm_rates() {
    constexpr std::uint64_t iterations = 256;
    constexpr double steps = static_cast<double>(iterations) * kStepsPerIteration * kFullBlockWarps;
    const auto shared = [&](Member member, std::uint64_t stride) {
      constexpr int chains = 2;
      measure_cycles(member, {"shared_rate", 1, kFullBlock, {out_, stride, iterations}}, steps * chains);
    };
    shared(&TimingFigures::shared_load_cycles, 4);
    shared(&TimingFigures::shared_load_32_ways_cycles, kLine);
    constexpr std::uint64_t bytes = 64 * kKiB;
    const auto words = session_.allocate(bytes);
    const auto l1 = [&](Member member, std::uint64_t stride, std::uint64_t between_warps) {
      measure_cycles(member, {"l1_4", 1, kFullBlock, {out_, words, stride, between_warps, iterations}},
                     steps);
    };
    l1(&TimingFigures::l1_coalesced_load_cycles, 4, kStepsPerIteration * kLine);
    l1(&TimingFigures::l1_strided_load_cycles, 8, 0);
    l1(&TimingFigures::l1_scattered_load_cycles, kLine, 0);
    const BenchLaunch vectors = {"l1_16", 1, kFullBlock, {out_, words, kVector, 0, iterations}};
    session_.run(vectors);
    measure(&TimingFigures::l1_read_bytes_per_cycle,
            [&] { return steps * kVector * kWarp / cycles(vectors); });
    measure_cycles(&TimingFigures::shared_atomic_one_address_cycles,
                   {"shared_atomic_rate", 1, kFullBlock, {out_, 0, iterations}}, steps);
  }

  void barriers() {
    constexpr std::uint64_t iterations = 256;
    constexpr std::array<std::pair<int, Member>, 6> sizes = {{{32, &TimingFigures::barrier_32_cycles},
                                                              {64, &TimingFigures::barrier_64_cycles},
                                                              {128, &TimingFigures::barrier_128_cycles},
                                                              {256, &TimingFigures::barrier_256_cycles},
                                                              {512, &TimingFigures::barrier_512_cycles},
                                                              {1024, &TimingFigures::barrier_1024_cycles}}};
    for (const auto& [threads, member] : sizes)
      measure_cycles(member, {"barrier", 1, threads, {out_, iterations}},
                     static_cast<double>(iterations) * kStepsPerIteration);
  }

  // ---- Blocks and launches.

  // Between a launch of many blocks and one of ten times as many.
  void block_starts() {
    const auto word = session_.allocate(kLine);
    const auto measured = [&](Member member, BenchLaunch launch) {
      constexpr int few = 100, many = 1000;  // per SM
      launch.blocks = few * sms_;
      BenchLaunch longer = launch;
      longer.blocks = many * sms_;
      session_.run(longer);
      measure(member, [&] {
        const double less_us = session_.time_us(launch, 1);
        return (longer.blocks - launch.blocks) / (session_.time_us(longer, 1) - less_us);
      });
    };
    struct Size {
      int threads;
      Member few_registers, many_registers;
    };
    constexpr std::array<Size, 4> sizes = {
        {{32, &TimingFigures::block_starts_32_per_us, &TimingFigures::block_starts_32_many_registers_per_us},
         {128, &TimingFigures::block_starts_128_per_us,
          &TimingFigures::block_starts_128_many_registers_per_us},
         {256, &TimingFigures::block_starts_256_per_us,
          &TimingFigures::block_starts_256_many_registers_per_us},
         {1024, &TimingFigures::block_starts_1024_per_us,
          &TimingFigures::block_starts_1024_many_registers_per_us}}};
    for (const Size& size : sizes) {
      measured(size.few_registers, {"next_to_nothing", 1, size.threads, {word, kNoThread}});
      measured(size.many_registers, {"empty_registers", 1, size.threads, {word, 0}});
    }
  }

  void launches() {
    const BenchLaunch empty = {"empty", 1, kWarp, {}};
    constexpr int launches = 200;
    session_.time_us(empty, launches);
    measure(&TimingFigures::event_launch_us, [&] {
      std::vector<double> values;
      for (int i = 0; i < 20; ++i) values.push_back(session_.time_us(empty, 1));
      return median(values);
    });
    measure(&TimingFigures::launch_us, [&] { return session_.time_us(empty, launches) / launches; });
    constexpr int threads = 256;
    const std::uint64_t bytes = std::uint64_t{4} * static_cast<std::uint64_t>(sms_) * threads;
    const std::uint64_t values = session_.allocate(2 * bytes);
    const BenchLaunch small = {"load_store", sms_, threads, {values, values + bytes}};
    // Long enough that the host is always some launches ahead.
    const BenchLaunch longer = {"spin", 1, kWarp, {50'000}};
    const auto durations = durations_of(empty), small_durations = durations_of(small);
    const auto one_block_durations = durations_of({"load_store", 1, threads, small.arguments});
    constexpr std::uint64_t apart = 1 << 20;
    const std::uint64_t zeros = session_.allocate(4 * apart);
    session_.write(zeros, std::vector<std::byte>(4 * apart));
    const auto loads_of = [&](int blocks) {
      return durations_of({"loads_store", blocks, threads, {zeros, values, apart}});
    };
    std::vector<double> longer_by = loads_of(sms_);
    if (!longer_by.empty()) {
      const double of_one_us = median(loads_of(1));
      constexpr double least_us = 0.001;  // CUPTI's clock; a GPU file has no figure of 0
      for (double& us : longer_by) us = std::max(us - of_one_us, least_us);
    }
    const auto queued = session_.spans(longer, launches / 4, false);
    if (durations.empty() || small_durations.empty() || !queued || queued->size() < 2) {
      result_.notes.emplace_back(
          "`empty_kernel_us`, `small_kernel_us`, `one_block_kernel_us`, `all_sms_us` and `launch_gap_us` "
          "are not measured: they need CUPTI, of the CUDA Toolkit");
      return;
    }
    std::vector<double> gaps;
    for (std::size_t i = 1; i < queued->size(); ++i)
      gaps.push_back((*queued)[i].start_us - (*queued)[i - 1].end_us);
    record(&TimingFigures::empty_kernel_us, durations);
    record(&TimingFigures::small_kernel_us, small_durations);
    record(&TimingFigures::one_block_kernel_us, one_block_durations);
    record(&TimingFigures::all_sms_us, longer_by);
    record(&TimingFigures::launch_gap_us, gaps);
  }

  // Of launches that the host waits for; empty without CUPTI.
  std::vector<double> durations_of(const BenchLaunch& launch) {
    constexpr int launches = 100;
    std::vector<double> durations;
    if (const auto spans = session_.spans(launch, launches, true))
      for (const KernelSpan& span : *spans) durations.push_back(span.end_us - span.start_us);
    return durations;
  }

  // ---- Bandwidths.

  // A launch of a kernel that goes once through about `bytes` bytes: a whole number of steps of all threads.
  BenchLaunch stream(const std::string& kernel, std::uint64_t address, std::uint64_t& bytes, int blocks,
                     int threads) const {
    const std::uint64_t width = kernel == "read_4" ? 4 : kVector;
    const std::uint64_t step = width * kLoads * static_cast<std::uint64_t>(blocks) * threads;
    bytes = std::max(step, bytes / step * step);
    return {kernel, blocks, threads, {address, bytes, 1}};
  }
  BenchLaunch stream(const std::string& kernel, std::uint64_t address, std::uint64_t bytes) const {
    bytes -= bytes / 16;  // a step may be more than what is left
    return stream(kernel, address, bytes, 2 * sms_, kFullBlock);
  }

  void bandwidths() {
    const std::uint64_t bytes = std::min(kGiB, session_.device().memory_bytes / 8);
    const auto from = session_.allocate(bytes), to = session_.allocate(bytes);
    whole_memory(from, to, bytes);
    few_warps(from, bytes);
    whole_l2(from);
    one_sm(from, bytes, to);
  }

  void whole_memory(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    const auto measured = [&](Member member, const BenchLaunch& launch, double moved) {
      session_.run(launch);
      measure(member, [&] {
        constexpr int launches = 3;
        return launches * moved / session_.time_us(launch, launches);
      });
    };
    const auto read = stream("read_16", from, bytes);
    const auto moved = static_cast<double>(read.arguments[1]);
    measured(&TimingFigures::memory_read_bytes_per_us, read, moved);
    measured(&TimingFigures::memory_write_bytes_per_us, stream("write_16", to, bytes), moved);
    const BenchLaunch copy = {
        "copy_16", read.blocks, read.threads, {from, to, read.arguments[1], read.arguments[2]}};
    measured(&TimingFigures::memory_copy_bytes_per_us, copy, 2 * moved);
  }

  void few_warps(std::uint64_t from, std::uint64_t bytes) {
    constexpr std::array<std::pair<int, Member>, 3> warps = {
        {{1, &TimingFigures::memory_read_1_warp_bytes_per_us},
         {4, &TimingFigures::memory_read_4_warps_bytes_per_us},
         {16, &TimingFigures::memory_read_16_warps_bytes_per_us}}};
    for (const auto& [count, member] : warps) {
      std::uint64_t moved = bytes / 2;
      const auto launch = stream("read_4", from, moved, sms_, count * kWarp);
      measure(member, [&] { return static_cast<double>(moved) / session_.time_us(launch, 1); });
    }
  }

  // The most threads per SM for which a step of all is at most a quarter of L2.
  int l2_threads() const {
    int threads = kFullBlock;
    while (threads > 128 && std::uint64_t{kVector} * kLoads * sms_ * threads > l2_bytes_ / 4) threads /= 2;
    return threads;
  }

  // Bytes per microsecond of passes through the same `bytes`.
  double passes(BenchLaunch launch, std::uint64_t count) {
    launch.arguments[2] = count;
    constexpr std::uint64_t more = 3;
    return static_cast<double>(launch.arguments[1] * count) / difference_us(launch, 2, more);
  }

  void whole_l2(std::uint64_t from) {
    std::uint64_t bytes = l2_bytes_ / 4;
    constexpr std::uint64_t count = 50;
    const auto read = stream("read_16", from, bytes, sms_, l2_threads());
    measure(&TimingFigures::l2_read_bytes_per_us, [&] { return passes(read, count); });
    auto write = read;
    write.kernel = "write_16";
    measure(&TimingFigures::l2_write_bytes_per_us, [&] { return passes(write, count); });
  }

  void one_sm(std::uint64_t from, std::uint64_t bytes, std::uint64_t other) {
    std::uint64_t moved = bytes / 8;
    const auto memory = stream("read_16", from, moved, 1, kFullBlock);
    measure(&TimingFigures::memory_read_1_sm_bytes_per_us, [&] {
      evict(other, bytes);
      return static_cast<double>(moved) / session_.time_us(memory, 1);
    });
    std::uint64_t cached = std::min(kMiB, l2_bytes_ / 4);
    const auto l2 = stream("read_16", from, cached, 1, kFullBlock);
    constexpr std::uint64_t count = 20;
    measure(&TimingFigures::l2_read_1_sm_bytes_per_us, [&] { return passes(l2, count); });
  }

  void atomics() {
    const int blocks = 2 * sms_;
    const std::uint64_t threads = static_cast<std::uint64_t>(blocks) * kFullBlock;
    const auto words = session_.allocate(threads / kWarp * kLine);
    struct Spread {
      Member member;
      std::uint64_t shift, mask, stride, times;
    };
    const std::array<Spread, 3> spreads = {
        {{&TimingFigures::atomic_one_address_per_us, 0, 0, 4, 2},
         {&TimingFigures::atomic_warp_address_per_us, 5, kNoMask, kLine, 16},
         {&TimingFigures::atomic_own_address_per_us, 0, kNoMask, 4, 256}}};
    for (const Spread& one : spreads) {
      const BenchLaunch launch = {
          "atomics", blocks, kFullBlock, {words, one.shift, one.mask, one.stride, one.times}};
      session_.run(launch);
      constexpr std::uint64_t more = 3;
      measure(one.member,
              [&] { return static_cast<double>(threads * one.times) / difference_us(launch, 4, more); });
    }
  }

  BenchSession& session_;
  const int repetitions_;
  const int sms_;
  const std::uint64_t l2_bytes_;
  std::uint64_t out_ = 0;
  MeasuredTiming result_;
};

}  // namespace

Result<MeasuredTiming> run_microbenchmarks(BenchSession& session, int repetitions,
                                           const std::function<void()>& group_done) {
  try {
    return Microbenchmarks(session, repetitions).run(group_done);
  } catch (const DeviceError& failure) {
    return error(failure.what());
  }
}

}  // namespace warptime::measuring
