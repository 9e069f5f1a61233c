// From PTX text to periods: the shapes of control flow, each by a few lines of PTX.
#include <algorithm>
#include <bit>

#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .u32 n, .param .u32 m, .param .u64 a)\n{\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<29>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"
         "ld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\nld.param.u64 %rd1, [a];\n" +
         body + "\n}\n";
}

// The flat program as text: 12 for a calculation of 12 instructions, L and S.
std::string flat_text(const std::string& ptx, const Bindings& bindings) {
  const auto analysis = analyze(ptx_source("k.ptx", ptx), {});
  if (!analysis) return to_text(analysis.diagnostics());
  std::string text;
  for (const auto& p : flat(analysis->kernels[0].program, bindings)) {
    if (!text.empty()) text += ' ';
    text += p.kind == PeriodKind::load    ? "L"
            : p.kind == PeriodKind::store ? "S"
                                          : std::to_string(static_cast<int>(p.cycles) - 9);
  }
  return text;
}

struct Case {
  const char* what;
  std::string body;
  Bindings bindings;
  const char* expected;
};

TEST(Lower, ShapesOfControlFlow) {
  const Case cases[] = {
      {"a straight line; the final ret is no instruction",
       "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1], %f1;\nret;",
       {},
       "3 L S"},
      {"several rets, one at the end of each way",
       "setp.lt.s32 %p1, %r1, 5;\n@%p1 bra A;\nst.global.u32 [%rd1], %r1;\nret;\nA: ld.global.u32 %r3, "
       "[%rd1];\nret;",
       {{"n", 4}},
       "5 L"},
      {"and the other way",
       "setp.lt.s32 %p1, %r1, 5;\n@%p1 bra A;\nst.global.u32 [%rd1], %r1;\nret;\nA: ld.global.u32 %r3, "
       "[%rd1];\nret;",
       {{"n", 5}},
       "5 S"},
      {"a conditional ret",
       "setp.lt.s32 %p1, %r1, 5;\n@%p1 ret;\nst.global.u32 [%rd1], %r1;\nret;",
       {{"n", 5}},
       "5 S"},
      {"a conditional ret that is taken",
       "setp.lt.s32 %p1, %r1, 5;\n@%p1 ret;\nst.global.u32 [%rd1], %r1;\nret;",
       {{"n", 4}},
       "5"},
      {"no instruction falls off the end", "st.global.u32 [%rd1], %r1;", {}, "3 S"},
      {"a loop tested at its top: the test runs once more than the body",
       "mov.u32 %r3, 0;\nT: setp.ge.s32 %p1, %r3, %r1;\n@%p1 bra E;\nst.global.u32 [%rd1], %r3;\nadd.s32 "
       "%r3, %r3, 1;\nbra T;\nE: ret;",
       {{"n", 2}},
       "6 S 4 S 4"},
      {"the same, never entered",
       "mov.u32 %r3, 0;\nT: setp.ge.s32 %p1, %r3, %r1;\n@%p1 bra E;\nst.global.u32 [%rd1], %r3;\nadd.s32 "
       "%r3, %r3, 1;\nbra T;\nE: ret;",
       {{"n", 0}},
       "6"},
      {"a loop left in its middle",
       "mov.u32 %r3, 0;\nT: ld.global.u32 %r4, [%rd1];\nadd.s32 %r3, %r3, 1;\nsetp.eq.s32 %p1, %r3, "
       "%r1;\n@%p1 bra E;\n"
       "st.global.u32 [%rd1], %r3;\nbra T;\nE: ret;",
       {{"n", 3}},
       "4 L 3 S 1 L 3 S 1 L 3"},
      {"an access whose guard is an argument's: made",
       "setp.lt.s32 %p1, %r1, 5;\n@%p1 ld.global.u32 %r3, [%rd1];\nret;",
       {{"n", 4}},
       "4 L"},
      {"and not made: one instruction is issued",
       "setp.lt.s32 %p1, %r1, 5;\n@%p1 ld.global.u32 %r3, [%rd1];\nret;",
       {{"n", 5}},
       "5"},
      {"shared, local and constant memory are calculation",
       "ld.shared.f32 %f1, [16];\nst.shared.f32 [16], %f1;\nld.const.f32 %f2, [4];\nst.local.f32 [8], "
       "%f2;\nbar.sync 0;\nret;",
       {},
       "8"},
      {"an atomic that returns a value is a load, a reduction a store",
       "atom.global.add.u32 %r3, [%rd1], 1;\nadd.s32 %r3, %r3, 1;\nred.global.add.u32 [%rd1], 1;\nret;",
       {},
       "3 L 1 S"},
      {"unreachable code is nothing", "bra E;\nst.global.u32 [%rd1], %r1;\nE: ret;", {}, "4"},
      {"a counter that doubles: 1, 2, 4 below 5",
       "mov.u32 %r3, 1;\nT: st.global.u32 [%rd1], %r3;\nshl.b32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, "
       "%r1;\n@%p1 bra T;\nret;",
       {{"n", 5}},
       "4 S 3 S 3 S 3"},
      {"a counter of two iterations: 1, then 2",
       "mov.u32 %r3, 1;\nT: st.global.u32 [%rd1], %r3;\nsetp.lt.u32 %p1, %r3, 2;\nmov.u32 %r3, 2;\n@%p1 bra "
       "T;\nret;",
       {},
       "4 S 3 S 3"},
      {"the same beside a guard that is farther away",
       "mov.u32 %r3, 1;\nmov.u32 %r4, 0;\nT: st.global.u32 [%rd1], %r3;\nadd.s32 %r4, %r4, 1;\nsetp.lt.u32 "
       "%p1, "
       "%r3, 2;\nsetp.lt.s32 %p2, %r4, %r1;\nand.pred %p3, %p1, %p2;\nmov.u32 %r3, 2;\n@%p3 bra T;\nret;",
       {{"n", 9}},
       "5 S 6 S 6"},
      {"a loop that is entered at its top",
       "mov.u32 %r4, 0;\nsetp.lt.s32 %p1, %r1, 5;\n@%p1 bra B;\nA: add.s32 %r3, %r3, 1;\nB: add.s32 %r4, "
       "%r4, 1;\nsetp.lt.s32 %p2, %r4, 9;\n@%p2 bra A;\nret;",
       {{"n", 5}},
       "42"},
      {"and the same in its middle: irreducible flow",
       "mov.u32 %r4, 0;\nsetp.lt.s32 %p1, %r1, 5;\n@%p1 bra B;\nA: add.s32 %r3, %r3, 1;\nB: add.s32 %r4, "
       "%r4, 1;\nsetp.lt.s32 %p2, %r4, 9;\n@%p2 bra A;\nret;",
       {{"n", 4}},
       "41"},
      {"nested loops whose inner count is the outer counter: 0 + 1 + 2",
       "mov.u32 %r3, 0;\nO: mov.u32 %r4, 0;\nI: setp.ge.s32 %p1, %r4, %r3;\n@%p1 bra X;\nst.global.u32 "
       "[%rd1], %r4;\nadd.s32 %r4, %r4, 1;\nbra I;\n"
       "X: add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p2, %r3, %r1;\n@%p2 bra O;\nret;",
       {{"n", 3}},
       "13 S 10 S 4 S 7"},
  };
  for (const auto& c : cases) EXPECT_EQ(flat_text(kernel(c.body), c.bindings), c.expected) << c.what;
}

