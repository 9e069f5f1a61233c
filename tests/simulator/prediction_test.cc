#include "simulator/predict/prediction.h"

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <sstream>

#include "test_files.h"
#include "test_plan.h"

namespace warptime {
namespace {

std::vector<NamedValues> parameters(const std::string& text) {
  auto named = parse_parameters(text);
  if (!named) ADD_FAILURE() << to_text(named.diagnostics());
  return named ? *named : std::vector<NamedValues>{};
}

// Kernel programs by file name, and how often they were asked for.
class Programs {
 public:
  using Texts = std::map<std::string, std::string>;
  explicit Programs(Texts texts) : texts_(std::move(texts)) {}
  ProgramLoader loader() {
    return [this](const Plan&, const PlanLaunch& launch, const Gpu&) -> Result<LoadedProgram> {
      ++loaded;
      const auto text = texts_.find(launch.kernel);
      if (text == texts_.end()) return error("no such file: " + launch.kernel);
      auto programs = read_kernel_programs(text->second, launch.kernel);
      if (!programs) return programs.diagnostics();
      return LoadedProgram{programs->front(), {"note of " + launch.kernel}};
    };
  }
  int loaded = 0;

 private:
  Texts texts_;
};

ProgramLoader sample_loader() {
  return [](const Plan&, const PlanLaunch& launch, const Gpu&) -> Result<LoadedProgram> {
    return LoadedProgram{test::sample(launch.kernel), {}};
  };
}

Plan plan_of(const std::string& text) {
  const auto plan = read_plan(text, "inline.plan.yaml");
  if (!plan) ADD_FAILURE() << to_text(plan.diagnostics());
  return plan ? *plan : Plan{};
}

struct Outcome {
  std::vector<PredictionRow> rows;
  std::string errors;
};

Outcome run(const Plan& plan, const std::vector<std::string>& gpu_names,
            const std::vector<NamedValues>& values, const ProgramLoader& loader,
            const PredictionOptions& options = {}) {
  std::vector<const Gpu*> gpus;
  for (const std::string& name : gpu_names) gpus.push_back(*GpuCatalogue::bundled().find(name));
  Outcome outcome;
  const auto count = predict(plan, gpus, values, options, loader, [&](const PredictionRow& row) {
    outcome.rows.push_back(row);
    return true;
  });
  if (count) {
    EXPECT_EQ(*count, outcome.rows.size());
  } else {
    outcome.errors = to_text(count.diagnostics());
  }
  return outcome;
}

const std::vector<std::string> kTable3 = {"gt-720m",  "k1000m",   "gtx-860m",
                                          "gtx-1070", "rtx-2060", "rtx-2080"};

TEST(PaperGrid, All720RowsAgree) {
  std::map<std::string, double> expected;  // by gpu,method,K,N
  std::istringstream grid(test::read_file("tests/data/paper_grid.csv"));
  std::string line;
  std::getline(grid, line);
  ASSERT_EQ(line, "gpu,method,K,N,time_us");
  while (std::getline(grid, line)) {
    const auto comma = line.rfind(',');
    expected[line.substr(0, comma)] = std::stod(line.substr(comma + 1));
  }
  ASSERT_EQ(expected.size(), 720u);
  std::size_t compared = 0;
  for (const std::string name : {"matrix", "lattice"}) {
    const auto plan = read_plan(test::read_file("samples/puchala2022/" + name + ".plan.yaml"), name);
    ASSERT_TRUE(plan);
    for (const PredictionRow& row :
         run(*plan, kTable3, parameters("N=2^6..2^20,K=8,10,12,14"), sample_loader()).rows) {
      const std::string key = row.gpu + "," + row.plan + "," + std::to_string(row.parameters[0].second) +
                              "," + std::to_string(row.parameters[1].second);
      ASSERT_EQ(expected.count(key), 1u) << key;
      EXPECT_NEAR(row.time.total_us, expected[key], expected[key] * 1e-9) << key;
      EXPECT_NEAR(row.time.total_us,
                  test::part(row, "launch_overhead_us") + test::part(row, "calculation_us") +
                      test::part(row, "issue_us") + test::part(row, "waiting_us") +
                      test::part(row, "tail_us"),
                  row.time.total_us * 1e-12);
      EXPECT_EQ(row.t_m_source, ConstantSource::plan);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 720u);
}

TEST(Predict, RowsComeWithGpusOutermostAndTheLastParameterInnermost) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: K * 100 + N]"}});
  const Plan plan = plan_of("name: p\nparameters: [K, N]\nlaunches: [{kernel: k.yaml, threads: 1}]\n");
  const Outcome outcome = run(plan, {"gtx-1070", "h200"}, parameters("N=1,2,K=5..6"), programs.loader());
  ASSERT_EQ(outcome.rows.size(), 8u);
  const auto shown = [](const PredictionRow& row) {
    return row.gpu + " K=" + std::to_string(row.parameters[0].second) +
           " N=" + std::to_string(row.parameters[1].second);
  };
  EXPECT_EQ(shown(outcome.rows[0]), "gtx-1070 K=5 N=1");
  EXPECT_EQ(shown(outcome.rows[1]), "gtx-1070 K=5 N=2");
  EXPECT_EQ(shown(outcome.rows[2]), "gtx-1070 K=6 N=1");
  EXPECT_EQ(shown(outcome.rows[7]), "h200 K=6 N=2");
  EXPECT_DOUBLE_EQ(test::part(outcome.rows[0], "calculation_us"), 501 / 1760.0);
  EXPECT_EQ(programs.loaded, 2) << "once per GPU";
  EXPECT_EQ(outcome.rows[0].notes, std::vector<std::string>{"note of k.yaml"});
}

TEST(Predict, StopsWhenTheCallerHasEnough) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: N]"}});
  const Plan plan = plan_of("name: p\nparameters: [N]\nlaunches: [{kernel: k.yaml, threads: N}]\n");
  int rows = 0;
  const auto count =
      predict(plan, {*GpuCatalogue::bundled().find("h200")}, parameters("N=1..9000000000000000000"), {},
              programs.loader(), [&](const PredictionRow&) { return ++rows < 3; });
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 3u);
}

