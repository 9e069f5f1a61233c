// From .cu to kernel programs, with both compilers, rolled and unrolled: what loops, branches and accesses
// become.
#include <algorithm>
#include <bit>
#include <functional>

#include "simulator/program/walk.h"
#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

struct LoopCase {
  const char* kernel;
  std::function<std::int64_t(std::int64_t)> iterations;  // of the innermost loop, for n
};

std::int64_t steps_doubling(std::int64_t from, std::int64_t factor,
                            const std::function<bool(std::int64_t)>& stays) {
  std::int64_t iterations = 0;
  for (auto h = from; stays(h); h *= factor) ++iterations;
  return iterations;
}

std::int64_t steps_halving(std::int64_t from) {
  std::int64_t iterations = 0;
  for (auto h = from; h > 0; h /= 2) ++iterations;
  return iterations;
}

const LoopCase loop_cases[] = {
    {"up", [](auto n) { return n; }},
    {"down", [](auto n) { return n; }},
    {"up_by_3", [](auto n) { return (n + 2) / 3; }},
    {"down_by_2", [](auto n) { return (n + 1) / 2; }},
    {"until_equal", [](auto n) { return n; }},
    {"pointers", [](auto n) { return n; }},
    {"doubling", [](auto n) { return steps_doubling(1, 2, [n](auto h) { return h < n; }); }},
    {"doubling_from_3", [](auto n) { return steps_doubling(3, 2, [n](auto h) { return h <= n; }); }},
    {"quadrupling", [](auto n) { return steps_doubling(1, 4, [n](auto h) { return h < n; }); }},
    {"halving", [](auto n) { return steps_halving(n / 2); }},
    {"triangle", [](auto n) { return n * (n - 1) / 2; }},
    {"triangle_upper", [](auto n) { return n * (n + 1) / 2; }},
    {"nest", [](auto n) { return n * 5; }},  // m = 5
    {"by_while", [](auto n) { return (n + 1) / 2; }},
    {"by_do", [](auto n) { return std::max<std::int64_t>(n, 1); }},
    {"unsigned_count", [](auto n) { return n; }},
    {"long_count", [](auto n) { return n; }},
    {"four", [](auto) { return 4; }},
    {"hundred", [](auto) { return 100; }},
    {"half_of", [](auto n) { return n / 2; }},
    {"third_of", [](auto n) { return n / 3; }},
    {"condition_on_counter", [](auto n) { return n; }},
};

TEST(Pipeline, EveryLoopShapeRunsAsOftenAsItsSourceSays) {
  const auto text = read_file("tests/analyzer/kernels/loops.cu");
  for (const auto& way : ways_to_compile()) {
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << way.name << "\n" << to_text(analysis.diagnostics());
    for (const auto& c : loop_cases) {
      const auto& program = program_of(*analysis, c.kernel);
      for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 64, 100}) {
        SCOPED_TRACE(std::string(way.name) + ", " + c.kernel + ", n = " + std::to_string(n));
        const auto periods = flat(program, {{"n", n}, {"m", 5}});
        EXPECT_EQ(count(periods, PeriodKind::load), c.iterations(n)) << to_yaml(program);
        EXPECT_EQ(count(periods, PeriodKind::store), c.iterations(n));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Pipeline, ALoopOverTheGridCountsTheBusiestThread) {
  const auto text = read_file("tests/analyzer/kernels/loops.cu");
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options, {.kernel = "grid_stride"});
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = analysis->kernels[0].program;
    for (const auto& [n, iterations] :
         {std::pair<std::int64_t, std::int64_t>{1000, 4}, {1024, 4}, {1025, 5}, {256, 1}}) {
      const auto periods = flat(program, {{"n", n}, {"blockDim.x", 64}, {"gridDim.x", 4}});
      EXPECT_EQ(count(periods, PeriodKind::load), iterations) << n;
    }
    EXPECT_FALSE(program.assumptions.empty());
  }
}

