// What a kernel does wrong is found, with its place; what is right is not.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

using Kind = Finding::Kind;

constexpr char head[] =
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n";

struct Case {
  const char* what;
  Kind kind;
  const char* body;      // after `head`; %d1 is a buffer of 256 bytes, %d3 the thread's own 4 of them
  const char* message;   // has this
  std::uint32_t thread;  // the first one
  const char* before = "";
};

Outcome outcome_of(const std::string& body, const std::string& before = {}, const Options& options = {},
                   const LaunchConfig& how = {{1}, {64}}, bool with_values = false) {
  const auto loaded = load_text(kernel_text(".param .u64 out", std::string(head) + body, before));
  if (!loaded) return {};
  return launch(*loaded, how, {with_values ? buffer(std::vector<std::uint32_t>(64, 1)) : uninitialised(256)},
                options);
}

const std::vector<Case>& wrong() {
  static const std::vector<Case> cases = {
      {"write past the end", Kind::out_of_bounds, "st.global.u32 [%d3+4], %r1;",
       "write of 4 bytes of global memory, 0 bytes past the end of `buffer 0` (256 bytes)", 63},
      {"write before the start", Kind::out_of_bounds, "st.global.u32 [%d3+-8], %r1;",
       "8 bytes before `buffer 0`", 0},
      {"across the end", Kind::out_of_bounds, "st.global.v2.u32 [%d1+252], {%r1, %r1};", "across its end", 0},
      {"null", Kind::out_of_bounds, "mov.u64 %d4, 0; st.u32 [%d4], %r1;", "null pointer", 0},
      {"read past the end", Kind::out_of_bounds, "ld.global.u32 %r2, [%d1+4096];", "3840 bytes past the end",
       0},
      {"atomic past the end", Kind::out_of_bounds, "red.global.add.u32 [%d1+256], 1;", "atomic of 4 bytes",
       0},
      {"shared past the end", Kind::out_of_bounds, "st.shared.u32 [s+60], 5; st.shared.u32 [s+64], 5;",
       "past the end of the block's 64 bytes", 0, ".shared .align 4 .b8 s[64];"},
      {"local past the end", Kind::out_of_bounds, ".local .align 4 .b8 mine[8];\nst.local.u32 [mine+8], %r1;",
       "past the end of the thread's 8 bytes", 0},
      {"parameters past the end", Kind::out_of_bounds, "ld.param.u32 %r2, [out+8];",
       "past the end of the kernel's 8 bytes", 0},
      {"misaligned", Kind::misaligned, "st.global.u32 [%d1+2], %r1;", "not a multiple of 4", 0},
      {"misaligned vector", Kind::misaligned, "st.global.v4.u32 [%d1+8], {%r1, %r1, %r1, %r1};",
       "not a multiple of 16", 0},
      {"misaligned shared", Kind::misaligned, "st.shared.u64 [s+4], %d1;", "not a multiple of 8", 0,
       ".shared .align 8 .b8 s[64];"},
      {"write to constants", Kind::read_only, "mov.u64 %d4, c; st.u32 [%d4], %r1;", "`c`, which is constant",
       0, ".const .u32 c = 1;"},
      {"uninitialised buffer", Kind::uninitialised_memory, "ld.global.u32 %r2, [%d3];",
       "nothing has written (byte 0 of `buffer 0`)", 0},
      {"partly initialised", Kind::uninitialised_memory,
       "st.global.u16 [%d3], %h1; ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2;",
       "nothing has written (byte 0 of `buffer 0`), and what is stored depends on it", 0},
      {"an address of padding", Kind::uninitialised_memory,
       "st.global.u32 [%d1], 0; ld.global.v2.u32 {%r2, %r3}, [%d1]; cvt.u64.u32 %d4, %r3; add.u64 %d4, %d1, "
       "%d4; "
       "ld.global.u32 %r4, [%d4];",
       "and an address depends on it", 0},
      {"a branch by padding", Kind::uninitialised_memory,
       "st.global.u32 [%d1], 0; ld.global.v2.u32 {%r2, %r3}, [%d1]; setp.eq.u32 %p1, %r3, 5; @%p1 bra A; A:",
       "and a branch depends on it", 0},
      {"uninitialised shared", Kind::uninitialised_memory, "ld.shared.u32 %r2, [s];",
       "shared memory that nothing has written", 0, ".shared .align 4 .b8 s[64];"},
      {"uninitialised local", Kind::uninitialised_memory, ".local .u32 mine;\nld.local.u32 %r2, [mine];",
       "local memory that nothing has written", 0},
      {"race, write and read", Kind::shared_race,
       "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1; setp.ge.u32 "
       "%p1, %r1, 32; @%p1 ld.shared.u32 %r4, [%r2+-128];",
       "write and read of byte 0 of shared memory with no barrier between them", 32,
       ".shared .align 4 .b8 s[256];"},
      {"race, two writes", Kind::shared_race, "shr.u32 %r2, %r1, 5; st.shared.u32 [s], %r2;", "warps 0 and 1",
       32, ".shared .align 4 .b8 s[64];"},
      {"race, read and write", Kind::shared_race,
       "setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u32 [s], 1; bar.sync 0; @%p1 ld.shared.u32 %r2, [s]; @!%p1 "
       "st.shared.u32 [s], 2;",
       "write and read of byte 0", 0, ".shared .align 4 .b8 s[64];"},
      {"race of different widths", Kind::shared_race,
       "setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u32 [s], 0; bar.sync 0; @%p1 st.shared.u16 [s+2], 1; @!%p1 "
       "ld.shared.u32 %r2, [s];",
       "of byte 2 of shared memory", 0, ".shared .align 4 .b8 s[64];"},
      {"race of a vector and one of its elements", Kind::shared_race,
       "setp.lt.u32 %p1, %r1, 32; mov.u32 %r2, 0; @%p1 st.shared.v4.u32 [s], {%r2, %r2, %r2, %r2}; @!%p1 "
       "st.shared.u8 [s+9], 1;",
       "of byte 9 of shared memory", 32, ".shared .align 16 .b8 s[64];"},
      {"race of equal values", Kind::same_value_race, "st.shared.u32 [s], 5;",
       "race of equal values: write and write", 32, ".shared .align 4 .b8 s[64];"},
      {"race of equal and other values", Kind::shared_race,
       "shr.u32 %r2, %r1, 5; shl.b32 %r2, %r2, 8; st.shared.u32 [s], %r2;", "write and write", 32,
       ".shared .align 4 .b8 s[64];"},
      {"race within a warp, without __syncwarp()", Kind::warp_race,
       "setp.ge.u32 %p1, %r1, 32; @%p1 ret; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; "
       "st.shared.u32 [%r2], %r1; mov.u32 %r2, s; xor.b32 %r3, %r3, 4; add.u32 %r2, %r2, %r3; ld.shared.u32 "
       "%r4, "
       "[%r2];",
       "by lanes 1 and 0 of warp 0 with no __syncwarp()", 0, ".shared .align 4 .b8 s[128];"},
      {"__syncwarp() of others", Kind::warp_race,
       "setp.ge.u32 %p1, %r1, 32; @%p1 ret; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1; shl.b32 %r3, "
       "3, %r1; "
       "and.b32 %r3, %r3, 0; and.b32 %r2, %r1, 1; mov.u32 %r4, 0x55555555; shl.b32 %r4, %r4, %r2; "
       "bar.warp.sync "
       "%r4; setp.eq.u32 %p1, %r1, 1; @%p1 ld.shared.u32 %r5, [s];",
       "by lanes 0 and 1 of warp 0", 1, ".shared .align 4 .b8 s[128];"},
      {"a named barrier of others", Kind::shared_race,
       "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1; setp.ge.u32 %p1, %r1, 32; @%p1 bra A; bar.sync "
       "1, 32; A: "
       "setp.eq.u32 %p1, %r1, 32; @%p1 ld.shared.u32 %r2, [s];",
       "warps 0 and 1", 32, ".shared .align 4 .b8 s[128];"},
      {"a copy without its wait", Kind::unwaited_copy,
       "st.global.u32 [%d1], 1; setp.eq.u32 %p1, %r1, 0; @%p1 cp.async.ca.shared.global [s], [%d1], 4; "
       "cp.async.commit_group; cp.async.wait_group 1; @%p1 ld.shared.u32 %r2, [s];",
       "read of byte 0 of shared memory, which a cp.async of thread 0 writes", 0,
       ".shared .align 16 .b8 s[64];"},
      {"out of one shared array, into the next", Kind::other_buffer,
       "mov.u32 %r2, s; add.u32 %r2, %r2, 64; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [t], 5; "
       "setp.eq.u32 %p1, %r1, 0; @%p1 "
       "st.volatile.shared.u32 "
       "[%r2], 5;",
       "outside of `s` (64 bytes from 0)", 0, ".shared .align 4 .b8 s[64];\n.shared .align 4 .b8 t[64];"},
      {"asynchronous copy past the end", Kind::out_of_bounds,
       "setp.eq.u32 %p1, %r1, 0; @%p1 cp.async.ca.shared.global [s], [%d1+256], 4;",
       "read of 4 bytes of global memory, 0 bytes past the end", 0, ".shared .align 16 .b8 s[64];"},
      {"asynchronous copy of nothing", Kind::uninitialised_memory,
       "setp.eq.u32 %p1, %r1, 0; @%p1 cp.async.ca.shared.global [s], [%d1], 4;", "nothing has written", 0,
       ".shared .align 16 .b8 s[64];"},
      {"misaligned atomic", Kind::misaligned, "atom.global.add.u64 %d4, [%d1+4], 1;", "not a multiple of 8",
       0},
      {"part of a vector uninitialised", Kind::uninitialised_memory,
       "st.global.u32 [%d1], 1; ld.global.v2.u32 {%r2, %r3}, [%d1]; add.u32 %r3, %r3, %r2; st.global.u32 "
       "[%d1+128], "
       "%r3;",
       "nothing has written", 0},
      {"past one buffer, towards the next", Kind::out_of_bounds, "st.global.u32 [a+8], 1;",
       "0 bytes past the end of `a` (8 bytes)", 0, ".global .u32 a[2];\n.global .u32 b[2];"},
      {"race within a warp", Kind::shared_race, "st.shared.u32 [s], %r1;",
       "lanes of one warp write different values", 1, ".shared .align 4 .b8 s[64];"},
      {"atomic and plain write", Kind::shared_race,
       "shr.u32 %r2, %r1, 5; setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [s], 0; @!%p1 red.shared.add.u32 "
       "[s], 1;",
       "race", 32, ".shared .align 4 .b8 s[64];"},
      {"divergent barrier on both sides", Kind::divergent_barrier,
       "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:",
       "16 of the warp's 32 threads", 0},
      {"barriers that differ within a warp", Kind::deadlock,
       "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 0; B:",
       "barrier 0 has 16 of 64 threads, barrier 1 has 48 of 64 threads", 16},
      {"barriers that differ", Kind::deadlock,
       "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 0; B:",
       "every warp of the block waits", 0},
      {"a barrier for too many", Kind::deadlock, "bar.sync 1, 96;", "barrier 1 has 64 of 96 threads", 0},
      {"no such barrier", Kind::bad_operand, "mov.u32 %r2, 16; bar.sync %r2;", "barrier 16", 0},
      {"a barrier of part of a warp", Kind::bad_operand, "bar.sync 0, 40;", "not a multiple of a warp's 32",
       0},
      {"members elsewhere", Kind::divergent_warp,
       "setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff; bar.sync 0;",
       "the member mask 0xffffffff names threads of the warp (0xffff0000) that are elsewhere", 0},
      {"members at another kind of instruction", Kind::divergent_warp,
       "setp.ge.u32 %p1, %r1, 32; @%p1 ret; setp.lt.u32 %p1, %r1, 16; @%p1 bra A; vote.sync.ballot.b32 %r2, "
       "1, "
       "0xffffffff; bra B; A: bar.warp.sync 0xffffffff; B:",
       "the member mask 0xffffffff names threads of the warp (0x0000ffff) that are elsewhere", 16},
      {"not a member", Kind::divergent_warp, "vote.sync.ballot.b32 %r2, 1, 0xfffffffe;",
       "lacks the thread itself", 0},
      {"trap", Kind::assertion, "setp.eq.u32 %p1, %r1, 40; @%p1 trap;", "trap", 40},
      {"endless", Kind::budget, "L: bra L;", "not ended after", 0},
      {"endless recursion", Kind::bad_operand, "call f;", "nested calls", 0, ".func f { call f; ret; }"},
      {"a call without a function", Kind::bad_operand,
       "mov.u64 %d4, 64; P: .callprototype ()_ (); call %d4, P;", "does not hold a function", 0},
      {"a branch to nowhere", Kind::bad_operand,
       "T: .branchtargets L0, L0; brx.idx %r1, T; L0:", "target 2 of 2", 2},
  };
  return cases;
}

