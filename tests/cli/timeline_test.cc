// What the timeline views collect from the simulator's events: all that the breakdown counts, and, where
// repeats are left out, the same picture as the whole run's at the same cycles.
#include "cli/views/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "../simulator/random_program.h"

namespace warptime::cli {
namespace {

constexpr TimelineLimits whole{1e300, 0, 1, 10'000'000};

KernelProgram program_of(const std::string& items) {
  auto programs = read_kernel_programs("program: " + items, "test.yaml");
  if (!programs) ADD_FAILURE() << to_text(programs.diagnostics());
  return programs ? programs->front() : KernelProgram{};
}

Schedule schedule_of(const KernelProgram& program, const Bindings& bindings = {}) {
  auto schedule = make_schedule(program, bindings, paper_durations());
  if (!schedule) ADD_FAILURE() << to_text(schedule.diagnostics());
  return schedule ? *schedule : Schedule{};
}

Timeline timeline_of(const Schedule& schedule, std::int64_t warps, double t_m, const TimelineLimits& limits) {
  auto timeline = collect_timeline(schedule, warps, t_m, limits);
  if (!timeline) ADD_FAILURE() << to_text(timeline.diagnostics());
  return timeline ? *timeline : Timeline{};
}

// Of what is drawn and what is said to be left out.
CorePackageTime sum_of(const Timeline& timeline) {
  CorePackageTime sum;
  for (const auto& one : timeline.intervals) {
    double& part = one.activity == Activity::calculation ? sum.calculation
                   : one.activity == Activity::issue     ? sum.issue
                   : one.activity == Activity::waiting   ? sum.waiting
                                                         : sum.tail;
    part += one.end - one.begin;
  }
  for (const auto& gap : timeline.gaps) {
    sum.calculation += gap.time.calculation;
    sum.issue += gap.time.issue;
    sum.waiting += gap.time.waiting;
  }
  sum.total = sum.calculation + sum.issue + sum.waiting + sum.tail;
  return sum;
}

void expect_same(const CorePackageTime& a, const CorePackageTime& b) {
  const double tolerance = 1e-9 * b.total;
  ASSERT_NEAR(a.total, b.total, tolerance);
  ASSERT_NEAR(a.calculation, b.calculation, tolerance);
  ASSERT_NEAR(a.issue, b.issue, tolerance);
  ASSERT_NEAR(a.waiting, b.waiting, tolerance);
  ASSERT_NEAR(a.tail, b.tail, tolerance);
}

// Without gaps in between: each interval of the core package begins where the one before it ends.
void expect_no_holes(const Timeline& timeline) {
  double now = 0;
  for (const auto& one : timeline.intervals) {
    ASSERT_NEAR(one.begin, now, 1e-9 * std::max(1.0, now));
    ASSERT_GE(one.end, one.begin);
    now = one.end;
  }
  ASSERT_NEAR(now, timeline.end, 1e-9 * std::max(1.0, now));
}

// What the core package does at a true cycle, as "warp activity".
struct Doing {
  double begin, end;
  std::string what;
};

// A stretch of drawn time as true time: [begin, end) of it, shifted.
std::vector<Doing> intervals_in(const Timeline& timeline, double begin, double end, double shift) {
  std::vector<Doing> found;
  for (const auto& one : timeline.intervals) {
    const double from = std::max(one.begin, begin), to = std::min(one.end, end);
    if (to - from < 1e-6) continue;
    found.push_back(
        {from + shift, to + shift, fmt::format("{} {}", one.warp, static_cast<int>(one.activity))});
  }
  return found;
}

// When transactions of each warp are under way, those that overlap as one.
std::vector<Doing> transactions_in(const Timeline& timeline, double begin, double end, double shift) {
  std::map<int, std::vector<Doing>> of_warp;
  std::map<int, std::vector<std::pair<double, double>>> sorted;
  for (const auto& one : timeline.transactions) {
    const double from = std::max(one.begin, begin), to = std::min(one.end, end);
    if (to - from > 1e-6) sorted[one.warp].emplace_back(from + shift, to + shift);
  }
  std::vector<Doing> found;
  for (auto& [warp, spans] : sorted) {
    std::sort(spans.begin(), spans.end());
    for (const auto& [from, to] : spans) {
      const auto name = fmt::format("{}", warp);
      if (!found.empty() && found.back().what == name && from <= found.back().end + 1e-6)
        found.back().end = std::max(found.back().end, to);
      else
        found.push_back({from, to, name});
    }
  }
  return found;
}

void expect_same(const std::vector<Doing>& a, const std::vector<Doing>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].what, b[i].what);
    ASSERT_NEAR(a[i].begin, b[i].begin, tolerance);
    ASSERT_NEAR(a[i].end, b[i].end, tolerance);
  }
}

