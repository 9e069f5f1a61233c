#include "measure/device/kernels.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <vector>

namespace warptime::measuring {
namespace {

constexpr std::uint64_t kOne = 0x3f80'0000;                // of f32
constexpr std::uint64_t kOneAndAHalf = 0x3fc0'0000;        // of f32
constexpr std::uint64_t kOneF64 = 0x3ff0'0000'0000'0000;   // of f64
constexpr std::uint64_t kLarge = std::uint64_t{1} << 60U;  // a dividend beyond 32 bits

constexpr std::array<InstructionBenchmark, 15> kInstructions = {{
    {"fma_f32", "f32", "fma.rn.f32 $x, $x, $a, $b;", 1, 64, kOneAndAHalf, kOne, 0,
     &TimingFigures::fma_f32_latency_cycles, &TimingFigures::fma_f32_issue_cycles},
    // An addition alone would be contracted: x + a + a is x + 2 a.
    {"add_s32", "u32", "add.s32 $x, $x, $a; xor.b32 $x, $x, $b;", 2, 32, 1, 3, 5,
     &TimingFigures::add_s32_latency_cycles, &TimingFigures::add_s32_issue_cycles},
    {"mad_s32", "u32", "mad.lo.s32 $x, $x, $a, $b;", 1, 64, 1, 3, 5, &TimingFigures::mad_s32_latency_cycles,
     &TimingFigures::mad_s32_issue_cycles},
    {"fma_f64", "f64", "fma.rn.f64 $x, $x, $a, $b;", 1, 64, kOneF64, kOneF64, 0,
     &TimingFigures::fma_f64_latency_cycles, &TimingFigures::fma_f64_issue_cycles},
    {"div_f32", "f32", "div.rn.f32 $x, $x, $a;", 1, 4, kOneAndAHalf, kOne, 0,
     &TimingFigures::div_f32_latency_cycles, &TimingFigures::div_f32_issue_cycles},
    {"sqrt_f32", "f32", "sqrt.rn.f32 $x, $x;", 1, 4, kOneAndAHalf, 0, 0,
     &TimingFigures::sqrt_f32_latency_cycles, &TimingFigures::sqrt_f32_issue_cycles},
    // A reciprocal's reciprocal would be removed.
    {"rcp_f32", "f32", "rcp.approx.ftz.f32 $x, $x; add.ftz.f32 $x, $x, $a;", 1, 32, kOneAndAHalf, kOne, 0,
     &TimingFigures::rcp_f32_latency_cycles, &TimingFigures::rcp_f32_issue_cycles,
     &TimingFigures::fma_f32_latency_cycles},
    {"ex2_f32", "f32", "ex2.approx.ftz.f32 $x, $x;", 1, 64, kOneAndAHalf, 0, 0,
     &TimingFigures::ex2_f32_latency_cycles, &TimingFigures::ex2_f32_issue_cycles},
    {"sin_f32", "f32", "sin.approx.ftz.f32 $x, $x;", 1, 64, kOneAndAHalf, 0, 0,
     &TimingFigures::sin_f32_latency_cycles, &TimingFigures::sin_f32_issue_cycles},
    {"div_s32", "u32", "div.s32 $x, $x, $a;", 1, 8, 1'000'000, 1, 0, &TimingFigures::div_s32_latency_cycles,
     &TimingFigures::div_s32_issue_cycles},
    {"div_s64", "u64", "div.s64 $x, $x, $a;", 1, 4, kLarge, 1, 0, &TimingFigures::div_s64_latency_cycles,
     &TimingFigures::div_s64_issue_cycles},
    {"convert", "u32", "cvt.rn.f32.s32 $f, $x; cvt.rzi.s32.f32 $x, $f;", 2, 32, 1000, 0, 0,
     &TimingFigures::convert_latency_cycles, &TimingFigures::convert_issue_cycles},
    {"shuffle", "u32", "shfl.sync.bfly.b32 $x, $x, 1, 31, -1;", 1, 64, 1, 0, 0,
     &TimingFigures::shuffle_latency_cycles, &TimingFigures::shuffle_issue_cycles},
    {"vote", "u32", "setp.ne.u32 $p, $x, $a; vote.sync.ballot.b32 $x, $p, -1;", 1, 32, 1, 7, 0,
     &TimingFigures::vote_latency_cycles, &TimingFigures::vote_issue_cycles},
    {"popc", "u32", "popc.b32 $x, $x;", 1, 64, 1, 0, 0, &TimingFigures::popc_latency_cycles,
     &TimingFigures::popc_issue_cycles},
}};

// ---- Text.

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string repeated(std::string_view line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += replaced(std::string(line), "#", std::to_string(i));
  return text;
}

// A kernel of 64-bit parameters, which its body finds in %p0, %p1, …. %t is the thread in its block, %g that in
// the grid, and %n how many the grid has; %lane is the thread in its warp.
std::string kernel(std::string_view name, int parameters, std::string_view body) {
  std::vector<std::string> declared;
  std::string loads;
  for (int i = 0; i < parameters; ++i) {
    declared.push_back(fmt::format(".param .u64 {}_{}", name, i));
    loads += fmt::format("  ld.param.u64 %p{}, [{}_{}];\n", i, name, i);
  }
  return fmt::format(R"(
.visible .entry {}({})
{{
  .reg .pred %q<8>;
  .reg .b32 %r<80>;
  .reg .b64 %p<8>, %d<40>, %begin, %end, %o, %v, %t, %g, %n, %lane;
{}  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %nctaid.x;
  cvt.u64.u32 %t, %r0;
  mad.wide.u32 %g, %r1, %r2, %t;
  mul.wide.u32 %n, %r2, %r3;
  and.b64 %lane, %t, 31;
{}  ret;
}}
)",
                     name, fmt::join(declared, ", "), loads, body);
}

// What counts the iterations: `body` %TIMES times, at least once.
std::string loop(std::string_view label, std::string_view times, std::string_view body) {
  return fmt::format(R"(  mov.u64 %d39, {};
{}:
{}  sub.u64 %d39, %d39, 1;
  setp.ne.u64 %q7, %d39, 0;
  @%q7 bra {};
)",
                     times, label, body, label);
}