TEST(Findings, AreMade) {
  Options options;
  options.instruction_budget = 100000;
  for (const auto& one : wrong()) {
    SCOPED_TRACE(one.what);
    const auto outcome = outcome_of(one.body, one.before, options);
    ASSERT_EQ(outcome.execution.findings.size(), 1u);
    const auto& finding = outcome.execution.findings[0];
    EXPECT_EQ(finding.kind, one.kind);
    EXPECT_NE(finding.message.find(one.message), std::string::npos) << finding.message;
    EXPECT_EQ(finding.thread[0], one.thread);
    EXPECT_EQ(outcome.execution.completed, !fatal(one.kind));
  }
}

TEST(Findings, AreNotMadeWhereAllIsRight) {
  const std::vector<std::pair<const char*, const char*>> right = {
      {"st.global.u32 [%d3], %r1; ld.global.u32 %r2, [%d3];", ""},
      // Written, a barrier, read by others.
      {"mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1; bar.sync 0; "
       "xor.b32 %r3, %r3, 128; mov.u32 %r2, s; add.u32 %r2, %r2, %r3; ld.shared.u32 %r4, [%r2];",
       ".shared .align 4 .b8 s[256];"},
      // All lanes write the same.
      {"setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u32 [s], 5;", ".shared .align 4 .b8 s[64];"},
      // Only atomics.
      {"setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1; bar.sync "
       "0; ld.shared.u32 %r2, [s];",
       ".shared .align 4 .b8 s[64];"},
      // Warps that work on parts of one word.
      {"setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u16 [s], 1; @!%p1 st.shared.u16 [s+2], 2; bar.sync 0; "
       "ld.shared.u32 %r2, [s];",
       ".shared .align 4 .b8 s[64];"},
      // Atomics of different widths on one place, and flags that are volatile.
      {"setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u64 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1; "
       "red.shared.add.u64 [s], 1; ld.volatile.shared.u32 %r2, [s];",
       ".shared .align 8 .b8 s[64];"},
      // One warp's lanes after one another, in lockstep.
      {"setp.ge.u32 %p1, %r1, 32; @%p1 ret; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; "
       "st.shared.u32 [%r2], %r1; bar.warp.sync -1; mov.u32 %r2, s; xor.b32 %r3, %r3, 4; add.u32 %r2, %r2, "
       "%r3; ld.shared.u32 %r4, [%r2];",
       ".shared .align 4 .b8 s[128];"},
      // Threads that have ended, or end without coming, are waited for by none.
      {"setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0;", ""},
      {"setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff;", ""},
      // Warps that return early do not hold up the others.
      {"setp.lt.u32 %p1, %r1, 32; @%p1 ret; bar.sync 0;", ""},
      {"setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffff;", ""},
      {"setp.lt.u32 %p1, %r1, 60; @!%p1 bra A; st.global.u32 [%d3+16], %r1; A:", ""},
      // A flag and fences; release and acquire.
      {"setp.eq.u32 %p1, %r1, 0; @%p1 st.volatile.shared.u32 [s], 0; bar.sync 0; setp.ge.u32 %p1, %r1, 32; "
       "@%p1 bra A; "
       "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s+4], 1; membar.cta; @%p1 st.volatile.shared.u32 [s], "
       "1; ret; A: "
       "ld.volatile.shared.u32 %r2, [s]; setp.eq.u32 %p1, %r2, 0; @%p1 bra A; membar.cta; ld.shared.u32 %r3, "
       "[s+4];",
       ".shared .align 4 .b8 s[64];"},
      {"setp.eq.u32 %p1, %r1, 0; @%p1 st.volatile.shared.u32 [s], 0; bar.sync 0; setp.ge.u32 %p1, %r1, 32; "
       "@%p1 bra A; "
       "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s+4], 1; @%p1 st.release.cta.shared.u32 [s], 1; ret; A: "
       "ld.acquire.cta.shared.u32 %r2, [s]; setp.eq.u32 %p1, %r2, 0; @%p1 bra A; ld.shared.u32 %r3, [s+4];",
       ".shared .align 4 .b8 s[64];"},
      // Part of what is read was not written, and goes where nobody looks at it.
      {"st.global.u32 [%d1], 1; ld.global.v2.u32 {%r2, %r3}, [%d1]; st.global.v2.u32 [%d1+128], {%r2, %r3}; "
       "ld.global.u64 %d4, [%d1+128]; cvt.u32.u64 %r4, %d4; add.u32 %r4, %r4, 1; st.global.u32 [%d1+160], "
       "%r4;",
       ""},
      // A struct with a hole is copied whole.
      {".local .align 8 .b8 mine[16];\nst.local.u8 [mine], %r1; st.local.u64 [mine+8], %d1; ld.local.u64 "
       "%d4, [mine]; ld.local.u64 %d5, [mine+8];",
       ""},
  };
  for (const auto& [body, before] : right) {
    SCOPED_TRACE(body);
    const auto outcome = outcome_of(body, before);
    EXPECT_TRUE(outcome.execution.completed);
    for (const auto& finding : outcome.execution.findings) ADD_FAILURE() << finding.message;
  }
}

