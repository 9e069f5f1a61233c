// Closed forms: algebra, facts, and how they are written.
#include "analyzer/symbolic/facts.h"
#include "analyzer/symbolic/symbolic_exprs.h"

#include <gtest/gtest.h>

#include "analyzer/symbolic/naming.h"

namespace warptime::analysis {
namespace {

class ValuesTest : public testing::Test {
 protected:
  std::string text(ExprId value) {
    Naming naming;
    naming.argument = [](auto index, auto) { return std::string(1, static_cast<char>('a' + index)); };
    naming.counter = [](auto loop) { return "i" + std::to_string(loop); };
    const auto expression = to_expression(v, value, naming);
    return expression ? to_string(*expression) : "?";
  }
  ExprId c(std::int64_t n) { return v.constant(n); }
  SymbolicExprs v;
  ExprId a = v.argument(0, 0), b = v.argument(1, 0);
};

TEST_F(ValuesTest, EqualFormsAreOne) {
  EXPECT_EQ(v.add(a, b), v.add(b, a));
  EXPECT_EQ(v.subtract(v.add(a, b), b), a);
  EXPECT_EQ(v.multiply(v.add(a, c(1)), v.add(a, c(-1))), v.add(v.multiply(a, a), c(-1)));
}

TEST_F(ValuesTest, FloorDivisionTakesOutWhatDividesExactly) {
  EXPECT_EQ(text(v.floor_divide(v.add(v.scale(a, 8), c(5)), c(4))), "2 * a + 1");
  EXPECT_EQ(text(v.floor_divide(v.subtract(a, v.modulo(a, c(4))), c(4))), "a / 4");
  EXPECT_EQ(text(v.floor_divide(v.floor_divide(a, c(2)), c(4))), "a / 8");
  EXPECT_EQ(text(v.floor_divide(v.add(a, c(3)), c(4))), "ceil_div(a, 4)");
  EXPECT_EQ(text(v.floor_divide(v.multiply(a, b), b)), "a");
}

TEST_F(ValuesTest, DivisionByMultiplicationIsDivision) {
  // x / 3, x / 5, x / 7, x / 10 as compilers write them
  for (const auto& [q, shift] :
       {std::pair<std::int64_t, int>{3, 33}, {5, 34}, {10, 35}, {7, 35}, {100, 37}}) {
    const std::int64_t power = std::int64_t{1} << shift, magic = power / q + 1;
    EXPECT_EQ(v.floor_divide(v.scale(a, magic), c(power)), v.floor_divide(a, c(q))) << q;
  }
  // and x · 3 / 2^33 is none
  EXPECT_NE(text(v.floor_divide(v.scale(a, 1000000007), c(std::int64_t{1} << 40))), "?");
}

TEST_F(ValuesTest, RemaindersAreWrittenAsSuch) {
  EXPECT_EQ(text(v.modulo(a, c(4))), "a % 4");
  EXPECT_EQ(text(v.modulo(a, b)), "a % b");
  EXPECT_EQ(text(v.add(v.modulo(v.add(a, c(1)), c(2)), c(7))), "(a + 1) % 2 + 7");
}

TEST_F(ValuesTest, ComparisonsReadTheSimplerSideFirst) {
  EXPECT_EQ(text(v.compare(SymbolicOp::less, a, v.add(b, c(-1)))), "a < b - 1");
  EXPECT_EQ(text(v.logical_not(v.compare(SymbolicOp::less_equal, v.add(b, c(-1)), a))), "a < b - 1");
  EXPECT_EQ(text(v.compare(SymbolicOp::less, c(3), v.add(a, c(-1)))), "a > 4");
}

TEST_F(ValuesTest, SelectOfEqualRemaindersIsOne) {
  // where a % 4 == 0, a and 4 · (a / 4) are the same
  const auto rounded = v.subtract(a, v.modulo(a, c(4)));
  EXPECT_EQ(v.select(v.compare(SymbolicOp::equal, v.modulo(a, c(4)), c(0)), a, rounded), rounded);
}

TEST_F(ValuesTest, FactsDecide) {
  Facts facts(v);
  EXPECT_FALSE(facts.not_negative(a));
  facts.assume(v.compare(SymbolicOp::less, a, c(1)), false);  // a >= 1
  EXPECT_TRUE(facts.not_negative(a));
  EXPECT_TRUE(facts.not_negative(v.add(a, c(-1))));
  EXPECT_FALSE(facts.not_negative(v.add(a, c(-2))));
  EXPECT_EQ(facts.simplify(v.maximum(c(1), a)), a);
  EXPECT_EQ(facts.simplify(v.compare(SymbolicOp::less_unsigned, v.add(a, c(-1)), c(3))),
            v.compare(SymbolicOp::less, v.add(a, c(-1)), c(3)));
  EXPECT_EQ(facts.simplify(v.compare(SymbolicOp::less, a, c(0))), c(0));
}

TEST_F(ValuesTest, AnUnsignedComparisonOfANumberThatMayBeNegativeKeepsItsMeaning) {
  const Facts none_known(v);
  EXPECT_EQ(text(none_known.simplify(v.compare(SymbolicOp::less_unsigned, a, c(4)))), "a >= 0 && a < 4");
}

TEST_F(ValuesTest, ASumIsBelowItsAddendWhereItWraps) {
  const auto sum = v.add(a, c(128));
  EXPECT_EQ(text(v.compare(SymbolicOp::less_unsigned, sum, a)), "a >= -128 && a < 0");
  EXPECT_EQ(v.compare(SymbolicOp::less_equal_unsigned, sum, a), v.compare(SymbolicOp::less_unsigned, sum, a));
  EXPECT_EQ(v.logical_not(v.compare(SymbolicOp::less_equal_unsigned, a, sum)),
            v.compare(SymbolicOp::less_unsigned, sum, a));
  Facts facts(v);
  facts.assume(v.compare(SymbolicOp::less_equal, c(0), a), true);
  EXPECT_EQ(facts.simplify(v.compare(SymbolicOp::less_unsigned, sum, a)), c(0));
}

TEST_F(ValuesTest, OverflowIsNoForm) {
  const auto huge = v.scale(a, std::int64_t{1} << 62);
  EXPECT_EQ(text(v.scale(huge, 4)), "?");
  EXPECT_EQ(text(v.multiply(v.add(huge, b), v.add(huge, c(1)))), "?");
}

TEST_F(ValuesTest, ProofsAndFormsEndWhateverTheirSize) {
  // (4 · a / 2^k) and the like under many facts: each rule could call the next for ever
  Facts facts(v);
  auto x = v.floor_divide(v.add(v.scale(a, 3), c(-1)), c(7));
  for (int i = 0; i < 40; ++i) {
    facts.assume(v.compare(SymbolicOp::less, v.add(x, c(-i)), b), true);
    x = v.floor_divide(v.add(v.add(x, x), c(-3)), c(5));
  }
  EXPECT_FALSE(facts.not_negative(v.add(x, c(-100))));
  EXPECT_EQ(facts.simplify(v.maximum(c(0), v.add(x, c(-1)))),
            facts.simplify(v.maximum(c(0), v.add(x, c(-1)))));
  for (int i = 0; i < 100000; ++i) x = v.modulo(v.multiply(v.add(x, b), x), v.add(a, x));
  EXPECT_EQ(text(x), "?");
}

}  // namespace
}  // namespace warptime::analysis