// Between gaps, a timeline is the whole run's.
void expect_same_picture(const Timeline& cut, const Timeline& all) {
  const double tolerance = 1e-7 * std::max(1.0, all.end);
  double begin = 0, shift = 0;
  for (std::size_t i = 0; i <= cut.gaps.size(); ++i) {
    const double end = i < cut.gaps.size() ? cut.gaps[i].at : cut.end;
    expect_same(intervals_in(cut, begin, end, shift), intervals_in(all, begin + shift, end + shift, 0),
                tolerance);
    expect_same(transactions_in(cut, begin, end, shift), transactions_in(all, begin + shift, end + shift, 0),
                tolerance);
    if (testing::Test::HasFatalFailure()) return;
    if (i == cut.gaps.size()) break;
    begin = end;
    shift += cut.gaps[i].time.total;
  }
}

TEST(Timeline, DrawsEveryCycleOfTheBreakdown) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 2 == 0;
    const KernelProgram program = test::random_program(random, options);
    const auto schedule = schedule_of(program, {{"K", static_cast<std::int64_t>(random() % 5)}, {"N", 2}});
    const auto warps = static_cast<std::int64_t>(i % 10 == 0 ? 1 + random() % 64 : 1 + random() % 8);
    const double t_m = static_cast<double>(random() % 50) / 7;
    const auto timeline = timeline_of(schedule, warps, t_m, whole);
    EXPECT_TRUE(timeline.gaps.empty() && !timeline.ended_early);
    expect_same(sum_of(timeline), *simulate_plain(schedule, warps, t_m));
    expect_no_holes(timeline);
    if (HasFatalFailure()) FAIL() << to_yaml(program) << warps << " warps, t_m " << t_m;
  }
}

// The whole run, and the same one with whatever repeats left out wherever it can be.
TEST(Timeline, IsTheSamePictureWhereRepeatsAreLeftOut) {
  std::mt19937 random(2);
  std::size_t gaps = 0, with_gaps = 0;
  for (int i = 0; i < 3000; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 2 == 0;
    options.most_iterations = 30;
    options.deepest = 1 + i % 3;
    options.counters = i % 5 == 0;
    const KernelProgram program = test::random_program(random, options);
    const auto schedule = schedule_of(program, {{"K", static_cast<std::int64_t>(random() % 40)}, {"N", 2}});
    const auto warps = static_cast<std::int64_t>(1 + random() % 6);
    const double t_m = static_cast<double>(random() % 50) / 7;
    if (schedule.period_count() > 3000) continue;
    const auto all = timeline_of(schedule, warps, t_m, whole);
    const auto cut = timeline_of(schedule, warps, t_m, {0, 0, 1e-3, 10'000'000});
    EXPECT_FALSE(cut.ended_early);
    expect_same(sum_of(cut), *simulate_plain(schedule, warps, t_m));
    if (!HasFatalFailure()) expect_no_holes(cut);
    if (!HasFatalFailure()) expect_same_picture(cut, all);
    if (HasFatalFailure())
      FAIL() << i << "\n"
             << to_yaml(program) << warps << " warps, t_m " << t_m << "\n"
             << timeline_text(cut, 200);
    gaps += cut.gaps.size();
    with_gaps += cut.gaps.empty() ? 0 : 1;
  }
  EXPECT_GT(with_gaps, 500u);
  EXPECT_GT(gaps, 1000u);
}

// Into a repeat whose latency is nearly hidden, or just not.
TEST(Timeline, IsTheSamePictureWhereWarpsComeFarApart) {
  std::size_t gaps = 0;
  for (const int warps : {2, 5, 9, 16}) {
    for (const double difference : {0.0, 0.125, 0.5, -0.5, 2.0, 3.0}) {
      const KernelProgram program = program_of(fmt::format(
          "[{{repeat: 5, body: [load: {}, calc: 23]}}, {{repeat: 60, body: [load: {}, calc: 11]}}]",
          40 * warps, 13 * warps + difference));
      const auto schedule = schedule_of(program);
      const auto all = timeline_of(schedule, warps, 2, whole);
      const auto cut = timeline_of(schedule, warps, 2, {0, 0, 1e-3, 10'000'000});
      expect_same(sum_of(cut), *simulate_plain(schedule, warps, 2));
      if (!HasFatalFailure()) expect_same_picture(cut, all);
      if (HasFatalFailure()) FAIL() << warps << " warps, difference " << difference;
      gaps += cut.gaps.size();
    }
  }
  EXPECT_GT(gaps, 20u);
}

struct EndlessCase {
  const char* items;
  std::int64_t warps;
  double t_m;
};