// What powf(x, y) asks of a y that is a number: whether it is odd.
TEST(Lower, ComparisonsOfNumbersInFloatingPointAreDecided) {
  const auto side = [](const std::string& y, const std::string& comparison) {
    return flat_text(kernel("mov.f32 %f1, " + y +
                            ";\nmul.f32 %f2, %f1, 0f3F000000;\ncvt.rzi.f32.f32 %f3, %f2;\n"
                            "fma.rn.f32 %f4, %f3, 0fC0000000, %f1;\nabs.f32 %f5, %f4;\nsetp." +
                            comparison +
                            ".f32 %p1, %f5, 0f3F800000;\n@%p1 bra A;\nst.global.u32 [%rd1], %r1;\nret;\n"
                            "A: ld.global.u32 %r3, [%rd1];\nret;"),
                     {});
  };
  const std::string load = "10 L", store = "10 S";
  EXPECT_EQ(side("0f40400000", "eq"), load);   // 3 is odd
  EXPECT_EQ(side("0f40800000", "eq"), store);  // 4 is not
  EXPECT_EQ(side("0f3EE8BA2E", "eq"), store);  // nor is 1 / 2.2
  EXPECT_EQ(side("0f40400000", "neu"), store);
  EXPECT_EQ(side("0f7FC00000", "neu"), load);  // not a number
  EXPECT_EQ(side("0f7FC00000", "ne"), store);
  EXPECT_EQ(side("0f40A00000", "ge"), load);
  EXPECT_EQ(side("0f40A00000", "ltu"), store);
}

