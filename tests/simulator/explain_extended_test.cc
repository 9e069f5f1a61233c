// Explanations of the extended model: what they say sums up, agrees with the counters, and every gain that
// they claim is what the model gives for the changed program. Timelines show the cycles that the model has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "random_program.h"
#include "simulator/model/extended/program_changes.h"
#include "simulator/predict/counters.h"
#include "simulator/predict/explanation.h"
#include "simulator/predict/fixed_block.h"
#include "simulator/predict/remembered_work.h"
#include "simulator/predict/sm_timeline.h"
#include "simulator/program/walk.h"
#include "test_files.h"
#include "test_plan.h"

namespace warptime {
namespace {

using test::loader_of;
using test::plan_of;
using test::program_of;

std::vector<const Gpu*> h100() {
  return {*GpuCatalogue::bundled().find("h100-sxm")};
}

PredictionOptions extended() {
  PredictionOptions options;
  options.model = find_model("extended");
  options.all_warps = true;
  return options;
}

Plan launch_of(const std::string& grid, const std::string& block) {
  return plan_of(
      fmt::format("name: plan\nlaunches: [{{kernel: k, grid: {}, block: {}, repeat: 2}}]\n", grid, block));
}

Explanation explained(const Plan& plan, const KernelProgram& program) {
  const auto explanations = explain_all(plan, h100(), {}, extended(), loader_of(program));
  EXPECT_TRUE(explanations) << to_text(explanations.diagnostics());
  return explanations ? explanations->front() : Explanation{};
}

double predicted_us(const Plan& plan, const KernelProgram& program) {
  double us = 0;
  const auto count = predict(plan, h100(), {}, extended(), loader_of(program), [&](const PredictionRow& row) {
    us = row.time.total_us;
    return true;
  });
  EXPECT_TRUE(count) << to_text(count.diagnostics());
  return us;
}

void expect_sums(const Explanation& explanation) {
  const PredictionRow& row = explanation.row;
  const double slack = 1e-9 * row.time.total_us;
  const auto parts = row.model->parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == TimePart::Kind::launch || parts[i].kind == TimePart::Kind::further) continue;
    double sum = 0;
    for (const LineShare& line : explanation.lines) sum += line.us[i];
    EXPECT_NEAR(sum, row.time.us[i], slack) << parts[i].key;
  }
  double limits = 0;
  for (const Limit& limit : explanation.limits) limits += limit.us;
  EXPECT_NEAR(limits, row.time.total_us, slack);
  for (const LineShare& line : explanation.lines) {
    double of_line = 0;
    for (const Limit& limit : line.limits) of_line += limit.us;
    EXPECT_NEAR(of_line, line.total_us(), slack) << line.where;
  }
}

const Claim* find_claim(const Explanation& explanation, Claim::Kind kind) {
  for (const Claim& claim : explanation.claims)
    if (claim.kind == kind) return &claim;
  return nullptr;
}