TEST(Findings, NameTheirPlace) {
  const std::string text =
      ".version 8.0\n.target sm_70\n.address_size 64\n.file 1 \"wrong.cu\"\n.entry k(.param .u64 "
      "out)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r<3>;\n"
      "ld.param.u64 %d1, [out];\n.loc 1 12 5\nst.global.u32 [%d1+64], %r1;\nret;\n}\n";
  const auto loaded = load_text(text);
  ASSERT_TRUE(loaded);
  const auto outcome = launch(*loaded, {{3, 2}, {4, 4}}, {uninitialised(64)});
  ASSERT_EQ(outcome.execution.findings.size(), 1u);
  const auto& finding = outcome.execution.findings[0];
  EXPECT_EQ(finding.ptx_line, 11u);
  EXPECT_EQ(finding.source_line, 12u);
  const auto message = to_text(to_diagnostic(finding, *loaded->module, "wrong.ptx"));
  EXPECT_EQ(message.substr(0, message.find('\n')),
            "wrong.ptx:11:1: error: write of 4 bytes of global memory, 0 bytes past the end of `buffer 0` "
            "(64 bytes); block (0, 0, 0), thread (0, 0, 0); "
            "16 times (wrong.cu:12)");
}

TEST(Findings, UninitialisedRegistersOnRequest) {
  Options options;
  options.checks.uninitialised_registers = true;
  auto outcome = outcome_of("add.u32 %r2, %r3, 1;", "", options);
  ASSERT_TRUE(outcome.found(Kind::uninitialised_register));
  // In the lanes of one side only.
  outcome = outcome_of("setp.lt.u32 %p1, %r1, 7; @%p1 mov.u32 %r3, 1; add.u32 %r2, %r3, 1;", "", options);
  ASSERT_TRUE(outcome.found(Kind::uninitialised_register));
  EXPECT_EQ(outcome.finding(Kind::uninitialised_register)->thread[0], 7u);
  outcome =
      outcome_of("setp.lt.u32 %p1, %r1, 7; @%p1 mov.u32 %r3, 1; @%p1 add.u32 %r2, %r3, 1;", "", options);
  EXPECT_TRUE(outcome.execution.findings.empty());
  outcome = outcome_of("add.u32 %r2, %r3, 1;");
  EXPECT_TRUE(outcome.execution.findings.empty());
}