// A product with a large odd number leaves 32 bits: what compares, shifts or divides it reads what is left.
TEST(Pipeline, HashesAreCutTo32BitsWhereTheyAreRead) {
  const auto iterations_of = [](const std::string& loop, std::int64_t thread) {
    const auto analysis = analyze_text(
        "__global__ void k(float* a, int n) {"
        "const int i = blockIdx.x * blockDim.x + threadIdx.x;" +
            loop + "a[i] = a[i] * n + 1; }",
        {});
    if (!analysis) return std::int64_t{-1};
    std::vector<Expression> counts;
    for_each_item(program_of(*analysis, "k").program, [&](const Item& item) {
      if (const auto* repeat = std::get_if<Repeat>(&item.what); repeat != nullptr && repeat->per_thread)
        counts.push_back(*repeat->per_thread);
    });
    const Bindings values{{"blockIdx.x", 3}, {"blockDim.x", 256}, {"threadIdx.x", thread}, {"n", 5}};
    std::int64_t most = -1;
    for (const Expression& one : counts)
      if (const auto count = evaluate_count(one, values)) most = std::max(most, *count);
    return most;
  };
  for (const std::int64_t thread : {1, 77, 200}) {
    const auto hash = static_cast<std::uint32_t>((3 * 256 + thread) * 2654435761u);
    EXPECT_EQ(iterations_of("for (unsigned e = i * 2654435761u >> 4; e > 0; e >>= 1)", thread),
              std::bit_width(hash >> 4));
    EXPECT_EQ(
        iterations_of("\n#pragma unroll 1\nfor (unsigned j = 0; j < i * 2654435761u >> 23; ++j)", thread),
        hash >> 23);
  }
}

// LLVM 19 lets the inner counter go from -32 to 0 and asks whether the sum wraps.
TEST(Pipeline, ALoopThatEndsWhereItsCounterWrapsHasAClosedForm) {
  const std::string ptx =
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".visible .entry staged_rows(.param .u64 staged_rows_param_0, .param .u64 staged_rows_param_1)\n{\n"
      ".reg .pred %p<5>;\n.reg .b32 %r<32>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<15>;\n"
      ".shared .align 4 .b8 tile[8320];\n"
      "ld.param.u64 %rd9, [staged_rows_param_1];\ncvta.to.global.u64 %rd1, %rd9;\nmov.u32 %r1, %tid.y;\n"
      "setp.gt.u32 %p1, %r1, 31;\nmov.u32 %r2, %tid.x;\nmov.u32 %r27, tile;\n@%p1 bra $L__BB0_4;\n"
      "ld.param.u64 %rd8, [staged_rows_param_0];\ncvta.to.global.u64 %rd2, %rd8;\nmov.u32 %r13, %ctaid.y;\n"
      "shl.b32 %r14, %r13, 11;\nshl.b32 %r15, %r2, 2;\nmad.lo.s32 %r16, %r1, 260, %r15;\n"
      "add.s32 %r28, %r27, %r16;\nadd.s32 %r4, %r2, -32;\nor.b32 %r18, %r2, %r14;\nshl.b32 %r19, %r1, 6;\n"
      "add.s32 %r20, %r18, %r19;\nmul.wide.u32 %rd10, %r20, 4;\nadd.s64 %rd13, %rd2, %rd10;\n"
      "setp.gt.u32 %p2, %r2, 63;\nmov.u32 %r29, %r1;\nbra.uni $L__BB0_2;\n$L__BB0_3:\n"
      "add.s32 %r7, %r29, 8;\nadd.s32 %r28, %r28, 2080;\nadd.s64 %rd13, %rd13, 2048;\n"
      "setp.lt.u32 %p4, %r29, 24;\nmov.u32 %r29, %r7;\n@%p4 bra $L__BB0_2;\nbra.uni $L__BB0_4;\n"
      "$L__BB0_2:\nmov.u64 %rd14, %rd13;\nmov.u32 %r30, %r4;\nmov.u32 %r31, %r28;\n@%p2 bra $L__BB0_3;\n"
      "$L__BB0_5:\nld.global.f32 %f1, [%rd14];\nst.shared.f32 [%r31], %f1;\nadd.s32 %r31, %r31, 128;\n"
      "add.s32 %r12, %r30, 32;\nsetp.lt.u32 %p3, %r12, %r30;\nadd.s64 %rd14, %rd14, 128;\n"
      "mov.u32 %r30, %r12;\n@%p3 bra $L__BB0_5;\nbra.uni $L__BB0_3;\n$L__BB0_4:\nbar.sync 0;\n"
      "mad.lo.s32 %r22, %r2, 260, %r27;\nshl.b32 %r23, %r1, 2;\nadd.s32 %r24, %r22, %r23;\n"
      "ld.shared.f32 %f2, [%r24];\nshl.b32 %r25, %r1, 5;\nadd.s32 %r26, %r25, %r2;\n"
      "mul.wide.u32 %rd11, %r26, 4;\nadd.s64 %rd12, %rd1, %rd11;\nst.global.f32 [%rd12], %f2;\nret;\n}\n";
  const std::string text = R"(extern "C" __global__ void staged_rows(const float *a, float *b) {
  __shared__ float tile[32][65];
  for (int r = threadIdx.y; r < 32; r += 8)
    for (int d = threadIdx.x; d < 64; d += 32) tile[r][d] = a[(blockIdx.y * 32 + r) * 64 + d];
  __syncthreads();
  b[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
)";
  CompileOptions options;
  options.rolled = true;
  for (const auto& analysis : {analyze(ptx_source("staged_rows.ptx", ptx), {.kernel = "staged_rows"}),
                               analyze_text(text, options, {.kernel = "staged_rows"})}) {
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = analysis->kernels[0].program;
    EXPECT_EQ(count(flat(program, {}), PeriodKind::load), 4 * 2) << to_yaml(program);
    for (const auto& assumption : program.assumptions)
      EXPECT_EQ(assumption.text.find("left early"), std::string::npos) << assumption.text;
  }
}

