// What is alive at the same time, and the registers that are estimated from it. ptxas is asked where there is one.
#include "analyzer/machine/registers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "analyzer/compile/ptxas.h"
#include "analyzer/ptx/module.h"

namespace warptime::machine {
namespace {

// A kernel with the parameters `a` (a pointer) and `n`, and registers of each type.
std::string kernel(const std::string& body, const std::string& bounds = "") {
  return ".version 7.8\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 a, .param .u32 n)" +
         bounds + "\n{\n.reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .f32 %f<99>;\n.reg .b64 %rd<99>;\n" +
         body + "ret;\n}\n";
}

Pressure pressure_of_body(const std::string& body) {
  const std::string text = kernel(body);
  const auto module = ptx::parse(text, "k.ptx");
  EXPECT_TRUE(module) << to_text(module.diagnostics());
  auto code = analysis::build_code(*module, 0, 1000);
  const auto cfg = analysis::build_cfg(code, "k.ptx");
  EXPECT_TRUE(cfg);
  return *pressure_of(code, *cfg);
}

int peak(const Pressure& of, Order order) {
  return of.peak[static_cast<std::size_t>(order)];
}

TEST(Pressure, ConstantsParametersAndUniformValuesOccupyNoRegisterOfAThread) {
  const Pressure of = pressure_of_body(
      "ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nld.param.u32 %r1, [n];\nmov.u32 %r2, 7;\n"
      "mov.u32 %r3, %ctaid.x;\nmad.lo.s32 %r4, %r3, %r2, %r1;\nst.global.u32 [%rd2], %r4;\n");
  EXPECT_EQ(of.least, 0);
  EXPECT_EQ(of.instructions, 2);  // the store and the return
}

TEST(Pressure, ValuesOf64BitsAreTwoRegistersAndPredicatesNone) {
  const Pressure of = pressure_of_body(
      "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 5;\nmul.wide.s32 %rd2, %r1, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3+8];\nadd.s32 %r3, %r2, %r1;\n"
      "st.global.u32 [%rd3], %r3;\n");
  EXPECT_EQ(of.least, 4);  // the address, what is loaded, and the thread's number
}

TEST(Pressure, LoadsFirstHoldsAllThatIsLoaded) {
  std::string body =
      "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.s32 %rd2, %r1, 64;\n"
      "add.s64 %rd3, %rd1, %rd2;\nmov.f32 %f50, 0f00000000;\nadd.f32 %f20, %f50, %f50;\n";
  for (int i = 0; i < 8; ++i)
    body += "ld.global.f32 %f" + std::to_string(i) + ", [%rd3+" + std::to_string(4 * i) + "];\nadd.f32 %f" +
            std::to_string(21 + i) + ", %f" + std::to_string(20 + i) + ", %f" + std::to_string(i) + ";\n";
  body += "st.global.f32 [%rd3], %f28;\n";
  const Pressure of = pressure_of_body(body);
  EXPECT_EQ(peak(of, Order::source), 4);  // the address, a sum and a load
  EXPECT_EQ(peak(of, Order::frugal), 4);
  EXPECT_GE(peak(of, Order::loads_first), 10);  // the address and eight loads
}

TEST(Pressure, OnlyLoadsOfOtherPlacesPassAStore) {
  const std::string begin =
      "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "mul.wide.s32 %rd4, %r1, 8;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, "
      "[%rd3];\n"
      "add.f32 %f5, %f1, %f2;\nadd.f32 %f6, %f3, %f4;\nadd.f32 %f7, %f5, %f6;\nst.global.f32 [%rd3], %f7;\n";
  const std::string end =
      "add.f32 %f15, %f11, %f12;\nadd.f32 %f16, %f13, %f14;\nadd.f32 %f17, %f15, %f16;\n"
      "st.global.f32 [%rd3+64], %f17;\n";
  const Pressure same_base =
      pressure_of_body(begin + "ld.global.v4.f32 {%f11, %f12, %f13, %f14}, [%rd3+16];\n" + end);
  const Pressure other_base =
      pressure_of_body(begin + "ld.global.v4.f32 {%f11, %f12, %f13, %f14}, [%rd5];\n" + end);
  EXPECT_GE(peak(same_base, Order::loads_first), 10);  // both loads before the store
  EXPECT_LT(peak(other_base, Order::loads_first), 10);
}

TEST(Pressure, AShortBranchIsPartOfTheBlock) {
  const std::string begin =
      "ld.param.u64 %rd1, [a];\nld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\n"
      "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.f32 %f1, 0f00000000;\n"
      "mov.f32 %f2, 0f00000000;\nsetp.ge.s32 %p1, %r1, %r9;\n@%p1 bra L1;\n"
      "ld.global.f32 %f1, [%rd3];\n";
  const std::string end =
      "L1:\n@%p1 bra L2;\nld.global.f32 %f2, [%rd3+4];\nL2:\nadd.f32 %f3, %f1, %f2;\n"
      "st.global.f32 [%rd3], %f3;\n";
  // Both loads are in flight, but not across a barrier.
  EXPECT_EQ(
      pressure_of_body(begin + end).instructions + 2,
      pressure_of_body(begin + "bar.sync 0;\n" + end).instructions);  // the barrier, and the branch around it
}

TEST(Pressure, LoopsThatPtxasUnrollsHoldTheLoadsOfFourIterations) {
  const auto loop = [](const std::string& type) {
    const std::string reg = type == "s64" ? "%rd" : "%r";
    return "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.s32 %rd2, %r1, 4;\n"
           "add.s64 %rd3, %rd1, %rd2;\nmov.f32 %f1, 0f00000000;\nmov." +
           std::string(type == "s64" ? "u64 " : "u32 ") + reg +
           "9, 100;\nL:\nld.global.f32 %f2, [%rd3];\n"
           "add.f32 %f1, %f1, %f2;\nadd.s64 %rd3, %rd3, 4;\nadd." +
           type + " " + reg + "9, " + reg + "9, -1;\nsetp.ne." + type + " %p1, " + reg +
           "9, 0;\n@%p1 bra L;\nst.global.f32 [%rd1], %f1;\n";
  };
  EXPECT_EQ(pressure_of_body(loop("s32")).unrolled, 2 + 1 + 1 + 4);
  EXPECT_EQ(pressure_of_body(loop("s64")).unrolled, 0);  // ptxas unrolls none of these
}

TEST(Pressure, ALoopMayBeginWithTheKernel) {
  EXPECT_EQ(pressure_of_body("L:\nmov.u32 %r1, %tid.x;\nbra.uni M;\nM:\nbra.uni L;\n").least, 1);
}

int scheduled(const Pressure& of, Schedule schedule) {
  return of.scheduled[static_cast<std::size_t>(schedule)];
}

TEST(Pressure, BasesOfAddressesAreLoadedIntoRegisters) {
  const std::string body =
      "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd3], %r2;\n";
  const Pressure of = pressure_of_body(body);
  EXPECT_EQ(of.least, 3);                             // the address and what is loaded
  EXPECT_EQ(scheduled(of, Schedule::of_40_free), 4);  // the base and the offset
}

TEST(Pressure, WhatLoadsAndStoresReadKeepsItsRegisters) {
  std::string body = "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.s32 %rd2, %r1, 4;\n";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i), address = "%rd1" + n;
    body += "add.s64 " + address + ", %rd1, %rd2;\nmul.lo.s64 %rd2" + n + ", " + address + ", " + address +
            ";\nst.global.u32 [%rd2" + n + "], %r1;\n";
  }
  const Pressure of = pressure_of_body(body);
  EXPECT_GT(scheduled(of, Schedule::of_40), scheduled(of, Schedule::of_40_free));
  EXPECT_LE(scheduled(of, Schedule::of_14), scheduled(of, Schedule::of_40));
}