TEST(Findings, ExecutionMayGoOn) {
  Options options;
  options.stop = false;
  const auto outcome =
      outcome_of("ld.global.u32 %r2, [%d3+128]; add.u32 %r2, %r2, 5; st.global.u32 [%d3], %r2;", "", options,
                 {{1}, {64}}, true);
  EXPECT_TRUE(outcome.execution.completed);
  ASSERT_EQ(outcome.execution.findings.size(), 1u);
  EXPECT_EQ(outcome.execution.findings[0].count, 32u);
  const auto values = outcome.values<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], i < 32 ? 6u : 5u);  // what could not be read was zero
}

TEST(Findings, ChecksCanBeLeftOut) {
  Options options;
  options.checks = Checks::none();
  const auto outcome =
      outcome_of("ld.global.u32 %r2, [%d3]; st.shared.u32 [s], %r1; ld.shared.u32 %r3, [s+4];",
                 ".shared .align 4 .b8 s[64];", options);
  EXPECT_TRUE(outcome.execution.completed);
  EXPECT_TRUE(outcome.execution.findings.empty());
}

TEST(Findings, AreCapped) {
  Options options;
  options.most_findings = 3;
  const auto outcome = outcome_of(
      "ld.global.u8 %r2, [%d3]; ld.global.u8 %r2, [%d3+1]; ld.global.u8 %r2, [%d3+2]; ld.global.u8 %r2, "
      "[%d3+3]; ld.global.u16 %r2, [%d3];",
      "", options);
  EXPECT_EQ(outcome.execution.findings.size(), 3u);
  EXPECT_EQ(outcome.execution.findings_left_out, 128u);
}