// What is left of the iterations of an unrolled loop is a number of 0 to 3, times 32, that has no bit in common with the
// lane: the loop behind begins at their sum, which PTX writes as `or`.
TEST(Pipeline, IterationsBehindThoseThatAreLeftOverHaveAClosedForm) {
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(
        R"(extern "C" __global__ void scale(const float* in, float* out, int seen, int n) {
  for (int i = threadIdx.x % 32; i < n; i += 32) out[i] = i < seen ? in[i] * 3 : 0;
}
)",
        way.options, {.kernel = "scale"});
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = analysis->kernels[0].program;
    EXPECT_EQ(to_yaml(program).find("iterations_at_line"), std::string::npos) << to_yaml(program);
    EXPECT_EQ(to_yaml(program).find("bit_or"), std::string::npos) << to_yaml(program);
  }
}

// It leaves where the count is reached or data say so: `!(a || b)` is `!a && !b`.
TEST(Pipeline, ALoopThatIsLeftAtOneOfTwoConditionsHasACount) {
  const auto analysis = analyze(
      ptx_source("k.ptx",
                 ".version 7.8\n.target sm_75\n.address_size 64\n"
                 ".visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)\n{\n"
                 ".reg .pred %p<5>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<5>;\n"
                 "ld.param.u64 %rd1, [k_param_0];\nld.param.u32 %r1, [k_param_1];\nmov.u32 %r2, 0;\n"
                 "$L__BB0_1:\nld.global.u32 %r3, [%rd1];\nadd.s64 %rd1, %rd1, 4;\nadd.s32 %r2, %r2, 1;\n"
                 "setp.eq.s32 %p1, %r3, 7;\nsetp.ge.s32 %p2, %r2, %r1;\nor.pred %p3, %p1, %p2;\n"
                 "@!%p3 bra $L__BB0_1;\nret;\n}\n"),
      {.kernel = "k"});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const auto& program = analysis->kernels[0].program;
  EXPECT_EQ(to_yaml(program).find("iterations_at_line"), std::string::npos) << to_yaml(program);
  EXPECT_EQ(count(flat(program, {{"param_1", 12}}), PeriodKind::load), 12) << to_yaml(program);
}

