// Warps and blocks: what lanes tell each other, where they part and meet, calls and barriers.
#include <algorithm>

#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

// `instruction` computes %r0 of %r1, the lane's number; %p1 holds in odd lanes. One value per thread.
std::vector<std::uint32_t> of_lanes(const std::string& instruction, std::uint32_t threads = 32,
                                    const std::string& before = {}) {
  const auto loaded = load_text(kernel_text(
      ".param .u64 out",
      "ld.param.u64 %d30, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d31, %r1, 4; add.u64 %d30, %d30, %d31;\n"
      "and.b32 %r39, %r1, 1; setp.ne.u32 %p1, %r39, 0; mov.u32 %r0, 1000;\n" +
          instruction + "\nst.global.u32 [%d30], %r0;\n",
      before));
  if (!loaded) return {};
  const auto outcome = launch(*loaded, {{1}, {threads}}, {uninitialised(threads * 4)});
  EXPECT_TRUE(outcome.execution.completed);
  for (const auto& finding : outcome.execution.findings) ADD_FAILURE() << finding.message;
  return outcome.values<std::uint32_t>(0);
}

template <class F>
void expect(const std::string& instruction, F&& f, std::uint32_t threads = 32,
            const std::string& before = {}) {
  SCOPED_TRACE(instruction);
  const auto values = of_lanes(instruction, threads, before);
  ASSERT_EQ(values.size(), threads);
  for (std::uint32_t i = 0; i < threads; ++i) EXPECT_EQ(values[i], f(i)) << "lane " << i;
}

TEST(Warps, Shuffles) {
  expect("shfl.sync.idx.b32 %r0, %r1, 5, 31, 0xffffffff;", [](auto) { return 5u; });
  expect("shfl.sync.up.b32 %r0, %r1, 3, 0, 0xffffffff;", [](auto i) { return i < 3 ? i : i - 3; });
  expect("shfl.sync.down.b32 %r0, %r1, 3, 31, 0xffffffff;", [](auto i) { return i > 28 ? i : i + 3; });
  expect("shfl.sync.bfly.b32 %r0, %r1, 5, 31, 0xffffffff;", [](auto i) { return i ^ 5; });
  // In segments of eight: 0x18 in bits 8 to 12.
  expect("shfl.sync.down.b32 %r0, %r1, 3, 0x181f, 0xffffffff;",
         [](auto i) { return (i & 7) > 4 ? i : i + 3; });
  expect("shfl.sync.up.b32 %r0, %r1, 3, 0x1800, 0xffffffff;", [](auto i) { return (i & 7) < 3 ? i : i - 3; });
  expect("shfl.sync.idx.b32 %r0, %r1, 2, 0x181f, 0xffffffff;", [](auto i) { return (i & 24) + 2; });
  expect("shfl.sync.down.b32 %r5|%p5, %r1, 3, 31, 0xffffffff; selp.u32 %r0, 1, 0, %p5;",
         [](auto i) { return i <= 28 ? 1u : 0u; });
  expect("mov.u32 %r0, %r1; shfl.down.b32 %r0, %r0, 1, 31;", [](auto i) { return std::min(i + 1, 31u); });
}

TEST(Warps, VotesMatchesReductions) {
  expect("vote.sync.ballot.b32 %r0, %p1, 0xffffffff;", [](auto) { return 0xaaaaaaaa; });
  expect("vote.sync.all.pred %p2, %p1, 0xffffffff; selp.u32 %r0, 1, 0, %p2;", [](auto) { return 0u; });
  expect("vote.sync.any.pred %p2, !%p1, 0xffffffff; selp.u32 %r0, 1, 0, %p2;", [](auto) { return 1u; });
  expect("vote.sync.uni.pred %p2, %p1, 0xffffffff; selp.u32 %r0, 1, 0, %p2;", [](auto) { return 0u; });
  expect("@%p1 vote.ballot.b32 %r0, 1;", [](auto i) { return i % 2 == 1 ? 0xaaaaaaaa : 1000u; });
  expect("@%p1 activemask.b32 %r0;", [](auto i) { return i % 2 == 1 ? 0xaaaaaaaa : 1000u; });
  expect("shr.u32 %r5, %r1, 3; match.any.sync.b32 %r0, %r5, 0xffffffff;",
         [](auto i) { return 0xffu << (i & 24); });
  expect("match.all.sync.b32 %r0|%p5, 7, 0xffffffff;", [](auto) { return 0xffffffff; });
  expect("match.all.sync.b32 %r0|%p5, %r1, 0xffffffff;", [](auto) { return 0u; });
  expect("redux.sync.add.u32 %r0, %r1, 0xffffffff;", [](auto) { return 31u * 16; });
  expect("sub.s32 %r5, %r1, 7; redux.sync.min.s32 %r0, %r5, 0xffffffff;",
         [](auto) { return static_cast<std::uint32_t>(-7); });
  expect("@%p1 redux.sync.or.b32 %r0, %r1, 0xaaaaaaaa;", [](auto i) { return i % 2 == 1 ? 31u : 1000u; });
  expect("elect.sync %r5|%p5, 0xffffffff; selp.u32 %r0, 1, 0, %p5;", [](auto i) { return i == 0 ? 1u : 0u; });
}

