// State spaces: what is loaded is what was stored, wherever it lies and however it is addressed.
#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

std::vector<std::uint64_t> results(const std::string& text, std::size_t count,
                                   const LaunchConfig& how = {{1}, {1}}) {
  const auto loaded = load_text(text);
  if (!loaded) return {};
  const auto outcome = launch(*loaded, how, {buffer(std::vector<std::uint64_t>(count))});
  EXPECT_TRUE(outcome.execution.completed);
  for (const auto& finding : outcome.execution.findings) ADD_FAILURE() << finding.message;
  return outcome.values<std::uint64_t>(0);
}

using Numbers = std::vector<std::uint64_t>;

constexpr char get_out[] = "ld.param.u64 %d30, [out];\n";

TEST(Memory, WidthsAndSigns) {
  const auto values = results(
      kernel_text(
          ".param .u64 out",
          std::string(get_out) +
              "st.global.u64 [%d30], 0x8182838485868788;\n"
              "ld.global.u8 %r1, [%d30]; ld.global.s8 %r2, [%d30]; ld.global.u16 %r3, [%d30+2]; "
              "ld.global.s16 %r4, [%d30+2];\n"
              "ld.global.s32 %d1, [%d30+4]; ld.global.u32 %d2, [%d30+4]; ld.global.s8 %h1, [%d30+7];\n"
              "st.global.u32 [%d30+8], %r1; st.global.u32 [%d30+16], %r2; st.global.u32 [%d30+24], %r3; "
              "st.global.u32 [%d30+32], %r4;\n"
              "st.global.u64 [%d30+40], %d1; st.global.u64 [%d30+48], %d2; st.global.u16 [%d30+56], %h1;\n"),
      8);
  EXPECT_EQ(values, (Numbers{0x8182838485868788, 0x88, 0xffffff88, 0x8586, 0xffff8586, 0xffffffff81828384,
                             0x81828384, 0xff81}));
}

TEST(Memory, Vectors) {
  const auto values = results(
      kernel_text(".param .u64 out",
                  std::string(get_out) +
                      "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;\n"
                      "st.global.v4.u32 [%d30], {%r1, %r2, %r3, %r4}; ld.global.v2.u64 {%d1, %d2}, [%d30];\n"
                      "st.global.v2.u64 [%d30+16], {%d2, %d1}; ld.global.v2.b16 {%h1, _}, [%d30+8]; "
                      "st.global.u16 [%d30+32], %h1;\n"
                      "ld.global.b128 %w0, [%d30]; st.global.b128 [%d30+48], %w0;\n"),
      8);
  EXPECT_EQ(values,
            (Numbers{0x200000001, 0x400000003, 0x400000003, 0x200000001, 3, 0, 0x200000001, 0x400000003}));
}

TEST(Memory, VectorRegistersOfOldModules) {
  const auto values = results(
      ".version 3.0\n.target sm_20\n.address_size 64\n.entry k(.param .u64 out) {\n.reg .u64 %d; .reg .v4 "
      ".u32 %v; .reg .v2 .u32 %w;\n"
      "ld.param.u64 %d, [out]; mov.u32 %v.x, 1; mov.u32 %v.y, 2; mov.u32 %v.z, 3; mov.u32 %v.w, 4;\n"
      "st.global.v4.u32 [%d], %v; ld.global.v2.u32 %w, [%d+8]; st.global.u32 [%d+16], %w.y; ret; }\n",
      3);
  EXPECT_EQ(values, (Numbers{0x200000001, 0x400000003, 4}));
}

TEST(Memory, Initialisers) {
  const auto text = kernel_text(
      ".param .u64 out",
      std::string(get_out) +
          "ld.const.u32 %r1, [table+4]; ld.const.f32 %r2, [single]; ld.global.u64 %d1, [link]; ld.global.u32 "
          "%r3, [%d1]; ld.global.u8 %r4, [name+1];\n"
          "ld.const.u32 %r5, [table+12]; ld.global.u32 %r6, [grid+12]; ld.global.u64 %d2, [far]; ld.u32 %r7, "
          "[%d2];\n"
          "st.global.u32 [%d30], %r1; st.global.u32 [%d30+8], %r2; st.global.u32 [%d30+16], %r3; "
          "st.global.u32 [%d30+24], %r4;\n"
          "st.global.u32 [%d30+32], %r5; st.global.u32 [%d30+40], %r6; st.global.u32 [%d30+48], %r7;\n",
      ".const .align 4 .u32 table[4] = {1, 0x20, -3};\n.const .f32 single = 0f40000000;\n"
      ".global .u32 target[2] = {5, 6};\n.global .u64 link = target+4;\n.global .align 1 .b8 name[4] = {97, "
      "98, 99, 0};\n.global .u32 grid[2][2] = {{1, 2}, {3, 4}};\n"
      ".global .u64 far = generic(table);\n");
  EXPECT_EQ(results(text, 7), (Numbers{0x20, 0x40000000, 6, 98, 0, 4, 1}));
}