// It ends at its count or at a guard of the threads, whichever comes first: eight rows at most.
TEST(Pipeline, ALoopEndsAtTheFirstOfItsExits) {
  const std::string text = R"(extern "C" __global__ void eight_rows(int n, float *a) {
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    int i = (blockIdx.x * 8 + k) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[i] = 1;
  }
}
)";
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options, {.kernel = "eight_rows"});
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = analysis->kernels[0].program;
    const Bindings block{{"blockDim.x", 256}, {"gridDim.x", 1}};
    const auto stores = [&](std::int64_t n) {
      Bindings values = block;
      values["n"] = n;
      return count(flat(program, values), PeriodKind::store);
    };
    EXPECT_EQ(stores(1 << 20), 8) << to_yaml(program);
    for (const auto& assumption : program.assumptions)
      EXPECT_EQ(assumption.text.find("left early"), std::string::npos) << assumption.text;
  }
}

// The same where arguments say how many rows, and which: the guard has no maximum over the threads, but its ends.
TEST(Pipeline, ALoopWhoseGuardHasNoMaximumEndsAtItsCount) {
  const std::string text = R"(extern "C" __global__ void some_rows(int n, int rows, float *a) {
#pragma unroll 1
  for (int k = 0; k < rows; ++k) {
    int i = (blockIdx.x * rows + k) * 256 + threadIdx.x;
    if (i >= n) break;
    a[i] = 1;
  }
}
)";
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options, {.kernel = "some_rows"});
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = analysis->kernels[0].program;
    const Bindings values{{"blockDim.x", 256}, {"gridDim.x", 100}, {"n", 1 << 20}, {"rows", 5}};
    EXPECT_EQ(count(flat(program, values), PeriodKind::store), 5) << to_yaml(program);
  }
}

// nvcc has the row of the next iteration computed from the counter at the end of each.
TEST(Pipeline, ARowThatEachIterationComputesFromTheCounterHasAnAddress) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 rows_param_0, .param .u32 rows_param_1)
{
.reg .pred %p<3>;
.reg .b32 %r<12>;
.reg .b64 %d<5>;
ld.param.u64 %d1, [rows_param_0];
ld.param.u32 %r1, [rows_param_1];
mov.u32 %r2, %tid.y;
mov.u32 %r3, %ctaid.y;
shl.b32 %r4, %r3, 5;
add.s32 %r5, %r2, %r4;
$again:
mad.lo.s32 %r6, %r5, %r1, START;
mul.wide.s32 %d2, %r6, 4;
add.s64 %d3, %d1, %d2;
st.global.u32 [%d3], %r2;
add.s32 %r7, %r2, 8;
add.s32 %r5, %r7, %r4;
setp.lt.s32 %p1, %r2, 24;
mov.u32 %r2, %r7;
@%p1 bra $again;
ret;
}
)";
  const auto with = [&](const std::string& start) {
    std::string body = text;
    return body.replace(body.find("START"), 5, start);
  };
  const auto address = [&](const std::string& ptx) {
    std::optional<Expression> found;
    const auto analysis = analyze(ptx_source("rows.ptx", ptx), {.kernel = "rows"});
    EXPECT_TRUE(analysis) << to_text(analysis.diagnostics());
    if (!analysis) return found;
    for_each_access(analysis->kernels[0].program.program,
                    [&](const MemoryAccess& access) { found = access.address; });
    return found;
  };
  EXPECT_TRUE(address(with("%r4")));
  // The first row follows another rule.
  std::string other = with("%r4");
  other.replace(other.find("add.s32 %r5, %r2, %r4;"), 22, "add.s32 %r5, %r2, %r1;");
  EXPECT_FALSE(address(other));
}

