// What items wait for contains what execution shows: for every kernel of the repository as each compiler makes it, and
// for random programs whose calculation uses what they load. And the times of programs with these details are those of
// programs without.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "analyzer/pipeline.h"
#include "simulator/program/warps.h"
#include "tests/execute/builds.h"
#include "tests/execute/harness.h"
#include "tests/execute/launch_totals.h"
#include "tests/execute/launches.h"
#include "tests/execute/random_ptx.h"
#include "tests/execute/segmentation_text.h"
#include "tests/execute/waits.h"

namespace warptime::execute::testing {
namespace {

AnalyzeOptions with_detail(const std::string& kernel, bool assembled = false) {
  AnalyzeOptions options;
  options.kernel = kernel;
  options.machine = assembled ? AnalyzeOptions::Machine::assembled : AnalyzeOptions::Machine::estimated;
  return options;
}

// ---- the kernels of the repository

class Dependences : public ::testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    if (GetParam().compiler == Compiler::nvcc && !nvcc_version()) GTEST_SKIP() << "no nvcc on this machine";
  }

  void folder(const std::string& name) {
    int reads = 0;
    for (const auto& file : cuda_files(name)) {
      const auto source = compiled(file, GetParam());
      ASSERT_TRUE(source);
      for (const auto& kernel : source->kernels) {
        SCOPED_TRACE(fmt::format("{} of {}, {}", kernel.name, file, GetParam().name));
        reads += one(*source, kernel, std::string_view(GetParam().name) == "nvcc");
        if (HasFailure()) return;
      }
    }
    EXPECT_GT(reads, 0);
  }

 private:
  static int one(const Source& source, const KernelSignature& kernel, bool assembled) {
    const auto analysis = analyze(source, with_detail(kernel.symbol, assembled));
    const auto plain = analyze(source, {.kernel = kernel.symbol});
    EXPECT_TRUE(analysis && plain);
    if (!analysis || !plain) return 0;
    const auto loaded = load_text(source.ptx, kernel.symbol);
    EXPECT_TRUE(loaded);
    const auto& program = analysis->kernels[0].program;
    int reads = 0;
    for (const auto& trial : trial_launches(source.file, kernel)) {
      const auto bindings = bindings_of(trial);
      same_times(program, plain->kernels[0].program, bindings, trial.how);
      StreamRecorder stream({{0, 0}});
      const auto outcome = launch(*loaded, trial.how, arguments_of(*loaded, kernel, trial), {}, &stream);
      if (!outcome.execution.completed) continue;
      const auto kernel_index = find_kernel(*loaded->module, kernel.symbol, "");
      const auto seen = waited(program, bindings, *loaded->module, *kernel_index, stream.stream());
      EXPECT_EQ(seen.wrong, "");
      reads += seen.reads;
    }
    return reads;
  }

  static void same_times(const KernelProgram& program, const KernelProgram& plain, const Bindings& bindings,
                         const LaunchConfig& how) {
    const auto schedule = make_schedule(program, bindings, paper_durations());
    const auto other = make_schedule(plain, bindings, paper_durations());
    ASSERT_EQ(static_cast<bool>(schedule), static_cast<bool>(other));
    if (!schedule) return;
    const auto periods = written_out(*schedule, 1 << 20), expected = written_out(*other, 1 << 20);
    ASSERT_EQ(static_cast<bool>(periods), static_cast<bool>(expected));
    if (periods) {
      EXPECT_EQ(text_of(*periods), text_of(*expected));
    }
    const LaunchSize size{three(how.grid), three(how.block)};
    const auto warps = WarpProgram(program).launch(bindings, size, {}, {});
    const auto plain_warps = WarpProgram(plain).launch(bindings, size, {}, {});
    ASSERT_EQ(static_cast<bool>(warps), static_cast<bool>(plain_warps));
    if (!warps) return;
    EXPECT_EQ(text_of(warps->total), text_of(plain_warps->total));
    EXPECT_EQ(warps->groups.size(), plain_warps->groups.size());
  }
};

