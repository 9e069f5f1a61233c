// What the warps of a launch execute: ranges of blocks and warps against each warp on its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "random_source.h"
#include "simulator/program/expression/expression.h"
#include "simulator/program/warp_trace.h"
#include "simulator/program/warps.h"
#include "test_files.h"

namespace warptime {
namespace {

using test::program_of;

// Random conditions, addresses and programs over the indices of threads and blocks.
class Random : public test::RandomSource {
 public:
  using RandomSource::RandomSource;

  // i: a counter that is open, or empty
  std::string value(int depth, const std::string& i) {
    if (depth == 0) {
      std::vector<std::string> names = {"threadIdx.x",
                                        "threadIdx.y",
                                        "threadIdx.z",
                                        "blockIdx.x",
                                        "blockIdx.y",
                                        "blockIdx.x * blockDim.x + threadIdx.x",
                                        "blockIdx.y * blockDim.y + threadIdx.y",
                                        "laneid",
                                        "N"};
      if (!i.empty()) names.insert(names.end(), {i, i, i});
      return fmt::format("({})", pick(names));
    }
    switch (number(0, 8)) {
      case 7:
        return fmt::format("{}({}, {})", pick({"bit_and", "bit_or", "bit_xor"}), value(depth - 1, i),
                           value(depth - 1, i));
      case 8:  // of bits that no two numbers have in common, as compilers write sums
        return fmt::format("{}({} % 32, 32 * {})", pick({"bit_and", "bit_or", "bit_xor"}),
                           value(depth - 1, i), value(depth - 1, i));
      case 0:
        return fmt::format("({} + {})", value(depth - 1, i), value(depth - 1, i));
      case 1:
        return fmt::format("({} - {})", value(depth - 1, i), value(depth - 1, i));
      case 2:
        return fmt::format("({} * {})", number(-3, 9), value(depth - 1, i));
      case 3:
        return fmt::format("({} / {})", value(depth - 1, i), number(1, 40));
      case 4:
        return fmt::format("({} % {})", value(depth - 1, i), number(1, 40));
      case 5:
        return fmt::format("{}({}, {})", pick({"min", "max"}), value(depth - 1, i), value(depth - 1, i));
      default:
        return value(0, i);
    }
  }

  std::string condition(const std::string& i) {
    const std::string one =
        fmt::format("{} {} {}", value(2, i), pick({"<", "<=", ">", ">=", "==", "!="}), value(1, i));
    switch (number(0, 5)) {
      case 0:
        return fmt::format("({}) && {} < {}", one, value(1, i), number(0, 90));
      case 1:
        return fmt::format("({}) || {} < {}", one, value(1, i), number(0, 90));
      default:
        return one;
    }
  }

  std::string items(int depth, const std::string& i) {
    std::string text;
    for (std::int64_t left = number(1, 3); left > 0; --left)
      text += (text.empty() ? "" : ", ") + item(depth, i);
    return fmt::format("[{}]", text);
  }

 private:
  std::string threads(const std::string& i) {
    return number(0, 1) == 0 ? "" : fmt::format(R"(, threads: "{}")", condition(i));
  }
  std::string item(int depth, const std::string& i) {
    switch (number(0, depth > 0 ? 5 : 2)) {
      case 0:
        return fmt::format("{{instructions: {}{}}}", number(1, 9), threads(i));
      case 1:
      case 2:
        return fmt::format(R"({{{}: {{access: strided, bytes: {}, sectors: 32, address: "4 * {}"}}{}}})",
                           pick({"load", "store"}), 4 << number(0, 1), value(2, i), threads(i));
      case 3: {
        const std::string counter = fmt::format("i{}", depth);
        return fmt::format(R"({{repeat: {}, counter: {}, body: {}{}}})", number(0, 14), counter,
                           items(depth - 1, counter), threads(i));
      }
      case 4: {
        const std::string trips = fmt::format("max(0, min({}, 11))", value(1, i));
        return fmt::format("{{repeat: 64, per_thread: \"{}\", body: {}{}}}", trips, items(depth - 1, i),
                           threads(i));
      }
      default:
        return fmt::format("{{when: 1, then_threads: \"{}\", then: {}, else: {}{}}}", condition(i),
                           items(depth - 1, i), items(depth - 1, i), threads(i));
    }
  }
};

// Each warp on its own, each thread on its own.
class OneByOne {
 public:
  OneByOne(const KernelProgram& program, const LaunchSize& size) : program_(program), size_(size) {}

  WarpTotals run() {
    const std::int64_t threads = size_.block[0] * size_.block[1] * size_.block[2];
    for (std::int64_t block = 0; block < size_.grid[0] * size_.grid[1] * size_.grid[2]; ++block)
      for (std::int64_t first = 0; first < threads; first += 32)
        warp(block, first, std::min(first + 32, threads));
    return totals_;
  }

