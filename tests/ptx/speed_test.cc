// Time grows with the length of the text alone, whatever is in it: a megabyte of each of these takes less
// than a second also in a debug build, and some of them would take hours if a step were quadratic.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/ptx/ptx_text.h"

namespace warptime::ptx {
namespace {

std::string repeated(const std::string& text, int count) {
  std::string result;
  result.reserve(text.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

template <class Make>
std::string numbered(int count, Make make) {
  std::string result;
  for (int i = 0; i < count; ++i) result += make(std::to_string(i));
  return result;
}

TEST(Speed, NothingIsQuadratic) {
  using S = const std::string&;
  const struct {
    const char* what;
    std::string text;
  } cases[] = {
      {"nested scopes", kernel_around(repeated("{", 500000))},
      {"scopes behind each other", kernel_around(repeated("{}", 300000))},
      {"brackets", kernel_around("mov.b32 " + repeated("[", 1000000))},
      {"vectors", kernel_around("mov.b32 " + repeated("{", 1000000))},
      {"parentheses", kernel_around("mov.b32 %r1, " + repeated("(", 1000000))},
      {"signs", kernel_around("mov.b32 %r1, " + repeated("-", 1000000))},
      {"a long sum", kernel_around("mov.b32 %r1, 1" + repeated("+1", 500000) + ";")},
      {"a long condition", kernel_around("mov.b32 %r1, 1" + repeated("?1:1", 250000) + ";")},
      {"labels that many scopes ask for",
       kernel_around(repeated("{", 150) + numbered(50000, [](S i) { return "bra L" + i + ";"; }) +
                     repeated("}", 150) + numbered(50000, [](S i) { return "L" + i + ":"; }))},
      {"one label in many scopes", kernel_around(repeated("{ L: bra L; bra M; }", 50000) + "M:")},
      {"many ranges", kernel_around(numbered(50000, [](S i) { return ".reg .b32 %a" + i + "_<9>;"; }))},
      {"one range hidden often", kernel_around(repeated("{ .reg .b32 %r<5>; mov.b32 %r7, %r1; }", 25000))},
      {"huge ranges", kernel_around(repeated("{ .reg .b32 %q<4000000000>; mov.b32 %q999999, %q1; }", 20000))},
      {"many functions",
       ".version 9.0\n.target sm_90\n" + numbered(30000, [](S i) { return ".func f" + i + " { ret; }\n"; })},
      {"a large function before many small ones",
       ".version 9.0\n.target sm_90\n.func big { .reg .b32 %r<9>;" +
           numbered(50000, [](S i) { return "L" + i + ": .loc 1 " + i + " 1, inlined_at 1 2 3\n"; }) + "}\n" +
           numbered(15000, [](S i) { return ".func f" + i + " { .loc 1 2 3, inlined_at 1 1 1\nret; }\n"; })},
      {"module registers in many functions",
       ".version 9.0\n.target sm_90\n" + numbered(20000, [](S i) { return ".reg .b32 g" + i + ";"; }) +
           numbered(20000, [](S i) { return ".func f" + i + " { ret; }\n"; })},
      {"one long line", ".version 9.0\n.target sm_90\n.entry k { " + repeated("add.u32 %r1, %r2; ", 60000)},
      {"errors", kernel_around(repeated("? ", 500000))},
      {"zeros", std::string(1000000, '\0')},
      {"a comment that does not end", ".version 9.0\n/*" + repeated("/*", 500000)},
      {"a string that does not end", ".version 9.0\n.target sm_90\n.file 1 \"" + repeated("x\n", 500000)},
      {"colons", kernel_around("a" + repeated("::a", 300000))},
      {"variables",
       ".version 9.0\n.target sm_90\n" + numbered(30000, [](S i) { return ".global .b32 v" + i + "<9>;"; })},
  };
  for (const auto& c : cases) {
    const auto start = std::chrono::steady_clock::now();
    const auto module = parse(c.text, "test.ptx");
    if (!module) {
      EXPECT_LT(to_text(module.diagnostics()).size(), 100000u) << c.what;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 5.0) << c.what << ", " << c.text.size() << " bytes";
  }
}

}  // namespace
}  // namespace warptime::ptx
