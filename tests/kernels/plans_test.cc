// Every bundled kernel has a plan, and every plan says all that the analysis of its kernels asks for.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analyzer/pipeline.h"
#include "simulator/plan/plan.h"
#include "tests/kernels/gpu.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

namespace fs = std::filesystem;

// Files of the repository with this ending, relative to it; host code is no kernel.
std::vector<std::string> files(const std::string& ending) {
  std::vector<std::string> result;
  for (const char* room : {"dwt_kernels", "samples"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(WARPTIME_SOURCE_DIR) / room)) {
      const auto name = fs::relative(entry.path(), WARPTIME_SOURCE_DIR).generic_string();
      if (name.ends_with(ending) && !name.starts_with("dwt_kernels/host/")) result.push_back(name);
    }
  std::sort(result.begin(), result.end());
  return result;
}

const Analysis* analysed(const std::string& file, Compiler compiler) {
  static std::map<std::pair<std::string, Compiler>, std::unique_ptr<Analysis>> made;
  auto& entry = made[{file, compiler}];
  if (entry) return entry.get();
  CompileOptions options;
  options.compiler = compiler;
  auto source = compile_cuda(file, read_file(file), options);
  EXPECT_TRUE(source) << to_text(source.diagnostics());
  if (!source) return nullptr;
  auto analysis = analyze(std::move(*source), {});
  EXPECT_TRUE(analysis) << to_text(analysis.diagnostics());
  if (!analysis) return nullptr;
  entry = std::make_unique<Analysis>(std::move(*analysis));
  return entry.get();
}

class Plans : public testing::TestWithParam<Compiler> {
 protected:
  // `known`: the plan's parameters, and the counters around.
  void check(const std::vector<PlanStep>& steps, const std::string& folder, std::set<std::string> known) {
    for (const auto& step : steps) {
      auto inner = known;
      if (!step.counter.empty()) inner.insert(step.counter);
      if (step.launch)
        check(*step.launch, folder, inner);
      else
        check(step.steps, folder, inner);
    }
  }

  void check(const PlanLaunch& launch, const std::string& folder, std::set<std::string> known) {
    if (!launch.kernel.ends_with(".cu")) return;
    const auto file = folder + "/" + launch.kernel;
    const auto* analysis = analysed(file, GetParam());
    if (analysis == nullptr) return;
    const auto& kernels = analysis->kernels;
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const auto& one) {
      return one.program.provenance.kernel == launch.entry;
    });
    ASSERT_NE(kernel, kernels.end()) << file << " has no kernel " << launch.entry;
    for (const auto& [name, expression] : launch.arguments) known.insert(name);
    EXPECT_EQ(kernel->program.instructions_modelled, kernel->program.instructions_total);
    for (const auto& parameter : kernel->program.parameters)
      EXPECT_TRUE(known.contains(parameter.name) || is_launch_dimension(parameter.name) || parameter.share)
          << launch.entry << " asks for " << parameter.name;
    used_.insert(file + ":" + launch.entry);
  }

  std::set<std::string> used_;
};
INSTANTIATE_TEST_SUITE_P(By, Plans, testing::ValuesIn(compilers()),
                         [](const auto& of) { return name_of(of.param); });

TEST_P(Plans, SayAllThatTheirKernelsAskFor) {
  std::set<std::string> names;
  for (const auto& file : files(".plan.yaml")) {
    SCOPED_TRACE(file);
    const auto plan = read_plan(read_file(file), file);
    ASSERT_TRUE(plan) << to_text(plan.diagnostics());
    EXPECT_FALSE(plan->description.empty());
    EXPECT_EQ(plan->description.find('\n'), std::string::npos);
    EXPECT_TRUE(names.insert(plan->name).second) << "two plans are called " << plan->name;
    std::set<std::string> known;
    for (const auto& parameter : plan->parameters) known.insert(parameter.name);
    check(plan->steps, fs::path(file).parent_path().generic_string(), known);
  }
  for (const auto& file : files(".cu")) {
    SCOPED_TRACE(file);
    const auto* analysis = analysed(file, GetParam());
    if (analysis == nullptr) continue;
    for (const auto& kernel : analysis->kernels) {
      const auto& name = kernel.program.provenance.kernel;
      EXPECT_TRUE(used_.contains(file + ":" + name)) << name << " is in no plan";
      // Counts are forms of the kernels' arguments, but where data decide: how long a circular permutation
      // is.
      for (const auto& parameter : kernel.program.parameters)
        EXPECT_TRUE(parameter.share || parameter.name.find("_at_line_") == std::string::npos ||
                    name == "chunk_rearrangement")
            << name << " has the needless parameter " << parameter.name;
    }
  }
}

// Says whether the other tests of this folder ran their launches on a GPU, too.
TEST(Gpu, RunsTheSameLaunches) {
  if (!gpu_here()) GTEST_SKIP() << "no GPU on this machine: the kernels were executed on the CPU alone";
  GpuLaunch launch;
  launch.ptx = "no PTX";
  EXPECT_NE(run_on_gpu(launch), "") << "what the driver refuses is an error";
}

}  // namespace
}  // namespace warptime::kernels