// One kernel for each thing that a claim is about.
struct Kernel {
  Claim::Kind claim;
  std::string program, grid = "[1320]", block = "[256]";
};

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = {
      // Each thread reads a row.
      {Claim::Kind::coalesced,
       "program: [{repeat: 64, counter: i, body: [{load: {access: strided, bytes: 4, sectors: 32, array: a, "
       "address: 256 *"
       " (blockIdx.x * 256 + threadIdx.x) + 4 * i}, lines: 7}, {instructions: 4, lines: 8, needs: [1]}]}]"},
      {Claim::Kind::coalesced,
       "program: [{repeat: 16, body: [{load: {access: scattered, bytes: 4, sectors: 32, array: a}, lines: "
       "7}, "
       "{instructions: 4, lines: 8, needs: [1]}]}]"},
      {Claim::Kind::fewer_loads,
       "program: [{repeat: 100, counter: i, body: [{load: {access: coalesced, bytes: 4, array: a, address: "
       "128 * i + 4 * "
       "threadIdx.x}, lines: 7}, {instructions: 4, lines: 8, needs: [1]}]}, {load: {access: coalesced, "
       "bytes: 4, array: b,"
       " address: 4 * threadIdx.x}, lines: 9}, {instructions: 1, lines: 9, needs: [2]}]"},
      {Claim::Kind::no_conflicts,
       "program: [{repeat: 100, body: [{instructions: 1, lines: 5, machine: {lsu: 1}, on_chip: [{load: "
       "shared, "
       "bytes: 4, "
       "address: 128 * threadIdx.x}]}]}]"},
      {Claim::Kind::no_local_memory,
       "program: [{repeat: 100, counter: i, body: [{instructions: 1, lines: 5, machine: {lsu: 1}, on_chip: "
       "[{load: local, "
       "bytes: 4, address: 4 * i}]}]}]"},
      {Claim::Kind::no_divergence,
       "program: [{repeat: 100, threads: threadIdx.x % 2 == 0, body: [{instructions: 8, lines: 5}]}, "
       "{repeat: 100, threads: threadIdx.x % 2 == 1, body: [{instructions: 8, lines: 6}]}]"},
      {Claim::Kind::fewer_registers,
       "resources: {registers: 255}\nprogram: [{repeat: 100, body: [{instructions: 1, lines: 5, machine: "
       "{fma: 1}, chain: "
       "30}]}]"},
      {Claim::Kind::less_shared,
       "resources: {registers: 32, shared_bytes: 90000}\nprogram: [{repeat: 100, body: [{instructions: 1, "
       "lines: "
       "5, machine: "
       "{fma: 1}, chain: 30}]}]"},
      {Claim::Kind::single_precision,
       "program: [{repeat: 100, body: [{instructions: 8, lines: 5, machine: {fp64: 8}}]}]"},
  };
  return all;
}

TEST(ExplainExtended, ClaimsAreWhatTheModelGivesForTheChangedProgram) {
  for (const Kernel& kernel : kernels()) {
    const Plan plan = launch_of(kernel.grid, kernel.block);
    const KernelProgram program = program_of(kernel.program);
    const Explanation explanation = explained(plan, program);
    EXPECT_NE(find_claim(explanation, kernel.claim), nullptr) << to_string(kernel.claim) << "\n"
                                                              << kernel.program;
    for (const Claim& claim : explanation.claims) {
      if (!claim.program) continue;
      ASSERT_TRUE(claim.time_us) << claim.text;
      EXPECT_LT(*claim.time_us, explanation.row.time.total_us) << claim.text;
      EXPECT_NEAR(*claim.time_us, predicted_us(plan, *claim.program), 1e-9 * *claim.time_us) << claim.text;
    }
  }
}

TEST(ExplainExtended, LinesAndLimitsSumToTheRow) {
  for (const Kernel& kernel : kernels())
    expect_sums(explained(launch_of(kernel.grid, kernel.block), program_of(kernel.program)));
  // More than is simulated.
  expect_sums(explained(launch_of("[132000]", "[256]"), program_of(kernels().front().program)));
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    const KernelProgram program = test::random_program(random, {});
    const Plan plan = plan_of(
        fmt::format("name: plan\nparameters: [K, N]\nlaunches: [{{kernel: k, grid: [{}], block: [{}]}}, "
                    "{{kernel: k, grid: [70], block: "
                    "[96], repeat: 3}}]\n",
                    1 + 97 * i, 32 * (1 + i % 8)));
    const auto explanations =
        explain_all(plan, h100(), *parse_parameters(fmt::format("K={},N={}", i % 5, 1 + i % 7)), extended(),
                    loader_of(program));
    ASSERT_TRUE(explanations) << to_text(explanations.diagnostics());
    expect_sums(explanations->front());
    if (HasFailure()) FAIL() << to_yaml(program);
  }
}

