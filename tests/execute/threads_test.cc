// Threads of a warp go their own way: they wait for each other where they must, whichever instruction they are
// at, and every one of them gets on.
#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

using Kind = Finding::Kind;

// %r1 is the thread's number, %d1 the buffer `out`, %d2 the thread's own word of it; %r0 is stored there.
Outcome run_body(const std::string& body, std::uint32_t threads = 32, const std::string& before = {},
                 std::uint32_t words = 64) {
  const auto loaded = load_text(kernel_text(".param .u64 out",
                                            "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, "
                                            "%r1, 4; add.u64 %d2, %d1, %d2; mov.u32 "
                                            "%r0, 0;\n" +
                                                body + "\nst.global.u32 [%d2], %r0;\n",
                                            before));
  if (!loaded) return {};
  Options options;
  options.instruction_budget = 2'000'000;
  return launch(*loaded, {{1}, {threads}}, {buffer(std::vector<std::uint32_t>(words))}, options);
}

template <class F>
void expect(const std::string& body, F&& f, std::uint32_t threads = 32, const std::string& before = {}) {
  SCOPED_TRACE(body);
  const auto outcome = run_body(body, threads, before);
  EXPECT_TRUE(outcome.execution.completed);
  for (const auto& finding : outcome.execution.findings) ADD_FAILURE() << finding.message;
  const auto values = outcome.values<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < threads; ++i) EXPECT_EQ(values[i], f(i)) << "thread " << i;
}

TEST(Threads, ReturnBeforeABarrier) {
  // The side that returns runs after the barrier's.
  expect(
      "setp.lt.u32 %p1, %r1, 40; @%p1 bra ON; bra END;\nON: bar.sync 0; bar.sync 0; mov.u32 %r0, 7;\nEND:",
      [](auto i) { return i < 40 ? 7u : 0u; }, 64);
  expect(
      "setp.lt.u32 %p1, %r1, 5; @!%p1 bra END;\nbar.warp.sync -1; bar.red.popc.u32 %r0, 0, 1;\nEND:",
      [](auto i) { return i < 5 ? 5u : 0u; }, 64);
}

// The two sides of a branch shuffle at instructions of their own.
TEST(Threads, MeetAtDifferentInstructionsOfAKind) {
  const std::string sides =
      "add.u32 %r5, %r1, 32; setp.ge.u32 %p1, %r1, 16;\n@%p1 bra HIGH;\nshfl.sync.down.b32 %r0, %r5, 16, 31, "
      "-1;\nbra END;\nHIGH: shl.b32 %r6, %r5, 1; shfl.sync.down.b32 %r0, %r6, 16, 31, -1;\nEND:";
  expect(sides, [](auto i) { return i < 16 ? 2 * (i + 16 + 32) : 2 * (i + 32); });
  expect(
      "and.b32 %r5, %r1, 1; setp.ne.u32 %p1, %r5, 0;\n@%p1 bra ODD;\nvote.sync.ballot.b32 %r0, 0, -1;\nbra "
      "END;\nODD: vote.sync.ballot.b32 %r0, 1, -1;\nEND:",
      [](auto) { return 0xaaaaaaaa; });
  expect(
      "setp.ge.u32 %p1, %r1, 10;\n@%p1 bra HIGH;\nredux.sync.add.u32 %r0, 1, -1;\nbra END;\nHIGH: "
      "redux.sync.add.u32 %r7, 100, -1; add.u32 %r0, %r7, 1;\nEND:",
      [](auto i) { return i < 10 ? 2210u : 2211u; });
  // In different functions.
  expect(
      "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra HIGH;\ncall (%r0), low, (%r1);\nbra END;\nHIGH: call (%r0), high, "
      "(%r1);\nEND:",
      [](auto i) { return i < 16 ? i + 16 + 1000 : i - 16; }, 32,
      ".func (.reg .b32 y) low(.reg .b32 x)\n{ shfl.sync.bfly.b32 y, x, 16, 31, -1; ret; }\n"
      ".func (.reg .b32 y) high(.reg .b32 x)\n{ .reg .b32 t; add.u32 t, x, 1000; shfl.sync.bfly.b32 y, t, "
      "16, "
      "31, -1; ret; }\n");
}

// Tiles of a warp: each thread names those of its own tile.
TEST(Threads, MembersOfTiles) {
  const std::string tile = "and.b32 %r5, %r1, 24; shl.b32 %r6, 0xff, %r5;\n";
  expect(tile + "vote.sync.ballot.b32 %r0, 1, %r6;", [](auto i) { return 0xffu << (i & 24); });
  expect(tile + "redux.sync.add.u32 %r0, %r1, %r6;", [](auto i) { return 8 * (i & 24) + 28; });
  expect(tile + "match.any.sync.b32 %r0, 7, %r6;", [](auto i) { return 0xffu << (i & 24); });
}