TEST(Pipeline, ALoopThatDataMayLeaveRunsToItsEndAndSaysSo) {
  const auto text = read_file("tests/analyzer/kernels/loops.cu");
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options, {.kernel = "left_early"});
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = analysis->kernels[0].program;
    EXPECT_EQ(count(flat(program, {{"n", 12}}), PeriodKind::store), 12);
    ASSERT_FALSE(program.assumptions.empty());
    EXPECT_NE(program.assumptions[0].text.find("left early"), std::string::npos);
  }
}

TEST(Pipeline, ALoopThatDataCountsAsksForItsIterations) {
  const auto text = read_file("tests/analyzer/kernels/branches.cu");
  CompileOptions options;
  options.rolled = true;
  const auto analysis = analyze_text(text, options, {.kernel = "until_data"});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const auto& program = analysis->kernels[0].program;
  ASSERT_FALSE(program.parameters.empty());
  const auto asked = std::find_if(program.parameters.begin(), program.parameters.end(),
                                  [](const Parameter& p) { return p.name == "iterations_at_line_9"; });
  ASSERT_NE(asked, program.parameters.end());
  EXPECT_NE(asked->description.find("line 9"), std::string::npos) << asked->description;
  const auto missing = make_schedule(program, {}, paper_durations());
  EXPECT_FALSE(missing);
}

struct BranchCase {
  const char* kernel;
  Bindings bindings;
  std::int64_t loads, stores;
};

TEST(Pipeline, BranchesBecomeConditionsOrBothSides) {
  const auto text = read_file("tests/analyzer/kernels/branches.cu");
  const BranchCase cases[] = {
      {"guard", {{"n", 100}}, 1, 1},
      {"divergent", {{"n", 100}}, 3, 2},  // both sides
      {"on_argument", {{"n", 6}}, 1, 1},
      {"on_argument", {{"n", 5}}, 2, 1},
      {"on_two_arguments", {{"n", 6}, {"m", 5}}, 1, 2},
      {"on_two_arguments", {{"n", 6}, {"m", 6}}, 0, 1},
      {"on_two_arguments", {{"n", 5}, {"m", 1}}, 0, 1},
      {"on_block", {{"n", 1}}, 1, 1},
  };
  for (const auto& way : ways_to_compile()) {
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << way.name << "\n" << to_text(analysis.diagnostics());
    for (const auto& c : cases) {
      SCOPED_TRACE(way.name + ", " + c.kernel);
      const auto& program = program_of(*analysis, c.kernel);
      const auto periods = flat(program, c.bindings);
      EXPECT_EQ(count(periods, PeriodKind::load), c.loads) << to_yaml(program);
      EXPECT_EQ(count(periods, PeriodKind::store), c.stores) << to_yaml(program);
    }
  }
}

TEST(Pipeline, AGuardIsListedAsAnAssumptionInTheSourcesWords) {
  const auto text = read_file("tests/analyzer/kernels/branches.cu");
  const auto analysis = analyze_text(text, {}, {.kernel = "guard"});
  ASSERT_TRUE(analysis);
  const auto& assumptions = analysis->kernels[0].program.assumptions;
  ASSERT_EQ(assumptions.size(), 1u);
  EXPECT_EQ(assumptions[0].line, 3);
  EXPECT_EQ(assumptions[0].text, "guard `n > threadIdx.x + blockDim.x * blockIdx.x`: taken to pass");
}

