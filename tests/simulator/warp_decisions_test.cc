// The decisions of warps (WarpOptions::decisions), by which sweeps know what they execute: that the groups are what
// looking at each warp finds, and that warps with the same decisions have the same program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "random_source.h"
#include "simulator/program/warps.h"
#include "test_files.h"

namespace warptime {
namespace {

using test::program_of;

// Random programs whose guards compare the number of a thread in the launch.
class RandomGuards : public test::RandomSource {
 public:
  using RandomSource::RandomSource;

  std::string items(int depth) {
    std::string text;
    for (std::int64_t left = number(1, 3); left > 0; --left)
      text += fmt::format("{}{{{}}}", text.empty() ? "" : ", ", item(depth));
    return fmt::format("[{}]", text);
  }

 private:
  std::string comparison() {
    const std::string thread =
        pick({"threadIdx.x + blockIdx.x * blockDim.x", "blockIdx.x * blockDim.x + threadIdx.x",
              "2 * (threadIdx.x + blockDim.x * blockIdx.x) + 1", "threadIdx.x", "blockIdx.x",
              "- threadIdx.x - blockIdx.x * blockDim.x", "N - 3"});
    const std::string other = pick({"N", "N / 2", "2 * N - 5", "7", "N % 64", "100", "0", "- N"});
    const std::string op = pick({"<", "<=", ">", ">=", "==", "!="});
    return number(0, 1) == 0 ? fmt::format("{} {} {}", thread, op, other)
                             : fmt::format("{} {} {}", other, op, thread);
  }
  std::string condition() {
    switch (number(0, 5)) {
      case 0:
        return fmt::format("{} && {}", comparison(), comparison());
      case 1:
        return fmt::format("!({} || {})", comparison(), comparison());
      case 2:
        return fmt::format("!({})", comparison());
      case 3:  // other numbers than those of threads, too
        return pick({"threadIdx.x", "(threadIdx.x + blockIdx.x) % 3 == 1", "threadIdx.x * blockIdx.x < N",
                     "min(threadIdx.x, N) < 5", "!(blockIdx.x * blockDim.x + threadIdx.x - N)"});
      default:
        return comparison();
    }
  }
  std::string threads() { return number(0, 2) == 0 ? "" : fmt::format(", threads: \"{}\"", condition()); }

  std::string item(int depth) {
    switch (number(0, depth > 0 ? 11 : 3)) {
      case 0:
      case 1:
        return fmt::format("instructions: {}{}", number(1, 9), threads());
      case 2:
      case 3:
        return fmt::format("{}: 100{}", pick({"load", "store"}), threads());
      case 4:
      case 5:
        return fmt::format("repeat: {}, body: {}{}", pick({"3", "N / 4", "N % 4"}), items(depth - 1),
                           threads());
      case 6:
      case 7:
        return fmt::format("when: \"{}\", then: {}, else: {}{}", pick({"N % 4 != 0", "N >= 40"}),
                           items(depth - 1), items(depth - 1), threads());
      case 8:
      case 9:
      case 10:
        return fmt::format("when: 1, then_threads: \"{}\", then: {}, else: {}", condition(), items(depth - 1),
                           items(depth - 1));
      default:
        return fmt::format("repeat: N, per_thread: \"{}\", body: {}",
                           pick({"max(0, min(N, 5) - threadIdx.x)", "N - blockIdx.x * 0", "threadIdx.x % 2"}),
                           items(depth - 1));
    }
  }
};

struct ItemsOfWarps {
  Items items;
  double warps = 0;
};

void add(std::vector<ItemsOfWarps>& to, const Items& items, double warps) {
  for (ItemsOfWarps& known : to) {
    if (known.items != items) continue;
    known.warps += warps;
    return;
  }
  to.push_back({items, warps});
}

// What the launch's warps execute, from looking at each.
std::vector<ItemsOfWarps> each_warp(const WarpProgram& warps, std::int64_t n, const LaunchSize& size) {
  std::vector<ItemsOfWarps> found;
  WarpGroup one;
  for (one.block[1] = 0; one.block[1] < size.grid[1]; ++one.block[1])
    for (one.block[0] = 0; one.block[0] < size.grid[0]; ++one.block[0])
      for (one.warp = 0; one.warp < size.warps_per_block(); ++one.warp)
        add(found, *warps.of_warp({{"N", n}}, size, one, {}, 0.5), 1);
  return found;
}

void expect_same(const std::vector<ItemsOfWarps>& found, const std::vector<ItemsOfWarps>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const ItemsOfWarps& one : expected) {
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const ItemsOfWarps& other) { return other.items == one.items; });
    ASSERT_TRUE(same != found.end());
    EXPECT_EQ(same->warps, one.warps);
  }
}