TEST(Warps, PartWarps) {
  expect(
      "activemask.b32 %r0;", [](auto i) { return i < 32 ? 0xffffffff : 0x1f; }, 37);
  expect(
      "bar.sync 0; mov.u32 %r0, %r1;", [](auto i) { return i; }, 37);
}

TEST(Warps, SidesOfABranchMeet) {
  // After the branch all lanes are together again, whichever side they came from.
  expect(
      "@%p1 bra ODD;\nadd.u32 %r0, %r0, 1;\nbra MEET;\nODD:\nadd.u32 %r0, %r0, 2;\nMEET:\nactivemask.b32 "
      "%r2;\nsetp.eq.u32 %p2, %r2, 0xffffffff;\n@!%p2 mov.u32 %r0, 0;",
      [](auto i) { return i % 2 == 1 ? 1002u : 1001u; });
  // Nested.
  expect(
      "@%p1 bra A;\nsetp.lt.u32 %p3, %r1, 16;\n@%p3 bra B;\nmov.u32 %r0, 1;\nbra C;\nB:\nmov.u32 %r0, "
      "2;\nC:\nactivemask.b32 %r2;\nadd.u32 %r0, %r0, %r2;\nA:\nactivemask.b32 %r3;\nadd.u32 %r0, %r0, %r3;",
      [](auto i) { return i % 2 == 1 ? 1000u - 1 : (i < 16 ? 2u : 1u) + 0x55555555 - 1; });
}

TEST(Warps, LoopsOfDifferentLengths) {
  // Each lane sums 0 … lane.
  const std::string loop =
      "mov.u32 %r0, 0; mov.u32 %r2, 0;\nLOOP:\nadd.u32 %r0, %r0, %r2;\nadd.u32 %r2, %r2, 1;\nsetp.le.u32 "
      "%p2, %r2, %r1;\n@%p2 bra LOOP;\n";
  expect(loop + "activemask.b32 %r3;\nsetp.ne.u32 %p3, %r3, 0xffffffff;\n@%p3 mov.u32 %r0, 0;",
         [](auto i) { return i * (i + 1) / 2; });
  // With a break, and a continue.
  expect(
      "mov.u32 %r0, 0; mov.u32 %r2, 0;\nLOOP:\nadd.u32 %r2, %r2, 1;\nsetp.gt.u32 %p2, %r2, 20;\n@%p2 bra "
      "DONE;\nand.b32 %r3, %r2, 1;\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra LOOP;\n"
      "add.u32 %r0, %r0, %r2;\nsetp.lt.u32 %p4, %r2, %r1;\n@%p4 bra LOOP;\nDONE:\n",
      [](std::uint32_t i) {
        std::uint32_t sum = 0;
        for (std::uint32_t k = 1; k <= 20; ++k) {
          if (k % 2 == 0) continue;
          sum += k;
          if (k >= i) break;
        }
        return sum;
      });
}

TEST(Warps, EarlyReturns) {
  const auto loaded = load_text(kernel_text(
      ".param .u64 out",
      "ld.param.u64 %d30, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d31, %r1, 4; add.u64 %d30, %d30, %d31;\n"
      "st.global.u32 [%d30], 1; setp.lt.u32 %p1, %r1, 10; @%p1 ret; st.global.u32 [%d30], 2; setp.lt.u32 "
      "%p1, %r1, 20; @%p1 exit; bar.sync 0;\n"
      "activemask.b32 %r2; st.global.u32 [%d30], %r2;\n"));
  ASSERT_TRUE(loaded);
  const auto outcome = launch(*loaded, {{1}, {64}}, {uninitialised(256)});
  EXPECT_TRUE(outcome.execution.completed);
  EXPECT_TRUE(outcome.execution.findings.empty());
  const auto values = outcome.values<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], i < 10 ? 1u : i < 20 ? 2u : i < 32 ? 0xfff00000 : 0xffffffff);
}

// A side that may return meets the other only at the end; at a barrier, and at a shuffle, they are together
// all the same.
TEST(Warps, SidesWaitForEachOtherAtBarriers) {
  for (const std::string sync :
       {"bar.sync 0;", "bar.warp.sync 0xffffffff;", "vote.sync.ballot.b32 %r9, 1, 0xffffffff;"})
    expect("@!%p1 bra J;\nsetp.eq.u32 %p2, %r1, 5;\n@%p2 ret;\nadd.u32 %r0, %r0, 1;\nJ:\n" + sync +
               "\nactivemask.b32 %r2;\nadd.u32 %r0, %r0, %r2;\n",
           [](auto i) { return i == 5 ? 0u : 0xffffffdf + 1000u + i % 2; });
}

