// The machine code of a cubin, and the estimate of it. ptxas is asked where there is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/slow_paths.h"
#include "analyzer/compile/ptxas.h"
#include "analyzer/machine/address_forms.h"
#include "analyzer/machine/block_cycles.h"
#include "analyzer/machine/context.h"
#include "analyzer/machine/cost_table.h"
#include "analyzer/machine/kernel_work.h"
#include "analyzer/machine/line_table.h"
#include "analyzer/machine/logic_cover.h"
#include "analyzer/machine/machine_code.h"
#include "analyzer/machine/machine_flow.h"
#include "analyzer/machine/register_reads.h"
#include "analyzer/machine/slow_divisions.h"
#include "analyzer/machine/source_loops.h"
#include "analyzer/machine/spills.h"
#include "analyzer/machine/view.h"
#include "analyzer/ptx/module.h"
#include "tests/analyzer/test_program.h"

namespace warptime::machine {
namespace {

// a[i] = 2 * a[i] for n iterations of i += 1.
constexpr const char* kLoop = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 a, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<4>;
.reg .f32 %f<3>;
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r2, 0;
LOOP:
mul.wide.s32 %rd3, %r2, 4;
add.s64 %rd4, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
add.f32 %f2, %f1, %f1;
st.global.f32 [%rd4], %f2;
add.s32 %r2, %r2, 1;
setp.lt.s32 %p1, %r2, %r1;
@%p1 bra LOOP;
ret;
}
)";

std::vector<Context> contexts() {
  const auto module = ptx::parse(kLoop, "loop.ptx");
  EXPECT_TRUE(module);
  analysis::KernelCode code(*module, module->functions.front());
  const auto cfg = analysis::build_cfg(code, "loop.ptx");
  EXPECT_TRUE(cfg);
  return contexts_of(code, *cfg);
}

TEST(Contexts, SayWhatBecomesOfAResultAndWhereOperandsComeFrom) {
  const auto found = contexts();
  ASSERT_EQ(found.size(), 13u);
  const auto text = [&](std::size_t i) {
    const Context& one = found[i];
    return one.operation + "|" + one.use + "|" + one.operands + std::string(suffix_of(one.loop));
  };
  EXPECT_EQ(text(0), "ld.param.b64|other1|k");
  EXPECT_EQ(text(3), "mov.i32|mixed+phi|c");
  EXPECT_EQ(text(4), "mul.wide.i32|add1|2r@unrolled");
  EXPECT_EQ(text(5), "add.i64|addressn|mp@unrolled");
  EXPECT_EQ(text(6), "ld.global.b32|addn|o@unrolled");
  EXPECT_EQ(text(7), "add.f32|other1|rr@unrolled");
  EXPECT_EQ(text(8), "st.global.b32||ao@unrolled");
  EXPECT_EQ(text(10), "setp.i32|branch1|pr@unrolled");
  EXPECT_EQ(text(11), "bra.back||o@unrolled");
  EXPECT_EQ(found[12].loop, LoopKind::none);
}

// A kernel whose lines say how many machine instructions they become for sm_90.
constexpr const char* kRules = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry rules(.param .u64 a, .param .u32 n)
{
.reg .pred %p<4>;
.reg .b32 %r<25>;
.reg .f32 %f<9>;
.reg .f64 %fd<4>;
.reg .b64 %rd<14>;
.shared .align 4 .b8 tile[1024];
ld.param.u64 %rd1, [a];             // 0
ld.param.u32 %r1, [n];              // 0
cvta.to.global.u64 %rd2, %rd1;      // 0
mov.u32 %r2, %tid.x;                // 0
setp.ge.s32 %p1, %r2, %r1;          // 3 with S2R and the parameter's ULDC
@%p1 bra END;                       // 1 @EXIT
mul.wide.s32 %rd3, %r2, 4;          // 0
add.s64 %rd4, %rd2, %rd3;           // 2 IMAD.WIDE with the parameter's LDC
add.s64 %rd5, %rd4, 64;             // 0 an offset
ld.global.u32 %r3, [%rd5];          // 2 with the descriptor's ULDC
mul.lo.s32 %r4, %r3, %r2;           // 0
add.s32 %r5, %r4, %r3;              // 1 IMAD
shl.b32 %r6, %r5, 3;                // 0
add.s32 %r7, %r6, %r2;              // 1 LEA
add.s32 %r8, %r7, %r3;              // 0
add.s32 %r9, %r8, %r5;              // 1 IADD3 of three
shl.b32 %r10, %r9, 5;               // 0
shr.u32 %r11, %r9, 27;              // 0
or.b32 %r12, %r10, %r11;            // 1 a rotation
and.b32 %r13, %r12, %r3;            // 0
xor.b32 %r14, %r13, %r9;            // 1 LOP3 of three
and.b32 %r15, %r14, 1;              // 0
setp.eq.s32 %p2, %r15, 0;           // 1 LOP3 with a predicate
@!%p2 bra JOIN;                     // 2 predicated
add.s32 %r23, %r14, 1;              // 0
st.global.u32 [%rd4], %r23;         // 0
JOIN:
mov.u32 %r16, tile;                 // 0
shl.b32 %r17, %r2, 4;               // 0
add.s32 %r18, %r16, %r17;           // 4 LEA with UMOV, S2UR, ULEA
ld.shared.f32 %f1, [%r18];          // 1 LDS.128
ld.shared.f32 %f2, [%r18+4];        // 0
ld.shared.f32 %f3, [%r18+8];        // 0
ld.shared.f32 %f4, [%r18+12];       // 0
mul.f32 %f5, %f1, %f2;              // 0
sub.f32 %f6, %f3, %f5;              // 1 FFMA
fma.rn.f32 %f7, %f6, 0f3F000000, 0f40400000;  // 2 with one of its constants
neg.f32 %f8, %f4;                   // 0
add.f32 %f7, %f7, %f8;              // 1
cvt.f64.f32 %fd1, %f7;              // 1
add.f64 %fd2, %fd1, 0d3FE123456789ABCD;  // 3 with the halves of its constant
div.s32 %r19, %r14, %r3;            // 24
div.s32 %r20, %r9, %r3;             // 13 the reciprocal is known
add.s32 %r21, %r19, %r20;           // 1
st.global.u32 [%rd4+4], %r21;       // 1
st.global.f64 [%rd4+8], %fd2;       // 1
ld.global.u64 %rd6, [%rd4+16];      // 1
shr.u64 %rd7, %rd6, 33;             // 1 the upper half is zero
xor.b64 %rd8, %rd7, %rd6;           // 1 … and that of the other stays
st.global.u64 [%rd4+16], %rd8;      // 1
shl.b64 %rd9, %rd8, 2;              // 2 for two sums
add.s64 %rd10, %rd9, %rd6;          // 2
add.s64 %rd11, %rd9, %rd4;          // 2
st.global.u64 [%rd11], %rd10;       // 1
add.s64 %rd12, %rd8, %rd6;          // 0
add.s64 %rd13, %rd12, %rd10;        // 2 IADD3 of three, for each half
st.global.u64 [%rd4+32], %rd13;     // 1
setp.lt.s32 %p3, %r21, %r3;         // 1
@%p3 bra LESS;                      // 2 both sides predicated
bra.uni MORE;                       // 0
LESS:
add.s32 %r24, %r21, %r3;            // 0
bra.uni BOTH;                       // 0
MORE:
xor.b32 %r24, %r21, %r3;            // 0
BOTH:
st.global.u32 [%rd4+40], %r24;      // 1
mul.lo.s32 %r22, %r21, %r21;        // 0 nothing reads it
END:
ret;                                // 0
}
)";