// What reports do: all of a plan's launches are looked at with one memory of work, in several threads.
TEST(ExplainExtended, IsTheSameInSeveralThreadsWithSharedWork) {
  for (const Kernel& kernel : kernels()) {
    const auto program = std::make_shared<const KernelProgram>(program_of(kernel.program));
    const ProgramLoader loader = [&](const Plan&, const PlanLaunch&, const Gpu&) -> Result<LoadedProgram> {
      return LoadedProgram{program, {}};
    };
    const Plan plan =
        plan_of(fmt::format("name: plan\nparameters: [N]\nlaunches: [{{kernel: k, grid: {}, block: {}, "
                            "repeat: N}}]\n",
                            kernel.grid, kernel.block));
    const auto values = *parse_parameters("N=1,2,3,4,5");
    PredictionOptions options = extended();
    const auto alone = explain_all(plan, h100(), values, options, loader);
    const auto counted = count_all(plan, h100(), values, options, loader);
    const auto drawn = sm_timelines(plan, h100(), values, options, loader, 100);
    options.remembered = std::make_shared<RememberedWork>();
    const auto shared = explain_all(plan, h100(), values, options, loader, 4);
    const auto counted_shared = count_all(plan, h100(), values, options, loader, 4);
    const auto drawn_shared = sm_timelines(plan, h100(), values, options, loader, 100);
    ASSERT_TRUE(alone && shared && counted && counted_shared && drawn && drawn_shared);
    for (std::size_t i = 0; i < alone->size(); ++i) {
      const auto &a = (*alone)[i], &b = (*shared)[i];
      EXPECT_EQ(a.row.parameters, b.row.parameters);
      EXPECT_EQ(a.row.time.total_us, b.row.time.total_us);
      ASSERT_EQ(a.claims.size(), b.claims.size());
      for (std::size_t k = 0; k < a.claims.size(); ++k) EXPECT_EQ(a.claims[k].text, b.claims[k].text);
      for (std::size_t k = 0; k < (*counted)[i].launches.size(); ++k)
        EXPECT_EQ((*counted)[i].launches[k].values, (*counted_shared)[i].launches[k].values);
      EXPECT_EQ((*drawn)[i].sm_cycles, (*drawn_shared)[i].sm_cycles);
      EXPECT_EQ((*drawn)[i].collected, (*drawn_shared)[i].collected);
      EXPECT_EQ((*drawn)[i].warps.size(), (*drawn_shared)[i].warps.size());
    }
  }
}

// Shares of the time, by the limit's key.
std::map<std::string, double> limits(const Kernel& kernel) {
  std::map<std::string, double> shares;
  const Explanation explanation = explained(launch_of(kernel.grid, kernel.block), program_of(kernel.program));
  for (const Limit& limit : explanation.limits)
    shares[std::string(limit.key)] = limit.us / explanation.row.time.total_us;
  return shares;
}

TEST(ExplainExtended, NamesThePipeTheTailAndTheLineThatLimit) {
  EXPECT_GT(limits(kernels().back())["fp64_pipe"], 0.4);
  EXPECT_GT(limits(kernels()[3])["shared_memory"], 0.5);
  // The second block of each SM is much longer than the first, and waits alone.
  const Kernel tail = {
      Claim::Kind::bound,
      "program: [{repeat: 1000, per_thread: \"if(blockIdx.x >= 132, 1000, 1)\", body: [{instructions: 1, "
      "lines: 5, chain: 100}]}]",
      "[264]", "[32]"};
  EXPECT_GT(limits(tail)["tail"], 0.8);
}

TEST(ExplainExtended, AFullQueueIsWaitedForAsWhatFillsIt) {
  const auto limits_of = [](const std::string& items) {
    return limits({Claim::Kind::bound, "program: " + items, "[13200]", "[256]"});
  };
  // Atomics of all warps on one address.
  EXPECT_GT(
      limits_of(
          "[{store: {access: uniform, bytes: 4, array: a, address: 0, note: atomic}, lines: 3}]")["atomics"],
      0.5);
  // Stores of whole lines, which only L2's bandwidth limits.
  EXPECT_GT(
      limits_of(
          "[{repeat: 16, counter: i, body: [{store: {access: coalesced, bytes: 16, array: a, address: 16 * "
          "(threadIdx.x + 256 * i)}, lines: 3}]}]")["l2"],
      0.5);
}