// What is not executed is said before anything runs, with its line.
TEST(Findings, WhatIsNotExecuted) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"frobnicate.u32 %r1, %r2;", "unknown instruction `frobnicate.u32`"},
      {"tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [t, {%r5, %r6}];", "is not executed"},
      {"wgmma.fence.sync.aligned;", "is not executed"},
      {"mbarrier.init.shared.b64 [%d1], 1;", "is not executed"},
      {"add.u32 %r1, %p1, 2;", "predicate `%p1` where a register belongs"},
      {"add.u32 %r1, %r2;", "wrong number of operands"},
      {"ld.global.v2.u32 %r1, [%d1];", "width"},
      {"call foreign;", "no body"},
  };
  for (const auto& [instruction, message] : cases) {
    SCOPED_TRACE(instruction);
    const auto errors = errors_of(
        kernel_text(".param .u64 out", instruction, ".global .texref t;\n.extern .func foreign;\n"));
    ASSERT_FALSE(errors.empty());
    EXPECT_NE(to_text(errors).find(message), std::string::npos) << to_text(errors);
    EXPECT_EQ(errors[0].line, 14);
  }
}

// Every instruction of the opcode table is executed, or docs/run.md says that it is not.
TEST(Findings, TheManualSaysWhatIsNotExecuted) {
  std::vector<std::string> opcodes;
#define OPCODE(name, category, destinations, properties) opcodes.emplace_back(name);
#include "analyzer/ptx/opcodes.def"
#undef OPCODE
  std::ifstream file(std::string(WARPTIME_SOURCE_DIR) + "/docs/run.md");
  std::stringstream manual;
  manual << file.rdbuf();
  const auto listed = manual.str().substr(manual.str().find("## What it does not execute"));
  std::size_t left_out = 0;
  for (const auto& opcode : opcodes) {
    const auto errors = to_text(errors_of(kernel_text("", opcode + ";")));
    if (errors.find("`" + opcode + "` is not executed") == std::string::npos) continue;  // some form of it is
    ++left_out;
    // vadd2 and vadd4 stand there as vadd, wmma.load as wmma.
    auto name = opcode;
    if (name[0] == 'v' && (name.back() == '2' || name.back() == '4')) name.pop_back();
    while (listed.find("`" + name + "`") == std::string::npos && name.find('.') != std::string::npos)
      name.resize(name.rfind('.'));
    EXPECT_NE(listed.find("`" + name + "`"), std::string::npos) << opcode;
  }
  EXPECT_GT(left_out, 20u);
}