TEST(Predict, AnOptionBeatsAFileBeatsThePlanBeatsTheGpu) {
  const std::string text =
      "name: p\nlaunches: [{kernel: k.yaml, threads: 1}]\ncalibrations: {gtx-1070: {t_p: 3, t_m: 33}}\n";
  Plan plan = plan_of(text);
  Programs programs(Programs::Texts{{"k.yaml", "program: [load: 100]"}});
  PredictionOptions options;
  const auto row = [&] { return run(plan, {"gtx-1070"}, {}, programs.loader(), options).rows.at(0); };
  const auto check = [&](double t_p, ConstantSource t_p_source, double t_m, ConstantSource t_m_source) {
    const PredictionRow got = row();
    EXPECT_EQ(got.t_p_us, t_p);
    EXPECT_EQ(got.t_m_cycles, t_m);
    EXPECT_EQ(to_string(got.t_p_source), to_string(t_p_source));
    EXPECT_EQ(to_string(got.t_m_source), to_string(t_m_source));
    EXPECT_DOUBLE_EQ(test::part(got, "launch_overhead_us"), t_p);
    EXPECT_DOUBLE_EQ(test::part(got, "issue_us"), t_m / 1760);
  };
  check(3, ConstantSource::plan, 33, ConstantSource::plan);
  options.constants.calibration_file = {{"gtx-1070", {{}, 22.0, ""}}, {"h200", {1.0, 1.0, ""}}};
  check(3, ConstantSource::plan, 22, ConstantSource::calibration_file);  // each of the two for itself
  options.constants.t_p_us = 0;
  check(0, ConstantSource::option, 22, ConstantSource::calibration_file);
  options.constants.t_m_cycles = 11;
  check(0, ConstantSource::option, 11, ConstantSource::option);
  options = {};
  plan.calibrations.clear();
  check(6.05, ConstantSource::gpu_default, 18.75, ConstantSource::gpu_default);
}