 private:
  using Threads = std::vector<Bindings>;

  void warp(std::int64_t block, std::int64_t first, std::int64_t end) {
    Threads all;
    for (std::int64_t thread = first; thread < end; ++thread) {
      Bindings values = {{"N", 50}, {"laneid", thread % 32}};
      std::int64_t t = thread, b = block;
      for (std::size_t d = 0; d < 3; ++d) {
        const auto name = [d](const char* of) { return fmt::format("{}.{}", of, "xyz"[d]); };
        values[name("threadIdx")] = t % size_.block[d];
        values[name("blockIdx")] = b % size_.grid[d];
        values[name("blockDim")] = size_.block[d];
        values[name("gridDim")] = size_.grid[d];
        t /= size_.block[d];
        b /= size_.grid[d];
      }
      all.push_back(std::move(values));
    }
    execute(program_.program, all);
  }

  static std::int64_t value(const Expression& expression, const Bindings& thread) {
    const auto value = evaluate_count(expression, thread);
    EXPECT_TRUE(value) << to_string(expression);
    return value ? *value : 0;
  }

  static Threads those(const Threads& threads, const Expression& condition, bool holds) {
    Threads some;
    for (const Bindings& thread : threads)
      if ((value(condition, thread) != 0) == holds) some.push_back(thread);
    return some;
  }

  void execute(const Items& items, const Threads& threads) {
    for (const Item& item : items) {
      const Threads active = item.threads ? those(threads, *item.threads, true) : threads;
      if (!active.empty()) execute(item, active);
    }
  }

  void execute(const Item& item, const Threads& threads) {
    if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
      totals_.instructions += static_cast<double>(value(instructions->count, threads.front()));
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      const bool load = access->kind == MemoryAccess::Kind::load;
      std::set<std::int64_t> sectors;
      for (const Bindings& thread : threads) {
        const std::int64_t place = value(*access->address, thread) + (std::int64_t{1} << 40);
        for (std::int64_t byte = place; byte < place + *access->bytes; ++byte) sectors.insert(byte / 32);
      }
      totals_.instructions += 1;
      (load ? totals_.loads : totals_.stores) += 1;
      (load ? totals_.load_sectors : totals_.store_sectors) += static_cast<double>(sectors.size());
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      execute(*repeat, threads);
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      for (const bool holds : {true, false}) {
        const Threads some = those(threads, *when->then_threads, holds);
        if (!some.empty()) execute(holds ? when->then_items : when->else_items, some);
      }
    }
  }

  void execute(const Repeat& repeat, const Threads& threads) {
    for (std::int64_t i = 0;; ++i) {
      Threads some;
      for (const Bindings& thread : threads) {
        if (value(repeat.per_thread ? *repeat.per_thread : repeat.count, thread) <= i) continue;
        some.push_back(thread);
        if (!repeat.counter.empty()) some.back()[repeat.counter] = i;
      }
      if (some.empty()) return;
      execute(repeat.body, some);
    }
  }

