#include "simulator/model/puchala/core_package.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "random_program.h"
#include "test_files.h"

namespace warptime {
namespace {

Schedule schedule_of(const KernelProgram& program, const Bindings& bindings = {}) {
  const auto schedule = make_schedule(program, bindings, paper_durations());
  if (!schedule) ADD_FAILURE() << to_text(schedule.diagnostics());
  return schedule ? *schedule : Schedule{};
}

void expect_parts_sum_up(const CorePackageTime& time) {
  EXPECT_NEAR(time.total, time.calculation + time.issue + time.waiting + time.tail, 1e-9 * time.total);
}

TEST(CorePackage, Listing1Takes112And111Cycles) {
  const KernelProgram load = test::sample("listing_1_load.yaml"),
                      store = test::sample("listing_1_store.yaml");
  EXPECT_EQ(simulate_core_package(schedule_of(load), 3, 2)->total, 112);
  EXPECT_EQ(simulate_core_package(schedule_of(store), 3, 2)->total, 111);
}

struct TimeCase {
  const char* program;
  std::int64_t warps;
  double t_m;
  CorePackageTime time;  // total, calculation, issue, waiting, tail
};
void PrintTo(const TimeCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.program)) << ", " << one.warps
       << " warps, t_m = " << one.t_m;
}
class Time : public testing::TestWithParam<TimeCase> {};

TEST_P(Time, IsThatOfAlgorithm2) {
  const TimeCase& test = GetParam();
  const KernelProgram program = test::program_of(fmt::format("program: {}", test.program));
  const auto time = simulate_core_package(schedule_of(program), test.warps, test.t_m);
  ASSERT_TRUE(time) << to_text(time.diagnostics());
  EXPECT_EQ(time->total, test.time.total);
  EXPECT_EQ(time->calculation, test.time.calculation);
  EXPECT_EQ(time->issue, test.time.issue);
  EXPECT_EQ(time->waiting, test.time.waiting);
  EXPECT_EQ(time->tail, test.time.tail);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Time,
    testing::Values(TimeCase{"[]", 5, 2, {0, 0, 0, 0, 0}}, TimeCase{"[calc: 7]", 0, 2, {0, 0, 0, 0, 0}},
                    TimeCase{"[calc: 7]", 3, 2, {21, 21, 0, 0, 0}},
                    // the last transactions are waited for at the end
                    TimeCase{"[store: 10]", 3, 2, {14, 0, 6, 0, 8}},
                    TimeCase{"[load: 10]", 1, 2, {10, 0, 2, 8, 0}},
                    // one warp waits for its load before it calculates, another one hides the waiting
                    TimeCase{"[load: 10, calc: 5]", 1, 2, {15, 5, 2, 8, 0}},
                    TimeCase{"[load: 10, calc: 5]", 2, 2, {20, 10, 4, 6, 0}},
                    TimeCase{"[load: 10, calc: 5]", 5, 2, {35, 25, 10, 0, 0}},
                    // loads in a row are issued together, stores are not waited for
                    TimeCase{"[load: 10, load: 10, calc: 5]", 1, 2, {17, 5, 4, 8, 0}},
                    TimeCase{"[store: 10, calc: 5]", 1, 2, {10, 5, 2, 0, 3}},
                    // an access that takes less than t_m
                    TimeCase{"[load: 1, calc: 5]", 1, 2, {7, 5, 2, 0, 0}},
                    TimeCase{"[load: 0, calc: 0]", 1, 0, {0, 0, 0, 0, 0}}));

TEST(CorePackage, TheBreakdownSumsToTheTotal) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 2 == 0;
    const KernelProgram program = test::random_program(random, options);
    const auto time = simulate_core_package(schedule_of(program, {{"K", 3}, {"N", 2}}),
                                            static_cast<std::int64_t>(random() % 20), i % 7);
    ASSERT_TRUE(time);
    expect_parts_sum_up(*time);
  }
}

// A second reading of Algorithm 2, over periods written out, as close to the paper's text as it goes.
double by_the_book(const std::vector<Period>& program, int warps, double t_m) {
  std::vector<std::size_t> counter(static_cast<std::size_t>(warps), 0);
  std::vector<double> loads_done(static_cast<std::size_t>(warps), 0);
  double now = 0, last_done = 0;
  bool completed = false;
  while (!completed) {
    completed = true;
    for (std::size_t warp = 0; warp < counter.size(); ++warp) {
      now = std::max(now, loads_done[warp]);
      while (counter[warp] < program.size()) {
        completed = false;
        const Period& period = program[counter[warp]++];
        if (period.kind == PeriodKind::calculation) {
          now += period.cycles;
          continue;
        }
        last_done = std::max(last_done, now + period.cycles);
        if (period.kind == PeriodKind::load)
          loads_done[warp] = std::max(loads_done[warp], now + period.cycles);
        now += t_m;
        if (period.kind != PeriodKind::load || counter[warp] == program.size()) continue;
        if (program[counter[warp]].kind != PeriodKind::load) break;
      }
    }
  }
  return std::max(now, last_done);
}

