// What names mean: registers, variables and labels in scopes.
#include <gtest/gtest.h>

#include "analyzer/ptx/printer.h"
#include "tests/ptx/ptx_text.h"

namespace warptime::ptx {
namespace {

using Kind = Operand::Kind;
using Referent = Operand::Referent;

TEST(Scopes, RegistersOfARangeGetAnIndexWhenTheyAreNamed) {
  const Parsed p = parsed(kernel_around("mov.b32 %r7, %r3; mov.b32 %r3, %r7; ret;"));
  ASSERT_EQ(p.kernel().registers.size(), 2u);
  EXPECT_EQ(p.kernel().registers[0].number, 7u);
  EXPECT_EQ(p.kernel().registers[0].type, "b32");
  EXPECT_EQ(register_name(*p, p.kernel(), 0), "%r7");
  EXPECT_EQ(register_name(*p, p.kernel(), 1), "%r3");
  EXPECT_EQ(p.operand(0, 0).symbol, p.operand(1, 1).symbol);
}

TEST(Scopes, AHugeRangeTakesNoMemory) {
  const Parsed p =
      parsed(kernel_around(".reg .b32 %q<4000000000>; mov.b32 %q399999999, %q1; mov.b32 %q1, %q399999999;"));
  ASSERT_EQ(p.kernel().registers.size(), 2u);
  EXPECT_EQ(register_name(*p, p.kernel(), 0), "%q399999999");
  EXPECT_EQ(p.operand(0, 0).symbol, p.operand(1, 1).symbol);
}

TEST(Scopes, TheSameNameInSiblingScopesIsTwoRegisters) {
  const Parsed p =
      parsed(kernel_around("{ .reg .b32 x; mov.b32 x, 1; } { .reg .f32 x; mov.f32 x, 0f00000000; }"));
  ASSERT_EQ(p.kernel().registers.size(), 2u);
  EXPECT_EQ(p.kernel().registers[0].type, "b32");
  EXPECT_EQ(p.kernel().registers[1].type, "f32");
  EXPECT_EQ(register_name(*p, p.kernel(), 1), "x");
}

TEST(Scopes, WhichDeclarationIsVisible) {
  const struct {
    const char* body;  // its last instruction's first operand
    const char* type;
  } cases[] = {
      {"mov.b32 %r1, 1;", "b32"},
      {"{ .reg .f32 %r<5>; } mov.b32 %r1, 1;", "b32"},
      {"{ .reg .f32 %r<5>; mov.f32 %r1, 0f00000000; }", "f32"},
      {"{ .reg .f32 %r<5>; mov.b32 %r7, 0; }", "b32"},  // beyond the inner range
      {"{ .reg .f32 %r1; mov.f32 %r1, 0f00000000; }", "f32"},
      {"{ .reg .f32 %r1; mov.b32 %r2, 0; }", "b32"},
      {"{ .reg .f32 %r1; { .reg .b16 %r<4>; mov.b16 %r1, 0; } }", "b16"},
      {"{ .reg .b16 %r<4>; { .reg .f32 %r1; mov.f32 %r1, 0f00000000; } }", "f32"},
      {"mov.b32 %r01, 1;", "b32"},  // the same as %r1
      {".reg .v4 .f32 v; mov.f32 v.x, 0f00000000;", "v4 .f32"},
      {".reg .b32 x, b<3>, c; mov.b32 b2, 0;", "b32"},
  };
  for (const auto& c : cases) {
    const Parsed p = parsed(kernel_around(c.body));
    const Operand& operand = p.operand(p.kernel().instructions.size() - 1, 0);
    ASSERT_EQ(operand.kind, Kind::reg) << c.body;
    EXPECT_EQ(p.kernel().registers[operand.symbol].type, c.type) << c.body;
  }
}

TEST(Scopes, TheSameLabelInSiblingScopesIsTwoLabels) {
  const Parsed p = parsed(kernel_around("{ L: bra L; } { bra L; L: ret; }"));
  ASSERT_EQ(p.kernel().labels.size(), 2u);
  EXPECT_EQ(p.operand(0, 0).kind, Kind::label);
  EXPECT_EQ(p.operand(0, 0).symbol, 0u);
  EXPECT_EQ(p.operand(1, 0).symbol, 1u);
  EXPECT_EQ(p.kernel().labels[0].instruction, 0u);
  EXPECT_EQ(p.kernel().labels[1].instruction, 2u);
}

TEST(Scopes, ABranchFindsTheInnermostLabelAlsoForwards) {
  const Parsed p = parsed(kernel_around("L: { bra L; { bra M; bra L; } L: } M: bra L;"));
  ASSERT_EQ(p.kernel().labels.size(), 3u);
  EXPECT_EQ(p.operand(0, 0).symbol, 1u);
  EXPECT_EQ(p.operand(1, 0).symbol, 2u);
  EXPECT_EQ(p.operand(2, 0).symbol, 1u);
  EXPECT_EQ(p.operand(3, 0).symbol, 0u);
}

TEST(Scopes, ALabelAtTheEndMarksTheEnd) {
  const Parsed p = parsed(kernel_around("ret; L:"));
  EXPECT_EQ(p.kernel().labels[0].instruction, p.kernel().instructions.size());
}

TEST(Scopes, BranchTargetsNameLabels) {
  const Parsed p = parsed(kernel_around("ts: .branchtargets A, B, A; brx.idx %r1, ts; A: B: ret;"));
  ASSERT_EQ(p.kernel().branch_targets.size(), 1u);
  EXPECT_EQ(p.kernel().branch_targets[0].name, "ts");
  EXPECT_EQ(p.kernel().branch_targets[0].labels, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(p.operand(0, 1).referent, Referent::branch_targets);
  EXPECT_EQ(p.operand(0, 1).text, "ts");
  EXPECT_EQ(p.kernel().labels.size(), 2u);
}

TEST(Scopes, WhatASymbolNames) {
  const Parsed p = parsed(kernel_around(R"(
      .shared .align 16 .b8 tile[64];
      mov.u64 %rd1, data;
      mov.u64 %rd1, tile;
      ld.param.u64 %rd1, [a];
      ld.global.u32 %r1, [data+4];
      mov.u64 %rd1, f;
      { .param .b32 param0; st.param.b32 [param0], %r1; }
      { .param .b32 param0; st.param.b32 [param0], %r1; }
      mov.u32 %r1, %laneid;
      st.global.u32 [%rd1], WARP_SZ;)",
                                        ".global .b32 data[4]; .func f;"));
  EXPECT_EQ(p.operand(0, 1).referent, Referent::module_variable);
  EXPECT_EQ(p.operand(0, 1).symbol, 0u);
  EXPECT_EQ(p.operand(1, 1).referent, Referent::function_variable);
  EXPECT_EQ(p.operand(1, 1).symbol, no_index);
  EXPECT_EQ(p.kernel().variables[p.operand(1, 1).value].elements, 64u);
  const Operand parameter = p.part(p.operand(2, 1), 0);
  EXPECT_EQ(parameter.referent, Referent::parameter);
  EXPECT_EQ(p.kernel().parameters[parameter.value].name, "a");
  EXPECT_EQ(p.operand(3, 1).value, 4u);
  EXPECT_EQ(p.operand(4, 1).referent, Referent::function);
  EXPECT_EQ(p.part(p.operand(5, 0), 0).value, 1u);
  EXPECT_EQ(p.part(p.operand(6, 0), 0).value, 2u);
  EXPECT_EQ(p.operand(7, 1).kind, Kind::special);
  EXPECT_EQ(p.operand(8, 1).value, 32u);
}

TEST(Scopes, RegistersOfModuleScopeAreEachFunctionsOwn) {
  const Parsed p = parsed(kernel_around("mov.b32 g, g5; mov.b32 g5, g;",
                                        ".reg .b32 g; .reg .b16 g<9>; .func f() { mov.b16 g3, 1; }"));
  ASSERT_EQ(p.kernel().registers.size(), 2u);
  EXPECT_EQ(p.operand(0, 0).symbol, p.operand(1, 1).symbol);
  ASSERT_EQ(p->functions[0].registers.size(), 1u);
  EXPECT_EQ(register_name(*p, p->functions[0], 0), "g3");
}

TEST(Scopes, VariablesCanBeDeclaredAsARange) {
  const Parsed p = parsed(kernel_around(".shared .b32 s<3>; mov.u32 %r1, s2;"));
  ASSERT_EQ(p.kernel().variables.size(), 3u);
  EXPECT_EQ(p.kernel().variables[2].name, "s2");
  EXPECT_EQ(p.operand(0, 1).value, 2u);
}

// A guard that is a name of the module keeps its meaning beside a register of an inner scope that is declared
// later.
TEST(Scopes, AGuardOfTheModuleIsPrintedAsNoRegisterOfAnInnerScope) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.param .pred %p<2>;\n"
      ".entry k() {\n  @%p0 bra E;\n  .reg .pred %p<2>;\n  @%p0 bra E;\nE:\n  ret;\n}\n";
  const auto module = parse(text, "k.ptx");
  ASSERT_TRUE(module) << to_text(module.diagnostics());
  const std::string printed = print(*module);
  const auto again = parse(printed, "printed.ptx");
  ASSERT_TRUE(again) << to_text(again.diagnostics());
  EXPECT_EQ(print(*again), printed);
  const auto kind = [](const Module& of, std::size_t instruction) {
    return of.operands[of.functions[0].instructions[instruction].guard].kind;
  };
  for (const std::size_t instruction : {0, 1})
    EXPECT_EQ(kind(*again, instruction), kind(*module, instruction));
  EXPECT_EQ(kind(*module, 0), Operand::Kind::symbol);
  EXPECT_EQ(kind(*module, 1), Operand::Kind::reg);
}

// Printed, all registers stand in one scope: a word of an unknown instruction must not come to mean one.
TEST(Scopes, AWordThatNothingDeclaresIsPrintedAsNoRegisterOfAnInnerScope) {
  const Parsed p = parsed(kernel_around("newer.b64 [x], %rd1; { .reg .b64 x; newer.b64 [x], x; } ret;"));
  const std::string printed = print(*p);
  EXPECT_NE(printed.find("newer.b64 [x], %rd1;"), std::string::npos) << printed;
  EXPECT_NE(printed.find("newer.b64 [x$1_], x$1_;"), std::string::npos) << printed;
  EXPECT_EQ(print(*parsed(printed)), printed);
}

}  // namespace
}  // namespace warptime::ptx