TEST(WarpDecisions, TellWhatWarpsExecute) {
  const std::vector<LaunchSize> sizes = {
      {{1, 1, 1}, {32, 1, 1}}, {{5, 1, 1}, {64, 1, 1}}, {{7, 1, 1}, {40, 1, 1}},
      {{3, 1, 1}, {1, 1, 1}},  {{4, 1, 1}, {33, 1, 1}}, {{30, 1, 1}, {128, 1, 1}},
      {{6, 1, 1}, {20, 1, 1}}, {{2, 3, 1}, {16, 4, 1}}, {{1, 1, 1}, {200, 1, 1}}};
  std::size_t with = 0, without = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    RandomGuards random(seed);
    const std::string text = fmt::format("program: {}", random.items(2));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
    const KernelProgram program = program_of(text);
    const WarpProgram warps(program);
    std::map<std::vector<std::int64_t>, Items> known;
    for (const LaunchSize& size : sizes) {
      const std::int64_t n = random.number(0, size.grid[0] * size.block[0] + 9);
      SCOPED_TRACE(fmt::format("{} blocks of {}, N = {}", size.grid[0], size.block[0], n));
      WarpOptions options;
      options.decisions = true;
      options.most_groups = 1000;
      const auto decided = warps.launch({{"N", n}}, size, {}, options);
      ASSERT_TRUE(decided) << to_text(decided.diagnostics());
      ASSERT_FALSE(decided->groups.empty());
      const bool all = std::all_of(decided->groups.begin(), decided->groups.end(),
                                   [](const WarpGroup& group) { return group.decisions.has_value(); });
      (all ? with : without) += 1;
      std::vector<ItemsOfWarps> found;
      for (const WarpGroup& group : decided->groups) {
        const auto items = warps.of_warp({{"N", n}}, size, group, {}, 0.5);
        ASSERT_TRUE(items);
        add(found, *items, group.warps);
        if (!group.decisions) continue;
        const auto [same, fresh] = known.try_emplace(*group.decisions, *items);
        EXPECT_TRUE(fresh || same->second == *items);
      }
      EXPECT_FALSE(all && (decided->sampled || decided->threads_unknown));
      if (all) expect_same(found, each_warp(warps, n, size));
    }
  }
  EXPECT_GT(with, 2 * without);
}

// A share, or a counter: warps with the same answers to all conditions execute one thing and the other.
TEST(WarpDecisions, AreNotThereWhereTheyDoNotTell) {
  for (const char* text :
       {"{parameters: {s: {share: 0.5}}, program: [{instructions: 3, shares: [s]}]}",
        "program: [{repeat: 100, counter: i, body: [{instructions: 1, threads: \"threadIdx.x > i\"}]}]",
        "program: [{instructions: 3, threads: \"threadIdx.x < unknown\"}]"}) {
    const KernelProgram program = program_of(text);
    WarpOptions options;
    options.decisions = true;
    const auto warps = WarpProgram(program).launch({}, {{4, 1, 1}, {64, 1, 1}}, {}, options);
    ASSERT_TRUE(warps) << to_text(warps.diagnostics());
    for (const WarpGroup& group : warps->groups) EXPECT_FALSE(group.decisions) << text;
  }
}

}  // namespace
}  // namespace warptime
