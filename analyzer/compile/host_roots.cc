#include "analyzer/compile/host_roots.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <cmath>
#include <string>

#include "analyzer/compile/host_arithmetic.h"
#include "analyzer/compile/host_interpreter.h"

namespace warptime::compiling {

namespace {

using Kind = HostValue::Kind;
using Op = Expression::Operator;

Expression power(const Expression& base, int exponent) {
  Expression result = base;
  for (int i = 1; i < exponent; ++i) result = product_of(result, base);
  return result;
}

std::optional<Expression> rounded_logarithm(const Irrational& value, Rounding rounding) {
  if (!(value.times == Expression(1)) || !(value.divisor == Expression(1)) || value.half_more)
    return std::nullopt;
  if (rounding == Rounding::down) {
    const auto quotient = value.denominator == Expression(1)
                              ? std::optional(value.numerator)
                              : quotient_of(value.numerator, value.denominator);
    return quotient ? logarithm_of(*quotient) : std::nullopt;
  }
  if (rounding == Rounding::nearest || !(value.denominator == Expression(1))) return std::nullopt;
  return logarithm_of(difference_of(product_of(2, value.numerator), 1));
}

// The name of a function of C's library, without what says that it is of floats.
std::string function_name(const clang::CallExpr* call) {
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr || !function->getDeclName().isIdentifier()) return {};
  std::string name = function->getName().str();
  for (const char* base : {"sqrt", "cbrt", "log", "log2"})
    if (name == std::string(base) + "f") name.pop_back();
  return name;
}

}  // namespace

std::optional<Expression> rounded(const Irrational& value, Rounding rounding, int line) {
  if (value.degree == 0) return rounded_logarithm(value, rounding);
  // Rounded down, k is the least with k + 1 > times / divisor * root + h; of the nearest h is 1/2 more. Rounded up, k >= that.
  const bool up = rounding == Rounding::up;
  const int halves = (value.half_more ? 1 : 0) + (rounding == Rounding::nearest ? 1 : 0);
  const Expression counter = first_counter(line), next = up ? counter : sum_of(counter, 1);
  const bool in_halves = halves % 2 != 0;
  const Expression from =
      in_halves ? difference_of(product_of(2, next), halves) : difference_of(next, halves / 2);
  const Expression times = in_halves ? product_of(2, value.times) : value.times;
  const Expression left = product_of(power(product_of(value.divisor, from), value.degree), value.denominator);
  const Expression right = product_of(power(times, value.degree), value.numerator);
  return Expression::make(Op::first,
                          {counter, combination_of(up ? Op::greater_equal : Op::greater, left, right)});
}

std::optional<Irrational> HostInterpreter::irrational_of(const clang::Expr* expression) {
  expression = expression->IgnoreParenImpCasts();
  if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(expression);
      cast && cast->getCastKind() == clang::CK_FloatingCast)
    return irrational_of(cast->getSubExpr());
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(expression))
    return irrational_of_two(binary);
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expression);
  if (!call || call->getNumArgs() != 1) return std::nullopt;
  const std::string name = function_name(call);
  Irrational result;
  if (name == "cbrt")
    result.degree = 3;
  else if (name == "log2")
    result.degree = 0;
  else if (name != "sqrt")
    return std::nullopt;
  if (!set_argument(result, call)) return std::nullopt;
  return result;
}

bool HostInterpreter::set_argument(Irrational& of, const clang::CallExpr* call) {
  const clang::Expr* argument = call->getArg(0);
  HostValue value = evaluate(argument);
  if (value.is(Kind::unknown) && argument->getType()->isIntegerType())
    value = HostValue::of(HostSymbols::expression(value.id));
  const auto number = value.is(Kind::integer) ? std::optional(value) : real_of(value);
  if (!number || (!number->is(Kind::integer) && !number->is(Kind::real))) return false;
  of.numerator = number->expression;
  if (number->is(Kind::real)) of.denominator = number->denominator;
  return true;
}

// What one of two operands is, with the other.
std::optional<Irrational> HostInterpreter::irrational_of_two(const clang::BinaryOperator* binary) {
  const clang::Expr *left = binary->getLHS(), *right = binary->getRHS();
  const auto* logarithm = llvm::dyn_cast<clang::CallExpr>(left->IgnoreParenImpCasts());
  const auto* base = llvm::dyn_cast<clang::CallExpr>(right->IgnoreParenImpCasts());
  if (binary->getOpcode() == clang::BO_Div && logarithm && base && logarithm->getNumArgs() == 1 &&
      base->getNumArgs() == 1 && function_name(logarithm) == "log" && function_name(base) == "log") {
    const auto of_base = number_of(evaluate(base->getArg(0)));
    Irrational result;
    result.degree = 0;
    if (!of_base || *of_base != 2 || !set_argument(result, logarithm)) return std::nullopt;
    return result;
  }
  auto result = irrational_of(left);
  if (!result && binary->getOpcode() != clang::BO_Div) {
    result = irrational_of(right);
    std::swap(left, right);
  }
  if (!result) return std::nullopt;
  const HostValue other = evaluate(right);
  if (binary->getOpcode() == clang::BO_Add) {
    const auto more = number_of(other);
    if (result->half_more || !more || *more != 0.5) return std::nullopt;
    result->half_more = true;
    return result;
  }
  const auto factor = other.is(Kind::integer) ? std::optional(other) : real_of(other);
  if (result->half_more || !factor || !(factor->is(Kind::integer) || factor->is(Kind::real)))
    return std::nullopt;
  const Expression above = factor->expression,
                   below = factor->is(Kind::real) ? factor->denominator : Expression(1);
  if (above.is_integer() && above.integer_value() < 0) return std::nullopt;
  if (binary->getOpcode() == clang::BO_Mul) {
    result->times = product_of(result->times, above);
    result->divisor = product_of(result->divisor, below);
  } else if (binary->getOpcode() == clang::BO_Div && !(above == Expression(0))) {
    result->times = product_of(result->times, below);
    result->divisor = product_of(result->divisor, above);
  } else {
    return std::nullopt;
  }
  return result;
}

}  // namespace warptime::compiling