TEST(Predict, LaunchesAddUp) {
  Programs programs(
      Programs::Texts{{"a.yaml", "program: [calc: 1760]"}, {"b.yaml", "program: [calc: 1760 * stage]"}});
  const Plan plan = plan_of(R"(
name: p
parameters: [K]
launches:
  - {kernel: a.yaml, threads: 64}
  - repeat: K
    counter: i
    launches:
      - {kernel: b.yaml, threads: 32, arguments: {stage: i + 1}}
      - {kernel: a.yaml, blocks: 1, threads_per_block: 32, repeat: i}
)");
  PredictionOptions options;
  options.constants.t_p_us = 1000;
  const Outcome outcome = run(plan, {"gtx-1070"}, parameters("K=0,1,4"), programs.loader(), options);
  ASSERT_EQ(outcome.rows.size(), 3u) << outcome.errors;
  EXPECT_EQ(outcome.rows[0].launches, 1);
  EXPECT_DOUBLE_EQ(outcome.rows[0].time.total_us, 1000 + 1);
  EXPECT_EQ(outcome.rows[0].first_launch, (Launch{2, 32}));
  EXPECT_EQ(outcome.rows[1].launches, 2);
  EXPECT_DOUBLE_EQ(outcome.rows[1].time.total_us, 2000 + 1 + 1);
  EXPECT_EQ(outcome.rows[2].launches, 1 + 4 + (0 + 1 + 2 + 3));
  EXPECT_DOUBLE_EQ(outcome.rows[2].time.total_us, 11 * 1000 + 1 + (1 + 2 + 3 + 4) + 6);
}

TEST(Predict, ParametersAndCountersAreBoundByName) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: K * 1000 + k]"}});
  const Plan plan =
      plan_of("name: p\nparameters: [K]\nlaunches: [{kernel: k.yaml, threads: 1, repeat: 3, counter: k}]\n");
  const Outcome outcome = run(plan, {"gtx-1070"}, parameters("K=2"), programs.loader());
  ASSERT_EQ(outcome.rows.size(), 1u) << outcome.errors;
  EXPECT_DOUBLE_EQ(test::part(outcome.rows[0], "calculation_us"), (6000 + 0 + 1 + 2) / 1760.0);
}

TEST(Predict, APlanMayGiveIterationsUnderTheirOldName) {
  Programs programs(
      Programs::Texts{{"k.yaml", "program: [{repeat: iterations_at_line_9, body: [calc: 1760]}]"}});
  for (const std::string argument : {"iterations_at_line_9", "turns_at_line_9"}) {
    const Plan plan =
        plan_of("name: p\nlaunches: [{kernel: k.yaml, threads: 1, arguments: {" + argument + ": 5}}]\n");
    const Outcome outcome = run(plan, {"gtx-1070"}, {}, programs.loader());
    ASSERT_EQ(outcome.rows.size(), 1u) << outcome.errors;
    EXPECT_DOUBLE_EQ(test::part(outcome.rows[0], "calculation_us"), 5) << argument;
    EXPECT_EQ(outcome.rows[0].notes, std::vector<std::string>{"note of k.yaml"});
  }
}

TEST(Predict, LaunchDimensionsAreBoundWhereNobodyElseDoes) {
  Programs programs(Programs::Texts{
      {"k.yaml", "program: [calc: 1000 * gridDim.x + blockDim.x + blockDim.y + gridDim.z + total]"}});
  const Plan plan = plan_of(
      "name: p\nlaunches: [{kernel: k.yaml, blocks: 3, threads_per_block: 64, arguments: {total: blockDim.x "
      "* gridDim.x}}]\n");
  const Outcome outcome = run(plan, {"gtx-1070"}, {}, programs.loader());
  ASSERT_EQ(outcome.rows.size(), 1u) << outcome.errors;
  EXPECT_DOUBLE_EQ(test::part(outcome.rows[0], "calculation_us"), (3000 + 64 + 1 + 1 + 192) / 1760.0);
  const Plan bound = plan_of(
      "name: p\nlaunches: [{kernel: k.yaml, blocks: 3, threads_per_block: 64, arguments: {total: 0, "
      "blockDim.x: 7}}]\n");
  EXPECT_DOUBLE_EQ(test::part(run(bound, {"gtx-1070"}, {}, programs.loader()).rows.at(0), "calculation_us"),
                   (3000 + 7 + 1 + 1) / 1760.0);
}