TEST(CorePackage, EqualsTheAlgorithmOverWrittenOutPrograms) {
  std::mt19937 random(8);
  for (int i = 0; i < 5000; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 2 == 0;
    const Schedule schedule = [&] {
      static KernelProgram program;  // the schedule points into it
      program = test::random_program(random, options);
      return schedule_of(program, {{"K", static_cast<std::int64_t>(random() % 5)}, {"N", 2}});
    }();
    const auto periods = written_out(schedule, 10'000'000);
    const int warps = static_cast<int>(random() % 12);
    const double t_m = static_cast<double>(random() % 40) / 3;
    const double expected = by_the_book(*periods, warps, t_m);
    ASSERT_EQ(simulate_plain(schedule, warps, t_m)->total, expected);
    ASSERT_NEAR(simulate_core_package(schedule, warps, t_m)->total, expected, 1e-9 * expected);
  }
}

// Writes down what it is told.
class Recorder : public CorePackageListener {
 public:
  void calculation(int warp, const Period&, double begin, double end) override {
    text += fmt::format("w{} calc {}-{}\n", warp, begin, end);
  }
  void memory_access(int warp, const Period& period, double begin, double issued, double complete) override {
    text += fmt::format("w{} {} {}-{}-{}\n", warp, period.kind == PeriodKind::load ? "load" : "store", begin,
                        issued, complete);
  }
  void idle(int warp, double begin, double end) override {
    text += fmt::format("w{} idle {}-{}\n", warp, begin, end);
  }
  std::string text;
};

TEST(CorePackage, AListenerHearsEverythingInOrder) {
  const KernelProgram program = test::program_of("program: [load: 10, calc: 5, store: 20]");
  Recorder recorder;
  CorePackageOptions options;
  options.listener = &recorder;
  const auto time = simulate_core_package(schedule_of(program), 2, 2, options);
  ASSERT_TRUE(time);
  EXPECT_EQ(recorder.text,
            "w0 load 0-2-10\n"
            "w1 load 2-4-12\n"
            "w0 idle 4-10\n"
            "w0 calc 10-15\n"
            "w0 store 15-17-35\n"
            "w1 calc 17-22\n"
            "w1 store 22-24-42\n"
            "w-1 idle 24-42\n");
  EXPECT_EQ(time->total, 42);
}