// The clock around `body`, which leaves a value in %v; `out` is %p0.
std::string timed(std::string_view body) {
  return fmt::format(R"(  bar.sync 0;
  mov.u64 %begin, %clock64;
{}  shl.b64 %o, %t, 3;
  add.u64 %o, %o, %p0;
  st.volatile.global.u64 [%o + {}], %v;
  mov.u64 %end, %clock64;
  and.b64 %o, %t, -32;
  shr.u64 %o, %o, 1;
  add.u64 %o, %o, %p0;
  setp.ne.u64 %q6, %lane, 0;
  @!%q6 st.volatile.global.u64 [%o], %begin;
  @!%q6 st.volatile.global.u64 [%o + 8], %end;
)",
                     body, kValuesAt);
}

// ---- Instructions.

// %x0, %x1, … are the chains. Only the driver, not the compiler, knows that the fifth parameter is 0: so the
// chains' values differ from thread to thread and from chain to chain, and no unit for uniform values is used.
std::string instruction_kernel(const InstructionBenchmark& of, int chains) {
  const bool wide = of.type == "f64" || of.type == "u64";
  std::string body =
      fmt::format("  .reg .{} %x<{}>, %a, %b;\n  .reg .b32 %f<{}>;\n", of.type, chains, chains);
  body += "  and.b64 %d0, %t, %p4;\n";
  const auto set = [&](std::string_view name, std::string_view from) {
    if (wide) return fmt::format("  mov.b64 {}, {};\n", name, from);
    return fmt::format("  cvt.u32.u64 %r10, {};\n  mov.b32 {}, %r10;\n", from, name);
  };
  for (int i = 0; i < chains; ++i) {
    body += fmt::format("  mul.lo.u64 %d1, %d0, {};\n  add.u64 %d1, %d1, %p1;\n", i + 1);
    body += set(fmt::format("%x{}", i), "%d1");
  }
  body += set("%a", "%p2") + set("%b", "%p3");
  std::string steps;
  for (int step = 0; step < of.unrolled; ++step) {
    for (int i = 0; i < chains; ++i) {
      std::string line(of.step);
      for (const auto& [from, to] : {std::pair<std::string_view, std::string>{"$x", fmt::format("%x{}", i)},
                                     {"$a", "%a"},
                                     {"$b", "%b"},
                                     {"$f", fmt::format("%f{}", i)},
                                     {"$p", fmt::format("%q{}", i)}})
        line = replaced(line, from, to);
      steps += "  " + line + "\n";
    }
  }
  std::string result = "  mov.u64 %v, 0;\n";
  for (int i = 0; i < chains; ++i)
    result += (wide ? fmt::format("  mov.b64 %d2, %x{};\n", i)
                    : fmt::format("  mov.b32 %r10, %x{};\n  cvt.u64.u32 %d2, %r10;\n", i)) +
              "  xor.b64 %v, %v, %d2;\n";
  const std::string times = "%p5";
  // Declarations and the chains' first values stand before the clock.
  return kernel(fmt::format("{}_{}", chains == 1 ? "latency" : "rate", of.name), 6,
                body + timed(loop("again", times, steps) + result));
}