TEST(Warps, IndirectBranches) {
  expect(
      "and.b32 %r2, %r1, 3;\nT: .branchtargets L0, L1, L2, L1;\nbrx.idx %r2, T;\nL0:\nmov.u32 %r0, 10;\nbra "
      "END;\nL1:\nmov.u32 %r0, 11;\nbra END;\nL2:\nmov.u32 %r0, 12;\nEND:\n"
      "activemask.b32 %r3;\nsetp.ne.u32 %p3, %r3, 0xffffffff;\n@%p3 mov.u32 %r0, 0;",
      [](auto i) { return i % 4 == 0   ? 10u
                          : i % 4 == 2 ? 12u
                                       : 11u; });
}

constexpr char functions[] =
    ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %a<4>;\nld.param.b32 %a1, [x];\nadd.u32 "
    "%a2, %a1, %a1;\nst.param.b32 [result], %a2;\nret;\n}\n"
    ".func (.reg .b32 result) thrice(.reg .b32 x)\n{\nmul.lo.u32 result, x, 3;\nret;\n}\n"
    ".func (.param .b32 result) factorial(.param .b32 n)\n{\n.reg .b32 %a<6>;\n.reg .pred %q;\nld.param.b32 "
    "%a1, [n];\nsetp.gt.u32 %q, %a1, 1;\n@%q bra MORE;\nst.param.b32 [result], 1;\nret;\n"
    "MORE:\nsub.u32 %a2, %a1, 1;\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %a2;\ncall (q), "
    "factorial, (p);\nld.param.b32 %a3, [q];\n}\nmul.lo.u32 %a4, %a3, %a1;\nst.param.b32 [result], "
    "%a4;\nret;\n}\n";

TEST(Warps, Calls) {
  const std::string call_twice =
      "{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), twice, (p);\nld.param.b32 "
      "%r0, [q];\n}\n";
  expect(
      call_twice, [](auto i) { return 2 * i; }, 32, functions);
  expect(
      "call (%r0), thrice, (%r1);", [](auto i) { return 3 * i; }, 32, functions);
  expect(
      "@%p1 call (%r0), thrice, (%r1);", [](auto i) { return i % 2 == 1 ? 3 * i : 1000u; }, 32, functions);
  // Recursion of a different depth in each lane.
  expect(
      "and.b32 %r2, %r1, 7;\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r2;\ncall (q), factorial, "
      "(p);\nld.param.b32 %r0, [q];\n}\n",
      [](std::uint32_t i) {
        std::uint32_t product = 1;
        for (std::uint32_t k = 2; k <= (i & 7); ++k) product *= k;
        return product;
      },
      32, functions);
}

TEST(Warps, IndirectCalls) {
  // Lanes of different functions.
  expect(
      "mov.u64 %d1, twice; mov.u64 %d2, factorial; selp.b64 %d3, %d1, %d2, %p1; and.b32 %r2, %r1, "
      "7;\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r2;\n"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (q), %d3, (p), P;\nld.param.b32 %r0, "
      "[q];\n}\n",
      [](std::uint32_t i) {
        if (i % 2 == 1) return 2 * (i & 7);
        std::uint32_t product = 1;
        for (std::uint32_t k = 2; k <= (i & 7); ++k) product *= k;
        return product;
      },
      32, functions);
  // By a table in memory.
  expect(
      "and.b32 %r2, %r1, 1; mul.wide.u32 %d1, %r2, 8; mov.u64 %d2, table; add.u64 %d1, %d1, %d2; "
      "ld.global.u64 %d3, [%d1];\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], 5;\n"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (q), %d3, (p), P;\nld.param.b32 %r0, "
      "[q];\n}\n",
      [](std::uint32_t i) { return i % 2 == 1 ? 120u : 10u; }, 32,
      std::string(functions) + ".global .u64 table[2] = {twice, factorial};\n");
}

TEST(Warps, CallsOfAliases) {
  const std::string aliases =
      std::string(functions) +
      ".func (.param .b32 result) two_times(.param .b32 x);\n.alias two_times, twice;\n"
      ".func (.param .b32 result) also_two_times(.param .b32 x);\n.alias also_two_times, two_times;\n";
  for (const std::string name : {"two_times", "also_two_times"}) {
    expect(
        "{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), " + name +
            ", (p);\nld.param.b32 %r0, [q];\n}\n",
        [](auto i) { return 2 * i; }, 32, aliases);
    expect(
        "mov.u64 %d1, " + name +
            ";\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\n"
            "P: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (q), %d1, (p), P;\nld.param.b32 %r0, "
            "[q];\n}\n",
        [](auto i) { return 2 * i; }, 32, aliases);
    expect(
        "ld.global.u64 %d1, [table];\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\n"
        "P: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (q), %d1, (p), P;\nld.param.b32 %r0, "
        "[q];\n}\n",
        [](auto i) { return 2 * i; }, 32, aliases + ".global .u64 table[1] = {" + name + "};\n");
  }
}