TEST(Predict, ALaunchOfSeveralDimensionsBindsThemAll) {
  Programs programs(
      Programs::Texts{{"k.yaml",
                       "program: [calc: 100000 * gridDim.z + 10000 * gridDim.y + 1000 * gridDim.x + "
                       "100 * blockDim.z + 10 * blockDim.y + blockDim.x]"}});
  const Plan plan = plan_of(R"(
name: p
parameters: [N]
launches:
  - {kernel: k.yaml, grid: [N, 3, 1], block: [8, 4]}
  - {kernel: k.yaml, threads: 64, repeat: N}
)");
  const Outcome outcome = run(plan, {"gtx-1070"}, parameters("N=1,2"), programs.loader());
  ASSERT_EQ(outcome.rows.size(), 2u) << outcome.errors;
  for (std::int64_t n : {1, 2}) {
    const PredictionRow& row = outcome.rows[static_cast<std::size_t>(n - 1)];
    EXPECT_EQ(row.first_launch, (Launch{3 * n, 32}));
    EXPECT_EQ(row.first_shape(), (GridAndBlock{{n, 3, 1}, {8, 4, 1}}));
    const std::int64_t several = 100000 + 30000 + 1000 * n + 100 + 40 + 8;
    const std::int64_t one = 100000 + 10000 + 2000 + 100 + 10 + 32;
    EXPECT_DOUBLE_EQ(test::part(row, "calculation_us"), static_cast<double>(several + n * one) / 1760.0);
  }
}

TEST(Predict, TheFirstShapeOfAPlanInOneDimensionIsItsLaunch) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: 10]"}});
  const Plan plan = plan_of("name: p\nlaunches: [{kernel: k.yaml, grid: 3, block: 64}]\n");
  const Outcome outcome = run(plan, {"gtx-1070"}, {}, programs.loader());
  ASSERT_EQ(outcome.rows.size(), 1u) << outcome.errors;
  EXPECT_EQ(outcome.rows[0].first_shape(), (GridAndBlock{{3, 1, 1}, {64, 1, 1}}));
}

TEST(Predict, AProgramForAnotherBlockIsNoted) {
  KernelProgram program = read_kernel_programs("program: [calc: 10]", "k.yaml")->front();
  program.block_shape = {16, 16, 1};
  const Plan plan =
      plan_of("name: p\nparameters: [N]\nlaunches: [{kernel: k.yaml, grid: [4, 4], block: [N, N]}]\n");
  const ProgramLoader loader = [&](const Plan&, const PlanLaunch&, const Gpu&) -> Result<LoadedProgram> {
    return LoadedProgram{program, {}};
  };
  const Outcome outcome = run(plan, {"gtx-1070"}, parameters("N=8,16,32"), loader);
  ASSERT_EQ(outcome.rows.size(), 3u) << outcome.errors;
  EXPECT_EQ(
      outcome.rows[0].notes,
      std::vector<std::string>{"the program of k.yaml is made for blocks of 16x16x1, not 8x8x1: its access "
                               "patterns may differ"});
  EXPECT_TRUE(outcome.rows[1].notes.empty());
  EXPECT_EQ(outcome.rows[2].notes.size(), 1u);
}

TEST(Predict, ALaunchMayAskForSharedMemory) {
  Programs programs(Programs::Texts{{"k.yaml",
                                     "resources: {registers: 16, dynamic_shared_bytes: 0}\n"
                                     "program: [{repeat: 1000, body: [{load: 400}, {calc: 10}]}]"}});
  const Plan plan = plan_of(
      "name: p\nparameters: [S]\n"
      "launches: [{kernel: k.yaml, grid: 1500, block: 128, shared: 16 * blockDim.x * S}]\n");
  const Outcome outcome = run(plan, {"gtx-1070"}, parameters("S=0,4,8,32"), programs.loader());
  EXPECT_NE(outcome.errors, "");
  ASSERT_EQ(outcome.rows.size(), 3u) << outcome.errors;
  EXPECT_LT(outcome.rows[0].time.total_us, outcome.rows[1].time.total_us);
  EXPECT_LT(outcome.rows[1].time.total_us, outcome.rows[2].time.total_us);
  EXPECT_NE(outcome.errors.find("no block of 128 threads fits an SM of gtx-1070"), std::string::npos)
      << outcome.errors;
}