TEST(Pressure, ConstantMemoryAtKnownPlacesIsReadInPlace) {
  const auto held = [](const std::string& one, const std::string& other) {
    return pressure_of_body("mov.u32 %r1, %tid.x;\nld.const.f32 %f1, [" + one + "];\nld.const.f32 %f2, [" +
                            other + "];\nbar.sync 0;\nadd.f32 %f3, %f1, %f2;\nst.shared.f32 [%r1], %f3;\n")
        .least;
  };
  EXPECT_EQ(held("16", "20") + 1, held("%r1", "%r1+4"));
}

TEST(RegisterTable, IsAGuessAndTreesAndAStep) {
  const auto table = RegisterTable::read(
      "tree\nsplit,loads,3\nleaf,1\nsplit,stores,2\nleaf,2\nleaf,-3\ntree\nleaf,0.5\nstep,32,28,38\n",
      "t.csv");
  ASSERT_TRUE(table) << to_text(table.diagnostics());
  Pressure of;
  of.least = 12;
  EXPECT_DOUBLE_EQ(table->sum(of, {}), 17 + 1.5);
  of.loads = 4;
  EXPECT_DOUBLE_EQ(table->sum(of, {}), 17 + 2.5);
  of.stores = 3;
  EXPECT_DOUBLE_EQ(table->sum(of, {}), 17 - 2.5);
  of.scheduled.fill(16);  // more than the least needs, but no more than 32
  EXPECT_DOUBLE_EQ(table->sum(of, {}), 19 - 2.5);
  of.least = 26;
  EXPECT_EQ(table->estimate(of, {}), 32);
  of.least = 500;
  EXPECT_EQ(table->estimate(of, {}), 255);
  // __launch_bounds__(512, 3): 65,536 registers for 1,536 threads.
  KernelResources bounds;
  bounds.max_threads = 512;
  bounds.min_blocks_per_sm = 3;
  EXPECT_EQ(table->estimate(of, bounds), 40);
  of = {};
  of.calls = true;
  EXPECT_EQ(table->estimate(of, {}), 24);
}

