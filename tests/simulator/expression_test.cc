#include "simulator/program/expression/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>

#include "random_program.h"

namespace warptime {
namespace {

const Bindings kBindings = {{"K", 7}, {"N", 64}, {"blockDim.x", 128}, {"zero", 0}};

Expression parsed(const std::string& text) {
  const auto expression = Expression::parse(text);
  if (!expression) ADD_FAILURE() << text << ": " << to_text(expression.diagnostics());
  return expression ? *expression : Expression();
}

struct CountCase {
  const char* text;
  std::int64_t value;
};
void PrintTo(const CountCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.text));
}
class Count : public testing::TestWithParam<CountCase> {};

TEST_P(Count, IsAWholeNumber) {
  const auto value = evaluate_count(parsed(GetParam().text), kBindings);
  ASSERT_TRUE(value) << to_text(value.diagnostics());
  EXPECT_EQ(*value, GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Count,
    testing::Values(
        // numbers and names
        CountCase{"42", 42}, CountCase{" 42 ", 42}, CountCase{"K", 7}, CountCase{"blockDim.x / 32", 4},
        CountCase{"2.0", 2}, CountCase{"1e3", 1000}, CountCase{"9223372036854775807", 9223372036854775807},
        CountCase{"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
        // precedence
        CountCase{"1 + 2 * 3", 7}, CountCase{"(1 + 2) * 3", 9}, CountCase{"2 - 3 - 4", -5},
        CountCase{"100 / 10 / 5", 2}, CountCase{"2 * 3 ^ 2", 18}, CountCase{"-3 ^ 2", -9},
        CountCase{"(-3) ^ 2", 9}, CountCase{"2 ^ 3 ^ 2", 512}, CountCase{"2 ^ -0", 1}, CountCase{"!0 + 1", 2},
        CountCase{"1 + 2 < 4", 1}, CountCase{"1 < 2 == 1", 1}, CountCase{"1 || 0 && 0", 1},
        CountCase{"--5", 5}, CountCase{"!!7", 1}, CountCase{"- -5", 5},
        // division rounds down, % has the divisor's sign
        CountCase{"7 / 2", 3}, CountCase{"-7 / 2", -4}, CountCase{"7 / -2", -4}, CountCase{"-7 / -2", 3},
        CountCase{"7 % 3", 1}, CountCase{"-7 % 3", 2}, CountCase{"7 % -3", -2}, CountCase{"-7 % -3", -1},
        CountCase{"-6 % 3", 0}, CountCase{"-9223372036854775808 % -1", 0},
        // comparisons and logic
        CountCase{"K < N", 1}, CountCase{"K >= N", 0}, CountCase{"K == 7", 1}, CountCase{"K != 7", 0},
        CountCase{"K <= 7", 1}, CountCase{"K > 7", 0}, CountCase{"K && N", 1}, CountCase{"zero || 0", 0},
        // what is not needed is not evaluated
        CountCase{"zero && 1 / zero", 0}, CountCase{"1 || 1 / zero", 1},
        CountCase{"if(zero, 1 / zero, 5)", 5}, CountCase{"if(K, 1, unbound)", 1},
        // the first number with which a condition holds
        CountCase{"first(i, i * i >= 100)", 10}, CountCase{"first(i, (i + 1) ^ 2 > K) + 1", 3},
        CountCase{"first(K, K > 2) + K", 10}, CountCase{"first(i, 1)", 0},
        CountCase{"first(i, i == 3) * first(i, i == 5)", 15},
        // functions
        CountCase{"min(3, 1, 2)", 1}, CountCase{"max(3, K, 2)", 7}, CountCase{"ceil_div(7, 2)", 4},
        CountCase{"ceil_div(-7, 2)", -3}, CountCase{"ceil_div(8, 2)", 4},
        CountCase{"ceil_div(9223372036854775807, 2)", 4611686018427387904}, CountCase{"log2(1)", 0},
        CountCase{"log2(64)", 6}, CountCase{"log2(63)", 5}, CountCase{"log2(9223372036854775807)", 62},
        CountCase{"bit_and(12, 10)", 8}, CountCase{"bit_or(12, 10)", 14}, CountCase{"bit_xor(K, -1)", -8},
        CountCase{"bit_and(-8, 1023)", 1016},
        // powers
        CountCase{"2 ^ 62", 4611686018427387904},
        CountCase{"(-2) ^ 63", std::numeric_limits<std::int64_t>::min()}, CountCase{"0 ^ 0", 1},
        CountCase{"1 ^ -5", 1}, CountCase{"(-1) ^ -5", -1}, CountCase{"(-1) ^ 4", 1},
        CountCase{"0 ^ 9223372036854775807", 0}, CountCase{"10 ^ 18", 1000000000000000000}));

struct NumberCase {
  const char* text;
  double value;
};
void PrintTo(const NumberCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.text));
}
class Number : public testing::TestWithParam<NumberCase> {};

