// Arithmetic on the expressions that reading host code gives. Each function folds constants and adds up like
// terms, so that a plan shows `ceil_div(n, 256)` where the source goes through four variables, and so that a
// loop's step shows as a constant.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/program/expression/expression.h"

namespace warptime::compiling {

using Substitution = std::map<std::string, Expression, std::less<>>;

Expression sum_of(const Expression& a, const Expression& b);
Expression difference_of(const Expression& a, const Expression& b);
Expression product_of(const Expression& a, const Expression& b);
// C's division of whole numbers: toward zero where both are known. Symbolic operands count as not negative.
// Division by a known zero gives nothing.
std::optional<Expression> quotient_of(const Expression& a, const Expression& b);
std::optional<Expression> remainder_of(const Expression& a, const Expression& b);
std::optional<Expression> ceiling_of(const Expression& a, const Expression& b);  // ceil_div(a, b)
std::optional<Expression> power_of(const Expression& base, const Expression& exponent);
std::optional<Expression> logarithm_of(const Expression& a);  // the whole part of log2(a)
// op: a comparison, logical_and, logical_or, minimum or maximum.
Expression combination_of(Expression::Operator op, const Expression& a, const Expression& b);
Expression negation_of(const Expression& condition);
Expression choice_of(const Expression& condition, const Expression& a, const Expression& b);

// Simplified again after the replacement.
Expression substituted(const Expression& expression, const Substitution& replacements);
bool mentions(const Expression& expression, const std::string& name);

// constant + the sum of coefficient * term.
struct LinearForm {
  std::int64_t constant = 0;
  std::vector<std::pair<Expression, std::int64_t>> terms;
  bool overflow = false;
};
LinearForm linear_form_of(const Expression& expression);
Expression expression_of(const LinearForm& form);

// How many values t = 0, 1, … pass before `condition`, an expression over the counter `t` and what stays the
// same, is false for the first time. Nothing where there is no closed form.
std::optional<Expression> passes_of(const Expression& condition, const std::string& t);

// The same as a first(), which has no closed form, with a counter that bears the line's number. Nothing where the condition does
// not depend on `t`, or has a first() itself.
std::optional<Expression> first_without(const Expression& condition, const std::string& t, int line);

// The counter of a first(), which bears the line's number.
Expression first_counter(int line);

}  // namespace warptime::compiling