struct BadLaunch {
  LaunchConfig how;
  std::size_t arguments;
  const char* message;
};

TEST(Findings, LaunchesThatNoDeviceTakes) {
  const auto loaded = load_text(
      ".version 8.0\n.target sm_70\n.address_size 64\n.shared .align 4 .b8 s[1024];\n.entry k(.param .u32 a) "
      ".maxntid 64, 2, 1\n{ .reg .b32 %r; mov.u32 %r, s; ret; }\n");
  ASSERT_TRUE(loaded);
  for (const auto& one : std::vector<BadLaunch>{{{{0}, {1}}, 1, "without threads"},
                                                {{{1}, {2048}}, 1, "no device takes more than 1024"},
                                                {{{1}, {1, 1, 65}}, 1, "64 in z"},
                                                {{{1, 70000}, {1}}, 1, "65535"},
                                                {{{1}, {256}}, 1, "at most 128 threads"},
                                                {{{1}, {32}, 1 << 20}, 1, "shared memory"},
                                                {{{1}, {32}}, 2, "2 arguments for a kernel of 1"}}) {
    SCOPED_TRACE(one.message);
    auto memory = Memory::create(*loaded->code);
    ASSERT_TRUE(memory);
    const auto result =
        run(*loaded->code, *memory, one.how, std::vector<Argument>(one.arguments, scalar(1)), {});
    ASSERT_FALSE(result);
    EXPECT_NE(to_text(result.diagnostics()).find(one.message), std::string::npos)
        << to_text(result.diagnostics());
  }
  auto memory = Memory::create(*loaded->code);
  const auto result = run(*loaded->code, *memory, {}, {scalar(1.0)}, {});
  ASSERT_FALSE(result);
  EXPECT_NE(to_text(result.diagnostics()).find("argument 0 has 8 bytes"), std::string::npos);
}

