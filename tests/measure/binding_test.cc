// Plans bound to sizes: what goes to the driver, and what is said of plans that cannot be run.
#include "measure/binding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>

#include "measure/arrays.h"
#include "measure/reference.h"

namespace warptime::measuring {
namespace {

const std::map<std::string, std::string> kFiles = {
    {"scale.cu",
     "__constant__ float table[4];\n"
     "__global__ void scale(int N, float by, double more, short small, float *in, float *out)\n"
     "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < N) out[i] = by * in[i] + (float)more + small; "
     "}\n"
     "__global__ void look(int N, float *out) { if (threadIdx.x < N) out[threadIdx.x] = table[threadIdx.x % "
     "4]; }\n"},
    {"transpose.cu",
     "__global__ void transpose(int n, int rows, const float *in, float *out) {\n"
     "  extern __shared__ float tile[];\n"
     "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
     "  int place = threadIdx.y * blockDim.x + threadIdx.x;\n"
     "  if (x < n && y < n && y < rows) { tile[place] = in[y * n + x]; out[x * n + y] = tile[place]; }\n"
     "}\n"},
    {"struct.cu", "struct Pair { int a, b, c; };\n__global__ void pair(Pair p, int *x) { *x = p.a; }\n"},
    {"two.cu", "struct Two { int a, b; };\n__global__ void two(Two p, int *x) { *x = p.a + p.b; }\n"},
    {"program.yaml", "program: [calc: 3]\n"}};

struct Made {
  Plan plan;
  PlanKernels kernels;
};

Result<Made> make(const std::string& text) {
  auto plan = read_plan(text, "p.yaml");
  if (!plan) return plan.diagnostics();
  const auto read = [](const std::string& file) -> Result<std::string> {
    const auto found = kFiles.find(file);
    if (found == kFiles.end()) return error_at(file, 0, 0, "no such file");
    return found->second;
  };
  auto kernels = PlanKernels::load(*plan, read, {});
  if (!kernels) return kernels.diagnostics();
  return Made{std::move(*plan), std::move(*kernels)};
}

const Gpu& gpu() {
  return **GpuCatalogue::bundled().find("h200");
}

std::string bound_text(const std::string& text, const Bindings& parameters,
                       std::optional<std::int64_t> threads = {}) {
  const auto made = make(text);
  if (!made) return to_text(made.diagnostics());
  const auto bound = bind_plan(made->plan, made->kernels, parameters, gpu(), threads);
  return bound ? to_text(*bound, made->kernels) : to_text(bound.diagnostics());
}

const std::string kScale = R"yaml(
name: p
parameters: [N]
arrays: {a: N, b: {elements: 2 * N, fill: zeros}}
launches:
  - {kernel: scale.cu, entry: scale, threads: N, repeat: 2, counter: i, arguments: {small: -1 - i, by: 0.25, more: 3, in: "if(i == 0, a, b)", out: b + i * N}}
)yaml";

TEST(Binding, ArgumentsAreThePlansTheCountersAndTheArrays) {
  EXPECT_EQ(bound_text(kScale, {{"N", 64}}),
            "  a: 64 x f32, random\n"
            "  b: 128 x f32, zeros\n"
            "  scale<<<2, 32>>>(N=64, by=0.25, more=3, small=-1, in=a, out=b)\n"
            "  scale<<<2, 32>>>(N=64, by=0.25, more=3, small=-2, in=b, out=b + 64)\n");
}

TEST(Binding, ThreadsPerBlockCanBeGivenWhereThePlanLeavesThem) {
  const auto text = bound_text(kScale, {{"N", 100}}, 64);
  EXPECT_NE(text.find("scale<<<2, 64>>>"), std::string::npos) << text;
}

TEST(Binding, ALaunchInSeveralDimensionsIsBoundAndRun) {
  const std::string plan = R"yaml(
name: p
parameters: [N]
arrays: {in: N * N, out: {elements: N * N, fill: zeros}}
launches:
  - kernel: transpose.cu
    grid: [ceil_div(N, 8), ceil_div(N, 4)]
    block: [8, 4]
    shared: 4 * blockDim.x * blockDim.y
    arguments: {n: N, rows: blockDim.y * gridDim.y}
)yaml";
  EXPECT_EQ(bound_text(plan, {{"N", 10}}),
            "  in: 100 x f32, random\n"
            "  out: 100 x f32, zeros\n"
            "  transpose<<<dim3(2, 3), dim3(8, 4), 128>>>(n=10, rows=12, in=in, out=out)\n");
  const auto made = make(plan);
  ASSERT_TRUE(made) << to_text(made.diagnostics());
  const auto bound = bind_plan(made->plan, made->kernels, {{"N", 10}}, gpu());
  ASSERT_TRUE(bound) << to_text(bound.diagnostics());
  Arrays before;
  for (const auto& array : bound->arrays) before.push_back(*contents_of(array));
  const auto after = run_reference(*bound, made->kernels, before, 1'000'000);
  ASSERT_TRUE(after) << to_text(after.diagnostics());
  for (std::size_t y = 0; y < 10; ++y) {
    for (std::size_t x = 0; x < 10; ++x) {
      EXPECT_EQ(std::memcmp(&after->arrays[1][4 * (x * 10 + y)], &before[0][4 * (y * 10 + x)], 4), 0)
          << x << ", " << y;
    }
  }
}