// A thread that has its guard false goes on, and comes to the other barrier instruction of the warp.
TEST(Threads, OneOfThemGoesOnToAnotherMeetingPlace) {
  expect(
      "setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra MEET;\nbar.warp.sync -1;\nadd.u32 %r0, %r0, 1;\nMEET: @!%p1 "
      "bar.warp.sync -1;\nadd.u32 %r0, %r0, 1;\n",
      [](auto i) { return i < 16 ? 2u : 1u; });
}

constexpr char lock_words[] = ".global .align 4 .u32 lock;\n.global .align 4 .u32 total;\n";

// Every thread of the warp takes the lock: while (atomicCAS(&lock, 0, 1)); total += 1; lock = 0.
TEST(Threads, SpinLocksEnd) {
  // The winner waits behind the loop for the losers.
  expect(
      "SPIN: atom.global.cas.b32 %r5, [lock], 0, 1; setp.ne.u32 %p1, %r5, 0;\n@%p1 bra SPIN;\n"
      "ld.volatile.global.u32 %r6, [total]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [total], %r6; "
      "membar.gl; atom.global.exch.b32 %r7, [lock], 0;\nbar.sync 0; ld.volatile.global.u32 %r0, [total];",
      [](auto) { return 64u; }, 64, lock_words);
  // In a function, with a back-off.
  expect(
      "call take;\nld.volatile.global.u32 %r6, [total]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [total], "
      "%r6; membar.gl; atom.global.exch.b32 %r7, [lock], 0;\nbar.sync 0; ld.volatile.global.u32 %r0, "
      "[total];",
      [](auto) { return 64u; }, 64,
      std::string(lock_words) +
          ".func take\n{ .reg .pred p; .reg .b32 r; SPIN: nanosleep.u32 20; atom.global.cas.b32 r, [lock], "
          "0, "
          "1; setp.ne.u32 p, r, 0; @p bra SPIN; ret; }\n");
}

// The side that runs first waits for a flag that the other one sets.
TEST(Threads, OneSideWaitsForTheOther) {
  for (const std::string space : {"global", "shared"})
    for (const std::string condition : {"lt", "ge"})
      expect(
          "setp." + condition + ".u32 %p1, %r1, 16; mov.u32 %r9, 0; st.volatile." + space +
              ".u32 [flag], %r9; bar.sync 0;\n@%p1 bra SET;\nWAIT: ld.volatile." + space +
              ".u32 %r0, [flag]; setp.eq.u32 %p2, %r0, 0;\n@%p2 bra WAIT;\nbra END;\nSET: mov.u32 %r0, 5; "
              "st.volatile." +
              space + ".u32 [flag], %r0;\nEND:",
          [](auto) { return 5u; }, 32, "." + space + " .align 4 .u32 flag;\n");
}

// A poll of plain reads, which a compiler may not make but PTX may have.
TEST(Threads, PlainReadsThatPoll) {
  expect(
      "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra SET;\nWAIT: ld.global.u32 %r0, [flag]; setp.eq.u32 %p2, %r0, "
      "0;\n@%p2 "
      "bra WAIT;\nbra END;\nSET: mov.u32 %r0, 5; st.global.u32 [flag], %r0;\nEND:",
      [](auto) { return 5u; }, 32, ".global .align 4 .u32 flag;\n");
}

// Partial warps at a barrier with a number of threads: a warp whose threads have all come counts as 32.
TEST(Threads, BarriersCountThreads) {
  expect(
      "setp.lt.u32 %p1, %r1, 8; @%p1 bra LOW; barrier.sync 1, 64; bra END;\nLOW: barrier.sync 1, 64;\nEND: "
      "mov.u32 %r0, 1;",
      [](auto) { return 1u; }, 40);
  // The sides of a warp at barriers of their own, each with threads of another warp: an H100 takes it for an illegal
  // instruction, since a thread at a barrier waits for all of its warp (PTX ISA, barrier).
  const auto outcome = run_body(
      "and.b32 %r5, %r1, 31; setp.lt.u32 %p1, %r5, 16; @%p1 bra LOW; barrier.sync 2, 32; mov.u32 %r0, 2; bra "
      "END;\nLOW: barrier.sync 1, 32; mov.u32 %r0, 1;\nEND:",
      64);
  EXPECT_TRUE(outcome.found(Kind::divergent_barrier));
}

TEST(Threads, AlignedBarriersAtDifferentInstructions) {
  const auto body = [](const std::string& name) {
    return "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\n" + name + " 0; mov.u32 %r0, 1; bra B;\nA: " + name +
           " 0; mov.u32 %r0, 2;\nB:";
  };
  const auto outcome = run_body(body("bar.sync"));
  ASSERT_EQ(outcome.execution.findings.size(), 1u);
  EXPECT_EQ(outcome.execution.findings[0].kind, Kind::divergent_barrier);
  EXPECT_TRUE(outcome.execution.completed);
  const auto values = outcome.values<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], i < 16 ? 2u : 1u);
  expect(body("barrier.sync"), [](auto i) { return i < 16 ? 2u : 1u; });  // not .aligned
}

}  // namespace
}  // namespace warptime::execute::testing