// ---- Memory.

// i = a[i], as a compiler writes it.
std::string indexed_chains() {
  return kernel("global_index", 3,
                "  mov.u32 %r10, 0;\n" +
                    timed(loop("again", "%p2",
                               repeated("  mul.wide.u32 %d0, %r10, 4;\n  add.u64 %d0, %d0, %p1;\n"
                                        "  ld.global.ca.u32 %r10, [%d0];\n",
                                        kStepsPerIteration)) +
                          "  cvt.u64.u32 %v, %r10;\n")) +
         kernel("shared_index", 2,
                "  .shared .align 128 .b8 words[4096];\n  cvt.u32.u64 %r10, %lane;\n  mov.u32 %r11, words;\n"
                "  shl.b32 %r12, %r10, 2;\n  add.u32 %r12, %r12, %r11;\n"
                "  st.volatile.shared.u32 [%r12], %r10;\n" +
                    timed(loop("again", "%p1",
                               repeated("  shl.b32 %r12, %r10, 2;\n  add.u32 %r12, %r12, %r11;\n"
                                        "  ld.shared.u32 %r10, [%r12];\n",
                                        kStepsPerIteration)) +
                          "  cvt.u64.u32 %v, %r10;\n"));
}

std::string chase(std::string_view how) {
  const std::string steps = repeated(fmt::format("  ld.global.{}.u64 %v, [%v];\n", how), kStepsPerIteration);
  return kernel(fmt::format("chase_{}", how), 4,
                "  mov.u64 %v, %p1;\n" + loop("warm", "%p2", steps) + timed(loop("again", "%p3", steps)));
}

std::string l1_kernel(int bytes) {
  const std::string load = bytes == 4 ? "  ld.global.ca.u32 %r20, [%d0 + @];\n  add.u32 %r11, %r11, %r20;\n"
                                      : "  ld.global.ca.v4.u32 {%r20, %r21, %r22, %r23}, [%d0 + @];\n"
                                        "  xor.b32 %r20, %r20, %r21;\n  xor.b32 %r22, %r22, %r23;\n"
                                        "  xor.b32 %r11, %r11, %r20;\n  xor.b32 %r11, %r11, %r22;\n";
  std::string loads;
  for (int i = 0; i < kStepsPerIteration; ++i) loads += replaced(load, "@", std::to_string(i * bytes * 32));
  // What is loaded is 0, which only the memory knows: each iteration's addresses depend on the last one's.
  const std::string again = loads + "  cvt.u64.u32 %d1, %r11;\n  add.u64 %d0, %d0, %d1;\n";
  return kernel(fmt::format("l1_{}", bytes), 5,
                "  shr.u64 %d1, %t, 5;\n  mul.lo.u64 %d2, %d1, %p3;\n  mul.lo.u64 %d3, %lane, %p2;\n"
                "  add.u64 %d0, %p1, %d2;\n  add.u64 %d0, %d0, %d3;\n  mov.u32 %r11, 0;\n" +
                    loop("warm", "1", again) +
                    timed(loop("again", "%p4", again) + "  cvt.u64.u32 %v, %r11;\n"));
}

