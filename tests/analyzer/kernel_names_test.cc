// Which kernels a name or a regular expression means.
#include "analyzer/kernel_names.h"

#include <gtest/gtest.h>

#include <chrono>

namespace warptime {
namespace {

using Indices = std::vector<std::size_t>;

const std::vector<KernelName> kernels = {
    {"filter<float>", "_Z6filterIfEvPT_"},
    {"filter<double>", "_Z6filterIdEvPT_"},
    {"rows::copy<char**>", "_ZN4rows4copyIPPcEEvT_"},
    {"scale", "_Z5scalePi"},
    {"scale", "_Z5scalePf"},
    {"a.b", "a.b"},
    {"axb", "axb"},
};

TEST(KernelNames, ANameWinsOverABaseNameAndBothOverAnExpression) {
  struct Line {
    const char* wanted;
    Indices found;
  };
  const std::vector<Line> lines = {
      {"", {0, 1, 2, 3, 4, 5, 6}}, {"filter<double>", {1}}, {"_Z6filterIfEvPT_", {0}},
      {"filter", {0, 1}},          {"copy", {2}},           {"rows::copy<char**>", {2}},
      {"scale", {3, 4}},           {"_Z5scale.*", {3, 4}},  {"a.b", {5}},
      {"a[.x]b", {5, 6}},          {"s.*|axb", {3, 4, 6}},  {"regex:<(char|double)", {1, 2}},
      {"regex:^scale$", {3, 4}},   {"regex:Pi$", {3}},
  };
  for (const Line& line : lines) {
    const auto found = matching_kernels(kernels, line.wanted, "f.cu");
    ASSERT_TRUE(found) << line.wanted;
    EXPECT_EQ(*found, line.found) << line.wanted;
    EXPECT_TRUE(check_kernel_pattern(line.wanted).empty()) << line.wanted;
  }
}

TEST(KernelNames, APartOfANameIsNoName) {
  for (const char* wanted : {"scal", "filte", "ilter.*", "x", "regex:^ilter", "copy<char"}) {
    const auto found = matching_kernels(kernels, wanted, "f.cu");
    ASSERT_FALSE(found) << wanted;
    EXPECT_NE(to_text(found.diagnostics()).find("there are: filter<float>, filter<double>"),
              std::string::npos);
  }
}

TEST(KernelNames, WrongExpressionsAreErrorsOfTheCommandLine) {
  for (const char* wanted :
       {"regex:", "regex:(", "(", "*a", "regex:a)", "regex:[a", "regex:\\d", "regex:(a)\\1", "regex:a{101}",
        "regex:(a{11}){10}", "regex:a{99999999999999999999}"})
    EXPECT_FALSE(check_kernel_pattern(wanted).empty()) << wanted;
  EXPECT_FALSE(check_kernel_pattern("regex:" + std::string(1001, 'a')).empty());
  EXPECT_FALSE(check_kernel_pattern("regex:" + std::string(100'000, '(')).empty());
  EXPECT_FALSE(matching_kernels(kernels, "regex:(", "f.cu"));
}

// Engines that backtrack never end with the first of these, and those that recurse overflow the stack.
TEST(KernelNames, LongNamesAndHostileExpressionsTakeLittleTime) {
  const std::vector<KernelName> longs = {
      {std::string(10'000, 'a') + "<b>", "_Z1" + std::string(10'000, 'a')}};
  const auto begin = std::chrono::steady_clock::now();
  for (const char* wanted :
       {"regex:^(a*)*c", "regex:(a|aa)+$", "regex:^((a?){10}){10}c", "(a*a*)*c", "regex:(.*)+x"})
    (void)matching_kernels(longs, wanted, "f.cu");
  EXPECT_TRUE(matching_kernels(longs, "regex:^(a+)+<b>$", "f.cu"));
  EXPECT_TRUE(matching_kernels(longs, longs[0].name, "f.cu"));
  EXPECT_TRUE(matching_kernels(longs, std::string(10'000, 'a'), "f.cu"));
  EXPECT_FALSE(matching_kernels(longs, std::string(9'999, 'a'), "f.cu"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(KernelNames, OneKernelIsChosenOrTheOnesThatMatchAreNamed) {
  EXPECT_EQ(*matching_kernel(kernels, "axb", "f.cu", ""), 6u);
  const auto several = matching_kernel(kernels, "scale", "f.cu", "choose");
  ASSERT_FALSE(several);
  EXPECT_EQ(to_text(several.diagnostics()),
            "f.cu: error: `scale` matches several kernels: scale (_Z5scalePi) and scale (_Z5scalePf)\n"
            "hint: choose\n");
}

}  // namespace
}  // namespace warptime