// What is checked in the same way, of bits and of shared memory.
constexpr std::string_view kRulesOfBits = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u32 k_1, .param .u32 k_2)
{
.shared .align 4 .b8 table[1024];
.reg .pred %p<9>;
.reg .b32 %r<60>;
.reg .f32 %f<20>;
.reg .b64 %rd<40>;
ld.param.u64 %rd1, [k_0];           // 0
ld.param.u32 %r1, [k_1];            // 0
ld.param.u32 %r2, [k_2];            // 0
cvta.to.global.u64 %rd2, %rd1;      // 0
mov.u32 %r3, %tid.x;                // 0
mul.wide.u32 %rd3, %r3, 64;         // 0
add.s64 %rd4, %rd2, %rd3;           // 3 S2R, LDC, IMAD.WIDE
ld.global.u32 %r4, [%rd4];          // 2 ULDC for the descriptor
ld.global.u32 %r5, [%rd4+52];       // 1
ld.global.u32 %r6, [%rd4+8];        // 1
ld.global.u64 %rd5, [%rd4+16];      // 1
ld.global.u64 %rd6, [%rd4+56];      // 1
ld.global.f32 %f1, [%rd4+32];       // 1
ld.global.f32 %f2, [%rd4+44];       // 1
or.b32 %r7, %r4, %r5;               // 0 part of both that read it
and.b32 %r8, %r7, %r6;              // 1
xor.b32 %r9, %r7, %r6;              // 1
mul.lo.s32 %r10, %r8, %r9;          // 1
st.global.u32 [%rd4], %r10;         // 1
or.b64 %rd7, %rd5, %rd6;            // 0
not.b64 %rd8, %rd7;                 // 0
and.b64 %rd9, %rd8, 2305843009213693951;  // 2
st.global.u64 [%rd4+16], %rd9;      // 1
and.b64 %rd10, %rd6, -4294967041;    // 1 one half stays
st.global.u64 [%rd4+72], %rd10;     // 1
shl.b32 %r11, %r4, 9;               // 0 both are one funnel shift
shr.u32 %r12, %r5, 23;              // 0
or.b32 %r13, %r11, %r12;            // 1
st.global.u32 [%rd4+8], %r13;       // 1
setp.lt.s32 %p1, %r4, %r5;          // 1
add.f32 %f3, %f1, %f2;              // 1 predicated
selp.f32 %f4, %f3, %f1, %p1;        // 0
cvt.rmi.f32.f32 %f5, %f4;           // 0 F2I.FLOOR
cvt.rzi.s32.f32 %r14, %f5;          // 1
st.global.u32 [%rd4+12], %r14;      // 1
mul.lo.s64 %rd11, %rd5, %rd6;       // 4
mul.hi.u64 %rd12, %rd5, %rd6;       // 3 with the lower half
xor.b64 %rd13, %rd11, %rd12;        // 2
st.global.u64 [%rd4+40], %rd13;     // 1
mov.u32 %r20, table;                // 0
and.b32 %r21, %r6, 1020;            // 1
add.s32 %r22, %r20, %r21;           // 3 S2UR, UMOV, ULEA; LDS adds
ld.shared.u32 %r23, [%r22];         // 1
st.global.u32 [%rd4+48], %r23;      // 1
bfe.u32 %r30, %r4, 8, 8;            // 1 PRMT
and.b32 %r31, %r30, 255;            // 0 it is a byte
bfi.b32 %r32, %r31, %r5, 16, 8;     // 1 PRMT
bfe.u32 %r33, %r6, 5, 8;            // 2 SHF, SGXT
st.global.v2.u32 [%rd4+80], {%r32, %r33};  // 1
ret;                                // 0
}
)";

// For sm_90.
Estimate estimate_of(analysis::KernelCode& code) {
  const auto cfg = analysis::build_cfg(code, "kernel.ptx");
  EXPECT_TRUE(cfg);
  std::string used;
  return cfg ? estimate(code, *cfg, table_of("sm_90", used)) : Estimate();
}

Estimate estimate_of_ptx(const std::string& text) {
  const auto module = ptx::parse(text, "kernel.ptx");
  EXPECT_TRUE(module) << to_text(module.diagnostics());
  analysis::KernelCode code(*module, module->functions.front());
  return estimate_of(code);
}

TEST(Estimates, FollowWhatPtxasDoes) {
  for (const std::string_view rules : {std::string_view(kRules), kRulesOfBits}) {
    const auto module = ptx::parse(rules, "rules.ptx");
    ASSERT_TRUE(module) << to_text(module.diagnostics());
    analysis::KernelCode code(*module, module->functions.front());
    const Estimate made = estimate_of(code);
    const auto& instructions = code.function().instructions;
    ASSERT_EQ(made.each.size(), instructions.size());
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      const std::string_view rest = module->text.substr(instructions[i].offset);
      const std::string_view line = rest.substr(0, rest.find('\n'));
      const int expected = std::stoi(std::string(line.substr(line.find("//") + 2)));
      EXPECT_DOUBLE_EQ(made.each[i].total(), expected) << line;
    }
    EXPECT_EQ(made.once.total(), 2);  // LDC R1, EXIT
  }
}

// A loop over elements, whose body is given, and what each of its instructions becomes, with what is before it.
struct LoopEstimate {
  std::vector<double> each;
  double entry = 0;
};
LoopEstimate loop_estimate(const std::string& body) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_0, .param .u32 "
      "k_1)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n.reg .f64 %fd<20>;\n.reg .b64 %d<4>;\n"
      "ld.param.u64 %d1, [k_0];\nld.param.u32 %r1, [k_1];\nmov.u32 %r2, %tid.x;\n"
      "ld.global.u32 %r3, [%d1];\nTOP:\n" +
      body + "add.s32 %r2, %r2, 32;\nsetp.lt.s32 %p1, %r2, %r1;\n@%p1 bra TOP;\nret;\n}\n";
  const Estimate made = estimate_of_ptx(text);
  LoopEstimate found;
  for (const MachineWork& work : made.each) found.each.push_back(work.total());
  found.each.erase(found.each.begin(), found.each.begin() + 4);
  found.entry = made.loops.front().entry.total();
  return found;
}

TEST(Estimates, ReciprocalsOfFixedDivisorsAreMadeBeforeTheLoop) {
  const std::string store = "st.global.u32 [%d1+4], %r6;\n";
  const LoopEstimate once = loop_estimate("rem.s32 %r6, %r2, %r3;\n" + store);
  EXPECT_EQ(once.each[0], 11);
  // Another division finds none: it makes its own, which those behind it have.
  const LoopEstimate thrice = loop_estimate(
      "rem.s32 %r6, %r2, %r3;\nadd.s32 %r5, %r2, 1;\nrem.s32 %r7, %r5, %r3;\nadd.s32 %r8, %r2, 2;\n"
      "rem.s32 %r9, %r8, %r3;\nst.global.u32 [%d1+8], %r7;\nst.global.u32 [%d1+16], %r9;\n" +
      store);
  EXPECT_EQ(thrice.each[0], 11);
  EXPECT_EQ(thrice.each[2], 22);
  EXPECT_EQ(thrice.each[4], 11);
  EXPECT_EQ(thrice.entry, once.entry);
  // Not around what a subroutine may do, nor where the loop writes the divisor.
  const LoopEstimate calls = loop_estimate(
      "rem.s32 %r6, %r2, %r3;\ndiv.rn.f32 %f1, %f2, %f3;\nst.global.f32 [%d1+8], %f1;\n" + store);
  EXPECT_EQ(calls.each[0], 22);
  EXPECT_EQ(calls.entry, once.entry - 11);
  EXPECT_EQ(loop_estimate("rem.s32 %r6, %r2, %r3;\nadd.s32 %r3, %r3, 1;\n" + store).each[0], 22);
}

TEST(Estimates, ConstantsOfSixtyFourBitsAreMadeOncePerIteration) {
  const std::string twice =
      "fma.rn.f64 %fd2, %fd1, %fd1, 0d3FA47AE147AE147B;\nfma.rn.f64 %fd3, %fd2, %fd1, 0d3FA47AE147AE147B;\n";
  const LoopEstimate made = loop_estimate(twice + "st.global.f64 [%d1+8], %fd3;\n");
  EXPECT_EQ(made.each[0], 3);
  EXPECT_EQ(made.each[1], 1);
  const LoopEstimate calls =
      loop_estimate(twice + "div.rn.f64 %fd4, %fd3, %fd1;\nst.global.f64 [%d1+8], %fd4;\n");
  EXPECT_EQ(calls.each[0], 3);
  EXPECT_EQ(calls.each[1], 3);  // calls keep no uniform registers
}

TEST(Estimates, WhatIterationsMayLeaveOutMakesItsPlacesItself) {
  const std::string body = "ld.global.u32 %r5, [%d1+64];\n";
  const LoopEstimate always = loop_estimate(body + "st.global.u32 [%d1], %r5;\n");
  EXPECT_EQ(always.each[0], 1);  // its argument and descriptor are made before the loop
  const LoopEstimate seldom = loop_estimate(
      "setp.lt.s32 %p2, %r2, 7;\n@%p2 bra NEXT;\nld.global.u32 %r5, [%d1+64];\nbar.sync 0;\n"
      "st.global.u32 [%d1], %r5;\nNEXT:\n");
  EXPECT_EQ(seldom.each[2], 2);
}

