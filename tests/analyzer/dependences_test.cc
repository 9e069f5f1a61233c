// Which loads items wait for, how far loads rise and how long chains are, for code of a few lines. That what items wait
// for is enough is shown by execution: tests/execute/dependences_test.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

// `load; 2 needs 1 chain 4.5; repeat(…)`: the items with what is known of their dependences.
std::string text_of(const Items& items) {
  std::string text;
  for (const Item& item : items) {
    if (!text.empty()) text += "; ";
    if (const auto* run = std::get_if<Instructions>(&item.what)) text += to_string(run->count);
    if (const auto* access = std::get_if<MemoryAccess>(&item.what))
      text += access->kind == MemoryAccess::Kind::load ? "load" : "store";
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) text += "repeat(" + text_of(repeat->body) + ")";
    if (const auto* when = std::get_if<When>(&item.what))
      text += "when(" + text_of(when->then_items) + " | " + text_of(when->else_items) + ")";
    if (!item.detail) continue;
    if (!item.detail->needs.empty()) text += fmt::format(" needs {}", fmt::join(item.detail->needs, " "));
    if (item.detail->rises != 0) text += fmt::format(" rises {}", item.detail->rises);
    if (item.detail->chain) text += fmt::format(" chain {}", *item.detail->chain);
  }
  return text;
}

// Of a kernel k(in, out, n) whose arguments are in %d1, %d2 and %r1.
std::string items_of(const std::string& body, const std::string& before = {}) {
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n" + before +
                           ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n"
                           ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f32 %f<64>;\n"
                           "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nld.param.u32 %r1, [n];\n" +
                           body + "ret;\n}\n";
  AnalyzeOptions how;
  how.kernel = "k";
  how.machine = AnalyzeOptions::Machine::estimated;
  const auto analysis = analyze(ptx_source("k.ptx", text), how);
  EXPECT_TRUE(analysis) << to_text(analysis.diagnostics());
  return analysis ? text_of(analysis->kernels[0].program.program) : "";
}

TEST(Needs, ARunIsCutWhereItUsesALoad) {
  EXPECT_EQ(items_of("ld.global.f32 %f1, [%d1];\n"
                     "add.s32 %r2, %r1, 1;\n"
                     "add.f32 %f2, %f1, %f1;\n"
                     "add.f32 %f3, %f2, %f1;\n"
                     "st.global.f32 [%d2], %f3;\n"),
            "3; load; 1; 2 needs 1 chain 4.5; store chain 4.5");
}

TEST(Needs, AStoreWaitsForItsValueAndALoadForItsAddress) {
  EXPECT_EQ(items_of("ld.global.u64 %d3, [%d1];\n"
                     "ld.global.f32 %f1, [%d3];\n"
                     "st.global.f32 [%d2], %f1;\n"),
            "3; load; load needs 1; store needs 2");
}

TEST(Needs, AMoveWaitsForNothing) {
  EXPECT_EQ(items_of("ld.global.f32 %f1, [%d1];\n"
                     "mov.f32 %f2, %f1;\n"
                     "mov.f32 %f1, 0f00000000;\n"
                     "add.f32 %f3, %f1, %f1;\n"
                     "st.global.f32 [%d2], %f2;\n"),
            "3; load; 3; store needs 1");
}

TEST(Needs, OfBothSidesWhereTheyJoin) {
  EXPECT_EQ(items_of("setp.lt.s32 %p1, %r1, 7;\n"
                     "@%p1 bra OTHER;\n"
                     "ld.global.f32 %f1, [%d1];\n"
                     "bra.uni JOIN;\n"
                     "OTHER:\n"
                     "ld.global.f32 %f1, [%d1+64];\n"
                     "add.f32 %f1, %f1, %f1;\n"
                     "ld.global.f32 %f1, [%d1+128];\n"
                     "JOIN:\n"
                     "add.f32 %f2, %f1, %f1;\n"
                     "st.global.f32 [%d2], %f2;\n"),
            "5 chain 13; when(load; 1 needs 1; load rises 1 | load; 1); 1 needs 2 3; store chain 3.5");
}