TEST(Predict, ATrillionEqualLaunchesAreQuick) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: 1760]"}});
  const Plan plan =
      plan_of("name: p\nlaunches: [{kernel: k.yaml, threads: 1, repeat: 10 ^ 12, counter: k}]\n");
  PredictionOptions options;
  options.constants.t_p_us = 1;
  const Outcome outcome = run(plan, {"gtx-1070"}, {}, programs.loader(), options);
  ASSERT_EQ(outcome.rows.size(), 1u) << outcome.errors;
  EXPECT_EQ(outcome.rows[0].launches, 1'000'000'000'000);
  EXPECT_DOUBLE_EQ(outcome.rows[0].time.total_us, 2e12);
}

TEST(Predict, ATrillionLaunchesThatDifferAreRefused) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: k]"}});
  const Plan plan =
      plan_of("name: p\nlaunches: [{kernel: k.yaml, threads: 1, repeat: 10 ^ 12, counter: k}]\n");
  EXPECT_EQ(run(plan, {"gtx-1070"}, {}, programs.loader()).errors,
            "inline.plan.yaml:2: error: `repeat: 10 ^ 12` is 1000000000000: launches that depend on the "
            "counter `k` can repeat at most 4194304 times (on gtx-1070)\n");
}

TEST(Predict, EqualCorePackagesAreSimulatedOnce) {
  // 2 ^ 20 periods for 64 warps, 1000 rows: minutes if nothing were remembered.
  Programs programs(Programs::Texts{
      {"k.yaml", "program: [{repeat: 2 ^ 19, counter: i, body: [load: 100 + i % 7, calc: 5]}]"}});
  const Plan plan = plan_of("name: p\nparameters: [N]\nlaunches: [{kernel: k.yaml, threads: 10240 * N}]\n");
  const Outcome outcome = run(plan, {"gtx-1070"}, parameters("N=2000..2999"), programs.loader());
  EXPECT_EQ(outcome.rows.size(), 1000u) << outcome.errors;
}

TEST(Predict, APlanThatLaunchesNothingTakesNoTime) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: 1]"}});
  const Plan plan =
      plan_of("name: p\nparameters: [K]\nlaunches: [{kernel: k.yaml, threads: 1, repeat: K}]\n");
  const Outcome outcome = run(plan, {"gtx-1070"}, parameters("K=0"), programs.loader());
  ASSERT_EQ(outcome.rows.size(), 1u) << outcome.errors;
  EXPECT_EQ(outcome.rows[0].launches, 0);
  EXPECT_EQ(outcome.rows[0].time.total_us, 0);
}

struct BadCase {
  const char* plan;  // after "name: p\nparameters: [K, N]\n"
  const char* parameters;
  const char* errors;
};
void PrintTo(const BadCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.plan)) << " with "
       << testing::PrintToString(std::string(one.parameters));
}
class BadPrediction : public testing::TestWithParam<BadCase> {};