constexpr int kStreamUnroll = 4;
constexpr int kBlocksPerPass = 37;

// Reads `bytes` bytes per thread at a time, or writes them, or both; %p0 … are the arrays, then the bytes of
// each and how often.
std::string stream(std::string_view name, int bytes, bool reads, bool writes) {
  const int arrays = reads && writes ? 2 : 1;
  const std::string words = bytes == 4 ? "u32" : "v4.u32";
  std::string body = fmt::format(
      "  mul.lo.u64 %d20, %n, {};\n"  // from one step of a thread to the next
      "  mul.lo.u64 %d21, %g, {};\n"
      "  mul.lo.u64 %d22, %d20, {};\n"
      // What a thread moves on with each pass, so that not always the same SM has the same bytes.
      "  mul.wide.u32 %d24, %r2, {};\n  rem.u64 %d24, %d24, %d20;\n"
      "  mov.u32 %r11, 0;\n",
      bytes, bytes, kStreamUnroll, kBlocksPerPass * bytes);
  std::string once = "  mov.u64 %d23, %d21;\ninner:\n  setp.ge.u64 %q0, %d23, %p" + std::to_string(arrays) +
                     ";\n  @%q0 bra next;\n";
  const auto registers = [&](int step) {
    const int first = 16 + 4 * step;
    return bytes == 4 ? fmt::format("%r{}", first)
                      : fmt::format("{{%r{}, %r{}, %r{}, %r{}}}", first, first + 1, first + 2, first + 3);
  };
  const auto addresses = [&](int array) {
    once += fmt::format("  add.u64 %d0, %p{}, %d23;\n", array);
    for (int i = 1; i < kStreamUnroll; ++i) once += fmt::format("  add.u64 %d{}, %d{}, %d20;\n", i, i - 1);
  };
  if (reads) {
    addresses(0);
    for (int i = 0; i < kStreamUnroll; ++i)
      once += fmt::format("  ld.global.cg.{} {}, [%d{}];\n", words, registers(i), i);
  }
  if (writes) {
    addresses(arrays - 1);
    for (int i = 0; i < kStreamUnroll; ++i)
      once += fmt::format("  st.global.{} [%d{}], {};\n", words, i,
                          reads ? registers(i) : "{%r11, %r11, %r11, %r11}");
  } else {
    for (int i = 0; i < kStreamUnroll; ++i)
      for (int word = 0; word < bytes / 4; ++word)
        once += fmt::format("  xor.b32 %r11, %r11, %r{};\n", 16 + 4 * i + word);
  }
  once +=
      "  add.u64 %d23, %d23, %d22;\n  bra inner;\nnext:\n"
      "  add.u64 %d21, %d21, %d24;\n  setp.ge.u64 %q2, %d21, %d20;\n  @%q2 sub.u64 %d21, %d21, %d20;\n";
  body += loop("again", "%p" + std::to_string(arrays + 1), once);
  // The arrays hold zeros: this is never written, but the compiler cannot know.
  if (!writes) body += "  setp.ne.u32 %q1, %r11, 0;\n  @%q1 st.global.u32 [%p0], %r11;\n";
  return kernel(name, arrays + 2, body);
}

std::string atomics() {
  return kernel("atomics", 5,
                "  cvt.u32.u64 %r10, %p1;\n  shr.u64 %d0, %g, %r10;\n  and.b64 %d0, %d0, %p2;\n"
                "  mul.lo.u64 %d0, %d0, %p3;\n  add.u64 %d0, %d0, %p0;\n  mov.u32 %r11, 1;\n" +
                    loop("again", "%p4", "  red.global.add.u32 [%d0], %r11;\n"));
}

// ---- Latencies and the rest.

constexpr std::string_view kSharedWords = "  .shared .align 128 .b8 words[16384];\n";