TEST(Pipeline, AccessPatterns) {
  const auto text = read_file("tests/analyzer/kernels/access.cu");
  struct Case {
    const char* kernel;
    Access access;
    std::int64_t sectors, bytes;
    const char* stride;
  };
  const Case cases[] = {
      {"uniform", Access::uniform, 1, 4, ""},
      {"coalesced", Access::coalesced, 4, 4, ""},
      {"coalesced_vectors", Access::coalesced, 16, 16, ""},
      {"coalesced_pairs", Access::coalesced, 4, 4, ""},
      {"strided", Access::strided, 12, 4, "12"},
      {"strided_by_argument", Access::strided, 32, 4, "4 * n"},
      {"scattered", Access::scattered, 32, 4, ""},
  };
  for (const auto& way : ways_to_compile()) {
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    for (const auto& c : cases) {
      SCOPED_TRACE(way.name + ", " + c.kernel);
      const auto& items = program_of(*analysis, c.kernel).program;
      const MemoryAccess* store = nullptr;
      for (const auto& item : items)
        if (const auto* m = std::get_if<MemoryAccess>(&item.what);
            m != nullptr && m->kind == MemoryAccess::Kind::store)
          store = m;
      ASSERT_NE(store, nullptr);
      EXPECT_EQ(store->access, c.access);
      EXPECT_EQ(store->sectors, c.sectors);
      EXPECT_EQ(store->bytes, c.bytes);
      EXPECT_EQ(store->stride, c.stride);
    }
  }
}

TEST(Pipeline, TripCountsOfTheBundledKernelReadLikeTheSource) {
  const auto text = read_file("dwt_kernels/mtx.cu");
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto loops = emit_text(*analysis, Emit::loops);
    if (way.options.rolled) {
      EXPECT_NE(loops.find(" K "), std::string::npos) << loops;
    } else {
      EXPECT_NE(loops.find("K / 4"), std::string::npos) << loops;
      EXPECT_NE(loops.find("K % 4"), std::string::npos) << loops;
    }
  }
}

TEST(Pipeline, TheLatticeBranchesOnItsStage) {
  const auto text = read_file("dwt_kernels/ltt.cu");
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    EXPECT_NE(emit_text(*analysis, Emit::program).find("when: k < L - 1"), std::string::npos);
  }
}