TEST_P(BadPrediction, SaysWhatIsWrong) {
  Programs programs(Programs::Texts{
      {"k.yaml", "program: [{repeat: K, body: [load: 10, calc: 5]}]"},
      {"long.yaml", "program: [{repeat: 2 ^ 18, counter: i, body: [load: i * i % 1013, calc: 1]}]"},
      {"args.yaml", "parameters: {M: argument 2 (int M)}\nprogram: [calc: M]"}});
  const Plan plan = plan_of(std::string("name: p\nparameters: [K, N]\n") + GetParam().plan);
  PredictionOptions options;
  options.model_options.step_limit = 100'000;
  const Outcome outcome =
      run(plan, {"gtx-1070"}, parameters(GetParam().parameters), programs.loader(), options);
  EXPECT_EQ(outcome.errors, GetParam().errors);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadPrediction,
    testing::Values(
        BadCase{"launches: [{kernel: k.yaml, threads: N}]", "K=8",
                "error: the parameter `N` has no value\nhint: `--param N=VALUES`\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: N}]", "K=8,N=1,n=2",
                "error: p has no parameter `n`\nhint: did you mean `N`?\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: N}]", "K=8,N=1,N=2",
                "error: the parameter `N` is given twice\n"
                "hint: give several values as a list: `N=8,10`\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: N}]", "K=8,N=0",
                "inline.plan.yaml:3: error: a launch of 0 threads: the number must be at least 1 (on "
                "gtx-1070, K = 8, N = 0)\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: N}]", "K=8,N=-64",
                "inline.plan.yaml:3: error: a launch of -64 threads: the number must be at least 1 (on "
                "gtx-1070, K = 8, N = -64)\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: N}]", "K=-1,N=64",
                "inline.plan.yaml:3: error: `repeat: K` is negative: -1 (K = -1) (on gtx-1070, K = -1, N = "
                "64)\n"},
        BadCase{"launches: [{kernel: k.yaml, blocks: 1, threads_per_block: N}]", "K=1,N=2048",
                "inline.plan.yaml:3: error: blocks of 2048 threads: gtx-1070 takes at most 1024 (on "
                "gtx-1070, K = 1, N = 2048)\n"},
        BadCase{"launches: [{kernel: k.yaml, grid: 1, block: [1, 1, N]}]", "K=1,N=65",
                "inline.plan.yaml:3: error: the block has 65 in z: CUDA takes 64 at most (on gtx-1070, K = "
                "1, N = "
                "65)\n"},
        BadCase{"launches: [{kernel: k.yaml, grid: [1, N], block: 1}]", "K=1,N=65536",
                "inline.plan.yaml:3: error: the grid has 65536 in y: CUDA takes 65535 at most (on gtx-1070, "
                "K = 1, "
                "N = 65536)\n"},
        BadCase{"launches: [{kernel: k.yaml, grid: 2 ^ N, block: 1}]", "K=1,N=31",
                "inline.plan.yaml:3: error: the grid has 2147483648 in x: CUDA takes 2147483647 at most (on "
                "gtx-1070, K = 1, N = 31)\n"},
        BadCase{
            "launches: [{kernel: k.yaml, grid: [1, 1, N - 2], block: [8, 8]}]", "K=1,N=2",
            "inline.plan.yaml:3: error: the grid has 0 in z: it must be at least 1 (on gtx-1070, K = 1, N = "
            "2)\n"},
        BadCase{
            "launches: [{kernel: k.yaml, grid: 1, block: [N, N]}]", "K=1,N=33",
            "inline.plan.yaml:3: error: blocks of 1089 threads: gtx-1070 takes at most 1024 (on gtx-1070, "
            "K = 1, N = 33)\n"},
        BadCase{
            "launches: [{kernel: k.yaml, threads: 32, shared: N - 2}]", "K=1,N=1",
            "inline.plan.yaml:3: error: `shared` is -1: it must be at least 0 (on gtx-1070, K = 1, N = 1)\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: 64 / N}]", "K=1,N=0",
                "inline.plan.yaml:3: error: `threads`: division by zero in `64 / N` (on gtx-1070, K = 1, N = "
                "0)\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: N, repeat: K - 2}]", "K=1,N=1",
                "inline.plan.yaml:3: error: `repeat: K - 2` is negative: -1 (on gtx-1070, K = 1, N = 1)\n"},
        BadCase{"launches: [{kernel: k.yaml, threads: N * 2 ^ 62}]", "K=1,N=2",
                "inline.plan.yaml:3: error: `threads`: the result does not fit 64 bits in `N * 2 ^ 62` (on "
                "gtx-1070, K = 1, N = 2)\n"},
        BadCase{"launches: [{repeat: 2 ^ 40, launches: [{kernel: k.yaml, threads: N, repeat: 2 ^ 40}]}]",
                "K=1,N=2",
                "inline.plan.yaml:3: error: the number of launches does not fit 64 bits (on gtx-1070, K = 1, "
                "N = 2)\n"},
        BadCase{"launches: [{kernel: none.yaml, threads: N}]", "K=1,N=2", "error: no such file: none.yaml\n"},
        BadCase{"launches: [{kernel: args.yaml, threads: N, arguments: {L: 3}}]", "K=1,N=2",
                "inline.plan.yaml:3: error: `M` (argument 2 (int M)), which args.yaml uses, has no value\n"
                "hint: `--assume M=VALUE`\n"},
        BadCase{"launches: [{kernel: args.yaml, threads: N, arguments: {m: 3}}]", "K=1,N=2",
                "inline.plan.yaml:3: error: `M` (argument 2 (int M)), which args.yaml uses, has no value\n"
                "hint: did you mean `M` by `m`?\n"},
        BadCase{"launches: [{kernel: args.yaml, threads: N, arguments: {M: K / N}}]", "K=1,N=0",
                "inline.plan.yaml:3: error: a launch of 0 threads: the number must be at least 1 (on "
                "gtx-1070, K = 1, N = 0)\n"},
        BadCase{"launches: [{kernel: args.yaml, threads: 1, arguments: {M: K / N}}]", "K=1,N=0",
                "inline.plan.yaml:3: error: the argument `M`: division by zero in `K / N` (on gtx-1070, K = "
                "1, N = 0)\n"},
        BadCase{"launches: [{kernel: long.yaml, threads: 1}]", "K=1,N=1",
                "inline.plan.yaml:3: error: too long to simulate: 524288 periods for each of 1 warps take "
                "more than 100000 "
                "steps (on gtx-1070, K = 1, N = 1)\n"}));