// The word at `s * t` of shared memory holds its own address. Each of the `chains` has words of its own; all
// warps have the same.
std::string shared_kernel(std::string_view name, int chains) {
  std::string begin = std::string(kSharedWords) +
                      "  cvt.u32.u64 %r10, %p1;\n  cvt.u32.u64 %r11, %lane;\n  mov.u32 %r12, words;\n"
                      "  mad.lo.u32 %r12, %r11, %r10, %r12;\n";
  std::string step, result = "  mov.u64 %v, 0;\n";
  for (int i = 0; i < chains; ++i) {
    begin += fmt::format("  add.u32 %r{0}, %r12, {1};\n  st.volatile.shared.u32 [%r{0}], %r{0};\n", 20 + i,
                         8192 * i);
    step += fmt::format("  ld.shared.u32 %r{0}, [%r{0}];\n", 20 + i);
    result += fmt::format("  cvt.u64.u32 %d1, %r{};\n  add.u64 %v, %v, %d1;\n", 20 + i);
  }
  return kernel(name, 3, begin + timed(loop("again", "%p2", repeated(step, kStepsPerIteration)) + result));
}

std::string empty_registers() {
  constexpr int registers = 56;
  std::string body = "  setp.eq.u64 %q0, %p1, 0;\n  @%q0 bra done;\n";
  for (int i = 0; i < registers; ++i)
    body += fmt::format("  ld.volatile.global.u32 %r{}, [%p0 + {}];\n", 10 + i, 4 * i);
  for (int i = registers; i-- > 0;)
    body += fmt::format("  st.volatile.global.u32 [%p0 + {}], %r{};\n", 4 * i, 10 + i);
  return kernel("empty_registers", 2, body + "done:\n");
}