// What was loaded in the last iteration is used in this one, behind the next load: ptxas moves the register first, and
// waits there.
TEST(Needs, ALoadAheadOfItsUseByAnIteration) {
  EXPECT_EQ(items_of("ld.global.f32 %f1, [%d1];\n"
                     "mov.f32 %f3, 0f00000000;\n"
                     "mov.u32 %r2, 0;\n"
                     "LOOP:\n"
                     "mov.f32 %f2, %f1;\n"
                     "add.s64 %d1, %d1, 4;\n"
                     "ld.global.f32 %f1, [%d1];\n"
                     "add.f32 %f3, %f3, %f2;\n"
                     "add.s32 %r2, %r2, 1;\n"
                     "setp.lt.s32 %p1, %r2, %r1;\n"
                     "@%p1 bra LOOP;\n"
                     "st.global.f32 [%d2], %f3;\n"),
            "3; load; 2; repeat(2; load needs 2 chain 2.5; 4 needs 1 chain 13); store");
}

TEST(Needs, AcrossAnInlinedCall) {
  EXPECT_EQ(items_of("ld.global.f32 %f1, [%d1];\n"
                     "{ .param .b32 a; .param .b32 b;\n"
                     "st.param.f32 [a], %f1;\n"
                     "call (b), twice, (a);\n"
                     "ld.param.f32 %f2, [b]; }\n"
                     "st.global.f32 [%d2], %f2;\n",
                     ".func (.param .b32 result) twice(.param .b32 x) {\n"
                     ".reg .f32 %f<4>;\n"
                     "ld.param.f32 %f1, [x];\n"
                     "add.f32 %f2, %f1, %f1;\n"
                     "st.param.f32 [result], %f2;\n"
                     "ret;\n}\n"),
            "3; load; 3; 4 needs 1; store chain 0.5");
}

TEST(Rises, LoadsOfUnrolledIterations) {
  EXPECT_EQ(items_of("ld.global.f32 %f1, [%d1];\n"
                     "add.f32 %f2, %f1, %f1;\n"
                     "ld.global.f32 %f3, [%d1+4];\n"
                     "add.f32 %f4, %f3, %f2;\n"
                     "ld.global.f32 %f5, [%d1+8];\n"
                     "add.f32 %f6, %f5, %f4;\n"
                     "st.global.f32 [%d2], %f6;\n"),
            "3; load; 1 needs 1; load rises 1; 1 needs 2 chain 3.5; load rises 2; 1 needs 3 chain 4.5; store "
            "chain 4.5");
}

TEST(Rises, NotPastAStoreUnlessNothingWritesWhatIsLoaded) {
  const std::string code =
      "ld.global{0}.f32 %f1, [%d1];\n"
      "add.f32 %f2, %f1, %f1;\n"
      "st.global.f32 [%d2], %f2;\n"
      "ld.global{0}.f32 %f3, [%d1+4];\n"
      "add.f32 %f4, %f3, %f3;\n"
      "st.global.f32 [%d2+4], %f4;\n";
  EXPECT_EQ(items_of(fmt::format(fmt::runtime(code), "")),
            "3; load; 1 needs 1; store chain 3.5; load; 1 needs 2; store chain 3.5");
  EXPECT_EQ(items_of(fmt::format(fmt::runtime(code), ".nc")),
            "3; load; 1 needs 1; store chain 3.5; load rises 2; 1 needs 2; store");
}

// In place: a load passes the store before it, but no more of them, where another load must wait for each.
TEST(Rises, PastOneStoreWhereOthersWaitForEach) {
  EXPECT_EQ(
      items_of("ld.global.f32 %f1, [%d1];\n"
               "ld.global.f32 %f2, [%d2];\n"
               "fma.rn.f32 %f3, %f1, %f2, %f2;\n"
               "st.global.f32 [%d1], %f3;\n"
               "ld.global.f32 %f4, [%d2+4];\n"
               "ld.global.f32 %f5, [%d1+4];\n"
               "fma.rn.f32 %f6, %f4, %f5, %f3;\n"
               "st.global.f32 [%d1+4], %f6;\n"
               "ld.global.f32 %f7, [%d2+8];\n"
               "ld.global.f32 %f8, [%d1+8];\n"
               "fma.rn.f32 %f9, %f7, %f8, %f6;\n"
               "st.global.f32 [%d1+8], %f9;\n"),
      "3; load; load; 1 needs 1 2; store chain 3.5; load; load rises 3; 1 needs 3 4; store chain 2.5; load; "
      "load rises 2; 1 needs 5 6; store chain 3.5");
}