// Operations as {inputs}, of which those below 100 are operations' results.
std::vector<bool> covered(const std::vector<std::vector<std::uint64_t>>& inputs,
                          const std::set<std::uint32_t>& values) {
  std::vector<LogicOperation> operations(inputs.size());
  for (std::uint32_t n = 0; n < inputs.size(); ++n) {
    for (const std::uint64_t value : inputs[n]) {
      LogicOperation::Input input{value, LogicOperation::outside, value >= 1000};
      if (value < 100) {
        input.made_by = static_cast<std::uint32_t>(value);
        ++operations[value].readers;
      }
      operations[n].inputs.push_back(input);
    }
    operations[n].read_elsewhere = values.contains(n);
  }
  return part_of_readers(operations);
}

TEST(LogicCover, IsOfThreeInputsAndOneConstant) {
  using Parts = std::vector<bool>;
  EXPECT_EQ(covered({{100, 101}, {0, 102}}, {1}), (Parts{true, false}));
  // Four values are two operations.
  EXPECT_EQ(covered({{100, 101}, {0, 102}, {1, 103}}, {2}), (Parts{false, true, false}));
  // Three values, however often each is read.
  EXPECT_EQ(covered({{100, 101}, {0, 102}, {0, 1}, {2, 100}}, {3}), (Parts{true, true, true, false}));
  // One that two read is part of both, unless something else needs it.
  EXPECT_EQ(covered({{100, 101}, {0, 102}, {0, 103}}, {1, 2}), (Parts{true, false, false}));
  EXPECT_EQ(covered({{100, 101}, {0, 102}, {0, 103}}, {0, 1, 2}), (Parts{false, false, false}));
  // An instruction holds one constant.
  EXPECT_EQ(covered({{100, 1000}, {0, 1001}}, {1}), (Parts{false, false}));
  EXPECT_EQ(covered({{100, 1000}, {0, 1000}}, {1}), (Parts{true, false}));
  // Of what is a value in any case nothing is taken in: the place is for another.
  EXPECT_EQ(covered({{100, 101}, {102, 103}, {0, 1}}, {0, 2}), (Parts{false, true, false}));
}

// What ptxas makes of single operations, by pipe and target.
TEST(CostTables, HaveOperationsOnTheirPipes) {
  struct Case {
    std::string_view target, opcode;
    double alu, fma, xu;
  };
  for (const Case& c : std::vector<Case>{{"sm_90", "sin.approx.f32", 0, 1, 1},
                                         {"sm_90", "ex2.approx.ftz.f32", 0, 0, 1},
                                         {"sm_90", "clz.b32", 1, 0, 1},
                                         {"sm_75", "cvt.rn.f32.s32", 0, 0, 1},
                                         {"sm_80", "cvt.rn.f32.s32", 0, 0, 1},
                                         {"sm_86", "cvt.rn.f32.s32", 1, 0, 0},
                                         {"sm_90", "cvt.rn.f32.s32", 1, 0, 0},
                                         {"sm_120", "cvt.rn.f32.u32", 1, 0, 0},
                                         {"sm_90", "cvt.rzi.s32.f32", 0, 0, 1}}) {
    std::string used;
    const MachineWork* work = table_of(c.target, used).find_alone(c.opcode);
    ASSERT_NE(work, nullptr) << c.target << ' ' << c.opcode;
    EXPECT_EQ((*work)[Pipe::alu], c.alu) << c.target << ' ' << c.opcode;
    EXPECT_EQ((*work)[Pipe::fma], c.fma) << c.target << ' ' << c.opcode;
    EXPECT_EQ((*work)[Pipe::xu], c.xu) << c.target << ' ' << c.opcode;
  }
  std::string used;
  EXPECT_EQ(table_of("sm_90", used).find_alone("add.s32"), nullptr);  // depends on what is around it
}

// Of a kernel's straight-line code, for sm_90.
Estimate estimate_of_body(const std::string& body) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_0)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n.reg .b64 %d<4>;\n"
      "ld.param.u64 %d1, [k_0];\nld.global.u32 %r1, [%d1];\nld.global.u32 %r2, [%d1+4];\nbar.sync 0;\n" +
      body + "st.global.u32 [%d1], %r9;\nret;\n}\n";
  return estimate_of_ptx(text);
}

double cycles_of(const std::string& body) {
  double cycles = 0;
  for (const MachineWork& work : estimate_of_body(body).each) cycles += work.cycles;
  return cycles;
}

// What could be on either pipe is where there is less to do.
TEST(Estimates, BalanceTheAluAndTheFmaPipe) {
  // A shift, a negation or a move, and six operations of the same kind, each of which is stored.
  const auto on_fma = [](const std::string& operation, const std::string& either) {
    std::string body = "ld.global.u32 %r3, [%d1+8];\n" + either;
    for (int i = 0; i < 6; ++i) {
      const std::string to = "%r" + std::to_string(10 + i);
      body += operation + " " + to + ", %r1, %r" + (i % 2 == 0 ? "2" : "3") + ";\nst.global.u32 [%d1+" +
              std::to_string(16 + 4 * i) + "], " + to + ";\n";
    }
    double fma = 0, alu = 0;
    for (const MachineWork& work : estimate_of_body(body).each) {
      fma += work[Pipe::fma];
      alu += work[Pipe::alu];
    }
    return std::pair(fma, alu);
  };
  struct Case {
    std::string either;
    double of_alu, of_fma,
        instructions;  // the FMA pipe's share, beside operations on the ALU and on the FMA pipe
  };
  for (const Case& one : {
           Case{"shl.b32 %r9, %r1, 5;\n", 0.75, 0.3, 1},
           Case{"add.s32 %r9, %r1, %r2;\n", 0.7, 0.2, 1},
           Case{"add.s32 %r9, %r1, 7;\n", 0.7, 0.33, 1},                             // VIADD
           Case{"shl.b32 %r8, %r1, 5;\nadd.s32 %r9, %r8, %r2;\n", 0.2, 0.35, 1},     // LEA, or IMAD
           Case{"shr.u32 %r8, %r1, 5;\nadd.s32 %r9, %r8, %r2;\n", 0, 0, 1},          // LEA.HI
           Case{"add.s32 %r8, %r1, %r3;\nadd.s32 %r9, %r8, %r2;\n", 0.05, 0.45, 1},  // IADD3
           // A sum in any case, and a move under the predicate.
           Case{"setp.gt.s32 %p1, %r1, %r2;\nselp.u32 %r8, 1, 0, %p1;\nadd.s32 %r9, %r8, %r2;\n", 1.4, 1.4,
                3},
       }) {
    for (const auto& [beside, share] : {std::pair("min.s32", one.of_alu), {"mul.lo.s32", one.of_fma}}) {
      const auto [fma, alu] = on_fma(beside, one.either);
      const auto [fma_without, alu_without] = on_fma(beside, "");
      EXPECT_NEAR(fma - fma_without, share, 1e-9) << one.either << beside;
      EXPECT_NEAR(fma + alu - fma_without - alu_without, one.instructions, 1e-9) << one.either << beside;
    }
  }
}

// `for (k = 0; k < iterations; ++k) sum += k * k / 9 * x`, with as many multiply-adds besides.
Estimate estimate_of_counted(int iterations, int multiply_adds, const std::string& besides = "") {
  std::string body = "mov.u32 %r3, 0;\nmov.u32 %r9, 0;\nmov.f32 %f1, 0f3F800000;\nL1:\n" + besides +
                     "mul.lo.s32 %r4, %r3, %r3;\nmul.hi.u32 %r5, %r4, 954437177;\nshr.u32 %r6, %r5, 1;\n"
                     "mad.lo.s32 %r9, %r6, %r1, %r9;\n";
  for (int i = 0; i < multiply_adds; ++i) body += "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
  body += "add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, " + std::to_string(iterations) +
          ";\n@%p1 bra L1;\nst.global.f32 [%d1+8], %f1;\n";
  return estimate_of_body(body);
}