TEST(Lower, CountsOfThreadsMayBeLogarithms) {
  const auto analysis = analyze(
      ptx_source("k.ptx",
                 kernel("mov.u32 %r4, %tid.x;\nrem.s32 %r5, %r4, %r1;\nadd.s32 %r5, %r5, 1;\n"
                        "T: st.global.u32 [%rd1], %r5;\nshr.u32 %r5, %r5, 1;\nsetp.ne.s32 %p1, %r5, 0;\n"
                        "@%p1 bra T;\nret;")),
      {});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const std::string text = to_yaml(analysis->kernels.at(0).program);
  EXPECT_NE(text.find("log2(max(1, 2 * (threadIdx.x % n) + 3))"), std::string::npos) << text;
  EXPECT_EQ(text.find("iterations_at"), std::string::npos) << text;
}

// for (a = max(i - 10, 0); a <= min(i + 10, n - 1); ++a)
TEST(Lower, WindowsThatAnArrayCutsHaveABound) {
  const auto analysis = analyze(
      ptx_source(
          "k.ptx",
          kernel("mov.u32 %r3, %tid.x;\nadd.s32 %r4, %r3, -10;\nmax.s32 %r5, %r4, 0;\nadd.s32 %r6, %r3, 10;\n"
                 "add.s32 %r7, %r1, -1;\nmin.s32 %r8, %r6, %r7;\nsetp.gt.s32 %p1, %r5, %r8;\n@%p1 bra E;\n"
                 "T: st.global.u32 [%rd1], %r5;\nadd.s32 %r5, %r5, 1;\nsetp.le.s32 %p2, %r5, %r8;\n"
                 "@%p2 bra T;\nE: ret;")),
      {});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const std::string text = to_yaml(analysis->kernels.at(0).program);
  EXPECT_NE(text.find("repeat: 21\n"), std::string::npos) << text;
  EXPECT_NE(text.find("per_thread:"), std::string::npos) << text;
}

// A loop between two ends, r3 and r4, of which what is loaded at their middle chooses one to move.
std::string search(const std::string& moves, const std::string& stay) {
  return kernel(
      "mov.u32 %r3, 0;\nmov.u32 %r4, %r1;\n"
      "T: add.s32 %r5, %r3, %r4;\nshr.u32 %r5, %r5, 1;\nmul.wide.s32 %rd2, %r5, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r6, [%rd3];\nsetp.lt.s32 %p2, %r6, %r2;\n"
      "add.s32 %r7, %r5, 1;\nadd.s32 %r8, %r5, -1;\n" +
      moves + stay + "@%p3 bra T;\nret;");
}