// A branch that ptxas makes a predicate of: the load behind it rises with what computes the predicate, and waits for that.
TEST(Rises, PastWhatAnEarlierPredicatedLoadIsUsedBy) {
  EXPECT_EQ(items_of("mov.u32 %r2, %tid.x;\n"
                     "mul.wide.u32 %d3, %r2, 4;\n"
                     "add.s64 %d4, %d1, %d3;\n"
                     "add.s64 %d5, %d2, %d3;\n"
                     "ld.global.nc.f32 %f1, [%d4];\n"
                     "mov.f32 %f9, 0f00000000;\n"
                     "setp.eq.f32 %p1, %f1, 0f00000000;\n"
                     "@%p1 bra $L1;\n"
                     "ld.global.nc.f32 %f2, [%d5];\n"
                     "fma.rn.f32 %f9, %f1, %f2, %f9;\n"
                     "$L1:\n"
                     "ld.global.nc.f32 %f3, [%d4+4];\n"
                     "setp.eq.f32 %p2, %f3, 0f00000000;\n"
                     "@%p2 bra $L2;\n"
                     "ld.global.nc.f32 %f4, [%d5+4];\n"
                     "fma.rn.f32 %f9, %f3, %f4, %f9;\n"
                     "$L2:\n"
                     "st.global.f32 [%d5+8], %f9;\n"),
            "7 chain 4.5; load chain 2; 1; 2 needs 1 chain 13; load needs 1 rises 1 chain 9; 1 needs 2; load "
            "rises 3 "
            "chain 9; 2 needs 3 chain 13; load needs 3 rises 3 chain 9; 1 needs 4; store chain 3.5");
}

// ptxas lets loads rise as far as there are registers for what they give: 32 for all that the block holds.
TEST(Rises, NoMoreLoadsThanThereAreRegistersFor) {
  const auto items = [](int loads) {
    std::string code;
    for (int i = 0; i < loads; ++i)
      code += fmt::format(
          "ld.global.v4.f32 {{%f{0}, %f{1}, %f{2}, %f{3}}}, [%d1+{4}];\n"
          "fma.rn.f32 %f61, %f{0}, %f{1}, %f61;\n"
          "fma.rn.f32 %f62, %f{2}, %f{3}, %f62;\n",
          4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 16 * i);
    return items_of(code + "add.f32 %f63, %f61, %f62;\nst.global.f32 [%d2], %f63;\n");
  };
  EXPECT_THAT(items(6), testing::HasSubstr("load rises 5; 3 needs 6"));
  EXPECT_THAT(items(12), testing::Not(testing::HasSubstr("rises 8")));
}

// The most loads that are under way at once in a loop of 40, beside `held` values that are alive in it; a region of code
// elsewhere needs `elsewhere` registers. In the machine code of nvcc 13.0: 19, 12 and 4 with 1, 8 and 16 held values (of 32
// registers), 6 with 28 (of 48), and 34 of 48 registers where other code needs 40.
std::size_t loads_under_way(int held, int elsewhere = 0) {
  std::string code = "mov.u32 %r2, 0;\n";
  const auto loaded = [&](int count, int first) {
    for (int i = 0; i < count; ++i)
      code += fmt::format("ld.global.f32 %h{}, [%d2+{}];\n", first + i, 128 * i);
  };
  const auto used = [&](int count, int first) {
    for (int i = 0; i < count; ++i) code += fmt::format("fma.rn.f32 %f62, %f62, %h{}, %f62;\n", first + i);
  };
  code += "mov.f32 %f62, 0f3F800000;\nmov.f32 %f63, %f62;\n";
  loaded(elsewhere, 100);
  used(elsewhere, 100);
  if (elsewhere > 0) {  // all at once: the last one is used first
    code += fmt::format("fma.rn.f32 %f62, %h{}, %f62, %f62;\nbar.sync 0;\n", 99 + elsewhere);
    used(elsewhere, 100);
  }
  code += "bar.sync 0;\n";
  loaded(held, 0);
  code += "LOOP:\n";
  for (int i = 0; i < 40; ++i)
    code += fmt::format("ld.global.f32 %f{0}, [%d1+{1}];\nfma.rn.f32 %f63, %f63, %f{0}, {2};\n", i, 4096 * i,
                        held > 0 ? fmt::format("%h{}", i % held) : "%f63");
  code += "add.s64 %d1, %d1, 163840;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, %r1;\n@%p1 bra LOOP;\n";
  used(held, 0);
  const std::string items =
      items_of(".reg .f32 %h<200>;\n" + code + "add.f32 %f63, %f63, %f62;\nst.global.f32 [%d2], %f63;\n");
  std::size_t most = 0;
  for (auto at = items.find("rises ", items.find("repeat")); at != std::string::npos;
       at = items.find("rises ", at + 1))
    most = std::max(most, std::stoul(items.substr(at + 6)));
  return most + 1;
}