// What is computed of the counter alone is a number in each copy.
TEST(Estimates, LoopsOfFewIterationsAreCopies) {
  const auto sum = [](const Estimate& made) {
    double all = 0;
    for (const MachineWork& work : made.each) all += work.total();
    return all;
  };
  const Estimate whole = estimate_of_counted(27, 10), rolled = estimate_of_counted(5000, 10);
  // The product, its upper half, the shift, and the counter, the comparison and the branch.
  EXPECT_GT(sum(rolled), sum(whole) + 3);
  const auto is_whole = [](const Estimate& made, std::int64_t iterations) {
    const auto& pieces = made.loops.at(0).pieces;
    return pieces.size() == 1 && pieces.front().iterations == iterations;
  };
  EXPECT_TRUE(is_whole(whole, 27));
  EXPECT_FALSE(is_whole(rolled, 5000));
  // A root has a path of its own for few values.
  const Estimate root = estimate_of_counted(27, 10, "sqrt.rn.f32 %f1, %f1;\n");
  EXPECT_FALSE(is_whole(root, 27));
  // With a branch in the body only if there are few iterations, of few instructions.
  const std::string branch = "setp.eq.s32 %p2, %r9, %r2;\n@%p2 bra L2;\nst.global.u32 [%d1+12], %r9;\nL2:\n";
  EXPECT_TRUE(is_whole(estimate_of_counted(27, 10, branch), 27));
  EXPECT_TRUE(is_whole(estimate_of_counted(36, 10), 36));
  EXPECT_FALSE(is_whole(estimate_of_counted(36, 10, branch), 36));
  EXPECT_FALSE(is_whole(estimate_of_counted(27, 24, branch), 27));
}

// An array in local memory is a reason to leave copies alone where its places are numbers then.
TEST(Estimates, LoopsOverArraysAreCopiesWherePlacesAreNumbers) {
  const auto is_whole = [](const std::string& besides) {
    const Estimate made = estimate_of_counted(60, 20, besides);
    const auto& pieces = made.loops.at(0).pieces;
    return pieces.size() == 1 && pieces.front().iterations == 60;
  };
  const std::string load = "ld.local.u32 %r8, [%d2];\nadd.s32 %r9, %r9, %r8;\n";
  EXPECT_FALSE(is_whole(""));
  EXPECT_TRUE(is_whole("cvt.u64.u32 %d2, %r3;\n" + load));
  EXPECT_FALSE(is_whole("cvt.u64.u32 %d2, %r9;\n" + load));
}

TEST(Estimates, HaveTheCyclesOfTheirChains) {
  const std::string chain =
      "xor.b32 %r3, %r1, %r2;\nmul.lo.s32 %r4, %r3, %r3;\nxor.b32 %r5, %r4, %r1;\n"
      "mul.lo.s32 %r9, %r5, %r5;\n";
  const std::string apart =
      "xor.b32 %r3, %r1, %r2;\nmul.lo.s32 %r4, %r1, %r2;\nand.b32 %r5, %r1, %r2;\n"
      "mul.lo.s32 %r9, %r2, %r2;\nst.global.u32 [%d1+8], %r3;\nst.global.u32 [%d1+12], %r4;\n"
      "st.global.u32 [%d1+16], %r5;\n";
  const double none = cycles_of("mov.u32 %r9, %r1;\n");
  // Four latencies of 4.5 cycles, and four instructions; stores are issued in between.
  EXPECT_NEAR(cycles_of(chain) - none, 0.8 * 4 * 4.5 + 0.8 * 4, 2);
  EXPECT_LT(cycles_of(apart) - none, cycles_of(chain) - none + 3 * 2);
  // What a comparison guards waits for 13 cycles; a selection does not.
  const std::string compare = "setp.gt.s32 %p1, %r1, %r2;\n";
  const double guarded = cycles_of(compare + "mov.u32 %r9, %r1;\n@%p1 mul.lo.s32 %r9, %r2, %r2;\n");
  const double selected = cycles_of(compare + "selp.b32 %r9, %r1, %r2, %p1;\n");
  EXPECT_GT(guarded, selected + 0.8 * 8);
  // A remainder waits for a reciprocal, and its two corrections for comparisons.
  EXPECT_NEAR(cycles_of("rem.s32 %r9, %r1, %r2;\n") - none, 137, 40);
}

// Divisions of floats end in a branch to their slow path: the second one begins behind the first.
TEST(Estimates, DivisionsFollowEachOther) {
  const std::string begin = "mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n", end = "mov.b32 %r9, %f4;\n";
  const double none = cycles_of(begin + "add.f32 %f4, %f1, %f2;\n" + end);
  const double one = cycles_of(begin + "div.rn.f32 %f4, %f1, %f2;\n" + end);
  const double two = cycles_of(
      begin + "div.rn.f32 %f3, %f2, %f1;\nst.global.f32 [%d1+8], %f3;\ndiv.rn.f32 %f4, %f1, %f2;\n" + end);
  EXPECT_GT(two - one, 0.8 * (one - none));
  // Without such a branch the second is issued while the first is under way.
  const double quick = cycles_of(begin + "div.approx.f32 %f4, %f1, %f2;\n" + end);
  const double both = cycles_of(
      begin + "div.approx.f32 %f3, %f2, %f1;\nst.global.f32 [%d1+8], %f3;\ndiv.approx.f32 %f4, %f1, %f2;\n" +
      end);
  EXPECT_LT(both - quick, 0.5 * (two - one));
}

// clang writes labels around inlined calls, for debuggers. Nothing goes to them.
TEST(Estimates, LabelsThatNothingGoesToCutNoBlock) {
  const std::string chains =
      "mul.lo.s32 %r3, %r1, %r1;\nmul.lo.s32 %r3, %r3, %r1;\nmul.lo.s32 %r3, %r3, %r1;\n|"
      "mul.lo.s32 %r9, %r2, %r2;\nmul.lo.s32 %r9, %r9, %r2;\nmul.lo.s32 %r9, %r9, %r2;\nst.global.u32 "
      "[%d1+8], %r3;\n";
  const auto with = [&](const std::string& between) {
    std::string body = chains;
    return body.replace(body.find('|'), 1, between);
  };
  EXPECT_EQ(cycles_of(with("$L__tmp1:\n")), cycles_of(with("")));
  EXPECT_GT(cycles_of(with("setp.gt.s32 %p1, %r1, %r2;\n@%p1 bra $L__tmp1;\n$L__tmp1:\n")),
            cycles_of(with("")));
}

// As many results of loads are held at once as in the order of the PTX, and eight more.
TEST(Estimates, HoldFewMoreValuesThanTheirPtx) {
  const auto loads = [](int count) {
    std::string body = ".reg .b32 %v<200>;\nmov.b32 %r9, %r1;\nmov.b32 %r3, %r2;\n";
    for (int i = 0; i < count; ++i) {
      const std::string at = std::to_string(4 * i);
      for (int j = 0; j < 4; ++j)
        body += "ld.shared.u32 %v" + std::to_string(4 * i + j) + ", [%r2+" + std::to_string(16 * i + 4 * j) +
                "];\n";
      for (int j = 0; j < 4; ++j) body += "mad.lo.s32 %r9, %v" + std::to_string(4 * i + j) + ", %r1, %r9;\n";
    }
    return cycles_of(body);
  };
  // Sixteen loads with all their results at once would wait for one latency of shared memory; groups wait again.
  EXPECT_GT(loads(16) - loads(15), 8 * 0.8 * 2);
  EXPECT_GT(loads(16), loads(2) + 0.8 * 34);
}

MachineInstruction with_control(std::uint16_t code, int stall, int write_barrier, unsigned waits) {
  MachineInstruction one;
  one.code = code;
  one.opcode = find_machine_opcode(code);
  one.control.stall = stall;
  one.control.write_barrier = write_barrier;
  one.control.waits = waits;
  return one;
}

TEST(BlockCycles, AreStallCountsAndWhatBarriersWaitFor) {
  constexpr std::uint16_t iadd3 = 0x010, mufu = 0x108, ldg = 0x181;
  constexpr int none = Control::no_barrier;
  const std::vector<MachineInstruction> stalls = {
      with_control(iadd3, 5, none, 0), with_control(iadd3, 13, none, 0), with_control(iadd3, 1, none, 0)};
  EXPECT_EQ(cycles_of_block(stalls, 90), 19);
  // The result of a special function is there 17 cycles after its issue.
  const std::vector<MachineInstruction> special = {
      with_control(mufu, 2, 0, 0), with_control(iadd3, 4, none, 0), with_control(iadd3, 3, none, 1)};
  EXPECT_EQ(cycles_of_block(special, 90), 17 + 3);
  // Loads of memory are waited for elsewhere.
  const std::vector<MachineInstruction> load = {with_control(ldg, 2, 0, 0), with_control(iadd3, 3, none, 1)};
  EXPECT_EQ(cycles_of_block(load, 90), 5);
}

