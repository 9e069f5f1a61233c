// The instructions that a warp executed, cut into periods as product.md says.
#include <fmt/format.h>

#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

constexpr char head[] =
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, "
    "%d2;\n";  // 4 instructions

std::string text(const std::vector<StreamPeriod>& periods) {
  std::string result;
  for (const auto& period : periods) {
    if (!result.empty()) result += ' ';
    result += period.kind == PeriodKind::calculation ? std::to_string(period.instructions)
              : period.kind == PeriodKind::load      ? "load"
                                                     : "store";
  }
  return result;
}

struct Recorded {
  Stream stream;
  Outcome outcome;
};

Recorded record(const std::string& body, const std::string& before = {},
                const LaunchConfig& how = {{1}, {32}}, WarpId which = {0, 0}, std::uint64_t limit = 1 << 20) {
  const auto loaded = load_text(kernel_text(".param .u64 out", std::string(head) + body, before));
  StreamRecorder recorder({which}, limit);
  Recorded recorded;
  if (!loaded) return recorded;
  Options options;
  // The bodies write and read one word in all lanes.
  options.checks.warp_races = options.checks.unwaited_copies = false;
  recorded.outcome = launch(*loaded, how, {buffer(std::vector<std::uint32_t>(4096))}, options, &recorder);
  for (const auto& finding : recorded.outcome.execution.findings) ADD_FAILURE() << finding.message;
  recorded.stream = recorder.stream();
  return recorded;
}

struct Case {
  const char* body;
  const char* periods;
  const char* before = "";
};