TEST_P(Number, IsReal) {
  const auto value = evaluate_number(parsed(GetParam().text), kBindings);
  ASSERT_TRUE(value) << to_text(value.diagnostics());
  EXPECT_DOUBLE_EQ(*value, GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Table, Number,
                         testing::Values(NumberCase{"7 / 2", 3.5}, NumberCase{"-7 / 2", -3.5},
                                         NumberCase{"12.5", 12.5}, NumberCase{".5", 0.5},
                                         NumberCase{"1e-3", 0.001}, NumberCase{"K * 1.5", 10.5},
                                         NumberCase{"2 ^ -1", 0.5}, NumberCase{"2 ^ 63", 0x1p63},
                                         NumberCase{"log2(3)", std::log2(3.0)},
                                         NumberCase{"ceil_div(7, 2)", 4}, NumberCase{"-7 % 3", 2},
                                         NumberCase{"min(0.5, K)", 0.5}, NumberCase{"bit_xor(6, K)", 1},
                                         NumberCase{"if(K > 6.5, 1.5, 2)", 1.5}));

struct WrongCase {
  const char* text;
  const char* message;  // a part of it
  int column = 0;       // where the mistake is in the text; 0: in the evaluation
};
void PrintTo(const WrongCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.text));
}
class Wrong : public testing::TestWithParam<WrongCase> {};

TEST_P(Wrong, IsRefusedWithAReason) {
  const WrongCase& test = GetParam();
  const auto expression = Expression::parse(test.text);
  Diagnostics why;
  if (!expression) {
    why = expression.diagnostics();
  } else {
    const auto value = evaluate_count(*expression, kBindings);
    ASSERT_FALSE(value) << test.text << " is " << *value;
    why = value.diagnostics();
  }
  EXPECT_NE(to_text(why).find(test.message), std::string::npos) << to_text(why);
  EXPECT_EQ(why.front().column, test.column) << test.text;
}

INSTANTIATE_TEST_SUITE_P(
    Parsing, Wrong,
    testing::Values(WrongCase{"", "an expression is missing", 1},
                    WrongCase{"1 +", "ends where a value is expected", 4},
                    WrongCase{"1 + * 2", "expected a value before `*`", 5},
                    WrongCase{"(1 + 2", "this `(` is never closed", 1},
                    WrongCase{"(1 2)", "expected an operator or `)` before `2`", 4},
                    WrongCase{"1 2", "expected an operator before `2`", 3},
                    WrongCase{"1)", "expected an operator before `)`", 2},
                    WrongCase{"12abc", "`12abc` is not a number", 1},
                    WrongCase{"0x10", "`0x10` is not a number", 1}, WrongCase{"1.2.3", "is not a number", 1},
                    WrongCase{"99999999999999999999", "does not fit 64 bits", 1},
                    WrongCase{"1e999", "too large for a number", 1}, WrongCase{"K = 7", "`==` compares", 3},
                    WrongCase{"K & 7", "`&&` joins", 3}, WrongCase{"K $ 7", "unexpected `$`", 3},
                    WrongCase{"K é 7", "unexpected `é`", 3}, WrongCase{"mim(1, 2)", "did you mean `min`?", 1},
                    WrongCase{"min(1)", "`min` takes at least two arguments, not 1", 1},
                    WrongCase{"log2()", "`log2` takes one argument, not 0", 1},
                    WrongCase{"bit_and(K)", "`bit_and` takes two arguments, not 1", 1},
                    WrongCase{"if(1, 2)", "`if` takes three arguments, not 2", 1},
                    WrongCase{"first(i)", "`first` takes two arguments, not 1", 1},
                    WrongCase{"first(2, K)", "the first argument of `first` is the name that counts", 1},
                    WrongCase{"first(i, first(j, j > i) > 2)", "a `first` inside another one", 1},
                    WrongCase{"ceil_div(1, 2, 3)", "takes two arguments, not 3", 1}));