// Each thread's allocation is its own; what is past its end, and what was freed, is no memory.
TEST(Memory, TheHeap) {
  const std::string before =
      ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n";
  const std::string allocate =
      std::string(get_out) +
      "mov.u32 %r1, %tid.x;\n{ .param .b64 n; .param .b64 p; st.param.b64 [n], 16; call (p), malloc, (n); "
      "ld.param.b64 %d1, [p]; }\nst.u32 [%d1+4], %r1; ld.u32 %r2, [%d1+4];\n";
  const std::string give = "mul.wide.u32 %d4, %r1, 8; add.u64 %d30, %d30, %d4; st.global.u32 [%d30], %r2;\n";
  const std::string release = "{ .param .b64 p; st.param.b64 [p], %d1; call free, (p); }\n";
  const auto values =
      results(kernel_text(".param .u64 out", allocate + give + release, before), 64, {{1}, {64}});
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i);
  struct Case {
    std::string body;
    Finding::Kind kind;
    const char* message;
  };
  for (const auto& one : std::vector<Case>{
           {"ld.u32 %r3, [%d1+16];", Finding::Kind::out_of_bounds,
            "0 bytes past the end of `malloc` (16 bytes)"},
           {"ld.u32 %r3, [%d1]; add.u32 %r3, %r3, 1; st.u32 [%d1+8], %r3;",
            Finding::Kind::uninitialised_memory, "that nothing has written"},
           {release + "ld.u32 %r3, [%d1+4];", Finding::Kind::out_of_bounds, "`memory that was freed`"},
           {release + release, Finding::Kind::bad_operand, "was freed before"}}) {
    SCOPED_TRACE(one.body);
    const auto loaded = load_text(kernel_text(".param .u64 out", allocate + one.body, before));
    ASSERT_TRUE(loaded);
    const auto outcome = launch(*loaded, {{1}, {1}}, {uninitialised(512)});
    ASSERT_TRUE(outcome.found(one.kind));
    EXPECT_NE(outcome.finding(one.kind)->message.find(one.message), std::string::npos)
        << outcome.finding(one.kind)->message;
  }
  // 8 MiB, as a device has: then malloc gives null.
  const auto loaded = load_text(
      kernel_text(".param .u64 out",
                  std::string(get_out) + "{ .param .b64 n; .param .b64 p; st.param.b64 [n], 8388608; call "
                                         "(p), malloc, (n); call (p), malloc, (n); ld.param.b64 %d1, [p]; }\n"
                                         "st.global.u64 [%d30], %d1;\n",
                  before));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(launch(*loaded, {{1}, {1}}, {uninitialised(8)}).values<std::uint64_t>(0)[0], 0u);
}

TEST(Memory, VariablesLiveThroughLaunches) {
  const auto loaded = load_text(
      kernel_text("", "ld.global.u32 %r1, [count]; add.u32 %r1, %r1, 1; st.global.u32 [count], %r1;",
                  ".global .u32 count = 40;"));
  ASSERT_TRUE(loaded);
  auto memory = Memory::create(*loaded->code);
  ASSERT_TRUE(memory);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run(*loaded->code, *memory, {}, {}, {}));
  EXPECT_EQ(memory->values<std::uint32_t>(memory->find("count").value()), std::vector<std::uint32_t>{42});
}

TEST(Memory, LocalIsEachThreadsOwn) {
  const auto values = results(
      kernel_text(".param .u64 out",
                  std::string(get_out) +
                      ".local .align 8 .b8 depot[16];\n"
                      "mov.u64 %d1, depot; cvta.local.u64 %d2, %d1; mov.u32 %r1, %tid.x; st.local.u32 "
                      "[depot+4], %r1;\n"
                      "ld.u32 %r2, [%d2+4]; cvta.to.local.u64 %d3, %d2; ld.local.u32 %r3, [%d3+4]; add.u32 "
                      "%r2, %r2, %r3;\n"
                      "mul.wide.u32 %d4, %r1, 8; add.u64 %d30, %d30, %d4; st.global.u32 [%d30], %r2;\n"),
      64, {{1}, {64}});
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], 2 * i);
}

