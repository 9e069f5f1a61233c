// Sweeps on all cores: the same rows in the same order as one thread gives them, whatever happens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>

#include "random_program.h"
#include "simulator/predict/prediction.h"
#include "simulator/program/expression/compiled_expression.h"
#include "test_files.h"
#include "test_plan.h"

namespace warptime {
namespace {

using test::loader_of;
using test::plan_of;

std::string text_of(const PredictionRow& row) {
  std::string text = row.gpu;
  for (const auto& [name, value] : row.parameters) text += fmt::format(" {}={}", name, value);
  return fmt::format("{} {}x{} {} {} {}\n", text, row.first_launch.blocks, row.first_launch.threads_per_block,
                     row.launches, row.time.total_us, test::part(row, "waiting_us"));
}

class Lines : public RowBatch {
 public:
  void add(const PredictionRow& row) override { text += text_of(row); }
  std::string text;
};

struct Outcome {
  std::string text, errors;
  std::uint64_t rows = 0;
};

std::vector<const Gpu*> some_gpus() {
  return {*GpuCatalogue::bundled().find("rtx-2080"), *GpuCatalogue::bundled().find("gt-720m"),
          *GpuCatalogue::bundled().find("h200")};
}

Outcome swept(const Plan& plan, const std::string& parameters, const KernelProgram& program,
              const SweepOptions& how, const std::function<bool(std::uint64_t)>& go_on = {}) {
  Outcome outcome;
  const auto rows = sweep(
      plan, some_gpus(), *parse_parameters(parameters), {}, loader_of(program), how,
      [] { return std::make_unique<Lines>(); },
      [&](RowBatch& batch, std::uint64_t count) {
        outcome.text += static_cast<Lines&>(batch).text;
        outcome.rows += count;
        return !go_on || go_on(outcome.rows);
      });
  if (rows) {
    EXPECT_EQ(*rows, outcome.rows);
  } else {
    outcome.errors = to_text(rows.diagnostics());
  }
  return outcome;
}

Outcome one_by_one(const Plan& plan, const std::string& parameters, const KernelProgram& program) {
  Outcome outcome;
  const auto rows = predict(plan, some_gpus(), *parse_parameters(parameters), {}, loader_of(program),
                            [&](const PredictionRow& row) {
                              outcome.text += text_of(row);
                              ++outcome.rows;
                              return true;
                            });
  if (!rows) outcome.errors = to_text(rows.diagnostics());
  return outcome;
}

constexpr char plan_text[] =
    "name: plan\nparameters: [K, N]\nlaunches: [{kernel: k, threads: N, repeat: K, counter: j}]\n";
constexpr char program_text[] = "program: [calc: 7 + K, {repeat: K, body: [load: 120, calc: 9]}, store: 100]";

TEST(Sweep, GivesTheRowsOfOneThreadInTheirOrder) {
  const Plan plan = plan_of(plan_text);
  const KernelProgram program = test::program_of(program_text);
  const std::string parameters = "K=1,5,3,N=32..90000:17";
  const auto expected = one_by_one(plan, parameters, program);
  EXPECT_EQ(expected.rows, 3u * 3 * 5293);
  for (const unsigned threads : {1u, 2u, 7u}) {
    SweepOptions how;
    how.threads = threads;
    const auto outcome = swept(plan, parameters, program, how);
    EXPECT_EQ(outcome.rows, expected.rows);
    EXPECT_TRUE(outcome.text == expected.text) << threads;
  }
}

TEST(Sweep, HasOnlyTheRowsThatItIsAskedFor) {
  const Plan plan = plan_of(plan_text);
  const KernelProgram program = test::program_of(program_text);
  const std::string parameters = "K=1,5,3,N=32..9000:17";
  const auto expected = one_by_one(plan, parameters, program);
  for (const unsigned threads : {1u, 3u}) {
    std::string text;
    for (std::uint64_t first = 0; first < expected.rows + 2000; first += 1000) {
      SweepOptions how;
      how.threads = threads;
      how.first = first;
      how.rows = 1000;
      const auto outcome = swept(plan, parameters, program, how);
      EXPECT_EQ(outcome.rows, std::min<std::uint64_t>(1000, expected.rows - std::min(first, expected.rows)));
      text += outcome.text;
    }
    EXPECT_TRUE(text == expected.text) << threads;
  }
  SweepOptions rest;
  rest.first = expected.rows - 7;
  EXPECT_EQ(swept(plan, parameters, program, rest).rows, 7u);
}

TEST(Sweep, WithTheGpusInnermostHasRowsOfEqualParametersTogether) {
  SweepOptions how;
  how.gpus_innermost = true;
  const auto outcome = swept(plan_of(plan_text), "K=1,N=32,64", test::program_of(program_text), how);
  std::vector<std::string> begins;
  std::istringstream lines(outcome.text);
  for (std::string line; std::getline(lines, line);)
    begins.push_back(line.substr(0, line.find(" ", line.find("N="))));
  EXPECT_EQ(begins, (std::vector<std::string>{"rtx-2080 K=1 N=32", "gt-720m K=1 N=32", "h200 K=1 N=32",
                                              "rtx-2080 K=1 N=64", "gt-720m K=1 N=64", "h200 K=1 N=64"}));
}

TEST(Sweep, AnErrorComesAfterTheRowsBeforeIt) {
  const Plan plan = plan_of(plan_text);
  const KernelProgram program =
      test::program_of("program: [{repeat: 60000 - N, body: [load: 120, calc: 9]}, store: 100]");
  const std::string parameters = "K=1,N=32..90000:17";
  const auto expected = one_by_one(plan, parameters, program);
  EXPECT_NE(expected.errors.find("is negative: -8"), std::string::npos) << expected.errors;
  for (const unsigned threads : {1u, 3u}) {
    SweepOptions how;
    how.threads = threads;
    const auto outcome = swept(plan, parameters, program, how);
    EXPECT_EQ(outcome.errors, expected.errors);
    EXPECT_TRUE(outcome.text == expected.text);
  }
}

TEST(Sweep, EndsWhereItIsToldTo) {
  const Plan plan = plan_of(plan_text);
  const KernelProgram program = test::program_of(program_text);
  std::atomic<bool> stop = false;
  SweepOptions how;
  how.threads = 3;
  how.stop = &stop;
  const auto stopped = swept(plan, "K=1,N=1..1000000000000", program, how, [&](std::uint64_t rows) {
    if (rows > 50'000) stop = true;
    return true;
  });
  EXPECT_GT(stopped.rows, 50'000u);
  EXPECT_LT(stopped.rows, 5'000'000u);
  // What it has is whole: nothing is missing before its end.
  const auto expected = one_by_one(plan, fmt::format("K=1,N=1..{}", stopped.rows), program);
  EXPECT_EQ(expected.text.compare(0, stopped.text.size(), stopped.text), 0);

  stop = false;
  const auto refused =
      swept(plan, "K=1,N=1..1000000000000", program, how, [&](std::uint64_t rows) { return rows < 20'000; });
  EXPECT_LT(refused.rows, 5'000'000u);
  EXPECT_EQ(refused.errors, "");
}

TEST(CompiledExpression, GivesWhatTheTreeGives) {
  std::mt19937 random(31);
  const std::vector<std::string> names = {"K", "N", "i", "blockDim.x"};
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Expression expression = test::random_expression(random, 6);
    std::vector<std::int64_t> slots;
    Bindings bindings;
    for (const std::string& name : names) {
      slots.push_back(static_cast<std::int64_t>(random() % 40) - 9);
      bindings[name] = slots.back();
    }
    const CompiledExpression compiled(expression, [&](const std::string& name) {
      const auto found = std::find(names.begin(), names.end(), name);
      return found == names.end() ? -1 : static_cast<int>(found - names.begin());
    });
    std::int64_t value = 0;
    const auto expected = evaluate_count(expression, bindings);
    ASSERT_EQ(compiled.evaluate(slots.data(), value), static_cast<bool>(expected)) << to_string(expression);
    if (!expected) continue;
    ASSERT_EQ(value, *expected) << to_string(expression);
    ++good;
  }
  EXPECT_GT(good, 1000);
}

// Those that are computed without their tree: a name, divided by a power of two, with something added.
TEST(CompiledExpression, GivesWhatTheTreeGivesForEveryNumber) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> numbers = {
      0,  1,    2,    3,     7,     8,    -1,    -2,       -3,        -7,       -8,
      -9, 1023, 1024, -1024, -1025, most, least, most - 1, least + 1, most / 2, least / 2};
  for (const char* text : {"N",
                           "N + 1",
                           "N - 1",
                           "N / 2",
                           "N / 1",
                           "N / 4 + 1",
                           "N / 1024 - 3",
                           "N / 3",
                           "N / 3 + 1",
                           "N / -2",
                           "N / 0",
                           "N / 4611686018427387904",
                           "N + 9223372036854775807",
                           "N - 9223372036854775807",
                           "N / 2 - 9223372036854775807",
                           "N - (0 - 9223372036854775807 - 1)",
                           "1 + N",
                           "(N + 1) / 2",
                           "M / 2",
                           "N / 2.0 + 1",
                           "N / 2 + 0.5",
                           "N % 4 + 1",
                           "first(i, i * i >= N) + 1",
                           "first(N, N > 3) + N",
                           "first(i, i * M > N)",
                           "first(i, 8 / (i - 2) > N)",
                           "ceil_div(N, 4) + 1"}) {
    const auto expression = Expression::parse(text);
    ASSERT_TRUE(expression) << text;
    const CompiledExpression compiled(*expression,
                                      [](const std::string& name) { return name == "N" ? 0 : -1; });
    for (const std::int64_t number : numbers) {
      SCOPED_TRACE(fmt::format("{}, N = {}", text, number));
      std::int64_t value = 0;
      const auto expected = evaluate_count(*expression, {{"N", number}});
      ASSERT_EQ(compiled.evaluate(&number, value), static_cast<bool>(expected));
      if (expected) {
        EXPECT_EQ(value, *expected);
      }
    }
  }
}

}  // namespace
}  // namespace warptime
