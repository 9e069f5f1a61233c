// How fast predictions are. Every iteration begins with plans that are prepared (files read, names found) and
// nothing computed: what is remembered during one is forgotten before the next. `_from_files` prepares them
// in each iteration too.
//   build/tests/bench/predict_bench
#include <benchmark/benchmark.h>

#include <fstream>
#include <map>
#include <sstream>

#include "simulator/model/puchala/core_package.h"
#include "simulator/predict/prediction.h"
#include "simulator/predict/row_model.h"

namespace warptime {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(std::string(WARPTIME_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct Case {
  Plan plan;
  std::map<std::string, std::shared_ptr<const KernelProgram>> programs;  // by file
};

// A plan with the programs that it names, or with one for all.
Case case_of(const std::string& folder, const std::string& plan, const std::string& only_program = "") {
  Case made{*read_plan(text_of(folder + "/" + plan), plan), {}};
  for (const PlanStep& step : made.plan.steps) {
    const std::string file = only_program.empty() ? folder + "/" + step.launch->kernel : only_program;
    auto programs = *read_kernel_programs(text_of(file), file);
    made.programs[step.launch->kernel] = std::make_shared<const KernelProgram>(programs.front());
  }
  return made;
}

ProgramLoader loader_of(const Case& of) {
  return [&of](const Plan&, const PlanLaunch& launch, const Gpu&) -> Result<LoadedProgram> {
    return LoadedProgram{of.programs.at(launch.kernel), {}};
  };
}

// All rows of a prepared plan with the parameters K and N, or N alone.
std::uint64_t predict_all(const PreparedPlan& plan, const std::vector<std::int64_t>& ks,
                          const std::vector<std::int64_t>& ns) {
  const PredictionOptions options;
  RowModel model(plan, options);
  PredictionRow row;
  std::vector<std::int64_t> values(plan.plan->parameters.size());
  std::uint64_t rows = 0;
  double sum = 0;
  for (std::size_t gpu = 0; gpu < plan.gpus.size(); ++gpu) {
    for (const std::int64_t k : ks) {
      for (const std::int64_t n : ns) {
        values.front() = k;
        values.back() = n;
        if (!model.row(gpu, values, row).empty()) return 0;
        sum += row.time.total_us;
        ++rows;
      }
    }
  }
  benchmark::DoNotOptimize(sum);
  return rows;
}

std::uint64_t predict_all(const Case& of, const std::vector<const Gpu*>& gpus,
                          const std::vector<NamedValues>& parameters) {
  double sum = 0;
  const auto rows = predict(of.plan, gpus, parameters, {}, loader_of(of), [&](const PredictionRow& row) {
    sum += row.time.total_us;
    return true;
  });
  benchmark::DoNotOptimize(sum);
  return rows ? *rows : 0;
}

std::vector<const Gpu*> table_3() {
  std::vector<const Gpu*> gpus;
  for (const char* name : {"gt-720m", "k1000m", "gtx-860m", "gtx-1070", "rtx-2060", "rtx-2080"})
    gpus.push_back(*GpuCatalogue::bundled().find(name));
  return gpus;
}

void count(benchmark::State& state, std::uint64_t rows) {
  state.counters["predictions"] = static_cast<double>(rows);
  state.counters["per_prediction"] = benchmark::Counter(
      static_cast<double>(rows), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// The 720 predictions of the paper's grid.
void paper_grid(benchmark::State& state) {
  const Case matrix = case_of("samples/puchala2022", "matrix.plan.yaml");
  const Case lattice = case_of("samples/puchala2022", "lattice.plan.yaml");
  const auto prepared_matrix = PreparedPlan::make(matrix.plan, table_3(), {}, loader_of(matrix));
  const auto prepared_lattice = PreparedPlan::make(lattice.plan, table_3(), {}, loader_of(lattice));
  const std::vector<std::int64_t> ks = {8, 10, 12, 14};
  std::vector<std::int64_t> ns;
  for (int i = 6; i <= 20; ++i) ns.push_back(std::int64_t{1} << i);
  std::uint64_t rows = 0;
  for (auto _ : state) rows = predict_all(*prepared_matrix, ks, ns) + predict_all(*prepared_lattice, ks, ns);
  count(state, rows);
}
BENCHMARK(paper_grid)->Unit(benchmark::kMicrosecond);

void paper_grid_from_files(benchmark::State& state) {
  const Case matrix = case_of("samples/puchala2022", "matrix.plan.yaml");
  const Case lattice = case_of("samples/puchala2022", "lattice.plan.yaml");
  const auto gpus = table_3();
  const auto parameters = *parse_parameters("K=8,10,12,14,N=2^6..2^20");
  std::uint64_t rows = 0;
  for (auto _ : state) rows = predict_all(matrix, gpus, parameters) + predict_all(lattice, gpus, parameters);
  count(state, rows);
}
BENCHMARK(paper_grid_from_files)->Unit(benchmark::kMicrosecond);

// One prediction of mtx_mul_vec (the paper's Listing 4) at N = 2^(argument).
void mtx_mul_vec(benchmark::State& state) {
  const Case of =
      case_of("samples/mtx_mul_vec", "mtx_mul_vec.plan.yaml", "samples/puchala2022/listing_4.yaml");
  const auto plan = PreparedPlan::make(of.plan, {*GpuCatalogue::bundled().find("k1000m")}, {}, loader_of(of));
  const std::vector<std::int64_t> ns = {std::int64_t{1} << state.range(0)};
  std::uint64_t rows = 0;
  for (auto _ : state) rows = predict_all(*plan, {0}, ns);
  count(state, rows);
}
BENCHMARK(mtx_mul_vec)->Arg(10)->Arg(14)->Arg(20)->Unit(benchmark::kMicrosecond);

// T_c of 16 warps that run a loop 10^(argument) times.
void trip_count(benchmark::State& state) {
  const KernelProgram program =
      read_kernel_programs(text_of("samples/puchala2022/listing_4.yaml"), "listing_4.yaml")->front();
  std::int64_t iterations = 1;
  for (std::int64_t i = 0; i < state.range(0); ++i) iterations *= 10;
  for (auto _ : state) {
    const auto schedule = make_schedule(program, {{"N", iterations}}, paper_durations());
    benchmark::DoNotOptimize(simulate_in_rounds(*schedule, 16, 1.1));
  }
}
BENCHMARK(trip_count)->Arg(3)->Arg(6)->Arg(12)->Arg(18)->Unit(benchmark::kMicrosecond);

// Whole sweeps in one thread: rows that differ in their launch, and rows that differ in their program.
void sweep_of_launches(benchmark::State& state) {
  const Case matrix = case_of("samples/puchala2022", "matrix.plan.yaml");
  const auto parameters = *parse_parameters("K=8,10,12,14,N=64..1600000:64");
  std::uint64_t rows = 0;
  for (auto _ : state) rows = predict_all(matrix, {*GpuCatalogue::bundled().find("rtx-2080")}, parameters);
  count(state, rows);
}
BENCHMARK(sweep_of_launches)->Unit(benchmark::kMillisecond);

void sweep_of_programs(benchmark::State& state) {
  const Case of =
      case_of("samples/mtx_mul_vec", "mtx_mul_vec.plan.yaml", "samples/puchala2022/listing_4.yaml");
  const auto parameters = *parse_parameters("N=1..100000");
  std::uint64_t rows = 0;
  for (auto _ : state) rows = predict_all(of, {*GpuCatalogue::bundled().find("rtx-2080")}, parameters);
  count(state, rows);
}
BENCHMARK(sweep_of_programs)->Unit(benchmark::kMillisecond);

// The same, of a kernel that was analyzed: its guard makes the warps of most launches differ.
void sweep_of_warps(benchmark::State& state) {
  const Case of = case_of("samples/mtx_mul_vec", "mtx_mul_vec.plan.yaml",
                          "samples/mtx_mul_vec/models/mtx_mul_vec.cu.mtx_mul_vec.yaml");
  const auto parameters = *parse_parameters("N=1..100000");
  std::uint64_t rows = 0;
  for (auto _ : state) rows = predict_all(of, {*GpuCatalogue::bundled().find("rtx-2080")}, parameters);
  count(state, rows);
}
BENCHMARK(sweep_of_warps)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warptime

BENCHMARK_MAIN();