TEST(ExplainExtended, TrafficOfLinesSumsToTheCounters) {
  const KernelProgram program = program_of(
      "program:\n"
      "  - {load: {access: coalesced, bytes: 4, array: a, address: 4 * (blockIdx.x * 256 + threadIdx.x)}, "
      "lines: 3}\n"
      "  - {load: {access: coalesced, bytes: 4, array: a, address: 4 * (blockIdx.x * 256 + threadIdx.x) + "
      "64}, lines: 4}\n"
      "  - {store: {access: strided, bytes: 4, array: b, address: 8 * (blockIdx.x * 256 + threadIdx.x)}, "
      "lines: 5}\n"
      "  - {load: {access: uniform, bytes: 4, array: c, address: 0, note: atomic}, lines: 6}\n");
  for (const auto& [blocks, caches] : {std::pair(1320, CacheState::cold), std::pair(1320, CacheState::warm),
                                       std::pair(264'000, CacheState::warm)}) {
    const Plan plan = launch_of(fmt::format("[{}]", blocks), "[256]");
    PredictionOptions options = extended();
    options.model_options.caches = caches;
    const auto explanations = explain_all(plan, h100(), {}, options, loader_of(program));
    const auto rows = count_all(plan, h100(), {}, options, loader_of(program));
    ASSERT_TRUE(explanations && rows);
    LineTraffic sum;
    for (const LineShare& line : explanations->front().lines) {
      if (!line.traffic) continue;
      sum.requests += line.traffic->requests;
      sum.sectors += line.traffic->sectors;
      sum.load_sectors += line.traffic->load_sectors;
      sum.load_hits += line.traffic->load_hits;
      sum.l2_bytes += line.traffic->l2_bytes;
      sum.memory_bytes += line.traffic->memory_bytes;
    }
    const LaunchCounters& counters = rows->front().launches.front();
    const auto counted = [&](std::string_view name) {
      for (std::size_t i = 0; i < counter_metrics().size(); ++i)
        if (counter_metrics()[i].name == name) return counters.launches * counters.values[i].value_or(-1);
      return -1.0;
    };
    const auto expect_same = [](double is, double should_be) {
      EXPECT_NEAR(is, should_be, 1e-6 * should_be);
    };
    expect_same(sum.requests, 2.0 * blocks * 8 * 4);
    expect_same(sum.sectors, counted("l1tex__t_sectors.sum"));
    expect_same(sum.load_sectors, counted("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
    expect_same(sum.load_hits, counted("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"));
    expect_same(sum.l2_bytes, 32 * counted("lts__t_sectors_srcunit_tex.sum"));
    expect_same(sum.memory_bytes, counted("dram__bytes.sum"));
  }
}

// All that the threads of a row access, over the iterations, when its elements are side by side: the same
// bytes.
TEST(ProgramChanges, CoalescedAccessesAreOfTheSameBytes) {
  const KernelProgram program = program_of(
      "program: [{repeat: 10, counter: i, body: [{load: {access: strided, bytes: 4, array: a, address: 40 * "
      "threadIdx.x + 4"
      " * i + 80}, lines: 7}]}]");
  for (const std::int64_t row : {8, 16, 32}) {
    const auto changed = with_coalesced_accesses(program, "line 7", row);
    ASSERT_TRUE(changed);
    const auto address_of = [](const KernelProgram& of) {
      return *std::get<MemoryAccess>(std::get<Repeat>(of.program.front().what).body.front().what).address;
    };
    const Expression before = address_of(program), after = address_of(*changed);
    std::set<std::int64_t> all_before, all_after;
    for (std::int64_t i = 0; i < 10; ++i) {
      std::int64_t first = 0;
      for (std::int64_t thread = 0; thread < 64; ++thread) {
        const Bindings values = {{"threadIdx.x", thread}, {"laneid", thread % 32}, {"i", i}};
        all_before.insert(*evaluate_count(before, values));
        const std::int64_t at = *evaluate_count(after, values);
        all_after.insert(at);
        if (thread % row == 0) first = at;
        EXPECT_EQ(at, first + 4 * (thread % row));
      }
    }
    EXPECT_EQ(all_after, all_before);
  }
  EXPECT_FALSE(with_coalesced_accesses(program, "line 8", 32));
}

TEST(ProgramChanges, HalfTheLoadsKeepTheirNumbers) {
  const KernelProgram program = program_of(
      "program: [{load: {access: coalesced, bytes: 4}, lines: 7}, {repeat: 5, body: [{load: {access: "
      "coalesced, bytes: 4},"
      " lines: 7}, {load: {access: coalesced, bytes: 4}, lines: 8}]}, {load: {access: coalesced, bytes: 4}, "
      "lines: 7},"
      " {instructions: 1, needs: [4]}]");
  const auto half = without_every_second_load(program, "line 7");
  ASSERT_TRUE(half);
  const auto loads = [](const KernelProgram& of) {
    return WarpProgram(of).launch({}, {{1, 1, 1}, {32, 1, 1}}, {}, {})->total.loads;
  };
  EXPECT_EQ(loads(program), 12);
  EXPECT_EQ(loads(*half), 1 + 3 + 5);  // of line 7: one of two, and those of three of five iterations
  int accesses = 0;
  for_each_access(half->program, [&](const MemoryAccess&) { ++accesses; });
  EXPECT_EQ(accesses, 4);
  EXPECT_FALSE(without_every_second_load(program, "line 9"));
}

TEST(FixedBlock, IsWhatThreadsIndexSharedMemoryBy) {
  const auto why = [](const std::string& text) { return why_block_is_fixed(program_of(text)); };
  const std::string by_thread =
      "program: [{instructions: 1, on_chip: [{load: shared, bytes: 4, address: 4 * threadIdx.x}]}]";
  EXPECT_EQ(why("resources: {shared_bytes: 4096}\n" + by_thread),
            "threads index its 4096 bytes of static shared memory by threadIdx");
  EXPECT_EQ(why(by_thread), "");
  EXPECT_EQ(why("resources: {required_threads_per_block: 128}\nprogram: [calc: 1]"),
            "it is compiled for blocks of 128 threads");
  const std::string unknown = "resources: {shared_bytes: 4096}\nprogram: [calc: 1]";
  EXPECT_EQ(why(unknown), "");
  EXPECT_TRUE(may_have_fixed_block(program_of(unknown)));
  EXPECT_FALSE(may_have_fixed_block(program_of("resources: {shared_bytes: 4096}\n" + by_thread)));
}

TEST(FixedBlock, IsLeftByBestLaunch) {
  const Plan plan = plan_of("name: plan\nlaunches: [{kernel: k, grid: [32, 32], block: [32, 8]}]\n");
  const std::string items =
      "program: [{instructions: 1, on_chip: [{load: shared, bytes: 4, address: 4 * threadIdx.x}]}, {repeat: "
      "100, body: "
      "[{instructions: 4 + 64 / blockDim.x}]}]";
  PredictionOptions options = extended();
  options.best_launch = true;
  for (const bool fixed : {true, false}) {
    const KernelProgram program = program_of((fixed ? "resources: {shared_bytes: 4096}\n" : "") + items);
    PredictionRow row;
    ASSERT_TRUE(predict(plan, h100(), {}, options, loader_of(program), [&](const PredictionRow& one) {
      row = one;
      return true;
    }));
    EXPECT_EQ(row.time.total_us == *row.algorithm_3_us, fixed);
    const bool noted = std::any_of(row.notes.begin(), row.notes.end(), [](const std::string& note) {
      return note.find("--best-launch leaves its blocks as they are") != std::string::npos;
    });
    EXPECT_EQ(noted, fixed);
  }
}

TEST(SmTimeline, ShowsTheCyclesThatTheModelHas) {
  for (const Kernel& kernel : kernels()) {
    const Plan plan = launch_of(kernel.grid, kernel.block);
    const KernelProgram program = program_of(kernel.program);
    const auto all = sm_timelines(plan, h100(), {}, extended(), loader_of(program), 1'000'000);
    ASSERT_TRUE(all) << to_text(all.diagnostics());
    const SmTimeline& whole = all->front();
    ASSERT_EQ(whole.partitions.size(), 4u);
    const auto in_order = [](const std::vector<SmTimeline::Interval>& intervals, double until) {
      double before = 0;
      for (const SmTimeline::Interval& one : intervals) {
        ASSERT_GE(one.begin, before - 1e-6);
        ASSERT_GT(one.end, one.begin);
        ASSERT_LE(one.end, until + 1e-6);
        before = one.end;
      }
    };
    for (const auto& partition : whole.partitions) in_order(partition, whole.collected + 1e9);
    for (const auto& warp : whole.warps) in_order(warp.intervals, whole.collected + 1e9);
    EXPECT_LE(whole.collected, whole.sm_cycles * (1 + 1e-9));

    const auto part = sm_timelines(plan, h100(), {}, extended(), loader_of(program), 100);
    ASSERT_TRUE(part);
    EXPECT_LT(part->front().collected, whole.collected);
    EXPECT_EQ(part->front().sm_cycles, whole.sm_cycles);
    std::size_t intervals = 0;
    for (const auto& partition : part->front().partitions) intervals += partition.size();
    EXPECT_LE(intervals, 200u);
  }
}

}  // namespace
}  // namespace warptime