TEST(RegisterTable, SaysWhatIsWrong) {
  EXPECT_EQ(RegisterTable::read("tree\nleaf,two\n", "t.csv").diagnostics().front().line, 2);
  EXPECT_EQ(RegisterTable::read("tree\nsplit,leest,2\nleaf,1\nleaf,2\n", "t.csv").diagnostics().front().line,
            2);
  EXPECT_FALSE(RegisterTable::read("tree\nsplit,least,2\nleaf,1\n", "t.csv"));
  EXPECT_FALSE(RegisterTable::read("tree\n", "t.csv"));
  EXPECT_FALSE(RegisterTable::read("peak,2\n", "t.csv"));
}

TEST(Registers, AreWithinFourOfPtxas) {
  const std::string text = kernel(
      "ld.param.u64 %rd1, [a];\nld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
      "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\nsetp.ge.s32 %p1, %r4, %r9;\n@%p1 bra L;\n"
      "mul.wide.s32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"
      "add.f32 %f2, %f1, %f1;\nst.global.f32 [%rd3], %f2;\nL:\n");
  const auto module = ptx::parse(text, "k.ptx");
  ASSERT_TRUE(module);
  auto code = analysis::build_code(*module, 0, 1000);
  const auto cfg = analysis::build_cfg(code, "k.ptx");
  const auto pressure = pressure_of(code, *cfg);
  ASSERT_TRUE(pressure);
  const int estimated = register_table().estimate(*pressure, {});
  const auto truth = registers_of(text, "sm_90");
  if (!truth) GTEST_SKIP() << "no ptxas";
  EXPECT_LE(std::abs(estimated - truth->at("k").registers), 4);
}

}  // namespace
}  // namespace warptime::machine