TEST(CorePackage, InputsOutOfRangeAreRefused) {
  const KernelProgram program = test::program_of("program: [calc: 1]");
  const Schedule schedule = schedule_of(program);
  EXPECT_FALSE(simulate_core_package(schedule, -1, 2));
  EXPECT_FALSE(simulate_core_package(schedule, 1'000'000'000'000, 2));
  EXPECT_FALSE(simulate_core_package(schedule, 1, -2));
  EXPECT_FALSE(simulate_core_package(schedule, 1, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(simulate_core_package(schedule, 1, std::numeric_limits<double>::infinity()));
}

TEST(CorePackage, MoreStepsThanTheLimitAreRefused) {
  const KernelProgram program = test::program_of("program: [{repeat: 10 ^ 18, body: [load: 10, calc: 5]}]");
  EXPECT_EQ(to_text(simulate_plain(schedule_of(program), 3, 2).diagnostics()),
            "error: too long to simulate: 2000000000000000000 periods for each of 3 warps take more than "
            "1000000000 steps\n");
  // Nothing in it repeats.
  const KernelProgram varied =
      test::program_of("program: [{repeat: 2 ^ 17, counter: i, body: [load: i * i % 1013, calc: i]}]");
  CorePackageOptions options;
  options.step_limit = 100'000;
  EXPECT_FALSE(simulate_core_package(schedule_of(varied), 3, 2, options));
  EXPECT_TRUE(simulate_core_package(schedule_of(varied), 3, 2));
}

TEST(CorePackage, ATimeBeyondTheRangeOfNumbersIsRefused) {
  const KernelProgram program = test::program_of("program: [calc: 1.5e308, calc: 1.5e308]");
  const Schedule schedule = schedule_of(program);
  EXPECT_EQ(to_text(simulate_plain(schedule, 1, 2).diagnostics()),
            "error: the time is too large for a number\n");
  EXPECT_EQ(to_text(simulate_in_rounds(schedule, 1, 2).diagnostics()),
            "error: the time is too large for a number\n");
}

void expect_same(const CorePackageTime& a, const CorePackageTime& b) {
  const double tolerance = 1e-9 * b.total;
  ASSERT_NEAR(a.total, b.total, tolerance);
  ASSERT_NEAR(a.calculation, b.calculation, tolerance);
  ASSERT_NEAR(a.issue, b.issue, tolerance);
  ASSERT_NEAR(a.waiting, b.waiting, tolerance);
  ASSERT_NEAR(a.tail, b.tail, tolerance);
}

TEST(Rounds, EqualThePlainWalkOnRandomPrograms) {
  std::mt19937 random(9);
  std::uint64_t longest = 0;
  for (int i = 0; i < 30'000; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 3 == 0;
    options.deepest = 1 + i % 4;
    options.most_iterations = i % 5 == 0 ? 40 : 7;
    options.counters = i % 7 == 0;
    const KernelProgram program = test::random_program(random, options);
    const auto schedule =
        make_schedule(program, {{"K", static_cast<std::int64_t>(random() % 9)}, {"N", 2}}, paper_durations());
    ASSERT_TRUE(schedule);
    const auto warps = static_cast<std::int64_t>(i % 10 == 0 ? random() % 65 : random() % 9);
    const double t_m = static_cast<double>(random() % 100) / 7;
    if (schedule->period_count() * static_cast<std::uint64_t>(warps) > 200'000) continue;
    longest = std::max(longest, schedule->period_count());
    const auto rounds = simulate_in_rounds(*schedule, warps, t_m);
    const auto plain = simulate_plain(*schedule, warps, t_m);
    ASSERT_TRUE(rounds && plain);
    expect_same(*rounds, *plain);
    if (HasFatalFailure()) FAIL() << to_yaml(program) << warps << " warps, t_m " << t_m;
  }
  EXPECT_GT(longest, 10'000u);
}

TEST(Rounds, EqualThePlainWalkOnLongRepeats) {
  std::mt19937 random(10);
  for (int i = 0; i < 150; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 3 == 0;
    options.counters = false;
    options.deepest = 1;
    KernelProgram program = test::random_program(random, options);
    Repeat repeat;
    repeat.count = static_cast<std::int64_t>(1000 + random() % 30'000);
    repeat.body = program.program;
    program.program = {Item{repeat}, Item{Instructions{3}}};
    const Schedule schedule = schedule_of(program, {{"K", 3}, {"N", 2}});
    const auto warps = static_cast<std::int64_t>(1 + random() % 12);
    const double t_m = static_cast<double>(random() % 100) / 7;
    if (schedule.period_count() * static_cast<std::uint64_t>(warps) > 1'000'000) continue;
    expect_same(*simulate_in_rounds(schedule, warps, t_m), *simulate_plain(schedule, warps, t_m));
    if (HasFatalFailure()) FAIL() << to_yaml(program) << warps << " warps, t_m " << t_m;
  }
}

// Two loads whose waiting alternates with the others' work: nearly as long as each other, so that the
// pattern settles late.
TEST(Rounds, EqualThePlainWalkWherePatternsSettleLate) {
  for (const double difference : {0.0, 1e-3, 1e-6, -1e-6, 1e-9, 0.5}) {
    for (const int warps : {2, 5, 16, 64}) {
      const double latency = 15.0 * warps + difference;
      const KernelProgram program =
          test::program_of(fmt::format("program: [{{repeat: 2000, body: [load: {:.12f}, calc: 13, load: "
                                       "{:.12f}, calc: 10, store: 7, load: {:.12f}, calc: 17]}}]",
                                       latency, latency - 3 * difference, latency * 0.4));
      const Schedule schedule = schedule_of(program);
      expect_same(*simulate_in_rounds(schedule, warps, 2), *simulate_plain(schedule, warps, 2));
      if (HasFatalFailure()) FAIL() << difference << " " << warps;
    }
  }
}

TEST(Rounds, ARepeatOfAQuintillionTurnsIsQuick) {
  for (const int warps : {1, 3, 32, 64}) {
    const auto time = [&](const std::string& count) {
      const KernelProgram program =
          test::program_of("program: [calc: 33, {repeat: " + count +
                           ", body: [load: 120.7, load: 160.1, calc: 17.3, store: 3]}, store: 100]");
      CorePackageOptions options;
      options.step_limit = 1'000'000;
      const auto result = simulate_in_rounds(schedule_of(program), warps, 1.1, options);
      if (!result) ADD_FAILURE() << to_text(result.diagnostics());
      return result ? result->total : 0;
    };
    const double per_iteration = (time("2000") - time("1000")) / 1000;
    EXPECT_NEAR(time("10 ^ 18"), per_iteration * 1e18, 1e-9 * per_iteration * 1e18) << warps;
    EXPECT_NEAR(time("10 ^ 12"), per_iteration * 1e12, 1e-9 * per_iteration * 1e12) << warps;
  }
}

TEST(Rounds, NestsOfLongRepeatsAreQuick) {
  std::string nest = "[load: 100, calc: 7]";
  for (int i = 0; i < 100; ++i) {
    nest = "[instructions: 2, {repeat: 1000, body: " + nest + "}, load: 40, store: 20, instructions: 1]";
    const KernelProgram program = test::program_of("program: " + nest);
    const auto time = simulate_core_package(schedule_of(program), 8, 2);
    ASSERT_TRUE(time) << i << " " << to_text(time.diagnostics());
    expect_parts_sum_up(*time);
  }
}

TEST(Rounds, ManyWarpsAreNoMatrix) {
  const KernelProgram program = test::program_of("program: [{repeat: 10 ^ 6, body: [load: 120, calc: 17]}]");
  EXPECT_TRUE(simulate_core_package(schedule_of(program), 65'536, 2));
}

}  // namespace
}  // namespace warptime