INSTANTIATE_TEST_SUITE_P(
    Evaluating, Wrong,
    testing::Values(
        WrongCase{"L", "`L` has no value"}, WrongCase{"blockDimx", "did you mean `blockDim.x`?"},
        WrongCase{"1 / zero", "division by zero in `1 / zero`"}, WrongCase{"1 % zero", "division by zero"},
        WrongCase{"first(i, zero)", "the condition holds for none of the first 1000000 numbers"},
        WrongCase{"first(i, 1 / (2 - i) < 0)", "division by zero"},
        WrongCase{"first(i, L)", "`L` has no value"}, WrongCase{"ceil_div(1, zero)", "division by zero"},
        WrongCase{"2 ^ 63", "does not fit 64 bits"}, WrongCase{"-2 ^ 63", "does not fit 64 bits"},
        WrongCase{"10 ^ 19", "does not fit 64 bits"}, WrongCase{"2 ^ 10 ^ 18", "does not fit 64 bits"},
        WrongCase{"9223372036854775807 + 1", "does not fit 64 bits"},
        WrongCase{"-9223372036854775808 - 1", "does not fit 64 bits"},
        WrongCase{"4611686018427387904 * 2", "does not fit 64 bits"},
        WrongCase{"-9223372036854775808 / -1", "does not fit 64 bits"},
        WrongCase{"-(-9223372036854775808)", "does not fit 64 bits"},
        WrongCase{"ceil_div(-9223372036854775808, -1)", "does not fit 64 bits"},
        WrongCase{"2 ^ -1", "a negative power"}, WrongCase{"log2(0)", "log2 of 0"},
        WrongCase{"log2(-4)", "log2 of -4"}, WrongCase{"2.5", "the value must be a whole number"},
        WrongCase{"1e19", "does not fit 64 bits"}));

TEST(Expression, NumbersOutOfRangeAreRefused) {
  EXPECT_FALSE(evaluate_number(parsed("1e300 * 1e300"), {}));
  EXPECT_FALSE(evaluate_number(parsed("10 ^ 400"), {}));
  EXPECT_FALSE(evaluate_number(parsed("(-8) ^ 0.5"), {}));
  EXPECT_FALSE(evaluate_number(parsed("1 / 0"), {}));
  EXPECT_FALSE(evaluate_number(parsed("log2(0.5)"), {}));
  EXPECT_FALSE(evaluate_number(parsed("L"), {}));
}

TEST(Expression, DivisionAndModuloBelongTogether) {
  for (std::int64_t a = -20; a <= 20; ++a) {
    for (std::int64_t b = -6; b <= 6; ++b) {
      if (b == 0) continue;
      const Bindings bindings = {{"a", a}, {"b", b}};
      EXPECT_EQ(*evaluate_count(parsed("b * (a / b) + a % b"), bindings), a) << a << " " << b;
      EXPECT_EQ(*evaluate_count(parsed("ceil_div(a, b)"), bindings),
                static_cast<std::int64_t>(std::ceil(static_cast<double>(a) / static_cast<double>(b))));
    }
  }
}

struct PrintCase {
  const char* text;
  const char* printed;
};
void PrintTo(const PrintCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.text));
}
class Print : public testing::TestWithParam<PrintCase> {};
TEST_P(Print, HasTheFewestParentheses) {
  EXPECT_EQ(to_string(parsed(GetParam().text)), GetParam().printed);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Print,
    testing::Values(PrintCase{"K/4", "K / 4"}, PrintCase{"(2*(K-1))", "2 * (K - 1)"},
                    PrintCase{"a-(b-c)-d", "a - (b - c) - d"}, PrintCase{"(a*b)/c", "a * b / c"},
                    PrintCase{"a*(b/c)", "a * (b / c)"}, PrintCase{"-(5)", "-(5)"}, PrintCase{"-5", "-5"},
                    PrintCase{"-(-5)", "-(-5)"}, PrintCase{"-5^2", "-5 ^ 2"}, PrintCase{"(-5)^2", "(-5) ^ 2"},
                    PrintCase{"(a^b)^c", "(a ^ b) ^ c"}, PrintCase{"a^(b^c)", "a ^ b ^ c"},
                    PrintCase{"!(a&&b)||c", "!(a && b) || c"}, PrintCase{"(a<b)<c", "a < b < c"},
                    PrintCase{"a<(b<c)", "a < (b < c)"}, PrintCase{"max((a),b+(1))", "max(a, b + 1)"},
                    PrintCase{"if(a,b,c)", "if(a, b, c)"}, PrintCase{"bit_or((a),b+1)", "bit_or(a, b + 1)"},
                    PrintCase{"2.50", "2.5"}, PrintCase{"3.0", "3.0"}, PrintCase{"1e30", "1e+30"},
                    PrintCase{"- -x", "--x"}, PrintCase{"a - -5", "a - -5"}));

TEST(Expression, PrintedTextParsesBackToTheSameTree) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const Expression expression = test::random_expression(random, 5);
    const auto again = Expression::parse(to_string(expression));
    ASSERT_TRUE(again) << to_string(expression) << "\n" << to_text(again.diagnostics());
    ASSERT_EQ(*again, expression) << to_string(expression) << "\n" << to_string(*again);
  }
}