TEST(Memory, SharedStaticDynamicAndGeneric) {
  // The reversed thread numbers, through shared memory: static, and what the launch adds behind it.
  const auto loaded = load_text(
      kernel_text(".param .u64 out",
                  std::string(get_out) +
                      "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, fixed; add.u32 %r3, %r3, %r2; "
                      "st.shared.u32 [%r3], %r1;\n"
                      "mov.u64 %d1, more; cvta.shared.u64 %d1, %d1; cvt.u64.u32 %d2, %r2; add.u64 %d1, %d1, "
                      "%d2; st.u32 [%d1], %r1;\n"
                      "bar.sync 0; sub.u32 %r4, 63, %r1; shl.b32 %r5, %r4, 2; mov.u32 %r6, fixed; add.u32 "
                      "%r6, %r6, %r5; ld.shared.u32 %r7, [%r6];\n"
                      "mov.u32 %r8, more; add.u32 %r8, %r8, %r5; ld.shared.u32 %r9, [%r8]; shl.b32 %r9, %r9, "
                      "16; or.b32 %r7, %r7, %r9;\n"
                      "mul.wide.u32 %d4, %r1, 4; add.u64 %d30, %d30, %d4; st.global.u32 [%d30], %r7;\n",
                  ".shared .align 4 .b8 fixed[256];\n.extern .shared .align 16 .b8 more[];\n"));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(static_shared_bytes(*loaded->code), 256u);
  const auto outcome = launch(*loaded, {{2}, {64}, 256}, {uninitialised(256)});
  ASSERT_TRUE(outcome.execution.completed);
  EXPECT_TRUE(outcome.execution.findings.empty());
  const auto values = outcome.values<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], (63 - i) << 16 | (63 - i));
}

TEST(Memory, WhichSpaceAnAddressIsIn) {
  const auto values = results(
      kernel_text(".param .u64 out",
                  std::string(get_out) +
                      ".local .u32 mine;\n.shared .u32 ours;\n"
                      "mov.u64 %d1, mine; cvta.local.u64 %d1, %d1; mov.u64 %d2, ours; cvta.shared.u64 %d2, "
                      "%d2; mov.u64 %d3, fixed;\n"
                      "isspacep.local %p1, %d1; isspacep.shared %p2, %d2; isspacep.global %p3, %d30; "
                      "isspacep.const %p4, %d3;\n"
                      "isspacep.global %p5, %d1; isspacep.shared %p6, %d30; isspacep.const %p7, %d30;\n"
                      "selp.u64 %d4, 1, 0, %p1; selp.u64 %d5, 2, 0, %p2; selp.u64 %d6, 4, 0, %p3; selp.u64 "
                      "%d7, 8, 0, %p4;\n"
                      "selp.u64 %d8, 16, 0, %p5; selp.u64 %d9, 32, 0, %p6; selp.u64 %d10, 64, 0, %p7;\n"
                      "add.u64 %d4, %d4, %d5; add.u64 %d4, %d4, %d6; add.u64 %d4, %d4, %d7; add.u64 %d4, "
                      "%d4, %d8; add.u64 %d4, %d4, %d9;\n"
                      "add.u64 %d4, %d4, %d10; st.global.u64 [%d30], %d4;\n",
                  ".const .u32 fixed = 1;"),
      1);
  EXPECT_EQ(values, Numbers{15});
}

TEST(Memory, ParametersOfAllSizes) {
  const auto loaded = load_text(
      kernel_text(".param .u8 a, .param .f64 b, .param .align 8 .b8 c[12], .param .u64 out",
                  std::string(get_out) + "ld.param.u8 %r1, [a]; ld.param.f64 %d1, [b]; ld.param.u32 %r2, "
                                         "[c+8]; mov.b64 %d2, c; ld.param.u32 %r3, [%d2+4];\n"
                                         "st.global.u32 [%d30], %r1; st.global.f64 [%d30+8], %d1; "
                                         "st.global.u32 [%d30+16], %r2; st.global.u32 [%d30+24], %r3;\n"));
  ASSERT_TRUE(loaded);
  struct Three {
    std::uint32_t x = 7, y = 8, z = 9;
  };
  const auto outcome =
      launch(*loaded, {}, {value(std::uint8_t{200}), value(1.5), value(Three{}), buffer(Numbers(4))});
  EXPECT_EQ(outcome.values<std::uint64_t>(0), (Numbers{200, std::bit_cast<std::uint64_t>(1.5), 9, 8}));
}

TEST(Memory, ThirtyTwoBitAddresses) {
  const auto values = results(
      ".version 7.0\n.target sm_50\n.address_size 32\n.global .u32 g = 7;\n.entry k(.param .u32 out) {\n.reg "
      ".u32 %r<5>;\n"
      "ld.param.u32 %r1, [out]; mov.u32 %r2, g; ld.global.u32 %r3, [%r2]; st.global.u32 [%r1], %r3; ret; }\n",
      1);
  EXPECT_EQ(values, Numbers{7});
}