TEST(Binding, AnArrayOfAVariablesNameIsItsContents) {
  const auto made = make(
      "name: p\narrays: {table: 4, out: {elements: 8, fill: zeros}}\n"
      "launches: [{kernel: scale.cu, entry: look, blocks: 1, threads_per_block: 32, arguments: {N: 8}}]\n");
  ASSERT_TRUE(made) << to_text(made.diagnostics());
  const auto bound = bind_plan(made->plan, made->kernels, {}, gpu());
  ASSERT_TRUE(bound) << to_text(bound.diagnostics());
  Arrays before;
  for (const auto& array : bound->arrays) before.push_back(*contents_of(array));
  const auto after = run_reference(*bound, made->kernels, before, 1'000'000);
  ASSERT_TRUE(after) << to_text(after.diagnostics());
  auto twice = before[0];
  twice.insert(twice.end(), before[0].begin(), before[0].end());
  EXPECT_EQ(after->arrays[1], twice);
}

TEST(Binding, SaysWhatIsMissingOrWrong) {
  const std::string head = "name: p\nparameters: [N]\n";
  const auto launch = [](const std::string& arguments) {
    return "launches:\n  - {kernel: scale.cu, entry: scale, threads: N, arguments: {" + arguments + "}}\n";
  };
  const std::string arrays = "arrays: {in: N, out: N}\n", all = "by: 0.5, more: 1, small: 2";
  const struct {
    std::string plan, message;
  } cases[] = {
      {head + launch(all), "p.yaml:4: error: the argument `in` (float *) of scale has no array"},
      {head + "arrays: {in: N, output: N}\n" + launch(all), "arguments: {out: output} at the launch"},
      {head + arrays + launch("by: 0.5, more: 1"), "the argument `small` (short) of scale has no value"},
      {head + arrays + launch("by: 0.5, more: 1, small: 70000"),
       "the argument `small`: 70000 does not fit 16 bits"},
      {head + arrays + launch(all + ", in: 3"), "`in` of scale is a pointer, not a number"},
      {head + arrays + launch("by: in, more: 1, small: 2"), "`by` of scale is float, not a pointer"},
      {head + arrays + launch(all + ", in: in + N + 1"),
       "the argument `in`: in + N + 1 points into none of the arrays"},
      {head + arrays + launch(all + ", in: in - 1"), "points into none of the arrays"},
      {head + "arrays: {in: N, out: N, rest: 4}\n" + launch(all),
       "p.yaml:3: error: nothing uses the array `rest`"},
      {head + "arrays: {in: N - 100, out: N}\n" + launch(all), "the array `in` has -36 elements"},
      {head + "launches: [{kernel: program.yaml, threads: N}]\n",
       "program.yaml: error: is a kernel program, not code"},
      {head + "launches: [{kernel: gone.cu, threads: N}]\n", "gone.cu: error: no such file"},
      {head + "launches: [{kernel: scale.cu, threads: N}]\n",
       "the input has several kernels: scale and look"},
      {head + "launches: [{kernel: scale.cu, entry: scala, threads: N}]\n", "did you mean `scale`?"},
      {head + "launches: [{kernel: struct.cu, threads: N}]\n",
       "the argument `p` of _Z4pair4PairPi is Pair (12 bytes)"},
      {head + "launches: [{kernel: two.cu, threads: N, arguments: {p: 1, p_4: 2}}]\n",
       "the argument `p` of _Z3two3TwoPi is Two (8 bytes)"},
      {head + arrays +
           "launches:\n  - {kernel: scale.cu, entry: scale, blocks: N, threads_per_block: 2048, arguments: "
           "{" +
           all + "}}\n",
       "2048"},
      {head + arrays +
           "launches:\n  - {kernel: scale.cu, entry: scale, threads: N, repeat: 2^40, arguments: {" + all +
           "}}\n",
       "more than 100000 launches in one run"}};
  for (const auto& one : cases) {
    const auto text = bound_text(one.plan, {{"N", 64}});
    EXPECT_NE(text.find(one.message), std::string::npos) << one.plan << text;
  }
}