TEST(Expression, RandomTreesEvaluateOrSayWhyNot) {
  std::mt19937 random(2);
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Expression expression = test::random_expression(random, 6);
    const auto count = evaluate_count(expression, {{"K", 3}, {"N", -2}, {"i", 0}, {"blockDim.x", 5}});
    if (count)
      ++good;
    else
      EXPECT_FALSE(count.diagnostics().front().message.empty());
    static_cast<void>(evaluate_number(expression, {{"K", 3}}));
  }
  EXPECT_GT(good, 1000);
}

TEST(Expression, DeepNestingIsRefused) {
  const auto repeat = [](const std::string& text, int n) {
    std::string result;
    for (int i = 0; i < n; ++i) result += text;
    return result;
  };
  const auto chained = [&repeat](int n) { return repeat("1 + ", n).append("1"); };
  EXPECT_TRUE(Expression::parse(repeat("(", 200).append("1").append(repeat(")", 200))));
  for (const char* opening : {"(", "-", "!", "2^", "min(1,", "-(", "2^-"}) {
    const auto deep = Expression::parse(repeat(opening, 100'000).append("1"));
    ASSERT_FALSE(deep) << opening;
    EXPECT_NE(to_text(deep.diagnostics()).find("nested more than 200 deep"), std::string::npos) << opening;
  }
  EXPECT_TRUE(Expression::parse(chained(900)));
  const auto chain = Expression::parse(chained(100'000));
  ASSERT_FALSE(chain);
  EXPECT_NE(to_text(chain.diagnostics()).find("more than 1000 levels"), std::string::npos);
}

TEST(Expression, TreesThatShareTheirPartsCannotRunAway) {
  Expression expression = Expression::name("K");
  for (int i = 0; i < 70; ++i)
    expression = Expression::make(Expression::Operator::add, {expression, expression});
  EXPECT_EQ(expression.size(), std::numeric_limits<std::uint64_t>::max());
  const auto value = evaluate_count(expression, {{"K", 1}});
  ASSERT_FALSE(value);
  EXPECT_NE(to_text(value.diagnostics()).find("too large"), std::string::npos);
}

TEST(Expression, NamesComeInOrderEachOnce) {
  EXPECT_EQ(parsed("N + K * N - blockDim.x").names(), (std::vector<std::string>{"N", "K", "blockDim.x"}));
  EXPECT_TRUE(parsed("1 + 2").names().empty());
}

TEST(Expression, SubstitutionReplacesNames) {
  const Expression replaced =
      parsed("K * (N - K)").substitute({{"K", parsed("a + 1")}, {"x", Expression(1)}});
  EXPECT_EQ(to_string(replaced), "(a + 1) * (N - (a + 1))");
}

TEST(Expression, WhatFirstCountsWithIsItsOwn) {
  const Expression expression = parsed("i + first(i, i * k > K)");
  EXPECT_EQ(expression.names(), (std::vector<std::string>{"i", "k", "K"}));
  EXPECT_EQ(parsed("first(i, i > K)").names(), std::vector<std::string>{"K"});
  const Expression replaced = expression.substitute({{"i", Expression(5)}, {"k", Expression(2)}});
  EXPECT_EQ(to_string(replaced), "5 + first(i, i * 2 > K)");
  EXPECT_EQ(*evaluate_number(parsed("first(i, i > 2.5) / 2"), {}), 1.5);
  // A tree that was made of others is refused like a text.
  const Expression nested = parsed("first(i, i > k)").substitute({{"k", parsed("first(j, j > 2)")}});
  const auto value = evaluate_count(nested, {});
  ASSERT_FALSE(value);
  EXPECT_NE(to_text(value.diagnostics()).find("inside another one"), std::string::npos);
}

TEST(Expression, LongConditionsOfFirstAreTriedLessOften) {
  std::string sum = "i";
  for (int i = 0; i < 400; ++i) sum += " + K";
  const auto value = evaluate_count(parsed("first(i, " + sum + " < 0)"), kBindings);
  ASSERT_FALSE(value);
  EXPECT_NE(to_text(value.diagnostics()).find("none of the first 62"), std::string::npos)
      << to_text(value.diagnostics());
}

TEST(Expression, WhatIsAName) {
  for (const char* name : {"K", "_", "blockDim.x", "a1", "min"}) EXPECT_TRUE(is_name(name)) << name;
  for (const char* name : {"", "1a", "a-b", ".x", "a.", "a..b", "a.1", "a b", "é"})
    EXPECT_FALSE(is_name(name)) << name;
}

}  // namespace
}  // namespace warptime
