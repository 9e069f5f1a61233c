// What the analysis says of a whole launch, every warp of it, is what the executor counts: warp instructions, loads,
// stores, and the sectors of each.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyzer/pipeline.h"
#include "simulator/program/warps.h"
#include "tests/execute/builds.h"
#include "tests/execute/harness.h"
#include "tests/execute/launch_totals.h"

namespace warptime::execute::testing {
namespace {

constexpr std::size_t elements = 1 << 20;
constexpr char file[] = "tests/execute/whole_launch.cu";

bool asks(const KernelProgram& program) {
  const auto names = used_names(program);
  return std::any_of(names.begin(), names.end(),
                     [](const auto& name) { return name.starts_with("iterations_at_"); });
}

class WholeLaunch : public ::testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    if (GetParam().compiler == Compiler::nvcc && !nvcc_version()) GTEST_SKIP() << "no nvcc on this machine";
  }
};

TEST_P(WholeLaunch, IsWhatEveryWarpExecutes) {
  const auto source = compiled(file, GetParam());
  if (!source) return;
  const std::vector<Dimensions> blocks = {{256, 1, 1}, {32, 8, 1}, {16, 16, 1}, {8, 8, 4}, {24, 5, 1}};
  const std::vector<Dimensions> grids = {{5, 1, 1}, {3, 4, 1}, {2, 3, 2}};
  // Each block with each grid for one build; for the others, each block with one grid.
  const bool every_grid = std::string_view(GetParam().name) == builds().front().name;
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    const Dimensions& block = blocks[index];
    AnalyzeOptions options;
    options.block = three(block);
    const auto analysis = analyze(*source, options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    for (const auto& kernel : analysis->kernels) {
      // nvcc's copies of a loop whose step is the grid's or an argument, or that begins at a lane: their counts have no
      // closed form, and are asked for.
      if (asks(kernel.program)) {
        EXPECT_EQ(GetParam().compiler, Compiler::nvcc);
        EXPECT_TRUE(kernel.program.provenance.kernel.ends_with("_stride"));
        continue;
      }
      const WarpProgram warps(kernel.program);
      const auto loaded = load_text(source->ptx, kernel.program.provenance.symbol);
      ASSERT_TRUE(loaded);
      for (const Dimensions& grid : every_grid ? grids : std::vector{grids[index % grids.size()]}) {
        for (const int w : {37}) {
          const int n = w * 11;
          SCOPED_TRACE(fmt::format("{}, block {}x{}x{}, grid {}x{}x{}, w = {}",
                                   kernel.program.provenance.kernel, block.x, block.y, block.z, grid.x,
                                   grid.y, grid.z, w));
          Totals executed;
          const auto outcome = launch(*loaded, {grid, block},
                                      {buffer(std::vector<float>(elements)),
                                       buffer(std::vector<float>(elements)), value(w), value(n)},
                                      {}, &executed);
          for (const auto& finding : outcome.execution.findings) ADD_FAILURE() << finding.message;
          Bindings values{{"w", w}, {"n", n}};
          values.insert({{"blockDim.x", block.x}, {"blockDim.y", block.y}, {"blockDim.z", block.z}});
          values.insert({{"gridDim.x", grid.x}, {"gridDim.y", grid.y}, {"gridDim.z", grid.z}});
          WarpOptions sectors_too;
          sectors_too.sectors = true;
          sectors_too.budget = 20'000'000;
          const auto said = warps.launch(values, {three(grid), three(block)}, {}, sectors_too);
          ASSERT_TRUE(said) << to_text(said.diagnostics());
          EXPECT_EQ(text_of(said->total), text_of(executed.totals));
          EXPECT_FALSE(said->sampled || said->threads_unknown || said->sectors_unknown);
        }
      }
    }
  }
}

std::vector<Build> optimised() {
  std::vector<Build> some;
  for (const Build& build : builds())
    if (build.flags.empty()) some.push_back(build);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Builds, WholeLaunch, ::testing::ValuesIn(optimised()),
                         [](const auto& build) { return std::string(build.param.name); });

}  // namespace
}  // namespace warptime::execute::testing