TEST(Findings, PrintsAndAssertions) {
  const std::string before =
      ".global .align 1 .b8 format[30] = {91, 37, 100, 32, 37, 53, 46, 50, 102, 32, 37, 108, 108, 120, 32, "
      "37, 115, 93, 10, 0};\n"  // [%d %5.2f %llx %s]
      ".global .align 1 .b8 word[4] = {97, 98, 99, 0};\n.global .align 1 .b8 test[6] = {120, 32, 62, 32, 49, "
      "0};\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .func "
      "__assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n";
  auto outcome = outcome_of(
      ".local .align 8 .b8 pack[32];\nst.local.u32 [pack], -5; st.local.f64 [pack+8], 0d400921FB54442D18; "
      "st.local.u64 [pack+16], 255; mov.u64 %d4, word; st.local.u64 [pack+24], %d4;\n"
      "mov.u64 %d5, pack; cvta.local.u64 %d5, %d5; mov.u64 %d6, format;\n"
      "{\n.param .b64 p;\n.param .b64 q;\n.param .b32 r;\nst.param.b64 [p], %d6;\nst.param.b64 [q], "
      "%d5;\ncall (r), vprintf, (p, q);\n}\n",
      before, {}, {{1}, {2}});
  EXPECT_EQ(outcome.execution.printed, "[-5  3.14 ff abc]\n[-5  3.14 ff abc]\n");
  outcome = outcome_of(
      "mov.u64 %d6, test; mov.u64 %d7, word;\n{\n.param .b64 p;\n.param .b64 q;\n.param .b32 r;\n.param .b64 "
      "s;\n.param .b64 t;\nst.param.b64 [p], %d6;\nst.param.b64 [q], %d7;\nst.param.b32 [r], 12;\n"
      "call __assertfail, (p, q, r, s, t);\n}\n",
      before, {}, {{1}, {2}});
  ASSERT_EQ(outcome.execution.findings.size(), 1u);
  EXPECT_EQ(outcome.execution.findings[0].message, "assertion `x > 1` failed (abc:12)");
}

}  // namespace
}  // namespace warptime::execute::testing
