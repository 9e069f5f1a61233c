// Every kernel of the repository in blocks of four shapes, most of which it was not written for, and in grids that do
// not divide its problem: what the analysis says of the whole launch is what the executor counts, warp instructions,
// loads, stores and sectors. A kernel that is written for blocks in one dimension executes something in others, too, as
// long as its accesses stay inside its arrays: these are large here, and pointers point into their middle.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "analyzer/pipeline.h"
#include "simulator/program/walk.h"
#include "simulator/program/warps.h"
#include "tests/execute/builds.h"
#include "tests/execute/harness.h"
#include "tests/execute/launch_totals.h"
#include "tests/execute/launches.h"

namespace warptime::execute::testing {
namespace {

constexpr std::size_t array_bytes = 1 << 20;

struct Shape {
  const char* name;
  Dimensions block, grid;
};
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{"256", {256}, {3}},
                                         {"32x8", {32, 8}, {3, 2}},
                                         {"16x16", {16, 16}, {5, 3}},
                                         {"8x8x4", {8, 8, 4}, {3, 2, 2}}};
  return all;
}
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.name;
}

enum class Reason : std::uint8_t { past_shared_memory, data_decide };

// The kernels of which launches are not compared, by the names of the shapes, and why. Those that leave their shared
// memory do so in some sizes at least.
struct NotCompared {
  std::string kernel, shapes;
  Reason reason;
};
const std::vector<NotCompared>& not_compared() {
  static const std::vector<NotCompared> all = {
      // 64 pixels of a block of 8 x 8, by threadIdx.x.
      {"dct2_8x8", "256", Reason::past_shared_memory},
      // 128 threads of a block, by threadIdx.x.
      {"fwt_columns", "256", Reason::past_shared_memory},
      {"fwt_frames", "256", Reason::past_shared_memory},
      {"fwt_rows", "256", Reason::past_shared_memory},
      {"laan_rows", "256", Reason::past_shared_memory},
      {"lift_rows", "256", Reason::past_shared_memory},
      // Its inner loop follows a permutation that another loop has found.
      {"chunk_rearrangement", "256 32x8 16x16 8x8x4", Reason::data_decide},
      // A loaded number is a branch's condition, a loop's end, an index.
      {"on_data", "256 32x8 16x16 8x8x4", Reason::data_decide},
      {"until_data", "256 32x8 16x16 8x8x4", Reason::data_decide},
      {"scattered", "256 32x8 16x16 8x8x4", Reason::data_decide},
  };
  return all;
}

// Sizes that no block above divides.
const std::vector<Bindings>& odd_sizes() {
  static const std::vector<Bindings> all = {
      {{"K", 4},
       {"N", 200},
       {"R", 72},
       {"C", 88},
       {"b", 32},
       {"l", 2},
       {"levels", 1},
       {"F", 8},
       {"n", 1},
       {"threads", 768}},
      {{"K", 8},
       {"N", 296},
       {"R", 40},
       {"C", 136},
       {"b", 64},
       {"l", 1},
       {"levels", 2},
       {"F", 16},
       {"n", 2},
       {"threads", 1536}},
  };
  return all;
}

Given given_argument(const KernelArgument& argument, std::uint64_t bytes, const Bindings& numbers) {
  if (argument.type.find('*') != std::string::npos) {
    auto array = buffer(std::vector<float>(array_bytes / sizeof(float)));
    array.offset = array_bytes / 2;
    return array;
  }
  if (argument.type == "float") return value(0.5f);
  if (argument.type == "double") return value(0.5);
  const auto found = numbers.find(argument.name);
  const auto number = found == numbers.end() ? 0 : found->second;
  return bytes == 8 ? value(number) : value(static_cast<std::int32_t>(number));
}

// What the program has a parameter for: branches and loops, or an access without a place in its array.
bool data_decide(const KernelProgram& program) {
  bool found = std::any_of(program.parameters.begin(), program.parameters.end(), [](const auto& parameter) {
    return parameter.share || parameter.name.starts_with("iterations_at_");
  });
  for_each_item(program.program, [&](const Item& item) {
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    found = found || (access != nullptr && !access->address);
  });
  return found;
}