// data/hardware/h200_branch_costs.csv: a loop of one warp takes six cycles more than its stall counts.
TEST(BlockCycles, BranchesTakeMoreThanTheirStallCounts) {
  constexpr std::uint16_t bra = 0x147, bsync = 0x141;
  const auto branch = [](std::int64_t to) {
    MachineInstruction one = with_control(bra, 5, Control::no_barrier, 0);
    one.address = 0x100;
    const auto offset = static_cast<std::uint64_t>((to - 0x110) / 4);
    one.lower = (offset >> 8 & 0x3fffffff) << 34 | (offset & 0xff) << 16;
    one.upper = offset >> 38 & 0x3ffff;
    EXPECT_EQ(branch_target(one, 90), to);
    return cycles_of_block(std::vector{one}, 90);
  };
  EXPECT_EQ(branch(0x40), 5 + 6);
  EXPECT_EQ(branch(0x200), 5 + 4);
  EXPECT_EQ(cycles_of_block(std::vector{with_control(bsync, 5, Control::no_barrier, 0)}, 90), 5 + 8);
}

// What nvcc 13.0 makes of such bodies for sm_90: 8 instructions are predicated, 20 with a load of global memory, none with an
// atomic.
TEST(Estimates, OfShortBranchesArePredicated) {
  const auto predicated = [](int sums, const std::string& load) {
    std::string text =
        ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %p<2>;\n.reg .f32 %f<5>;\n.reg .b64 %rd<3>;\n.shared .align 4 .b8 words[128];\n"
        "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
        "ld.global.f32 %f1, [%rd2];\nld.global.f32 %f3, [%rd2 + 8];\nsetp.gt.f32 %p1, %f1, 0f3F000000;\n@%p1 "
        "bra END;\n" +
        load;
    for (int i = 0; i < sums; ++i) text += "fma.rn.f32 %f1, %f1, %f1, %f3;\n";
    text += "END:\nst.global.f32 [%rd2], %f1;\nret;\n}\n";
    return !estimate_of_ptx(text).predicated.empty();
  };
  EXPECT_TRUE(predicated(8, ""));
  EXPECT_FALSE(predicated(9, ""));
  EXPECT_FALSE(predicated(8, "ld.shared.f32 %f3, [words + 4];\n"));
  EXPECT_TRUE(predicated(19, "ld.global.f32 %f3, [%rd2 + 4];\n"));
  EXPECT_FALSE(predicated(20, "ld.global.f32 %f3, [%rd2 + 4];\n"));
  EXPECT_TRUE(predicated(0, "st.shared.f32 [words + 4], %f3;\n"));
  EXPECT_FALSE(predicated(0, "red.shared.add.f32 [words + 4], %f3;\n"));
  EXPECT_FALSE(predicated(0, "red.global.add.f32 [%rd2 + 4], %f3;\n"));
}

// Bodies of growing length before a load, behind which all ways meet, and bodies with two sides: nvcc 13.0, sm_90.
TEST(Estimates, OfShortBranchesBeforeLoadsArePredicated) {
  const auto predicated = [](int sums, int others, const std::string& behind) {
    std::string text =
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0) {\n"
        ".reg .pred %p<3>; .reg .f32 %f<6>; .reg .b64 %rd<3>; .shared .align 4 .b8 words[64];\n"
        "ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"
        "ld.global.f32 %f1, [%rd2];\nmov.f32 %f3, %f1;\nsetp.gt.f32 %p1, %f1, 0f00000000;\n";
    text += others > 0 ? "@%p1 bra OTHER;\n" : "@%p1 bra JOIN;\n";
    for (int i = 0; i < sums; ++i) text += "fma.rn.f32 %f3, %f3, %f1, %f1;\n";
    if (others > 0) text += "bra.uni JOIN;\nOTHER:\n";
    for (int i = 0; i < others; ++i) text += "add.f32 %f3, %f3, %f1;\n";
    text += "JOIN:\nst.global.f32 [%rd2 + 8], %f3;\n" + behind + "ret;\n}\n";
    return !estimate_of_ptx(text).predicated.empty();
  };
  const std::string load = "ld.global.f32 %f4, [%rd2 + 4];\nst.global.f32 [%rd2 + 12], %f4;\n";
  EXPECT_FALSE(predicated(9, 0, ""));
  EXPECT_TRUE(predicated(20, 0, load));
  EXPECT_FALSE(predicated(21, 0, load));
  EXPECT_FALSE(predicated(9, 0, "ld.shared.f32 %f4, [words];\nst.global.f32 [%rd2 + 12], %f4;\n"));
  // Behind another short branch.
  EXPECT_TRUE(predicated(20, 0,
                         "setp.gt.f32 %p2, %f3, 0f00000000;\n@%p2 bra LAST;\nadd.f32 %f3, %f3, %f1;\n"
                         "LAST:\nst.global.f32 [%rd2 + 16], %f3;\n" +
                             load));
  EXPECT_TRUE(predicated(6, 6, ""));
  EXPECT_FALSE(predicated(7, 7, ""));
  EXPECT_TRUE(predicated(9, 9, load));
  EXPECT_FALSE(predicated(10, 10, load));
}

TEST(Estimates, OfApproximationsBehindShortBranchesArePredicated) {
  const auto predicated = [](const std::string& body) {
    return !estimate_of_ptx(
                ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0) {\n"
                ".reg .pred %p<3>; .reg .f32 %f<6>; .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
                "ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"
                "ld.global.f32 %f1, [%rd2];\nmov.f32 %f3, %f1;\nmov.b32 %r1, %f1;\n"
                "setp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bra JOIN;\n" +
                body + "JOIN:\nst.global.f32 [%rd2 + 8], %f3;\nst.global.u32 [%rd2], %r1;\nret;\n}\n")
                .predicated.empty();
  };
  EXPECT_TRUE(predicated("ex2.approx.ftz.f32 %f3, %f1;\n"));
  EXPECT_FALSE(predicated("div.rn.f32 %f3, %f1, %f3;\n"));
  EXPECT_FALSE(predicated("shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;\n"));
}

// data/hardware/h200_slow_divisions.csv
TEST(SlowDivisions, AreThoseWhoseNumeratorTheCodeMakesZero) {
  const auto cycles_added = [](const std::string& numerator, const std::string& type = "f32") {
    const std::string text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param ." +
                             type + " x)\n{\n.reg .pred %p<2>;\n.reg ." + type + " %f<9>;\nld.param." + type +
                             " %f1, [x];\nsetp.lt." + type + " %p1, %f1, " +
                             (type == "f32" ? "0f40000000" : "0d4000000000000000") + ";\n" + numerator +
                             "div.rn." + type + " %f5, %f4, %f1;\nret;\n}\n";
    const auto module = ptx::parse(text, "k.ptx");
    EXPECT_TRUE(module) << to_text(module.diagnostics());
    analysis::KernelCode code(*module, module->functions.front());
    Estimate work = estimate_of(code), with = work;
    add_slow_divisions(with, code);
    double added = 0;
    for (std::size_t i = 0; i < work.each.size(); ++i) added += with.each[i].cycles - work.each[i].cycles;
    return added;
  };
  EXPECT_EQ(cycles_added("mul.f32 %f4, %f1, %f1;\n"), 0);
  EXPECT_EQ(cycles_added("selp.f32 %f4, 0f3F800000, 0f40000000, %p1;\n"), 0);
  EXPECT_EQ(cycles_added("selp.f32 %f4, 0f3F800000, 0f00000000, %p1;\n"), 0.75 * 222);
  EXPECT_EQ(cycles_added("max.f32 %f4, %f1, 0f00000000;\n"), 0.75 * 222);
  EXPECT_EQ(cycles_added("max.f32 %f2, %f1, 0f00000000;\nmul.f32 %f4, %f1, %f2;\n"), 0.75 * 222);
  EXPECT_EQ(cycles_added("max.f32 %f2, %f1, 0f00000000;\nadd.f32 %f4, %f1, %f2;\n"), 0);
  EXPECT_EQ(cycles_added("max.f64 %f4, %f1, 0d0000000000000000;\n", "f64"), 0.75 * 314);
}

TEST(Estimates, OfLoopsThatPtxasUnrollsAreInPieces) {
  const auto module = ptx::parse(kLoop, "loop.ptx");
  ASSERT_TRUE(module);
  analysis::KernelCode code(*module, module->functions.front());
  const Estimate made = estimate_of(code);
  ASSERT_EQ(made.loops.size(), 1u);
  const auto& pieces = made.loops.front().pieces;
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces.front().machine.total(), 0);
  // Of the counter, the comparison and the branch each iteration has a share; the branch has that of the pointer,
  // to which 64 bits are added instead of what the PTX computes from the counter.
  const auto share = static_cast<double>(pieces.front().iterations);
  EXPECT_EQ(made.each[4].total() + made.each[5].total(), 0);
  EXPECT_DOUBLE_EQ(made.each[9].total(), 1 / share);
  EXPECT_DOUBLE_EQ(made.each[10].total(), 1 / share);
  EXPECT_DOUBLE_EQ(made.each[11].total(), 3 / share);
  EXPECT_DOUBLE_EQ(pieces.back().machine.total(), 5 - 5 / share);
}

