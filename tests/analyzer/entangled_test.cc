// Control flow that no compiler writes: it comes to a program or to an error, in time and memory that grow
// with the text alone. Each of these once took minutes or gigabytes.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

template <class Make>
std::string each(int count, Make make) {
  std::string text;
  for (int i = 0; i < count; ++i) text += make(i);
  return text;
}

template <class Make>
std::string each_backwards(int count, Make make) {
  std::string text;
  for (int i = count - 1; i >= 0; --i) text += make(i);
  return text;
}

Result<Analysis> analyze_body(const std::string& body) {
  return analyze(
      ptx_source(
          "entangled.ptx",
          ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
          ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n"
          "ld.param.u32 %r0, [n]; ld.param.u64 %d0, [p]; mov.u32 %r1, 0; setp.eq.s32 %p0, %r0, 1;\n" +
              body + "\nret;\n}\n"),
      {});
}

std::string first_error(const Result<Analysis>& analysis) {
  if (!analysis) return analysis.diagnostics().front().message;
  return analysis->errors.empty() ? "" : analysis->errors.front().message;
}

TEST(EntangledFlow, ThousandsOfLoopsWithTwoEntries) {
  constexpr int loops = 3000;
  const auto analysis = analyze_body(each(loops, [](int i) {
    return fmt::format(
        "@%p0 bra B{0}; A{0}: add.s32 %r1, %r1, 1; B{0}: add.s32 %r1, %r1, 2; setp.lt.s32 %p1, %r1, %r0; "
        "@%p1 bra A{0};\n",
        i);
  }));
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  ASSERT_EQ(first_error(analysis), "");
  const auto& program = program_of(*analysis, "k");
  const auto repeats = std::count_if(program.program.begin(), program.program.end(), [](const Item& item) {
    return std::holds_alternative<Repeat>(item.what);
  });
  EXPECT_EQ(repeats, loops);
}

TEST(EntangledFlow, LoopsThatAreEnteredInTheMiddleWithinEachOther) {
  for (const int depth : {3, 12, 50, 1000}) {
    SCOPED_TRACE(depth);
    const auto analysis = analyze_body(
        each(depth,
             [](int i) {
               return fmt::format("@%p0 bra B{0};\nA{0}: add.s32 %r1, %r1, 1;\nB{0}: add.s32 %r1, %r1, 2;\n",
                                  i);
             }) +
        "ld.global.u32 %r2, [%d0];\n" + each_backwards(depth, [](int i) {
          return fmt::format("setp.lt.s32 %p1, %r1, %r2; @%p1 bra A{};\n", i);
        }));
    const auto error = first_error(analysis);
    if (depth <= 12)
      EXPECT_EQ(error, "");
    else if (depth == 50)
      EXPECT_EQ(error,
                "nested loops that are left in the middle of an iteration: their last iterations, written "
                "out, are too long");
    else
      EXPECT_EQ(error, "loops nested more than 200 deep");
  }
}

// Whether branches were taken in one direction only, which the program says.
bool is_noted(const Result<Analysis>& analysis) {
  if (!analysis) return false;
  const auto& notes = analysis->kernels.front().program.assumptions;
  return std::any_of(notes.begin(), notes.end(), [](const Assumption& note) {
    return note.text.starts_with("control flow too entangled: ");
  });
}

TEST(EntangledFlow, LoopsThatAreEnteredAtTheirEndWithinEachOther) {
  for (const int depth : {3, 10, 1000}) {
    SCOPED_TRACE(depth);
    const auto analysis =
        analyze_body(each(depth, [](int i) { return fmt::format("@%p0 bra B{};\n", i); }) +
                     each(depth, [](int i) { return fmt::format("A{}: add.s32 %r1, %r1, 1;\n", i); }) +
                     "ld.global.u32 %r2, [%d0];\n" + each_backwards(depth, [](int i) {
                       return fmt::format("B{0}: setp.lt.s32 %p1, %r1, %r2; @%p1 bra A{0};\n", i);
                     }));
    EXPECT_EQ(first_error(analysis), "");
    EXPECT_EQ(is_noted(analysis), depth > 10);
  }
}

TEST(EntangledFlow, OneLoopWithManyEntries) {
  for (const int entries : {2, 40, 2000}) {
    SCOPED_TRACE(entries);
    const auto analysis = analyze_body(
        each(entries, [](int i) { return fmt::format("setp.eq.s32 %p2, %r0, {0}; @%p2 bra A{0};\n", i); }) +
        each(entries, [](int i) { return fmt::format("A{0}: add.s32 %r1, %r1, {0};\n", i); }) +
        "setp.lt.s32 %p1, %r1, %r0; @%p1 bra A0;");
    EXPECT_EQ(first_error(analysis), "");
    EXPECT_EQ(is_noted(analysis), entries > 40);
  }
}

}  // namespace
}  // namespace warptime