TEST(Streams, Segmentation) {
  const std::vector<Case> cases = {
      {"", "4"},
      {"ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2;", "4 load 1 store"},
      {"ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1]; st.u32 [%d3], %r2;", "4 load store"},
      // Atomics that give a value are loads, those that do not are stores.
      {"atom.global.add.u32 %r2, [%d1], 1; red.global.add.u32 [%d1], 1;", "4 load store"},
      // Shared, local, constant and parameter memory is calculation; so is a generic address that leads
      // there.
      {"st.shared.u32 [s], 1; ld.shared.u32 %r2, [s]; ld.const.u32 %r3, [c]; atom.shared.add.u32 %r2, [s], "
       "1; mov.u64 %d4, s; cvta.shared.u64 %d4, %d4; ld.u32 %r2, [%d4]; st.local.u32 [l], 1; ld.local.u32 "
       "%r2, [l];",
       "13", ".const .u32 c = 1; .shared .u32 s;"},
      {"cp.async.ca.shared.global [s], [%d1], 4; cp.async.wait_all;", "4 store 1", ".shared .u32 s;"},
      // A guard that no lane passes leaves one instruction of calculation; one that some pass, the access.
      {"setp.gt.u32 %p1, %r1, 1000; @%p1 ld.global.u32 %r2, [%d3]; setp.eq.u32 %p1, %r1, 7; @%p1 "
       "st.global.u32 [%d3], 1;",
       "7 store"},
      {"bar.sync 0; membar.gl; ld.global.u32 %r2, [%d3]; bar.sync 0;", "6 load 1"},
      // The guarded return is an instruction, the other is none.
      {"setp.lt.u32 %p1, %r1, 3; @%p1 ret; st.global.u32 [%d3], 1;", "6 store"},
      // A loop of three iterations; unguarded branches are instructions.
      {"mov.u32 %r2, 0; L: ld.global.u32 %r3, [%d3]; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra "
       "L; bra M; M:",
       "5 load 3 load 3 load 4"},
      // The side that falls through is first, then the one that is taken.
      {"and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra A; ld.global.u32 %r3, [%d3]; bra B; A: "
       "st.global.u32 [%d3], 1; B: add.u32 %r3, %r3, 1;",
       "7 load 1 store 1"},
      // Lanes that leave a loop wait for the longest.
      {"and.b32 %r2, %r1, 3; L: ld.global.u32 %r3, [%d3]; sub.s32 %r2, %r2, 1; setp.ge.s32 %p1, %r2, 0; @%p1 "
       "bra L;",
       "5 load 3 load 3 load 3 load 3"},
      // What a call hands over is calculation; so is a return from it under a guard, whether or not some lane
      // returns there.
      {"{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), f, (a); ld.param.b32 %r2, [r]; }",
       "10",
       ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; "
       "ret; }"},
      {"call f, (%r1);", "10",
       ".func f(.reg .b32 %x) { .reg .pred %p; .reg .b64 %g; setp.gt.u32 %p, %x, 99; mov.b64 %g, 0; @%p "
       "st.global.u32 [%g], 1; @%p ret; ret; }"},
      // A call that no lane makes is one instruction; one that some make goes on for all behind it.
      {"setp.gt.u32 %p1, %r1, 99; @%p1 call f; add.u32 %r2, %r1, 1;", "7",
       ".func f { .reg .b32 %b; mov.b32 %b, 1; ret; }"},
      {"setp.gt.u32 %p1, %r1, 3; @%p1 call f; add.u32 %r2, %r1, 1;", "9",
       ".func f { .reg .b32 %b; mov.b32 %b, 1; ret; }"},
      // Sides of a callee return one after the other.
      {"call f, (%r1);", "11",
       ".func f(.reg .b32 %x) { .reg .pred %p; .reg .b32 %y; and.b32 %y, %x, 1; setp.eq.u32 %p, %y, 0; @%p "
       "bra A; mov.b32 %y, 1; ret; A: ret; }"},
      // Calls within calls, in a loop.
      {"mov.u32 %r2, 0; L: call g; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2; @%p1 bra L;",
       "8 load 8 load 5",
       ".global .u32 x;\n.func f { .reg .b32 %b; ld.global.u32 %b, [x]; ret; }\n.func g { .reg .b32 %b; "
       "mov.b32 %b, 1; call f; ret; }"},
      // Through a register.
      {"P: .callprototype _ (); mov.u64 %d4, f; call %d4, (), P;", "8",
       ".func f { .reg .b32 %b; mov.b32 %b, 1; ret; }\n"},
      // What the executor gives by itself is the call alone.
      {"{ .param .b64 n; .param .b64 p; st.param.b64 [n], 16; call (p), malloc, (n); ld.param.b64 %d4, [p]; "
       "call free, (p); }",
       "8", ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"},
      // An exit ends it all, wherever it is.
      {"call f; add.u32 %r2, %r1, 1;", "6", ".func f { .reg .b32 %b; mov.b32 %b, 1; exit; }"},
      // A call, what it does, and its return.
      {"call f;", "8 load 1",
       ".global .u32 g[2];\n.func f { .reg .b64 %a; .reg .b32 %b; mov.b64 %a, g; add.u64 %a, %a, 4; add.u64 "
       "%a, %a, -4; ld.global.u32 %b, [%a]; ret; }"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.body);
    const auto body = std::string(one.body).find("[l]") != std::string::npos
                          ? ".local .u32 l;\n" + std::string(one.body)
                          : std::string(one.body);
    EXPECT_EQ(text(segment(record(body, one.before).stream)), one.periods);
  }
}

TEST(Streams, LanesAndAddresses) {
  const auto recorded =
      record("setp.lt.u32 %p1, %r1, 4; @%p1 st.global.u32 [%d3], 1; ld.global.u32 %r2, [%d1];");
  const auto& entries = recorded.stream.entries;
  ASSERT_EQ(entries.size(), 8u);
  EXPECT_EQ(entries[5].active, 0xffffffffu);
  EXPECT_EQ(entries[5].performed, 0xfu);
  EXPECT_EQ(entries[5].bytes, 4u);
  ASSERT_EQ(entries[5].address_count, 4u);
  const auto* addresses = &recorded.stream.addresses[entries[5].first_address];
  EXPECT_EQ(addresses[3] - addresses[0], 12u);
  EXPECT_EQ(sectors({addresses, 4}, 4), 1u);
  EXPECT_EQ(entries[6].address_count, 32u);
  EXPECT_EQ(entries[7].role, Role::none);
  EXPECT_EQ(entries[7].instruction, 7u);
}

TEST(Streams, OfTheWarpThatWasAsked) {
  const std::string body =
      "mov.u32 %r2, %ctaid.x; shr.u32 %r3, %r1, 5; add.u32 %r2, %r2, %r3; L: ld.global.u32 %r3, [%d3]; "
      "sub.s32 %r2, %r2, 1; setp.ge.s32 %p1, %r2, 0; @%p1 bra L;";
  EXPECT_EQ(text(segment(record(body, "", {{2}, {64}}, {0, 0}).stream)), "7 load 3");
  EXPECT_EQ(text(segment(record(body, "", {{2}, {64}}, {1, 1}).stream)), "7 load 3 load 3 load 3");
}

TEST(Streams, AreLimited) {
  const auto recorded =
      record("mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra L;", "",
             {{1}, {32}}, {0, 0}, 50);
  EXPECT_TRUE(recorded.stream.truncated);
  EXPECT_EQ(recorded.stream.entries.size(), 50u);
}

TEST(Streams, Sectors) {
  const auto count = [](std::uint64_t first, std::uint64_t stride, std::uint32_t bytes) {
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t i = 0; i < 32; ++i) addresses.push_back(first + i * stride);
    return sectors(addresses, bytes);
  };
  EXPECT_EQ(count(0, 4, 4), 4u);
  EXPECT_EQ(count(16, 4, 4), 5u);
  EXPECT_EQ(count(0, 0, 4), 1u);
  EXPECT_EQ(count(0, 8, 4), 8u);
  EXPECT_EQ(count(0, 32, 4), 32u);
  EXPECT_EQ(count(0, 16, 16), 16u);
  EXPECT_EQ(count(28, 64, 8), 64u);
}