// Two iterations of `sum += a[k * n + t]` in one of the PTX, and what is near a[t].
constexpr const char* kCopies = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry copies(.param .u64 a, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<12>;
.reg .f32 %f<9>;
.reg .b64 %rd<10>;
.loc 1 3 1
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.s32 %rd2, %r2, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
add.s32 %r3, %r2, 1;
mul.wide.s32 %rd4, %r3, 4;
add.s64 %rd5, %rd1, %rd4;
ld.global.f32 %f2, [%rd5];
add.f32 %f3, %f1, %f2;
mov.u32 %r4, 0;
LOOP:
.loc 1 5 20
mad.lo.s32 %r5, %r4, %r1, %r2;
mul.wide.s32 %rd6, %r5, 4;
add.s64 %rd7, %rd1, %rd6;
ld.global.f32 %f4, [%rd7];
.loc 1 5 15
add.f32 %f5, %f3, %f4;
.loc 1 5 20
add.s32 %r6, %r5, %r1;
mul.wide.s32 %rd9, %r6, 4;
add.s64 %rd8, %rd1, %rd9;
ld.global.f32 %f6, [%rd8];
.loc 1 5 15
add.f32 %f3, %f5, %f6;
.loc 1 4 9
add.s32 %r4, %r4, 2;
setp.ne.s32 %p1, %r4, 1000;
@%p1 bra LOOP;
st.global.f32 [%rd3], %f3;
ret;
}
)";

class Copies : public testing::Test {
 protected:
  void SetUp() override {
    auto module = ptx::parse(kCopies, "copies.ptx");
    ASSERT_TRUE(module) << to_text(module.diagnostics());
    module_ = std::make_unique<ptx::Module>(std::move(*module));
    code_ = analysis::KernelCode(*module_, module_->functions.front());
    auto cfg = analysis::build_cfg(code_, "copies.ptx");
    ASSERT_TRUE(cfg);
    cfg_ = std::move(*cfg);
  }
  // The number of the register that an instruction writes first.
  std::uint32_t written_by(std::uint32_t i) const {
    return code_.operands()[code_.function().instructions[i].first_operand].symbol;
  }

  std::unique_ptr<ptx::Module> module_;
  analysis::KernelCode code_;
  analysis::Cfg cfg_;
};

TEST_F(Copies, AreToldByThePlacesInTheSource) {
  EXPECT_EQ(copies_of_source(code_, cfg_, 0, 2), 2);
  EXPECT_EQ(copies_of_source(code_, cfg_, 0, 0), 2) << "no counter is known";
  EXPECT_EQ(copies_of_source(code_, cfg_, 0, 3), 1) << "a counter steps by a multiple of the copies";
}

TEST_F(Copies, HaveAddressesThatStepWithTheLoop) {
  std::vector<std::vector<std::uint32_t>> definitions(code_.function().registers.size());
  for (std::uint32_t i = 0; i < code_.function().instructions.size(); ++i) {
    const auto& one = code_.function().instructions[i];
    if (one.operand_count > 1 && code_.operands()[one.first_operand].kind == ptx::Operand::Kind::reg)
      definitions[written_by(i)].push_back(i);
  }
  AddressForms forms(code_, cfg_, definitions);
  const AddressForm here = forms.of(written_by(4)), next = forms.of(written_by(8));
  EXPECT_EQ(here.terms, next.terms);
  EXPECT_EQ(next.constant - here.constant, 4) << "a[t + 1] is four bytes behind a[t]";
  const auto counter = forms.step_of(forms.of(written_by(11)), 0);
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->constant, 2);
  const auto row = forms.step_of(forms.of(written_by(12)), 0);
  ASSERT_TRUE(row);
  EXPECT_FALSE(row->is_constant()) << "by two rows of n";
  EXPECT_EQ(forms.step_of(here, 0)->constant, 0);
}

TEST(SourceLoops, AreUnrolledByNvccAsFarAsTheyAreShort) {
  struct Case {
    double size;
    std::optional<std::int64_t> iterations;
    std::int64_t times;
    bool whole;
  };
  // What nvcc 13.0 made of loops of so many fused multiply-adds, two each, and the counter.
  for (const Case& one :
       {Case{5, std::nullopt, 4, false}, Case{49, std::nullopt, 4, false}, Case{53, std::nullopt, 2, false},
        Case{105, std::nullopt, 1, false}, Case{25, 1024, 8, false}, Case{29, 1024, 4, false},
        Case{101, 1024, 1, false}, Case{8, 999, 4, false}, Case{8, 1000, 8, false}, Case{14, 24, 24, true}}) {
    const SourceUnrolling made = unrolled_by_nvcc(one.size, one.iterations);
    EXPECT_EQ(made.times, one.times) << one.size;
    EXPECT_EQ(made.whole, one.whole) << one.size;
  }
}

TEST(CostTables, FindTheLineThatFitsBest) {
  const std::string zeros = ",0,0,0,0,0,0,0,0,0,0,0";
  const auto table = CostTable::read("# a comment\n*,*,*,9,0.5" + zeros + "\nadd.i64,*,*,5,2" + zeros +
                                         "\nadd.i64,*,mr,4,1.5" + zeros + "\nadd.i64,address1,mr,3,1" +
                                         zeros + "\nadd.i64,address1@rolled,mr,2,0.75" + zeros + "\n",
                                     "table.csv");
  ASSERT_TRUE(table) << to_text(table.diagnostics());
  const auto alu = [&](const Context& context) { return table->find(context)[Pipe::alu]; };
  EXPECT_EQ(alu({"add.i64", "address1", "mr", LoopKind::none}), 1);
  EXPECT_EQ(alu({"add.i64", "mixed", "mr", LoopKind::none}), 1.5);
  EXPECT_EQ(alu({"add.i64", "address1", "rr", LoopKind::none}), 2);
  EXPECT_EQ(alu({"sub.i64", "mixed", "rr", LoopKind::none}), 0.5);
  EXPECT_EQ(alu({"add.i64", "address1", "mr", LoopKind::rolled}), 0.75);
}

TEST(CostTables, SayWhichLineIsWrong) {
  EXPECT_EQ(to_text(CostTable::read("*,*,*,9\n", "t.csv").diagnostics()),
            "t.csv:1: error: 4 fields, where 16 are needed\n");
  EXPECT_EQ(to_text(CostTable::read("\n*,*,*,9,x,0,0,0,0,0,0,0,0,0,0,0\n", "t.csv").diagnostics()),
            "t.csv:2: error: `x` is no number\n");
  EXPECT_EQ(to_text(CostTable::read("", "t.csv").diagnostics()), "t.csv: error: there is no line `*,*,*`\n");
}

TEST(CostTables, OfTheLibraryAreRead) {
  ASSERT_FALSE(table_targets().empty());
  for (const std::string& target : table_targets()) {
    std::string used;
    const CostTable& table = table_of(target, used);
    EXPECT_EQ(used, target);
    EXPECT_NEAR(table.find({"fma.f32", "other1", "rrr", LoopKind::none})[Pipe::fma], 1, 0.2) << target;
    EXPECT_GT(table.find({"div.s32", "other1", "rr", LoopKind::none}).total(), 10) << target;
    EXPECT_LT(table.find({"mul.wide.i32", "add1", "2r", LoopKind::none}).total(), 0.2) << target;
  }
  std::string used;
  table_of("sm_30", used);
  EXPECT_EQ(used, table_targets().front());
  table_of("sm_999", used);
  EXPECT_EQ(used, table_targets().back());
}

// |x| < 105615 for the usual angles: the other side is a slow path.
TEST(SlowPaths, AreThoseOfLargeAngles) {
  const auto module = ptx::parse(R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry sine(.param .f32 x)
{
.reg .pred %p<3>;
.reg .f32 %f<3>;
ld.param.f32 %f1, [x];
abs.f32 %f2, %f1;
setp.ltu.f32 %p1, %f2, 0f47CE4780;
@%p1 bra SMALL;
setp.eq.f32 %p2, %f2, 0f7F800000;
@%p2 bra SMALL;
abs.f32 %f2, %f1;
SMALL:
ret;
}
)",
                                 "sine.ptx");
  ASSERT_TRUE(module);
  analysis::KernelCode code(*module, module->functions.front());
  const auto cfg = analysis::build_cfg(code, "sine.ptx");
  ASSERT_TRUE(cfg);
  const std::vector<bool> slow = slow_paths(code, *cfg);
  ASSERT_GE(slow.size(), 4u);
  EXPECT_FALSE(slow[0]);
  EXPECT_TRUE(slow[1]);
  EXPECT_TRUE(slow[2]);
  EXPECT_FALSE(slow[3]);
}