TEST_P(Dependences, OfTheTransforms) {
  folder("dwt_kernels");
}
TEST_P(Dependences, OfTheSamples) {
  folder("samples");
}
TEST_P(Dependences, OfSmallKernels) {
  folder("tests/analyzer/kernels");
}

INSTANTIATE_TEST_SUITE_P(Builds, Dependences, ::testing::ValuesIn(builds()),
                         [](const auto& tested) { return std::string(tested.param.name); });

// ---- random programs

// The program's text with more calculation on what it loads: its registers of floating point decide nothing.
std::string with_uses(const std::string& text, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::uint64_t count) { return random() % count; };
  constexpr std::uint64_t registers = 4;
  std::istringstream in(text);
  std::string out, line;
  while (std::getline(in, line)) {
    const bool is_code = line.find("%f") != std::string::npos && line.find(".reg") == std::string::npos;
    if (is_code && line.find("ld.") != std::string::npos && line.find('{') == std::string::npos)
      line.replace(line.find("%f"), 3, fmt::format("%f{}", one_of(registers)));
    out += line + "\n";
    if (!is_code || line.find(';') == std::string::npos) continue;
    for (auto more = one_of(4); more > 0; --more) {
      const auto a = one_of(registers), b = one_of(registers), c = one_of(registers);
      if (one_of(2) == 0)
        out += fmt::format("mov.f32 %f{}, %f{};\n", a, b);
      else
        out += fmt::format("add.f32 %f{}, %f{}, %f{};\n", a, b, c);
    }
  }
  return out;
}

Bindings bindings_of(const RandomProgram& program, const std::vector<std::int64_t>& arguments) {
  Bindings bindings{{"blockDim.x", program.threads}, {"blockDim.y", 1}, {"blockDim.z", 1},
                    {"gridDim.x", program.blocks},   {"gridDim.y", 1},  {"gridDim.z", 1}};
  for (std::size_t i = 0; i < arguments.size(); ++i) bindings[fmt::format("n{}", i)] = arguments[i];
  return bindings;
}

TEST(RandomDependences, ContainWhatExecutionShows) {
  constexpr std::uint64_t programs = 400;
  int compared = 0, reads = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const auto program = random_program(seed, {.calls = false});
    const auto text = with_uses(to_ptx(program), seed);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto analysis = analyze(ptx_source("random.ptx", text), with_detail({}));
    if (!analysis) continue;
    const auto loaded = load_text(text);
    ASSERT_TRUE(loaded) << text;
    for (const auto& arguments : program.argument_sets) {
      auto memory = Memory::create(*loaded->code);
      const auto buffer = memory->allocate("memory", random_program_memory_bytes);
      std::vector<Argument> passed{pointer(*loaded->code, *memory, *buffer)};
      for (const auto argument : arguments) passed.push_back(scalar(static_cast<std::int32_t>(argument)));
      Options options;
      options.checks = Checks::none();
      options.instruction_budget = 20'000;
      StreamRecorder stream({{0, 0}});
      const auto execution =
          run(*loaded->code, *memory, {{program.blocks}, {program.threads}}, passed, options, &stream);
      if (!execution || !execution->completed) continue;
      const auto seen = waited(analysis->kernels[0].program, bindings_of(program, arguments), *loaded->module,
                               0, stream.stream());
      compared += seen.compared;
      reads += seen.reads;
      EXPECT_EQ(seen.compared ? seen.wrong : "", "") << text << to_yaml(analysis->kernels[0].program);
      if (HasFailure()) return;
    }
  }
  std::printf("%d launches compared, %d reads of loads' results\n", compared, reads);
  EXPECT_GT(compared, 100);
  EXPECT_GT(reads, 1000);
}

}  // namespace
}  // namespace warptime::execute::testing
