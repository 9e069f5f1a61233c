// Table 3 of Luo and Suda (2011): the share P of computation in each benchmark's cost.
#include <map>

#include "analyzer/pipeline.h"
#include "simulator/gpu/gpu.h"
#include "simulator/model/luo_suda/luo_suda.h"
#include "simulator/program/schedule.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

struct Benchmark {
  const char* kernel;
  const char* file;
  double percent;  // "com proportion"
  std::map<std::string, std::int64_t> sizes;
};
void PrintTo(const Benchmark& one, std::ostream* out) {
  *out << one.kernel;
}

class Table3 : public testing::TestWithParam<Benchmark> {};
INSTANTIATE_TEST_SUITE_P(
    Benchmarks, Table3,
    testing::Values(Benchmark{"svm", "svm.cu", 26.23, {{"height", 512}}},
                    Benchmark{"matrix", "matrix.cu", 28.2, {{"rows", 256}}},
                    Benchmark{"linear", "linear.cu", 45.84, {{"height", 800}}},
                    Benchmark{"sepia", "sepia.cu", 52.97, {{"pixels", 640'000}}},
                    Benchmark{"blackscholes_7", "blackscholes.cu", 76.62, {{"n", 900'000}}},
                    Benchmark{"blackscholes", "blackscholes.cu", 86.97, {{"n", 900'000}}}),
    [](const auto& of) { return std::string(of.param.kernel); });

TEST_P(Table3, ProportionsAreWithinThreePoints) {
  const std::string file = std::string("samples/luo_suda2011/") + GetParam().file;
  CompileOptions compile;
  compile.arch = "sm_30";  // the oldest
  auto source = compile_cuda(file, read_file(file), compile);
  ASSERT_TRUE(source) << to_text(source.diagnostics());
  AnalyzeOptions options;
  options.kernel = GetParam().kernel;
  options.classes = true;
  const auto analysis = analyze(std::move(*source), options);
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const KernelProgram& program = analysis->kernels.front().program;
  const Gpu& gpu = **GpuCatalogue::bundled().find("gtx-260");
  for (const std::int64_t warps : {1, 32}) {
    Bindings values{{"blockDim.x", 32 * std::min<std::int64_t>(warps, 16)},
                    {"gridDim.x", 24 * (warps > 16 ? 2 : 1)}};
    for (const auto& [name, value] : GetParam().sizes) values[name] = value;
    const auto schedule = make_schedule(program, values, gpu.durations);
    ASSERT_TRUE(schedule) << to_text(schedule.diagnostics());
    const auto made = make_luo_suda_program(*schedule, *gpu.luo_suda);
    ASSERT_TRUE(made) << to_text(made.diagnostics());
    EXPECT_NEAR(100 * made->proportion(), GetParam().percent, 3) << warps << " warps on each SM";
  }
}

}  // namespace
}  // namespace warptime::kernels