// cosf(x) after sinf(x) branches on the comparison that is there already.
TEST(SlowPaths, MayDependOnAComparisonBefore) {
  const auto module = ptx::parse(R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry both(.param .f32 x)
{
.reg .pred %p<2>;
.reg .f32 %f<3>;
ld.param.f32 %f1, [x];
abs.f32 %f2, %f1;
setp.ltu.f32 %p1, %f2, 0f47CE4780;
@%p1 bra SINE;
abs.f32 %f2, %f1;
SINE:
neg.f32 %f2, %f1;
@%p1 bra COSINE;
abs.f32 %f2, %f1;
COSINE:
ret;
}
)",
                                 "both.ptx");
  ASSERT_TRUE(module);
  analysis::KernelCode code(*module, module->functions.front());
  const auto cfg = analysis::build_cfg(code, "both.ptx");
  ASSERT_TRUE(cfg);
  EXPECT_EQ(slow_paths(code, *cfg), (std::vector<bool>{false, true, false, true, false, false}));
}

// fmodf(x, y) with |x| > 2^23 |y| takes a loop, whether y is a constant or not; fmod(x, y) one for each bit of the quotient.
TEST(SlowPaths, AreThoseOfLargeQuotients) {
  const std::string source = R"(
extern "C" __global__ void quotient(float* a) { a[threadIdx.x] = fmodf(a[threadIdx.x], a[64]); }
extern "C" __global__ void constant(float* a) { a[threadIdx.x] = fmodf(a[threadIdx.x], 360.0f); }
extern "C" __global__ void rest(float* a) { a[threadIdx.x] = remainderf(a[threadIdx.x], a[64]); }
extern "C" __global__ void quotient_of_doubles(double* a) { a[threadIdx.x] = fmod(a[threadIdx.x], a[64]); }
extern "C" __global__ void rest_of_doubles(double* a) { a[threadIdx.x] = remainder(a[threadIdx.x], a[64]); }
)";
  for (const Way& way : ways_to_compile()) {
    const auto analysis = analyze_text(source, way.options);
    ASSERT_TRUE(analysis) << way.name << to_text(analysis.diagnostics());
    for (const auto& kernel : analysis->kernels) {
      const KernelProgram& program = kernel.program;
      for (const auto& parameter : program.parameters)
        EXPECT_FALSE(parameter.name.starts_with("iterations_at"))
            << way.name << " " << program.provenance.kernel << ": " << parameter.name;
      const bool listed = std::any_of(
          program.assumptions.begin(), program.assumptions.end(),
          [](const auto& assumption) { return assumption.text.find("one iteration") != std::string::npos; });
      EXPECT_TRUE(listed) << way.name << " " << program.provenance.kernel;
    }
  }
}

class MachineCode : public testing::Test {
 protected:
  void SetUp() override {
    auto made = assemble(kLoop, "sm_90", {"-lineinfo"});
    if (!made) GTEST_SKIP() << "there is no ptxas for sm_90";
    cubin_ = std::move(*made);
  }
  std::string cubin_;
};

TEST_F(MachineCode, HasALoopOfKnownInstructionsWithTheirLines) {
  const auto kernels = read_machine_code(cubin_, "loop.cubin");
  ASSERT_TRUE(kernels) << to_text(kernels.diagnostics());
  ASSERT_EQ(kernels->count("scale"), 1u);
  int loads = 0, stores = 0, exits = 0, backward = 0;
  for (const MachineInstruction& one : kernels->at("scale").instructions) {
    ASSERT_NE(one.opcode, nullptr) << one.code;
    EXPECT_LE(one.control.stall, 15);
    EXPECT_LT(one.ptx_line, 27u);
    if (one.opcode->name == "LDG") {
      ++loads;
      EXPECT_EQ(one.ptx_line, 17u);
      EXPECT_NE(one.control.write_barrier, Control::no_barrier) << "a load's end is waited for";
    }
    if (one.opcode->name == "STG") {
      ++stores;
      EXPECT_EQ(one.ptx_line, 19u);
    }
    exits += one.opcode->name == "EXIT" ? 1 : 0;
    const auto to = branch_target(one, 90);
    backward += to && *to >= 0 && *to < one.address ? 1 : 0;
  }
  EXPECT_GE(loads, 1);
  EXPECT_EQ(loads, stores);
  EXPECT_GE(exits, 1);
  EXPECT_GE(backward, 1);
}

// What ptxas makes of a kernel, placed in its PTX.
class PlacedMachineCode : public testing::Test {
 protected:
  // False: there is no ptxas.
  bool place(const std::string& ptx, const std::string& kernel) {
    const auto cubin = assemble(ptx, "sm_90", {"-lineinfo"});
    if (!cubin) return false;
    auto kernels = read_machine_code(*cubin, "placed.cubin");
    EXPECT_TRUE(kernels) << to_text(kernels.diagnostics());
    auto module = ptx::parse(ptx, "placed.ptx");
    EXPECT_TRUE(module) << to_text(module.diagnostics());
    if (!kernels || !module || !kernels->contains(kernel)) return false;
    machine_ = kernels->at(kernel);
    module_ = std::make_unique<ptx::Module>(std::move(*module));
    code_ = analysis::KernelCode(*module_, module_->functions.front());
    auto cfg = analysis::build_cfg(code_, "placed.ptx");
    EXPECT_TRUE(cfg) << to_text(cfg.diagnostics());
    if (!cfg) return false;
    cfg_ = std::move(*cfg);
    work_ = work_of(code_, cfg_, machine_, 90);
    return true;
  }

  double sum_of_all() const {
    double sum = work_.once.total();
    for (const MachineWork& one : work_.each) sum += one.total();
    return sum;
  }

  std::unique_ptr<ptx::Module> module_;
  MachineKernel machine_;
  analysis::KernelCode code_;
  analysis::Cfg cfg_;
  KernelWork work_;
};

// The four stores of a piece of four iterations are those of the machine code's longest loop.
TEST_F(PlacedMachineCode, OfALoopIsThatOfAnIterationInPieces) {
  if (!place(kLoop, "scale")) GTEST_SKIP() << "there is no ptxas for sm_90";
  EXPECT_DOUBLE_EQ(work_.lines[6].inside[Pipe::lsu], 1) << "a load, whatever is unrolled";
  EXPECT_DOUBLE_EQ(work_.lines[8].inside[Pipe::lsu], 1);
  double iteration = 0;
  for (std::size_t i = 4; i < 12; ++i) iteration += work_.each[i].total();
  EXPECT_GE(iteration, 3) << "load, sum, store";
  EXPECT_LE(iteration, 8) << "no more than in PTX";
  ASSERT_EQ(work_.loops.size(), 1u);
  EXPECT_GE(work_.loops[0].entry.total(), 1) << "which piece comes next";
  ASSERT_GE(work_.loops[0].pieces.size(), 2u);
  EXPECT_EQ(work_.loops[0].pieces.front().iterations, 4);
  EXPECT_EQ(work_.loops[0].pieces.front().machine.total(), 0);
  EXPECT_EQ(work_.loops[0].pieces.back().iterations, 1);
  EXPECT_GT(work_.loops[0].pieces.back().machine.total(), 0) << "its own count and branch";
}

// a[i] = a[i] / b[i] where i < n, else nothing: ptxas predicates the exit, and calls a subroutine for
// subnormal numbers.
constexpr const char* kQuotient = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry quotient(.param .u64 a, .param .u64 b, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<3>;
.reg .f32 %f<4>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
setp.ge.u32 %p1, %r2, %r1;
@%p1 bra DONE;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mul.wide.u32 %rd5, %r2, 4;
add.s64 %rd6, %rd3, %rd5;
add.s64 %rd7, %rd4, %rd5;
ld.global.f32 %f1, [%rd6];
ld.global.f32 %f2, [%rd7];
div.rn.f32 %f3, %f1, %f2;
st.global.f32 [%rd6], %f3;
DONE:
ret;
}
)";