TEST(Predict, AnArgumentThatAHandWrittenProgramDoesNotUseIsNoted) {
  Programs programs(Programs::Texts{{"k.yaml", "program: [calc: 1]"}});
  const Plan plan = plan_of("name: p\nlaunches: [{kernel: k.yaml, threads: 1, arguments: {M: 3}}]\n");
  EXPECT_EQ(run(plan, {"h200"}, {}, programs.loader()).rows.at(0).notes,
            (std::vector<std::string>{"note of k.yaml", "k.yaml does not use the argument `M`"}));
}

struct ValuesCase {
  const char* text;
  std::vector<std::int64_t> values;
};
void PrintTo(const ValuesCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.text));
}
class Values : public testing::TestWithParam<ValuesCase> {};

TEST_P(Values, AreListsAndRanges) {
  const auto values = ParameterValues::parse(GetParam().text);
  ASSERT_TRUE(values) << to_text(values.diagnostics());
  std::vector<std::int64_t> all;
  for (std::uint64_t i = 0; i < values->size(); ++i) all.push_back(values->at(i));
  EXPECT_EQ(all, GetParam().values) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Values,
    testing::Values(
        ValuesCase{"64", {64}}, ValuesCase{"-64", {-64}}, ValuesCase{"8,10,12", {8, 10, 12}},
        ValuesCase{" 8 , 10", {8, 10}}, ValuesCase{"2^6", {64}}, ValuesCase{"2^3..2^6", {8, 16, 32, 64}},
        ValuesCase{"3^0..3^2", {1, 3, 9}}, ValuesCase{"2^62..2^62", {std::int64_t{1} << 62}},
        ValuesCase{"64..256:64", {64, 128, 192, 256}}, ValuesCase{"1..8:3", {1, 4, 7}},
        ValuesCase{"1..4", {1, 2, 3, 4}}, ValuesCase{"-2..1", {-2, -1, 0, 1}},
        ValuesCase{"2^2..2^4:6", {4, 10, 16}}, ValuesCase{"5,2^1..2^3,7..8,5", {5, 2, 4, 8, 7, 8, 5}},
        ValuesCase{"9223372036854775806..9223372036854775807", {9223372036854775806, 9223372036854775807}}));

