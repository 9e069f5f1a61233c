// Expressions stay short while host code is read, and loops give their number of iterations in closed form.
#include <gtest/gtest.h>

#include "analyzer/compile/host_arithmetic.h"

namespace warptime::compiling {
namespace {

Expression parsed(const std::string& text) {
  return *Expression::parse(text);
}

// Simplified: replaces a name that occurs nowhere but where the text has `one`.
std::string simplified(const std::string& text) {
  return to_string(substituted(parsed(text), {{"one", 1}}));
}

TEST(HostArithmetic, adds_up_like_terms) {
  EXPECT_EQ(to_string(sum_of(parsed("n + 255"), parsed("3 * n - 5"))), "4 * n + 250");
  EXPECT_EQ(to_string(difference_of(parsed("n + m"), parsed("n"))), "m");
  EXPECT_EQ(to_string(difference_of(parsed("m"), parsed("n + 1"))), "m - n - 1");
  EXPECT_EQ(to_string(product_of(4, parsed("n + 1"))), "4 * n + 4");
}

TEST(HostArithmetic, sees_divisions_that_round_up) {
  EXPECT_EQ(to_string(*quotient_of(parsed("n + 255"), 256)), "ceil_div(n, 256)");
  EXPECT_EQ(to_string(*quotient_of(parsed("n + b - 1"), parsed("b"))), "ceil_div(n, b)");
  EXPECT_EQ(simplified("n / 16 + (n % 16 != 0) * one"), "ceil_div(n, 16)");
  EXPECT_EQ(simplified("if(n % 16 != 0, n / 16 + one, n / 16)"), "ceil_div(n, 16)");
  EXPECT_EQ(simplified("if(n % 16 == 0, n / 16, n / 16 + one)"), "ceil_div(n, 16)");
  EXPECT_EQ(to_string(*quotient_of(parsed("n - 1"), 256)), "(n - 1) / 256");
  EXPECT_EQ(to_string(*quotient_of(parsed("4 * n + 8"), 4)), "n + 2");
}

TEST(HostArithmetic, divides_numbers_as_c_does) {
  EXPECT_EQ(*quotient_of(-7, 2), Expression(-3));
  EXPECT_EQ(*remainder_of(-7, 2), Expression(-1));
  EXPECT_EQ(*ceiling_of(7, 2), Expression(4));
  EXPECT_EQ(*ceiling_of(-7, 2), Expression(-3));
  EXPECT_FALSE(quotient_of(parsed("n"), 0));
}

// The number of iterations of `for (v = start; condition; …)`, v as an expression over t.
std::string passes(const std::string& condition) {
  const auto found = passes_of(parsed(condition), "t");
  return found ? to_string(*found) : "none";
}

TEST(HostArithmetic, counts_the_iterations_of_loops) {
  EXPECT_EQ(passes("t < n"), "n");
  EXPECT_EQ(passes("n > t"), "n");
  EXPECT_EQ(passes("t <= n"), "n + 1");
  EXPECT_EQ(passes("16 + 16 * t < n"), "ceil_div(n - 16, 16)");
  EXPECT_EQ(passes("n - t > 0"), "n");
  EXPECT_EQ(passes("3 * t != 12"), "4");
  EXPECT_EQ(passes("t < n && t < 10"), "min(n, 10)");
  EXPECT_EQ(passes("2 ^ t < 1000"), "10");
  EXPECT_EQ(passes("3 * 2 ^ t <= 24"), "4");
  EXPECT_EQ(passes("1024 / 2 ^ t > 0"), "11");
  EXPECT_EQ(passes("1024 / 2 ^ t > 1"), "10");
  EXPECT_EQ(passes("n / 2 ^ t >= 1"), "if(n >= 1, log2(n) + 1, 0)");
  EXPECT_EQ(passes("t * t < n"), "none");
  EXPECT_EQ(passes("t < m + t"), "none");
}

// Each closed form of a loop with numbers equals what running the loop gives.
TEST(HostArithmetic, counts_as_running_the_loop_does) {
  for (const std::string loop :
       {"a + 3 * t < b", "a + 5 * t <= b", "b - 2 * t > a", "b - 7 * t >= a", "(a + 1) * 2 ^ t < b",
        "(a + 1) * 2 ^ t <= b", "b / 2 ^ t > a", "b / 2 ^ t >= a + 1"}) {
    for (std::int64_t a = 0; a < 20; ++a) {
      for (std::int64_t b = 0; b < 70; ++b) {
        const auto closed = passes_of(parsed(loop), "t");
        ASSERT_TRUE(closed) << loop;
        std::int64_t t = 0;
        while (*evaluate_count(parsed(loop), {{"a", a}, {"b", b}, {"t", t}}) != 0) ++t;
        const auto count = evaluate_count(*closed, {{"a", a}, {"b", b}});
        ASSERT_TRUE(count) << loop;
        EXPECT_EQ(std::max<std::int64_t>(*count, 0), t) << loop << " a " << a << " b " << b;
      }
    }
  }
}

}  // namespace
}  // namespace warptime::compiling