TEST_F(PlacedMachineCode, IsAllOfItButSlowPaths) {
  if (!place(kQuotient, "quotient")) GTEST_SKIP() << "there is no ptxas for sm_90";
  double slow = 0;
  for (const MachineBlock& block : flow_of(machine_, 90).blocks)
    if (block.seldom) slow += block.end - block.first;
  double subroutine = 0;
  for (const MachineInstruction& one : machine_.instructions) subroutine += one.in_subroutine ? 1 : 0;
  EXPECT_GE(slow, 2) << "the call and what passes the operands";
  EXPECT_GE(subroutine, 20);
  EXPECT_NEAR(sum_of_all(), static_cast<double>(machine_.instructions.size()) - slow - subroutine, 1e-9);
  for (const MachineInstruction& one : machine_.instructions) EXPECT_EQ(one.in_subroutine, one.in_slow_path);
}

// x = x * x + x in 64 bits, whose instructions become several each.
TEST_F(PlacedMachineCode, OfALoopInSixtyFourBitsIsWhole) {
  const std::string kernel = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry squares(.param .u64 a, .param .u64 n)
{
.reg .pred %p<2>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [n];
cvta.to.global.u64 %rd3, %rd1;
ld.global.u64 %rd4, [%rd3];
LOOP:
mul.lo.s64 %rd5, %rd4, %rd4;
add.s64 %rd4, %rd5, %rd4;
shr.u64 %rd2, %rd2, 1;
setp.ne.s64 %p1, %rd2, 0;
@%p1 bra LOOP;
st.global.u64 [%rd3], %rd4;
ret;
}
)";
  if (!place(kernel, "squares")) GTEST_SKIP() << "there is no ptxas for sm_90";
  const MachineFlow flow = flow_of(machine_, 90);
  ASSERT_EQ(flow.loops.size(), 1u);
  double loop = 0, iteration = 0;
  for (const std::uint32_t block : flow.loops[0].blocks)
    loop += flow.blocks[block].end - flow.blocks[block].first;
  for (const std::uint32_t block : cfg_.loops[0].blocks)
    for (std::uint32_t i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i)
      iteration += work_.each[i].total();
  EXPECT_DOUBLE_EQ(iteration, loop) << "it is no copy of two iterations";
}

// More sums alive than launch bounds leave registers for.
TEST_F(PlacedMachineCode, HasSpillsOfWhatDoesNotFit) {
  std::string kernel = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry many(.param .u64 a)
.maxntid 1024, 1, 1
.minnctapersm 2
{
.reg .b32 %r<2>;
.reg .f32 %f<200>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [a];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd2, %rd2, %rd3;
)";
  constexpr int values = 60;
  for (int k = 0; k < values; ++k)
    kernel +=
        "ld.volatile.global.f32 %f" + std::to_string(k) + ", [%rd2+" + std::to_string(4096 * k) + "];\n";
  for (int k = 0; k < values; ++k)
    kernel += "fma.rn.f32 %f" + std::to_string(100 + k) + ", %f" + std::to_string(k) + ", %f" +
              std::to_string((k + 29) % values) + ", %f" + std::to_string((k + 41) % values) + ";\n";
  for (int k = 0; k < values; ++k)
    kernel += "st.volatile.global.f32 [%rd2+" + std::to_string(4096 * k) + "], %f" + std::to_string(100 + k) +
              ";\n";
  kernel += "ret;\n}\n";
  if (!place(kernel, "many")) GTEST_SKIP() << "there is no ptxas for sm_90";
  const auto check = [](const std::vector<Spill>& spills) {
    std::set<int> stored;
    std::size_t loads = 0;
    for (const Spill& spill : spills) {
      if (spill.store) stored.insert(spill.offset);
      EXPECT_TRUE(spill.store || stored.contains(spill.offset)) << spill.offset;
      loads += spill.store ? 0 : 1;
    }
    EXPECT_GE(loads, 20u);
  };
  check(expected_spills(code_, cfg_, 30));
  EXPECT_TRUE(expected_spills(code_, cfg_, 2 * values + 8).empty());
  double machine = 0;
  for (const MachineInstruction& one : machine_.instructions)
    machine += one.opcode != nullptr && (one.opcode->name == "LDL" || one.opcode->name == "STL") ? 1 : 0;
  EXPECT_EQ(static_cast<double>(work_.spills.size()), machine);
  check(work_.spills);
  // Each is an access to local memory of some item.
  KernelProgram program;
  Item item{Instructions{Expression(1)}};
  for (const ptx::Instruction& one : code_.function().instructions) item.ptx.add(static_cast<int>(one.line));
  program.program.push_back(item);
  add_spills(program, work_.spills, false);
  ASSERT_TRUE(program.program[0].detail);
  EXPECT_EQ(program.program[0].detail->on_chip.size(), work_.spills.size());
}

TEST_F(PlacedMachineCode, IsShownWithItsControlWordsAndThePtx) {
  if (!place(kLoop, "scale")) GTEST_SKIP() << "there is no ptxas for sm_90";
  const std::string text = assembled_text(code_, machine_, "scale", "sm_90");
  EXPECT_NE(text.find("LDG"), std::string::npos);
  EXPECT_NE(text.find("ld.global.f32 %f1, [%rd4]"), std::string::npos) << text;
  const auto json = assembled_json(code_, machine_, "scale", "sm_90");
  ASSERT_EQ(json["instructions"].size(), machine_.instructions.size());
  for (const auto& one : json["instructions"]) {
    if (one["machine_instruction"].get<std::string>().find("LDG") == std::string::npos) continue;
    EXPECT_EQ(one["ptx_line"], 17);
    EXPECT_EQ(one["pipe"], "lsu");
    EXPECT_FALSE(one["write_barrier"].is_null()) << "a load's end is waited for";
  }
}

MachineInstruction encoded(std::uint64_t lower, std::uint64_t upper) {
  MachineInstruction one;
  one.code = static_cast<std::uint16_t>(lower & 0x1ff);
  one.opcode = find_machine_opcode(one.code);
  one.control.reuse = static_cast<unsigned>(upper >> 58 & 15);
  one.lower = lower;
  one.upper = upper;
  return one;
}

// As cuobjdump shows the words of sm_90.
TEST(RegisterReads, AreWordsOfTheBusierBankWithoutWhatIsReused) {
  // FFMA R9, R9, R3.reuse, R24.reuse
  const MachineInstruction first = encoded(0x0000000309097223, 0x180fe20000000018);
  // FFMA R4, R4, R3.reuse, R3
  const MachineInstruction second = encoded(0x0000000304047223, 0x080fe20000000003);
  EXPECT_EQ(register_reads(std::vector{first}), 4) << "R9 and R3 are in one bank";
  EXPECT_EQ(register_reads(std::vector{first, second}), 6) << "R3 as B is still there";
  EXPECT_EQ(register_reads(std::vector{second, first}), 4)
      << "R3 for B and C at once, and as B again; R9; R24, R4";
  // DFMA R18, R10, R18, R16: pairs
  EXPECT_EQ(register_reads(std::vector{encoded(0x000000120a12722b, 0x004fe20000000010)}), 6);
  // IMAD R20, R5.reuse, -0x4, R2.reuse: no register is B
  EXPECT_EQ(register_reads(std::vector{encoded(0xfffffffc05147824, 0x140fe400078e0202)}), 2);
  // MUFU.EX2 R30, R31
  EXPECT_EQ(register_reads(std::vector{encoded(0x0000001f001e7308, 0x000e620000000800)}), 2);
  // IMAD.WIDE.U32 R26, R20, R3.reuse, RZ
  EXPECT_EQ(register_reads(std::vector{encoded(0x00000003141a7225, 0x080fe200078e00ff)}), 4)
      << "R20 and R3 in each of two steps";
}

TEST_F(MachineCode, IsSafeToReadHoweverItIsDamaged) {
  for (std::size_t size = 0; size < cubin_.size(); size += 7) {
    const auto cut = read_machine_code(std::string_view(cubin_).substr(0, size), "cut.cubin");
    EXPECT_TRUE(cut || !to_text(cut.diagnostics()).empty());
  }
  for (std::size_t at = 0; at < cubin_.size(); at += 3) {
    std::string damaged = cubin_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    const auto read = read_machine_code(damaged, "damaged.cubin");
    EXPECT_TRUE(read || !to_text(read.diagnostics()).empty());
  }
}

TEST(LineTables, AreSafeToReadHoweverTheyAreDamaged) {
  EXPECT_TRUE(read_line_table("").empty());
  EXPECT_TRUE(read_line_table(std::string(64, '\xff')).empty());
  EXPECT_TRUE(read_line_table(std::string(64, '\0')).empty());
}

}  // namespace
}  // namespace warptime::machine