TEST(Pipeline, AnUnknownKernelNamesThoseThatThereAre) {
  const auto analysis = analyze_text(read_file("tests/analyzer/kernels/branches.cu"), {}, {.kernel = "gard"});
  ASSERT_FALSE(analysis);
  const auto text = to_text(analysis.diagnostics());
  EXPECT_NE(text.find("no kernel `gard`; there are: guard, divergent"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean `guard`?"), std::string::npos) << text;
}

TEST(Pipeline, AnUnknownInstructionIsAnErrorUnlessSkipped) {
  const std::string ptx =
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 "
      "%r<3>;\nfrobnicate.b32 %r1, %r2;\nret;\n}\n";
  const auto refused = analyze(ptx_source("k.ptx", ptx), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(to_text(refused.diagnostics()).find("k.ptx:7: error: unknown instruction `frobnicate.b32`"),
            std::string::npos)
      << to_text(refused.diagnostics());
  const auto skipped = analyze(ptx_source("k.ptx", ptx), {.kernel = "", .skip_unsupported = true});
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->kernels[0].program.instructions_modelled, 0);
  EXPECT_EQ(skipped->kernels[0].program.instructions_total, 1);
}

TEST(Pipeline, EveryEmitSaysSomethingOfEveryKernel) {
  const auto analysis = analyze_text(read_file("tests/analyzer/kernels/branches.cu"), {});
  ASSERT_TRUE(analysis);
  for (const auto what : {Emit::program, Emit::ptx, Emit::cfg, Emit::loops, Emit::periods, Emit::listing})
    for (const auto& kernel : analysis->kernels) {
      EXPECT_NE(emit_text(*analysis, what).find(kernel.program.provenance.kernel), std::string::npos);
      EXPECT_NE(emit_json(*analysis, what).find(kernel.program.provenance.kernel), std::string::npos);
    }
}

// Compilers read a struct that is an argument by the address of its parameter.
TEST(Pipeline, ThePartsOfAStructAreParameters) {
  const std::string text =
      "struct Shape { float *data; int sizes[2]; };\n"
      "__global__ void k(float *out, Shape s) {\n"
      "  float sum = 0;\n"
      "  for (int i = 0; i < s.sizes[0]; ++i)\n"
      "    for (int j = 0; j < s.sizes[1]; ++j) sum += s.data[i * s.sizes[1] + j];\n"
      "  out[threadIdx.x] = sum;\n"
      "}\n";
  for (const auto& way : ways_to_compile()) {
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = program_of(*analysis, "k");
    const auto periods = flat(program, {{"s_8", 5}, {"s_12", 7}, {"blockDim.x", 32}, {"gridDim.x", 1}});
    EXPECT_EQ(count(periods, PeriodKind::load), 5 * 7);
  }
}

TEST(Pipeline, CallsOfTheRuntimeNeedNoParameter) {
  const std::string text =
      "#include <cassert>\n#include <cstdio>\n"
      "__global__ void k(int *a, int n) {\n"
      "  assert(n > 0);\n"
      "  if (a[threadIdx.x] < 0) printf(\"%d\", n);\n"
      "}\n";
  const auto analysis = analyze_text(text, {});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const auto& program = program_of(*analysis, "k");
  EXPECT_EQ(used_names(program), (std::vector<std::string>{"n"}));
  EXPECT_TRUE(std::any_of(program.not_modelled.begin(), program.not_modelled.end(), [](const auto& sentence) {
    return sentence.starts_with("a call of printf, assert, malloc or free");
  }));
}

TEST(Pipeline, TwoConditionsOfALoopRunItToItsEnd) {
  const std::string text =
      "__global__ void k(const int *a, int *b, int n, int most) {\n"
      "  int found = 0;\n"
      "  for (int i = 0; i < n & found < most; ++i) found += a[i];\n"
      "  b[0] = found;\n"
      "}\n";
  for (const auto& way : ways_to_compile()) {
    if (!way.options.rolled) continue;
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = program_of(*analysis, "k");
    EXPECT_EQ(count(flat(program, {{"n", 9}, {"most", 100}}), PeriodKind::load), 9);
    EXPECT_TRUE(std::any_of(program.assumptions.begin(), program.assumptions.end(),
                            [](const auto& a) { return a.text.find("left early") != std::string::npos; }));
  }
}

// The step is an argument, or the ends depend on the thread: what each thread does is written down.
TEST(Pipeline, LoopsWithoutAMaximumTakeTheirEnds) {
  const std::string text =
      "__global__ void k(const int *a, int *b, int n, int step) {\n"
      "  int sum = 0;\n"
      "  for (int i = threadIdx.x; i < n; i += step) sum += a[i];\n"
      "  b[threadIdx.x] = sum;\n"
      "}\n";
  for (const auto& way : ways_to_compile()) {
    if (!way.options.rolled) continue;
    SCOPED_TRACE(way.name);
    const auto analysis = analyze_text(text, way.options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = program_of(*analysis, "k");
    EXPECT_EQ(count(flat(program, {{"n", 10}, {"step", 3}, {"blockDim.x", 4}}), PeriodKind::load), 4);
    for (const char* text_of_note :
         {"that of the first or the last thread", "the step `step` of the loop is positive"})
      EXPECT_TRUE(std::any_of(program.assumptions.begin(), program.assumptions.end(), [&](const auto& a) {
        return a.text.find(text_of_note) != std::string::npos;
      })) << text_of_note;
  }
}

// Data decide which threads are in a coalesced group; what reducing over it takes does not depend on them.
TEST(Pipeline, ACoalescedGroupAsksForNothing) {
  const std::string text =
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
      "#include <cooperative_groups/scan.h>\n"
      "namespace cg = cooperative_groups;\n"
      "__global__ void k(const int *label, float *a) {\n"
      "  auto group = cg::labeled_partition(cg::coalesced_threads(), label[threadIdx.x]);\n"
      "  a[threadIdx.x] = cg::reduce(group, a[threadIdx.x], cg::plus<float>());\n"
      "  a[threadIdx.x] = cg::exclusive_scan(group, a[threadIdx.x]);\n"
      "}\n";
  CompileOptions with_clang;
  with_clang.compiler = Compiler::clang;
  const auto analysis = analyze_text(text, with_clang);
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  EXPECT_EQ(used_names(program_of(*analysis, "k")), std::vector<std::string>{});
}

}  // namespace
}  // namespace warptime