TEST(Streams, BytesThatALaunchTouches) {
  const auto loaded = load_text(kernel_text(
      ".param .u64 out", std::string(head) +
                             "mov.u32 %r2, %ctaid.x; mul.wide.u32 %d4, %r2, 128; add.u64 %d3, %d3, "
                             "%d4; ld.global.u32 %r3, [%d3]; st.global.u32 [%d1+1024], 1;"));
  ASSERT_TRUE(loaded);
  FootprintRecorder footprint;
  // Blocks of 64 threads, 128 bytes apart: half of each block's bytes are the next one's too.
  launch(*loaded, {{3}, {64}}, {buffer(std::vector<std::uint32_t>(1024))}, {}, &footprint);
  EXPECT_EQ(footprint.bytes_at(0, 7), 512u);
  EXPECT_EQ(footprint.bytes_at(0, 8), 4u);
  EXPECT_EQ(footprint.bytes_in_all(), 516u);
}

// A million threads, each 4 bytes of every 12.
TEST(Streams, BytesThatALargeLaunchTouches) {
  const auto loaded = load_text(kernel_text(
      ".param .u64 out",
      "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;\n"
      "mad.wide.u32 %d3, %r1, 12, %d1; st.global.u32 [%d3], 1; mad.wide.u32 %d3, %r1, 4, %d1; ld.global.u32 "
      "%r3, [%d3];"));
  ASSERT_TRUE(loaded);
  FootprintRecorder footprint;
  launch(*loaded, {{4096}, {256}}, {buffer(std::vector<std::uint32_t>(3 << 20))}, {}, &footprint);
  EXPECT_EQ(footprint.bytes_at(0, 5), 4u << 20);
  EXPECT_EQ(footprint.bytes_at(0, 7), 4u << 20);
  // Every third of the first 2^20 elements, from the first on, has both.
  EXPECT_EQ(footprint.bytes_in_all(), 2 * (4u << 20) - 4 * (((1u << 20) + 2) / 3));
}

}  // namespace
}  // namespace warptime::execute::testing