TEST(Rises, FourLoadsHaveRegistersBesideWhatIsHeld) {
  EXPECT_NEAR(static_cast<double>(loads_under_way(1)), 19, 2);
  EXPECT_NEAR(static_cast<double>(loads_under_way(8)), 12, 2);
  EXPECT_NEAR(static_cast<double>(loads_under_way(16)), 4, 2);
  EXPECT_NEAR(static_cast<double>(loads_under_way(28)), 6, 4);
}

TEST(Rises, AllBlocksHaveTheRegistersThatOneNeeds) {
  EXPECT_NEAR(static_cast<double>(loads_under_way(0, 40)), 34, 3);
}

// Both blocks behind short branches are predicated, and all is one block to ptxas. What takes long is branched around.
TEST(Rises, PastShortBranches) {
  const std::string code =
      "mov.u32 %r2, %tid.x;\n"
      "setp.lt.s32 %p1, %r2, 7;\n"
      "@%p1 bra SECOND;\n"
      "ld.global.f32 %f1, [%d1];\n"
      "{0} %f2, %f1, %f2;\n"
      "SECOND:\n"
      "setp.lt.s32 %p2, %r2, 9;\n"
      "@%p2 bra JOIN;\n"
      "ld.global.f32 %f3, [%d1+64];\n"
      "add.f32 %f2, %f3, %f2;\n"
      "JOIN:\n"
      "st.global.f32 [%d2], %f2;\n";
  EXPECT_THAT(items_of(fmt::format(fmt::runtime(code), "add.f32")), testing::HasSubstr("load rises 3"));
  EXPECT_THAT(items_of(fmt::format(fmt::runtime(code), "div.rn.f32")),
              testing::Not(testing::HasSubstr("rises")));
}

// An index and what it leads to: both indices are loaded first.
TEST(Rises, LoadsThatWaitForOthersStayBehindThoseThatDoNot) {
  EXPECT_EQ(items_of("ld.global.u32 %r2, [%d1];\n"
                     "mul.wide.u32 %d3, %r2, 4;\n"
                     "add.s64 %d4, %d2, %d3;\n"
                     "ld.global.f32 %f1, [%d4];\n"
                     "add.f32 %f2, %f1, %f1;\n"
                     "ld.global.u32 %r3, [%d1+4];\n"
                     "mul.wide.u32 %d5, %r3, 4;\n"
                     "add.s64 %d6, %d2, %d5;\n"
                     "ld.global.f32 %f3, [%d6];\n"
                     "add.f32 %f4, %f3, %f2;\n"
                     "st.global.f32 [%d2], %f4;\n"),
            "3; load; 2 needs 1; load chain 2.5; 1 needs 2; load rises 3; 2 needs 3; load needs 3 rises 2; 1 "
            "needs 4 chain 1.5; store chain 4.5");
}

TEST(Chains, OfADivisionAndABranch) {
  EXPECT_EQ(items_of("div.rn.f32 %f2, %f1, %f1;\n"
                     "add.f32 %f3, %f2, %f2;\n"
                     "st.global.f32 [%d2], %f3;\n"
                     "bar.sync 0;\n"
                     "add.f32 %f4, %f3, %f3;\n"
                     "st.global.f32 [%d2+4], %f4;\n"),
            "5 chain 45; store chain 4.5; 1; 1; store chain 3.5");
}

}  // namespace
}  // namespace warptime