  const KernelProgram& program_;
  const LaunchSize& size_;
  WarpTotals totals_;
};

// Each warp on its own, item by item.
WarpTotals traced(const KernelProgram& program, const LaunchSize& size) {
  WarpTotals totals;
  const auto launch = LaunchTrace::make(program, {{"N", 50}}, size, {});
  EXPECT_TRUE(launch) << to_text(launch.diagnostics());
  TraceOfBlocks common(*launch);
  for (std::int64_t block = 0; block < launch->blocks(); ++block) {
    for (std::int64_t number = 0; number < size.warps_per_block(); ++number) {
      WarpTrace warp(common, block, number);
      for (WarpTrace::Step step; warp.next(step);) {
        const auto* access = std::get_if<MemoryAccess>(&step.node->item->what);
        totals.instructions += access != nullptr ? 1 : static_cast<double>(warp.instructions(step));
        if (access == nullptr) continue;
        const bool load = access->kind == MemoryAccess::Kind::load;
        (load ? totals.loads : totals.stores) += 1;
        for (const LineSectors& line : warp.lines(step))
          (load ? totals.load_sectors : totals.store_sectors) += std::popcount(line.sectors);
      }
    }
  }
  return totals;
}

struct ShapeCase {
  const char* name;
  LaunchSize size;
};
void PrintTo(const ShapeCase& one, std::ostream* out) {
  *out << one.name;
}
class LaunchWarpsOf : public testing::TestWithParam<ShapeCase> {};

TEST_P(LaunchWarpsOf, AreWhatEachWarpExecutes) {
  const auto first = static_cast<std::uint32_t>(GetParam().size.block[0] * 1000);
  for (std::uint32_t seed = first; seed < first + 25; ++seed) {
    Random random(seed);
    const std::string text = fmt::format("program: {}", random.items(2, ""));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
    const KernelProgram program = program_of(text);
    const LaunchSize& size = GetParam().size;
    const WarpTotals each = OneByOne(program, size).run();
    const auto warps = WarpProgram(program).launch({{"N", 50}}, size, {}, {true, std::uint64_t{1} << 40, 8});
    ASSERT_TRUE(warps) << to_text(warps.diagnostics());
    EXPECT_FALSE(warps->sampled);
    EXPECT_FALSE(warps->threads_unknown);
    EXPECT_FALSE(warps->sectors_unknown);
    EXPECT_EQ(warps->total.instructions, each.instructions);
    EXPECT_EQ(warps->total.loads, each.loads);
    EXPECT_EQ(warps->total.stores, each.stores);
    EXPECT_EQ(warps->total.load_sectors, each.load_sectors);
    EXPECT_EQ(warps->total.store_sectors, each.store_sectors);
    const WarpTotals trace = traced(program, size);
    EXPECT_EQ(trace.instructions, each.instructions);
    EXPECT_EQ(trace.loads, each.loads);
    EXPECT_EQ(trace.stores, each.stores);
    EXPECT_EQ(trace.load_sectors, each.load_sectors);
    EXPECT_EQ(trace.store_sectors, each.store_sectors);
    double number = 0;
    for (const WarpGroup& group : warps->groups) number += group.warps;
    EXPECT_EQ(number,
              static_cast<double>(size.grid[0] * size.grid[1] * size.grid[2] * size.warps_per_block()));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LaunchWarpsOf,
                         testing::Values(ShapeCase{"lines", {{13, 1, 1}, {128, 1, 1}}},
                                         ShapeCase{"lines_with_a_rest", {{7, 2, 1}, {100, 1, 1}}},
                                         ShapeCase{"rows_of_32", {{5, 3, 1}, {32, 8, 1}}},
                                         ShapeCase{"rows_of_64", {{4, 2, 1}, {64, 2, 2}}},
                                         ShapeCase{"squares", {{6, 3, 1}, {16, 16, 1}}},
                                         ShapeCase{"squares_with_a_rest", {{6, 2, 1}, {16, 5, 1}}},
                                         ShapeCase{"cubes", {{5, 2, 1}, {8, 8, 4}}},
                                         ShapeCase{"small_cubes", {{5, 2, 1}, {4, 2, 5}}},
                                         ShapeCase{"irregular", {{5, 3, 1}, {24, 5, 1}}},
                                         ShapeCase{"one_thread", {{40, 3, 1}, {1, 1, 1}}}),
                         [](const auto& one) { return one.param.name; });

// Of a side of a branch to which half of a warp's threads go: of what one thread of them each accesses half, and nearly all of
// what eight do.
TEST(LaunchWarps, AccessWhatAPartOfTheirThreadsDoes) {
  KernelProgram program = program_of(
      "parameters: {taken: {share: 1}}\n"
      "program: [{load: {access: strided, bytes: 4, sectors: 32, stride: 128, address: 128 * threadIdx.x}, "
      "shares: [taken]},"
      "{store: {access: coalesced, bytes: 4, sectors: 4, address: 4 * threadIdx.x}, shares: [taken]}]");
  program.parameters.at(0).threads = 0.5;
  const LaunchSize size{{100, 1, 1}, {128, 1, 1}};
  const auto warps = WarpProgram(program).launch({}, size, {}, {true, std::uint64_t{1} << 40, 8});
  ASSERT_TRUE(warps) << to_text(warps.diagnostics());
  EXPECT_EQ(warps->total.loads, 400);
  EXPECT_DOUBLE_EQ(warps->total.load_sectors, 400 * 16);
  EXPECT_DOUBLE_EQ(warps->total.store_sectors, 400 * 4 * (1 - 1.0 / 256));
  const WarpTotals trace = traced(program, size);
  EXPECT_EQ(trace.loads, 400);
  EXPECT_NEAR(trace.load_sectors, 400 * 16, 400);
  EXPECT_NEAR(trace.store_sectors, 400 * 4, 40);
}

// Blocks that go through rows: quotients and remainders of the block's index are decided for all rows at
// once.
TEST(LaunchWarps, OfManyRowsTakeFewEvaluations) {
  const KernelProgram program = program_of(
      "program: [{instructions: 3, threads: \"threadIdx.x + blockIdx.x * 256 - 2048 * (blockIdx.x / 8) < "
      "2000\"},"
      "{instructions: 5, threads: \"blockIdx.x % 8 == 0\"}]");
  const LaunchSize size{{8 * 1'000'000, 1, 1}, {256, 1, 1}};
  const auto warps = WarpProgram(program).launch({}, size, {}, {false, 2000, 8});
  ASSERT_TRUE(warps) << to_text(warps.diagnostics());
  EXPECT_FALSE(warps->sampled);
  // 63 of 64 warps of a row have threads below 2000; the 8 of its first block execute 5 more.
  EXPECT_EQ(warps->total.instructions, 1e6 * (63 * 3 + 8 * 5));
}

// What is decided for few blocks at a time is looked at within the budget, and no call nests deep.
TEST(LaunchWarps, OfHugeGridsAreSampled) {
  const LaunchSize size{{2147483647, 65535, 1}, {256, 1, 1}};
  for (const char* condition :
       {"blockIdx.x * blockIdx.x % 7 < 3", "blockIdx.x * 100 - blockIdx.x / 3 * 299 + blockIdx.y < 40",
        "(blockIdx.x * 7919 + blockIdx.y * 104729) % 1009 == threadIdx.x",
        "blockIdx.x * 256 - 2048 * (blockIdx.x * blockIdx.x / 8 / blockDim.x) < 2000",
        "blockIdx.x / 7 % 5 + blockIdx.x / 11 % 3 > threadIdx.x / 3"}) {
    const KernelProgram program =
        program_of(fmt::format("program: [{{instructions: 3, threads: \"{0}\"}}, "
                               "{{repeat: 1000000000, counter: i, body: "
                               "[{{instructions: 1, threads: \"{0} && i % 3 * blockIdx.x < 7\"}}]}}]",
                               condition));
    for (const bool sectors : {false, true}) {
      WarpOptions options;
      options.sectors = sectors;
      options.budget = 100'000;
      const auto warps = WarpProgram(program).launch({}, size, {}, options);
      ASSERT_TRUE(warps) << to_text(warps.diagnostics());
      EXPECT_TRUE(warps->sampled) << condition;
      double number = 0;
      for (const WarpGroup& group : warps->groups) number += group.warps;
      EXPECT_NEAR(number / (2147483647.0 * 65535 * 8), 1, 1e-9);
    }
  }
}

// Iterations that threads leave one after another are kept apart only as far as the program stays small.
TEST(LaunchWarps, OfNestedLoopsThatThreadsLeaveAreWrittenOut) {
  const KernelProgram program = program_of(
      "program: [{repeat: 10000, counter: i, per_thread: 10000 - threadIdx.x, body: "
      "[{repeat: 10000, counter: j, per_thread: 10000 - threadIdx.x, body: "
      "[{repeat: 10000, counter: k, per_thread: 10000 - threadIdx.x, body: "
      "[{instructions: 1, threads: \"k >= threadIdx.x\"}]}]}]}]");
  const LaunchSize size{{1, 1, 1}, {32, 1, 1}};
  const WarpProgram warps(program);
  const auto items = warps.of_warp({}, size, {}, {}, 0.5);
  ASSERT_TRUE(items) << to_text(items.diagnostics());
  KernelProgram written;
  written.program = *items;
  const auto one = WarpProgram(written).launch({}, size, {}, {});
  ASSERT_TRUE(one) << to_text(one.diagnostics());
  EXPECT_NEAR(one->total.instructions / 1e12, 1, 0.01);
}

// 11 iterations are 2 pieces of 4 and 3 of 1.
TEST(LaunchWarps, OfAnUnrolledLoopExecuteItsPieces) {
  const KernelProgram program = program_of(
      "program: [{repeat: N, machine: {alu: 3}, unrolled: [{iterations: 4, machine: {cbu: 1}}, {iterations: "
      "1, "
      "machine: {alu: 1, cbu: 2}}], body: [{instructions: 2, machine: {fma: 2}}]}]");
  WarpOptions options;
  options.machine = true;
  const auto warps = WarpProgram(program).launch({{"N", 11}}, {{1, 1, 1}, {32, 1, 1}}, {}, options);
  ASSERT_TRUE(warps) << to_text(warps.diagnostics());
  const MachineWork& machine = warps->total.machine;
  EXPECT_DOUBLE_EQ(machine[Pipe::fma], 22);
  EXPECT_DOUBLE_EQ(machine[Pipe::alu], 3 + 3);
  EXPECT_DOUBLE_EQ(machine[Pipe::cbu], 2 * 1 + 3 * 2);
  EXPECT_DOUBLE_EQ(warps->total.instructions, 22) << "of PTX";
}

}  // namespace
}  // namespace warptime