class BlockShapes : public ::testing::TestWithParam<Shape> {
 protected:
  void folder(const std::string& name) {
    for (const auto& file : cuda_files(name)) {
      const auto source = compiled(file, builds().front());
      ASSERT_TRUE(source);
      AnalyzeOptions options;
      options.block = three(GetParam().block);
      const auto analysis = analyze(*source, options);
      ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
      for (const auto& kernel : source->kernels)
        for (const auto& analysed : analysis->kernels)
          if (analysed.program.provenance.symbol == kernel.symbol)
            compare_kernel(*source, kernel, analysed.program);
    }
    std::cout << fmt::format(
        "{}, blocks of {}: {} kernels compared in {} launches, {} launches impossible, {} kernels not "
        "compared: {}\n",
        name, GetParam().name, compared_, launches_, impossible_, skipped_.size(), fmt::join(skipped_, ", "));
  }

 private:
  static std::optional<Reason> reason_not_to(const std::string& kernel) {
    for (const auto& one : not_compared())
      if (one.kernel == kernel &&
          (" " + one.shapes + " ").find(fmt::format(" {} ", GetParam().name)) != std::string::npos)
        return one.reason;
    return std::nullopt;
  }

  void compare_kernel(const Source& source, const KernelSignature& kernel, const KernelProgram& program) {
    const auto reason = reason_not_to(kernel.name);
    SCOPED_TRACE(fmt::format("{} of {}, blocks of {}", kernel.name, source.file, GetParam().name));
    EXPECT_TRUE(reason != Reason::data_decide || data_decide(program));
    const int launches_before = launches_, impossible_before = impossible_;
    if (reason != Reason::data_decide) {
      const auto loaded = load_text(source.ptx, kernel.symbol);
      ASSERT_TRUE(loaded);
      for (const auto& trial : trial_launches(source.file, kernel, odd_sizes()))
        compare_launch(*loaded, kernel, program, trial.numbers);
      EXPECT_EQ(impossible_ > impossible_before, reason == Reason::past_shared_memory);
    }
    if (launches_ > launches_before)
      ++compared_;
    else
      skipped_.push_back(kernel.name);
  }

  void compare_launch(const Loaded& loaded, const KernelSignature& kernel, const KernelProgram& program,
                      const Bindings& numbers) {
    std::string shown;
    for (const auto& [name, number] : numbers) shown += fmt::format(" {}={}", name, number);
    SCOPED_TRACE(shown);
    const auto wanted = parameters(*loaded.code);
    std::vector<Given> arguments;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      arguments.push_back(given_argument(kernel.arguments[i], wanted[i].bytes, numbers));
    const auto &block = GetParam().block, &grid = GetParam().grid;
    Totals executed;
    const auto outcome = launch(loaded, {grid, block}, arguments, {}, &executed);
    if (!outcome.execution.completed) {
      const auto& last = outcome.execution.findings.back();
      EXPECT_EQ(last.kind, Finding::Kind::out_of_bounds) << last.message;
      EXPECT_NE(last.message.find("of shared memory"), std::string::npos) << last.message;
      ++impossible_;
      return;
    }
    Bindings values{{"blockDim.x", block.x}, {"blockDim.y", block.y}, {"blockDim.z", block.z},
                    {"gridDim.x", grid.x},   {"gridDim.y", grid.y},   {"gridDim.z", grid.z}};
    for (const auto& [name, number] : numbers) values[name] = number;
    WarpOptions options;
    options.sectors = true;
    options.budget = 20'000'000;
    const auto said = WarpProgram(program).launch(values, {three(grid), three(block)}, {}, options);
    ASSERT_TRUE(said) << to_text(said.diagnostics());
    EXPECT_FALSE(said->sampled || said->threads_unknown || said->sectors_unknown);
    EXPECT_EQ(text_of(said->total), text_of(executed.totals));
    ++launches_;
  }

  int compared_ = 0, launches_ = 0, impossible_ = 0;
  std::vector<std::string> skipped_;
};

TEST_P(BlockShapes, OfTheTransforms) {
  folder("dwt_kernels");
}
TEST_P(BlockShapes, OfTheSamples) {
  folder("samples");
}
TEST_P(BlockShapes, OfSmallKernels) {
  folder("tests/analyzer/kernels");
}

INSTANTIATE_TEST_SUITE_P(Block, BlockShapes, ::testing::ValuesIn(shapes()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace warptime::execute::testing