TEST(Binding, AnArrayMayBeThatOfALaunchLeftOut) {
  const std::string text = bound_text(
      "name: p\nparameters: {N: n, which: w}\narrays: {in: N, out: N, first: N}\nlaunches:\n"
      "  - {kernel: scale.cu, entry: scale, threads: N, repeat: which == 0, arguments: {by: 1.5, more: 1, "
      "small: 2}}\n"
      "  - {kernel: scale.cu, entry: look, threads: N, repeat: which == 1, arguments: {out: first}}\n",
      {{"N", 64}, {"which", 1}});
  EXPECT_NE(text.find("look"), std::string::npos) << text;
  EXPECT_EQ(text.find("error"), std::string::npos) << text;
}

TEST(Reference, SaysWhatAKernelDoesWrong) {
  const auto made = make(
      "name: p\narrays: {in: 64, out: 60}\nlaunches:\n"
      "  - {kernel: scale.cu, entry: scale, blocks: 2, threads_per_block: 32, arguments: {N: 64, by: 0.5, "
      "more: 1, small: 2}}\n");
  ASSERT_TRUE(made) << to_text(made.diagnostics());
  const auto bound = bind_plan(made->plan, made->kernels, {}, gpu());
  ASSERT_TRUE(bound);
  Arrays before;
  for (const auto& array : bound->arrays) before.push_back(*contents_of(array));
  const auto after = run_reference(*bound, made->kernels, before, 1'000'000);
  ASSERT_FALSE(after);
  EXPECT_NE(to_text(after.diagnostics()).find("past the end of `out`"), std::string::npos)
      << to_text(after.diagnostics());
  EXPECT_TRUE(run_reference(*bound, made->kernels, before, 3)->too_large)
      << "three instructions are no launch";
}

TEST(Reference, FloatsMayDifferByRoundingsAndNothingElse) {
  PlanArray floats, ints;
  floats.name = "x";
  ints.name = "n";
  ints.type = ElementType::i32;
  BoundPlan bound;
  bound.arrays = {{&floats, 2, 0, true, {}}, {&ints, 1, 0, true, {}}};
  const auto bytes = [](auto... values) {
    std::vector<std::byte> all;
    (
        [&] {
          const auto value = execute::scalar(values);
          all.insert(all.end(), value.begin(), value.end());
        }(),
        ...);
    return all;
  };
  const Arrays wanted = {bytes(1.0f, 1000.0f), bytes(7)};
  EXPECT_TRUE(compare(bound, wanted, {bytes(1.001f, 1000.0f), bytes(7)}).empty()) << "1e-6 of the largest";
  EXPECT_NE(to_text(compare(bound, wanted, {bytes(1.1f, 1000.0f), bytes(7)}))
                .find("x[0] is 1.100000023841858 on the GPU and 1 on the CPU"),
            std::string::npos);
  EXPECT_FALSE(
      compare(bound, wanted, {bytes(1.0f, std::numeric_limits<float>::quiet_NaN()), bytes(7)}).empty());
  EXPECT_FALSE(compare(bound, wanted, {bytes(1.0f, 1000.0f), bytes(8)}).empty());
}

}  // namespace
}  // namespace warptime::measuring