std::string other_kernels() {
  std::string text = kernel("empty", 0, "") + empty_registers();
  text += kernel("next_to_nothing", 2, "  setp.ge.u64 %q0, %g, %p1;\n  @%q0 st.global.u64 [%p0], %g;\n");
  text += kernel("load_store", 2,
                 "  shl.b64 %d0, %g, 2;\n  add.u64 %d1, %d0, %p0;\n  ld.global.u32 %r10, [%d1];\n"
                 "  add.u32 %r10, %r10, 1;\n  add.u64 %d1, %d0, %p1;\n  st.global.u32 [%d1], %r10;\n");
  std::string four_loads;
  for (int i = 0; i < 4; ++i)
    four_loads +=
        "  ld.global.u32 %r10, [%d1];\n  cvt.u64.u32 %d2, %r10;\n  add.u64 %d1, %d1, %d2;\n  add.u64 %d1, "
        "%d1, %p2;\n";
  text += kernel("loads_store", 3,
                 "  shl.b64 %d0, %g, 2;\n  add.u64 %d1, %d0, %p0;\n" + four_loads +
                     "  add.u64 %d1, %d0, %p1;\n  st.global.u32 [%d1], %r10;\n");
  text += kernel("spin", 1,
                 "  mov.u64 %begin, %clock64;\nagain:\n  mov.u64 %end, %clock64;\n"
                 "  sub.u64 %d0, %end, %begin;\n  setp.lt.u64 %q0, %d0, %p0;\n  @%q0 bra again;\n");
  text += kernel("fill_chain", 4,
                 "  mov.u64 %d0, %g;\nagain:\n  setp.ge.u64 %q0, %d0, %p2;\n  @%q0 bra done;\n"
                 "  shl.b64 %d1, %d0, 2;\n  add.u64 %d1, %d1, %p1;\n  ld.global.u32 %r10, [%d1];\n"
                 "  cvt.u64.u32 %d2, %r10;\n  mad.lo.u64 %d2, %d2, %p3, %p0;\n"
                 "  mad.lo.u64 %d3, %d0, %p3, %p0;\n  st.global.u64 [%d3], %d2;\n"
                 "  add.u64 %d0, %d0, %n;\n  bra again;\ndone:\n");
  std::string store_loads;
  for (int i = 0; i < kStepsPerIteration; ++i)
    store_loads +=
        "  st.global.u32 [%d1], %r10;\n  ld.global.u32 %r10, [%d2];\n  add.u32 %r10, %r10, 1;\n"
        "  add.u64 %d1, %d1, %p3;\n  add.u64 %d2, %d2, %p3;\n";
  text += kernel("store_load", 5,
                 "  shl.b64 %d0, %t, 2;\n  add.u64 %d1, %p1, %d0;\n  add.u64 %d2, %p2, %d0;\n"
                 "  ld.global.ca.u32 %r10, [%d2];\n" +
                     timed(loop("again", "%p4", store_loads) + "  cvt.u64.u32 %v, %r10;\n"));
  text += kernel("constant", 3,
                 "  and.b64 %d0, %t, %p1;\n  mov.u64 %d1, ring;\n" +
                     timed(loop("again", "%p2",
                                repeated("  add.u64 %d2, %d1, %d0;\n  ld.const.u32 %r10, [%d2];\n"
                                         "  cvt.u64.u32 %d0, %r10;\n",
                                         kStepsPerIteration)) +
                           "  mov.u64 %v, %d0;\n"));
  text += kernel("global_atomic", 4,
                 "  and.b64 %d0, %t, %p2;\n  shl.b64 %d0, %d0, 2;\n  add.u64 %d0, %d0, %p1;\n"
                 "  cvt.u32.u64 %r10, %d0;\n  and.b32 %r10, %r10, 1;\n" +
                     timed(loop("again", "%p3",
                                repeated("  atom.global.add.u32 %r10, [%d0], %r10;\n", kStepsPerIteration)) +
                           "  cvt.u64.u32 %v, %r10;\n"));
  const std::string shared_word =
      std::string(kSharedWords) +
      "  and.b64 %d0, %t, %p1;\n  shl.b64 %d0, %d0, 2;\n  cvt.u32.u64 %r12, %d0;\n  mov.u32 %r13, words;\n"
      "  add.u32 %r12, %r12, %r13;\n  mov.u32 %r10, 0;\n  st.volatile.shared.u32 [%r12], %r10;\n"
      "  mov.u32 %r10, 1;\n";
  text += kernel(
      "shared_atomic", 3,
      shared_word + timed(loop("again", "%p2",
                               repeated("  atom.shared.add.u32 %r10, [%r12], %r10;\n", kStepsPerIteration)) +
                          "  cvt.u64.u32 %v, %r10;\n"));
  text += kernel("shared_atomic_rate", 3,
                 shared_word + "  mov.u32 %r14, 0;\n" +
                     timed(loop("again", "%p2",
                                repeated("  atom.shared.add.u32 %r15, [%r12], %r10;\n"
                                         "  xor.b32 %r14, %r14, %r15;\n",
                                         kStepsPerIteration)) +
                           "  cvt.u64.u32 %v, %r14;\n"));
  text += kernel(
      "barrier", 2,
      timed(loop("again", "%p1", repeated("  bar.sync 0;\n", kStepsPerIteration)) + "  mov.u64 %v, %t;\n"));
  return text;
}

// Offsets of 64 words, in one cycle through all.
std::string ring() {
  constexpr int words = 64;
  std::vector<int> next;
  for (int i = 0; i < words; ++i) next.push_back(4 * ((5 * i + 1) % words));
  return fmt::format("\n.const .align 4 .u32 ring[{}] = {{{}}};\n", words, fmt::join(next, ", "));
}

}  // namespace

std::span<const InstructionBenchmark> instruction_benchmarks() {
  return kInstructions;
}

std::string microbenchmark_ptx() {
  std::string text = ".version 6.4\n.target sm_50\n.address_size 64\n" + ring() + other_kernels();
  text += chase("ca") + chase("cg") + indexed_chains() + shared_kernel("shared_chain", 1) +
          shared_kernel("shared_rate", 2);
  text += l1_kernel(4) + l1_kernel(16) + stream("read_4", 4, true, false) +
          stream("read_16", 16, true, false) + stream("write_16", 16, false, true) +
          stream("copy_16", 16, true, true) + atomics();
  for (const auto& instruction : kInstructions)
    text += instruction_kernel(instruction, 1) + instruction_kernel(instruction, kChains);
  return text;
}

}  // namespace warptime::measuring