TEST(Lower, BinarySearchesHalveTheirInterval) {
  const auto loads = [](const std::string& ptx, std::int64_t n) {
    const std::string text = flat_text(ptx, {{"n", n}, {"m", 1}});
    return std::count(text.begin(), text.end(), 'L');
  };
  const std::string to_half = "selp.b32 %r3, %r7, %r3, %p2;\nselp.b32 %r4, %r4, %r5, %p2;\n",
                    to_both = "selp.b32 %r3, %r5, %r3, %p2;\nselp.b32 %r4, %r4, %r5, %p2;\n",
                    beside = "selp.b32 %r3, %r7, %r3, %p2;\nselp.b32 %r4, %r4, %r8, %p2;\n";
  const std::string below = "setp.lt.s32 %p3, %r3, %r4;\n", not_above = "setp.le.s32 %p3, %r3, %r4;\n",
                    apart = "sub.s32 %r9, %r4, %r3;\nsetp.gt.s32 %p3, %r9, 1;\n";
  for (const std::int64_t n : {2, 5, 1000, 1024}) {
    const auto log2 = std::bit_width(static_cast<std::uint64_t>(n)) - 1;
    EXPECT_EQ(loads(search(to_half, below), n), log2 + 1) << n;
    EXPECT_EQ(loads(search(to_both, apart), n), std::bit_width(static_cast<std::uint64_t>(n - 1))) << n;
    // Between 0 and n there are n + 1 places.
    EXPECT_EQ(loads(search(beside, not_above), n), std::bit_width(static_cast<std::uint64_t>(n + 1))) << n;
  }
}

TEST(Lower, OtherLoopsBetweenTwoEndsHaveNoCount) {
  const std::string below = "setp.lt.s32 %p3, %r3, %r4;\n";
  for (const char* moves :
       {"selp.b32 %r3, %r7, %r3, %p2;\nadd.s32 %r9, %r4, -1;\nselp.b32 %r4, %r4, %r9, %p2;\n",
        "selp.b32 %r3, %r7, %r3, %p2;\nselp.b32 %r4, %r4, %r6, %p2;\n",
        "add.s32 %r5, %r5, 2;\nselp.b32 %r3, %r5, %r3, %p2;\nselp.b32 %r4, %r4, %r5, %p2;\n"}) {
    const auto analysis = analyze(ptx_source("k.ptx", search(moves, below)), {});
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const std::string text = to_yaml(analysis->kernels.at(0).program);
    EXPECT_NE(text.find("iterations_at"), std::string::npos) << text;
  }
}

// `while (n-- > 0)`, of which clang unrolls four iterations: it goes on while the counter is below 2^32 - 2 without a sign.
TEST(Lower, CountersMayEndBelowZero) {
  const std::string text =
      flat_text(kernel("add.s32 %r3, %r1, -1;\nT: ld.global.u32 %r4, [%rd1];\nadd.s32 %r3, %r3, -4;\n"
                       "setp.lt.u32 %p1, %r3, -2;\n@%p1 bra T;\nret;"),
                {{"n", 12}});
  EXPECT_EQ(std::count(text.begin(), text.end(), 'L'), 3) << text;
}

// A sum of a hash's constant that ends at a number behind the end of the register: eight iterations of XTEA's schedule.
TEST(Lower, CountersMayWrapAround) {
  const auto text = [](const std::string& until) {
    return flat_text(
        kernel("mov.u32 %r3, 1936384785;\nT: ld.global.u32 %r4, [%rd1];\nadd.s32 %r3, %r3, 239350328;\n"
               "setp.ne.s32 %p1, %r3, " +
               until + ";\n@%p1 bra T;\nret;"),
        {{"iterations_at_ptx_line_14", 3}});
  };
  EXPECT_EQ(std::ranges::count(text("-443779887"), 'L'), 8) << text("-443779887");
  EXPECT_EQ(std::ranges::count(text("-443779888"), 'L'), 3);  // which it never meets
}