TEST(Timeline, AnyNumberOfTurnsIsDrawnAtOnce) {
  for (const auto& test : std::vector<EndlessCase>{
           {"[{repeat: 10 ^ 18, body: [load: 120, calc: 17]}, store: 100]", 3, 2},
           {"[{repeat: 10 ^ 18, body: [load: 120, calc: 17]}, store: 100]", 64, 2.5},
           {"[{repeat: 10 ^ 18, body: [calc: 5]}]", 3, 2},
           {"[{repeat: 10 ^ 18, body: [store: 5000, calc: 5]}]", 3, 2},
           {"[{repeat: 10 ^ 18, body: [load: 5]}, calc: 1]", 3, 2},
           {"[{repeat: 10 ^ 6, body: [{repeat: 10 ^ 6, body: [load: 3, calc: 1]}, calc: 7, store: 9]}]", 4,
            1},
           {"[{repeat: 10 ^ 6, body: [{repeat: 10 ^ 6, body: [store: 3, calc: 1]}, calc: 7, load: 9]}, calc: "
            "1]",
            4, 1},
       }) {
    const KernelProgram program = program_of(test.items);
    const auto schedule = schedule_of(program);
    const auto timeline = timeline_of(schedule, test.warps, test.t_m, text_limits(120));
    EXPECT_FALSE(timeline.ended_early) << test.items;
    EXPECT_FALSE(timeline.gaps.empty()) << test.items;
    EXPECT_LT(timeline.intervals.size(), 20'000u) << test.items;
    expect_same(sum_of(timeline), *simulate_core_package(schedule, test.warps, test.t_m));
    if (HasFatalFailure()) FAIL() << test.items;
  }
}

TEST(Timeline, EndsEarlyWhereNothingRepeatsAndThereIsTooMuch) {
  const KernelProgram program =
      program_of("[{repeat: 2 ^ 16, counter: i, body: [load: i * i % 1013, calc: i]}]");
  const auto timeline = timeline_of(schedule_of(program), 8, 2, {0, 0, 1, 1000});
  EXPECT_TRUE(timeline.ended_early);
  EXPECT_LE(timeline.intervals.size(), 1010u);
  EXPECT_NE(timeline_text(timeline, 100).find(": the rest, "), std::string::npos);
  // Steps without duration are steps, too.
  const KernelProgram nothing = program_of("[{repeat: 10 ^ 18, body: [calc: 0, load: 0]}]");
  EXPECT_TRUE(timeline_of(schedule_of(nothing), 2, 0, text_limits(120)).ended_early);
}

TEST(Timeline, NumbersOutOfRangeAreErrors) {
  const KernelProgram program = program_of("[calc: 1.5e308, calc: 1.5e308]");
  EXPECT_FALSE(collect_timeline(schedule_of(program), 1, 2, text_limits(120)));
  EXPECT_FALSE(collect_timeline(schedule_of(program_of("[calc: 1]")), 100'000'000, 2, text_limits(120)));
}

std::size_t characters(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

// The rows of the picture: everything between the title and the legend.
std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> rows;
  const auto begin = text.find("\n\n") + 2, end = text.find("\n\n  # issue", begin);
  for (std::size_t at = begin; at <= end;) {
    const auto next = text.find('\n', at);
    rows.push_back(text.substr(at, next - at));
    at = next + 1;
  }
  return rows;
}

TEST(TimelineText, IsNoWiderThanItMayBeAndShowsSomethingInEachColumn) {
  std::mt19937 random(3);
  for (int i = 0; i < 1500; ++i) {
    test::RandomProgramOptions options;
    options.whole_cycles = i % 2 == 0;
    options.most_iterations = i % 3 == 0 ? 200 : 5;
    const KernelProgram program = test::random_program(random, options);
    const auto schedule = schedule_of(program, {{"K", 3}, {"N", 2}});
    const std::size_t columns = 40 + random() % 160;
    const auto warps = static_cast<std::int64_t>(1 + random() % 64);
    const auto timeline =
        timeline_of(schedule, warps, static_cast<double>(random() % 50) / 7, text_limits(columns));
    const auto text = timeline_text(timeline, columns);
    const auto rows = rows_of(text);
    for (const auto& row : rows) ASSERT_LE(characters(row), columns) << to_yaml(program) << text;
    // The core package always does something, or is idle.
    const std::string& all = rows.back();
    ASSERT_EQ(all.substr(0, 3), "all");
    const std::size_t label = warps < 10 ? 7 : 8;
    if (timeline.time.total > 0 && timeline.gaps.empty() && !timeline.ended_early) {
      ASSERT_EQ(all.find(' ', label), std::string::npos) << text;
    }
  }
}

TEST(TimelineText, EmptyProgramsAndDurationsOfNothingAreDrawn) {
  for (const char* items : {"[]", "[calc: 0]", "[load: 0, store: 0]", "[{repeat: 0, body: [calc: 1]}]"}) {
    const KernelProgram program = program_of(items);
    const auto timeline = timeline_of(schedule_of(program), 2, 0, text_limits(80));
    EXPECT_EQ(rows_of(timeline_text(timeline, 80)),
              (std::vector<std::string>{"cycle", "", "warp 1", "warp 2", "all"}))
        << items;
  }
}

TEST(Timeline, RoundStepsAreEasyToReckonWith) {
  EXPECT_EQ(round_step(0), 1);
  EXPECT_EQ(round_step(1), 1);
  EXPECT_EQ(round_step(1.2), 2);
  EXPECT_EQ(round_step(7), 8);
  EXPECT_EQ(round_step(9), 10);
  EXPECT_EQ(round_step(1000), 1000);
  EXPECT_DOUBLE_EQ(round_step(0.25), 0.3);
}

}  // namespace
}  // namespace warptime::cli