TEST(Warps, LocalMemoryOfCalls) {
  expect(
      "{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall (q), f, (p);\nld.param.b32 %r0, "
      "[q];\n}\n",
      [](auto i) { return 7 * i; }, 64,
      ".func (.param .b32 result) f(.param .b32 x)\n{\n.local .align 8 .b8 depot[32];\n.reg .b32 %a<4>; .reg "
      ".b64 %b<4>;\nmov.u64 %b1, depot;\ncvta.local.u64 %b2, %b1;\nld.param.b32 %a1, [x];\n"
      "mul.lo.u32 %a2, %a1, 7;\nst.u32 [%b2+16], %a2;\nld.local.u32 %a3, [%b1+16];\nst.param.b32 [result], "
      "%a3;\nret;\n}\n");
}

TEST(Warps, StructsByValue) {
  expect(
      "{\n.param .align 8 .b8 p[16];\n.param .align 8 .b8 q[8];\nst.param.v2.b32 [p], {%r1, "
      "5};\nst.param.b64 [p+8], 100;\ncall (q), f, (p);\nld.param.b32 %r0, [q+4];\n}\n",
      [](auto i) { return i + 105; }, 32,
      ".func (.param .align 8 .b8 result[8]) f(.param .align 8 .b8 x[16])\n{\n.reg .b32 %a<8>;\nld.param.b32 "
      "%a1, [x];\nld.param.b32 %a2, [x+4];\nld.param.b32 %a3, [x+8];\n"
      "add.u32 %a4, %a1, %a2;\nadd.u32 %a4, %a4, %a3;\nst.param.b32 [result+4], %a4;\nret;\n}\n");
}

TEST(Blocks, BarriersReduce) {
  expect(
      "bar.red.popc.u32 %r0, 0, %p1;", [](auto) { return 48u; }, 96);
  expect(
      "bar.red.and.pred %p2, 0, %p1; selp.u32 %r0, 1, 0, %p2;", [](auto) { return 0u; }, 96);
  expect(
      "bar.red.or.pred %p2, 0, !%p1; selp.u32 %r0, 1, 0, %p2;", [](auto) { return 1u; }, 96);
  expect(
      "barrier.sync 3, 96; mov.u32 %r0, 1;", [](auto) { return 1u; }, 96);
}

TEST(Blocks, ProducersAndConsumersAtNamedBarriers) {
  // The first warp arrives and goes on; the second waits for what it wrote.
  expect(
      "setp.lt.u32 %p2, %r1, 32;\n@!%p2 bra CONSUME;\nadd.u32 %r5, %r1, 500; mov.u32 %r6, tile; shl.b32 %r7, "
      "%r1, 2; add.u32 %r6, %r6, %r7; st.shared.u32 [%r6], %r5;\nbar.arrive 1, 64;\nmov.u32 %r0, %r1;\nbra "
      "DONE;\n"
      "CONSUME:\nbar.sync 1, 64;\nsub.u32 %r7, %r1, 32; shl.b32 %r7, %r7, 2; mov.u32 %r6, tile; add.u32 %r6, "
      "%r6, %r7; ld.shared.u32 %r0, [%r6];\nDONE:\n",
      [](auto i) { return i < 32 ? i : i - 32 + 500; }, 64, ".shared .align 4 .b8 tile[128];\n");
}

TEST(Blocks, AWarpMayWaitForAnothersFlag) {
  // The first warp spins until the second has written: it is not run for ever.
  expect(
      "setp.eq.u32 %p4, %r1, 0;\n@%p4 st.shared.u32 [flag], 0;\nbar.sync 0;\nsetp.lt.u32 %p2, %r1, "
      "32;\n@!%p2 bra WRITE;\nSPIN:\nld.volatile.shared.u32 %r0, [flag];\nsetp.ne.u32 %p3, %r0, 77;\n@%p3 "
      "bra SPIN;\nbra DONE;\nWRITE:\nmov.u32 %r0, 77;\nsetp.eq.u32 %p4, %r1, 32;\n"
      "@%p4 atom.shared.exch.b32 %r5, [flag], 77;\nDONE:\n",
      [](auto) { return 77u; }, 64, ".shared .u32 flag;\n");
}

}  // namespace
}  // namespace warptime::execute::testing