// `k < 2` of clang: a predicate that holds in the first iteration alone.
TEST(Lower, APredicateMayHoldInTheFirstIterationOnly) {
  const std::string text =
      flat_text(kernel("mov.pred %p2, -1;\nmov.pred %p3, 0;\nmov.u32 %r3, 0;\nT: ld.global.u32 %r4, [%rd1];\n"
                       "add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, %r1;\nand.pred %p4, %p2, %p1;\n"
                       "mov.pred %p2, %p3;\n@%p4 bra T;\nret;"),
                {{"n", 12}});
  EXPECT_EQ(std::count(text.begin(), text.end(), 'L'), 2) << text;
}

TEST(Lower, WhatIsNotUnderstoodIsAnErrorWithItsLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"bra NOWHERE;\nret;", "k.ptx:13:"},
  };
  for (const auto& [body, expected] : cases) {
    const auto analysis = analyze(ptx_source("k.ptx", kernel(body)), {});
    ASSERT_FALSE(analysis) << body;
    EXPECT_NE(to_text(analysis.diagnostics()).find(expected), std::string::npos)
        << to_text(analysis.diagnostics());
  }
}

TEST(Lower, ALoopThatNeverEndsAsksForItsIterations) {
  const std::string body = "E: add.s32 %r3, %r3, 1;\nbra E;";
  EXPECT_EQ(flat_text(kernel(body), {{"iterations_at_ptx_line_13", 3}}),
            flat_text(kernel("add.s32 %r3, %r3, 1;\nadd.s32 %r3, %r3, 1;\nadd.s32 %r3, %r3, 1;\nadd.s32 %r3, "
                             "%r3, 1;\nadd.s32 %r3, %r3, 1;\n"
                             "add.s32 %r3, %r3, 1;\nret;"),
                      {}));
}

TEST(Lower, CallsOfAnAliasAreFollowed) {
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  const std::string store =
      ".visible .func store(.param .u64 to) { .reg .b64 %a; ld.param.u64 %a, [to]; st.global.u32 [%a], 1; "
      "ret; }\n";
  const auto entry = [](const std::string& callee) {
    return ".visible .entry k(.param .u64 a) { .reg .b64 %d; .param .u64 p; ld.param.u64 %d, [a]; "
           "st.param.u64 [p], %d; call " +
           callee + ", (p); ret; }\n";
  };
  const auto expected = flat_text(head + store + entry("store"), {});
  EXPECT_NE(expected.find('S'), std::string::npos);
  const std::string aliases =
      ".visible .func put(.param .u64 to);\n.alias put, store;\n.visible .func set(.param .u64 to);\n.alias "
      "set, put;\n";
  EXPECT_EQ(flat_text(head + store + aliases + entry("put"), {}), expected);
  EXPECT_EQ(flat_text(head + store + aliases + entry("set"), {}), expected);
  // One that stands for itself runs nothing that is here: a parameter.
  const auto round = analyze(ptx_source("k.ptx", head +
                                                     ".visible .func a(.param .u64 to);\n.visible .func "
                                                     "b(.param .u64 to);\n.alias a, b;\n.alias b, a;\n" +
                                                     entry("a")),
                             {});
  ASSERT_TRUE(round) << to_text(round.diagnostics());
  EXPECT_EQ(round->kernels.at(0).program.parameters.size(), 1u);
}

TEST(Lower, SidesThatDoTheSameNeedNoCondition) {
  const auto analysis = analyze(
      ptx_source(
          "k.ptx",
          kernel("setp.lt.s32 %p1, %r1, 5;\n@%p1 bra A;\nadd.s32 %r3, %r1, 1;\nbra E;\n"
                 "A: add.s32 %r3, %r1, 2;\nsub.s32 %r3, %r3, 1;\nE: st.global.u32 [%rd1], %r3;\nret;")),
      {});
  ASSERT_TRUE(analysis);
  EXPECT_EQ(to_yaml(analysis->kernels[0].program).find("when"), std::string::npos);
}

}  // namespace
}  // namespace warptime