TEST(ParameterValues, ARangeTakesNoMemory) {
  const auto values = ParameterValues::parse("-9223372036854775808..9223372036854775806");
  ASSERT_TRUE(values);
  EXPECT_EQ(values->size(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(values->at(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(values->at(values->size() - 1), 9223372036854775806);
}

struct BadValuesCase {
  const char* text;
  const char* message;
};
void PrintTo(const BadValuesCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.text));
}
class BadValues : public testing::TestWithParam<BadValuesCase> {};
TEST_P(BadValues, AreRefused) {
  const auto values = ParameterValues::parse(GetParam().text);
  ASSERT_FALSE(values) << GetParam().text;
  EXPECT_EQ(values.diagnostics().front().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadValues,
    testing::Values(
        BadValuesCase{"", "a value is missing"}, BadValuesCase{"8,", "a value is missing"},
        BadValuesCase{"1..", "a value is missing"}, BadValuesCase{"abc", "`abc` is not a whole number"},
        BadValuesCase{"1.5", "`1.5` is not a whole number"},
        BadValuesCase{"1e3", "`1e3` is not a whole number"},
        BadValuesCase{"+5", "`+5` is not a whole number"},
        BadValuesCase{"9223372036854775808", "9223372036854775808 does not fit 64 bits"},
        BadValuesCase{"99999999999999999999999", "99999999999999999999999 does not fit 64 bits"},
        BadValuesCase{"2^63", "2^63 does not fit 64 bits"},
        BadValuesCase{"2^6..2^99", "2^99 does not fit 64 bits"},
        BadValuesCase{"8..4", "the range `8..4` is empty"},
        BadValuesCase{"2^6..2^4", "the range `2^6..2^4` is empty"},
        BadValuesCase{"1..8:0", "`1..8:0`: the step of a range must be at least 1"},
        BadValuesCase{"1..8:-2", "`1..8:-2`: the step of a range must be at least 1"},
        BadValuesCase{"2^6..1024", "`2^6..1024`: a range of powers needs a power at both ends"},
        BadValuesCase{"2^6..3^7",
                      "`2^6..3^7`: a range of powers needs the same base, at least 2, at both "
                      "ends"},
        BadValuesCase{"1^1..1^5",
                      "`1^1..1^5`: a range of powers needs the same base, at least 2, at both "
                      "ends"},
        BadValuesCase{
            "-9223372036854775808..9223372036854775807",
            "the range `-9223372036854775808..9223372036854775807` has more than 2^64 - 1 values"}));

TEST(Parameters, SeveralNamesInOne) {
  const auto named = parse_parameters("K=8,10,N=2^6..2^20,blockDim.x=32");
  ASSERT_TRUE(named);
  ASSERT_EQ(named->size(), 3u);
  EXPECT_EQ((*named)[0].name, "K");
  EXPECT_EQ((*named)[0].values.size(), 2u);
  EXPECT_EQ((*named)[1].name, "N");
  EXPECT_EQ((*named)[1].values.size(), 15u);
  EXPECT_EQ((*named)[2].name, "blockDim.x");
  EXPECT_EQ(*sweep_size({nullptr, nullptr}, *named), 60u);
}

TEST(Parameters, AreRefusedWithAReason) {
  const auto message = [](const char* text) {
    const auto named = parse_parameters(text);
    return named ? "accepted" : named.diagnostics().front().message;
  };
  EXPECT_EQ(message(""), "`` is not NAME=VALUES");
  EXPECT_EQ(message("K"), "`K` is not NAME=VALUES");
  EXPECT_EQ(message("=8"), "`=8` is not NAME=VALUES");
  EXPECT_EQ(message("8=K"), "`8=K` is not NAME=VALUES");
  EXPECT_EQ(message("K="), "K: a value is missing");
  EXPECT_EQ(message("K=8,N=x"), "N: `x` is not a whole number");
  EXPECT_EQ(message("K=8=9"), "K: `8=9` is not a whole number");
}

TEST(Sweep, ThatDoesNotFitIsRefused) {
  const auto named = parameters("K=0..9223372036854775807,N=0..9223372036854775807");
  EXPECT_FALSE(sweep_size({nullptr}, named));
}

}  // namespace
}  // namespace warptime