TEST(Memory, AsynchronousCopies) {
  const auto values = results(
      kernel_text(
          ".param .u64 out",
          std::string(get_out) +
              ".shared .align 16 .b8 tile[48];\n"
              "st.global.u64 [%d30], 0x1111111122222222; st.global.u64 [%d30+8], 0x3333333344444444; mov.u32 "
              "%r1, tile;\n"
              "cp.async.cg.shared.global [%r1], [%d30], 16; cp.async.ca.shared.global [%r1+16], [%d30+8], 8, "
              "4; cp.async.ca.shared.global [%r1+24], [%d30], 4;\n"
              "cp.async.commit_group; cp.async.wait_group 0;\n"
              "ld.shared.u64 %d1, [tile+8]; ld.shared.u64 %d2, [tile+16]; ld.shared.u32 %r2, [tile+24];\n"
              "st.global.u64 [%d30+16], %d1; st.global.u64 [%d30+24], %d2; st.global.u32 [%d30+32], %r2;\n"),
      5);
  EXPECT_EQ(values,
            (Numbers{0x1111111122222222, 0x3333333344444444, 0x3333333344444444, 0x44444444, 0x22222222}));
}

struct AtomicCase {
  const char* instruction;  // %r1 is the thread's number + 1 (as f32 in %r2), [%d30] the place
  std::uint64_t before, after;
};

TEST(Memory, Atomics) {
  const auto f = [](float x) { return std::uint64_t{std::bit_cast<std::uint32_t>(x)}; };
  const std::vector<AtomicCase> cases = {
      {"atom.global.add.u32 %r5, [%d30], %r1;", 1, 1 + 64 * 65 / 2},
      {"red.global.add.s32 [%d30], %r1;", 1, 1 + 64 * 65 / 2},
      {"red.add.u64 [%d30], %d1;", 0, 64 * 65 / 2},
      {"atom.global.add.f32 %r5, [%d30], %r2;", f(0.5f), f(0.5f + 64 * 65 / 2)},
      {"atom.global.min.s32 %r5, [%d30], %r1;", 100, 1},
      {"atom.global.max.u32 %r5, [%d30], %r1;", 0, 64},
      {"atom.global.and.b32 %r5, [%d30], %r1;", 0xff, 0},
      {"atom.global.or.b32 %r5, [%d30], %r1;", 0, 127},
      {"atom.global.xor.b32 %r5, [%d30], %r1;", 0, 64},
      {"atom.global.exch.b32 %r5, [%d30], %r1;", 0, 64},
      {"atom.global.inc.u32 %r5, [%d30], 9;", 0, 4},
      {"atom.global.dec.u32 %r5, [%d30], 9;", 0, 6},
      {"atom.global.cas.b32 %r5, [%d30], 5, %r1;", 5, 1},
      {"atom.add.release.gpu.global.u64 %d5, [%d30], %d1;", 0, 64 * 65 / 2},
      {"atom.global.add.noftz.f16x2 %r5, [%d30], 0x3c003c00;", 0, 0x54005400},
      {"@%p1 red.global.add.u32 [%d30], 1;", 0, 32},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.instruction);
    const auto loaded = load_text(
        kernel_text(".param .u64 out", std::string(get_out) +
                                           "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; add.u32 %r1, %r1, "
                                           "1; cvt.rn.f32.u32 %r2, %r1; cvt.u64.u32 %d1, %r1;\n" +
                                           one.instruction));
    if (!loaded) continue;
    const auto outcome = launch(*loaded, {{1}, {64}}, {buffer(Numbers{one.before})});
    EXPECT_EQ(outcome.values<std::uint64_t>(0)[0], one.after);
    EXPECT_TRUE(outcome.execution.findings.empty());
  }
}

TEST(Memory, AtomicsGiveWhatWasThereBefore) {
  // A ticket each: all different.
  const auto values =
      results(kernel_text(".param .u64 out",
                          std::string(get_out) +
                              "atom.global.add.u32 %r1, [%d30], 1; add.u32 %r2, %r1, 1; mul.wide.u32 %d1, "
                              "%r2, 8; add.u64 %d1, %d1, %d30; st.global.u32 [%d1], %r1;"),
              97, {{3}, {32}});
  EXPECT_EQ(values[0], 96u);
  for (std::uint64_t i = 1; i < 97; ++i) EXPECT_EQ(values[i], i - 1);
}

}  // namespace
}  // namespace warptime::execute::testing
