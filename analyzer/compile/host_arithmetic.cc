#include "analyzer/compile/host_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warptime::compiling {

namespace {

using Op = Expression::Operator;

bool is_number(const Expression& expression, std::int64_t value) {
  return expression.is_integer() && expression.integer_value() == value;
}

bool both_known(const Expression& a, const Expression& b) {
  return a.is_integer() && b.is_integer();
}

void add_term(LinearForm& form, const Expression& term, std::int64_t coefficient) {
  const auto same = std::find_if(form.terms.begin(), form.terms.end(),
                                 [&](const auto& known) { return known.first == term; });
  if (same == form.terms.end()) {
    form.terms.emplace_back(term, coefficient);
    return;
  }
  form.overflow |= __builtin_add_overflow(same->second, coefficient, &same->second);
  if (same->second == 0) form.terms.erase(same);
}

void add_scaled(LinearForm& form, const Expression& expression, std::int64_t scale) {
  const auto& operands = expression.operands();
  std::int64_t product = 0;
  switch (expression.op()) {
    case Op::integer:
      form.overflow |= __builtin_mul_overflow(expression.integer_value(), scale, &product) ||
                       __builtin_add_overflow(form.constant, product, &form.constant);
      return;
    case Op::add:
      add_scaled(form, operands[0], scale);
      add_scaled(form, operands[1], scale);
      return;
    case Op::subtract:
      add_scaled(form, operands[0], scale);
      add_scaled(form, operands[1], -scale);
      return;
    case Op::negate:
      add_scaled(form, operands[0], -scale);
      return;
    case Op::multiply:
      if (operands[0].is_integer()) {
        form.overflow |= __builtin_mul_overflow(operands[0].integer_value(), scale, &product);
        add_scaled(form, operands[1], product);
        return;
      }
      break;
    default:
      break;
  }
  add_term(form, expression, scale);
}

Expression scaled_term(const Expression& term, std::int64_t coefficient) {
  return coefficient == 1 ? term : Expression::make(Op::multiply, {coefficient, term});
}

// Whether b is what rounding a division up adds to it: x / y + (x % y != 0), or min(1, x % y).
bool rounds_up(const Expression& a, const Expression& b) {
  if (a.op() != Op::divide) return false;
  const Expression rest = Expression::make(Op::modulo, a.operands());
  if ((b.op() == Op::not_equal || b.op() == Op::greater) && b.operands()[0] == rest &&
      is_number(b.operands()[1], 0))
    return true;
  if (b.op() != Op::minimum) return false;
  const auto& operands = b.operands();
  return operands.size() == 2 && ((is_number(operands[0], 1) && operands[1] == rest) ||
                                  (is_number(operands[1], 1) && operands[0] == rest));
}

void round_up_quotients(LinearForm& form) {
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    for (std::size_t k = 0; k < form.terms.size(); ++k) {
      if (i == k || form.terms[i].second != form.terms[k].second ||
          !rounds_up(form.terms[i].first, form.terms[k].first))
        continue;
      form.terms[i].first = Expression::make(Op::ceil_div, form.terms[i].first.operands());
      form.terms.erase(form.terms.begin() + static_cast<std::ptrdiff_t>(k));
      return;
    }
  }
}

// a/c where c divides each part of a.
std::optional<Expression> exact_quotient(const Expression& a, std::int64_t divisor) {
  LinearForm form = linear_form_of(a);
  if (form.overflow || divisor == 0 || form.constant % divisor != 0) return std::nullopt;
  form.constant /= divisor;
  for (auto& [term, coefficient] : form.terms) {
    if (coefficient % divisor != 0) return std::nullopt;
    coefficient /= divisor;
  }
  return expression_of(form);
}

// (n + c - 1) / c is ceil_div(n, c).
std::optional<Expression> rounded_up(const Expression& a, const Expression& b) {
  const LinearForm numerator = linear_form_of(a);
  if (numerator.overflow || numerator.terms.empty()) return std::nullopt;
  const LinearForm rest = linear_form_of(difference_of(a, sum_of(b, -1)));
  const bool known = b.is_integer();
  if (rest.overflow || rest.constant != 0 || (known && b.integer_value() < 2)) return std::nullopt;
  if (!known && (numerator.terms.size() < 2 || numerator.constant != -1)) return std::nullopt;
  const bool positive =
      std::all_of(rest.terms.begin(), rest.terms.end(), [](const auto& term) { return term.second > 0; });
  if (!positive) return std::nullopt;
  return ceiling_of(expression_of(rest), b);
}

std::int64_t truth(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::logical_and:
      return a != 0 && b != 0;
    case Op::logical_or:
      return a != 0 || b != 0;
    case Op::minimum:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

bool is_comparison(Op op) {
  return op >= Op::less && op <= Op::not_equal;
}

bool is_truth_value(const Expression& expression) {
  return is_comparison(expression.op()) || expression.op() == Op::logical_and ||
         expression.op() == Op::logical_or || expression.op() == Op::logical_not ||
         (expression.is_integer() && (expression.integer_value() | 1) == 1);
}

Op opposite(Op op) {
  switch (op) {
    case Op::less:
      return Op::greater_equal;
    case Op::less_equal:
      return Op::greater;
    case Op::greater:
      return Op::less_equal;
    case Op::greater_equal:
      return Op::less;
    case Op::equal:
      return Op::not_equal;
    default:
      return Op::equal;
  }
}

// a < b as b > a, and so on.
Op mirrored(Op op) {
  switch (op) {
    case Op::less:
      return Op::greater;
    case Op::less_equal:
      return Op::greater_equal;
    case Op::greater:
      return Op::less;
    case Op::greater_equal:
      return Op::less_equal;
    default:
      return op;
  }
}

// Counts are not negative. `max(0, …)` only where the expression shows no sign of it.
Expression not_negative(const Expression& count) {
  const LinearForm form = linear_form_of(count);
  const bool grows =
      std::all_of(form.terms.begin(), form.terms.end(), [](const auto& term) { return term.second > 0; });
  if (count.is_integer()) return std::max<std::int64_t>(count.integer_value(), 0);
  return grows && form.constant >= -1 ? count : combination_of(Op::maximum, 0, count);
}

// How t enters a side of a comparison.
struct Progress {
  Expression start;                  // with t = 0
  std::optional<Expression> step;    // start + step * t
  std::optional<std::int64_t> base;  // start * base^t, or start / base^t
  bool shrinks = false;
};

std::optional<Progress> progress_of(const Expression& side, const std::string& t) {
  Progress progress;
  progress.start = substituted(side, {{t, 0}});
  const Expression first = difference_of(substituted(side, {{t, 1}}), progress.start);
  const Expression second = difference_of(substituted(side, {{t, 2}}), substituted(side, {{t, 1}}));
  const Expression line = sum_of(progress.start, product_of(first, Expression::name(t)));
  if (side == line || difference_of(side, line) == Expression(0)) {
    progress.step = first;
    return progress;
  }
  const bool quotient = side.op() == Op::divide;
  if (!quotient && side.op() != Op::multiply && side.op() != Op::power) return std::nullopt;
  const Expression& factor = side.op() == Op::power
                                 ? side
                                 : side.operands()[quotient || side.operands()[1].op() == Op::power ? 1 : 0];
  const Expression other =
      side.op() == Op::power ? Expression(1) : side.operands()[&factor == &side.operands()[1] ? 0 : 1];
  if (factor.op() != Op::power || !factor.operands()[0].is_integer() || mentions(other, t))
    return std::nullopt;
  if (!(factor.operands()[1] == Expression::name(t)) || factor.operands()[0].integer_value() < 2)
    return std::nullopt;
  progress.base = factor.operands()[0].integer_value();
  progress.shrinks = quotient;
  progress.start = other;
  return progress;
}

std::optional<Expression> passes_of_line(Op op, const Expression& start, const Expression& step,
                                         const Expression& limit) {
  const bool down = step.is_integer() && step.integer_value() < 0;
  const Expression distance = down ? difference_of(start, limit) : difference_of(limit, start);
  const Expression stride = down ? product_of(-1, step) : step;
  if (step.is_integer() && step.integer_value() == 0) return std::nullopt;
  if (op == Op::not_equal) return quotient_of(distance, stride);
  const bool strict = op == (down ? Op::greater : Op::less);
  if (!strict && op != (down ? Op::greater_equal : Op::less_equal)) return std::nullopt;
  if (strict) {
    const auto passes = ceiling_of(distance, stride);
    return passes ? std::optional(not_negative(*passes)) : std::nullopt;
  }
  const auto passes = quotient_of(distance, stride);
  return passes ? std::optional(not_negative(sum_of(*passes, 1))) : std::nullopt;
}

// start * base^t < limit, start / base^t > limit: with base 2, one more than a logarithm.
std::optional<Expression> passes_of_power(Op op, const Progress& progress, const Expression& limit) {
  if (*progress.base != 2) return std::nullopt;
  if (progress.shrinks ? op != Op::greater && op != Op::greater_equal && op != Op::not_equal
                       : op != Op::less && op != Op::less_equal)
    return std::nullopt;
  if (op == Op::not_equal && !is_number(limit, 0)) return std::nullopt;
  const bool strict = op != Op::greater_equal && op != Op::less_equal;
  const Expression least = progress.shrinks ? strict ? sum_of(limit, 1) : limit : progress.start;
  const Expression most = progress.shrinks ? progress.start : strict ? sum_of(limit, -1) : limit;
  if (is_number(least, 0)) return std::nullopt;
  const auto ratio = quotient_of(most, least);
  const auto logarithm = ratio ? logarithm_of(*ratio) : std::nullopt;
  if (!logarithm) return std::nullopt;
  return choice_of(combination_of(Op::greater_equal, most, least), sum_of(*logarithm, 1), 0);
}

// What a first() of that line counts with: no name of C is likely to be the same.
bool has_first(const Expression& expression) {
  const auto operands = expression.operands();
  return expression.op() == Op::first || std::any_of(operands.begin(), operands.end(), has_first);
}

// The negation, of the parts of a conjunction or disjunction as people write it.
Expression opposite_of(const Expression& condition) {
  const bool both = condition.op() == Op::logical_and;
  if (!both && condition.op() != Op::logical_or) return negation_of(condition);
  return combination_of(both ? Op::logical_or : Op::logical_and, opposite_of(condition.operands()[0]),
                        opposite_of(condition.operands()[1]));
}

}  // namespace

LinearForm linear_form_of(const Expression& expression) {
  LinearForm form;
  add_scaled(form, expression, 1);
  return form;
}

Expression expression_of(const LinearForm& form) {
  std::optional<Expression> result;
  for (const auto& [term, coefficient] : form.terms) {
    if (coefficient <= 0) continue;
    const Expression part = scaled_term(term, coefficient);
    result = result ? Expression::make(Op::add, {*result, part}) : part;
  }
  if (!result)
    result = form.constant;
  else if (form.constant > 0)
    result = Expression::make(Op::add, {*result, form.constant});
  for (const auto& [term, coefficient] : form.terms) {
    if (coefficient >= 0) continue;
    result = Expression::make(Op::subtract, {*result, scaled_term(term, -coefficient)});
  }
  const bool first =
      std::none_of(form.terms.begin(), form.terms.end(), [](const auto& term) { return term.second > 0; });
  if (!first && form.constant < 0) result = Expression::make(Op::subtract, {*result, -form.constant});
  return *result;
}

Expression sum_of(const Expression& a, const Expression& b) {
  LinearForm form;
  add_scaled(form, a, 1);
  add_scaled(form, b, 1);
  round_up_quotients(form);
  return form.overflow ? Expression::make(Op::add, {a, b}) : expression_of(form);
}

Expression difference_of(const Expression& a, const Expression& b) {
  LinearForm form;
  add_scaled(form, a, 1);
  add_scaled(form, b, -1);
  return form.overflow ? Expression::make(Op::subtract, {a, b}) : expression_of(form);
}

Expression product_of(const Expression& a, const Expression& b) {
  if (b.is_integer() && !a.is_integer()) return product_of(b, a);
  if (a.is_integer()) {
    LinearForm form;
    add_scaled(form, b, a.integer_value());
    if (a.integer_value() == 0) return 0;
    return form.overflow ? Expression::make(Op::multiply, {a, b}) : expression_of(form);
  }
  // A number stands in front of a product: 4 * (n * m), not (4 * n) * m.
  if (a.op() == Op::multiply && a.operands()[0].is_integer())
    return product_of(a.operands()[0], product_of(a.operands()[1], b));
  if (b.op() == Op::multiply && b.operands()[0].is_integer())
    return product_of(b.operands()[0], product_of(a, b.operands()[1]));
  return Expression::make(Op::multiply, {a, b});
}

std::optional<Expression> quotient_of(const Expression& a, const Expression& b) {
  if (is_number(b, 0)) return std::nullopt;
  if (is_number(b, 1)) return a;
  if (both_known(a, b))
    return b.integer_value() == -1 ? product_of(-1, a) : Expression(a.integer_value() / b.integer_value());
  if (a == b) return 1;
  if (is_number(a, 0)) return 0;
  if (b.is_integer()) {
    if (const auto exact = exact_quotient(a, b.integer_value())) return exact;
    if (a.op() == Op::divide && a.operands()[1].is_integer() && b.integer_value() > 0) {
      std::int64_t divisor = 0;
      if (!__builtin_mul_overflow(a.operands()[1].integer_value(), b.integer_value(), &divisor))
        return quotient_of(a.operands()[0], divisor);
    }
  }
  if (a.op() == Op::multiply) {  // n * b / b
    if (a.operands()[1] == b) return a.operands()[0];
    if (a.operands()[0] == b) return a.operands()[1];
  }
  if (const auto up = rounded_up(a, b)) return up;
  return Expression::make(Op::divide, {a, b});
}

std::optional<Expression> remainder_of(const Expression& a, const Expression& b) {
  if (is_number(b, 0)) return std::nullopt;
  if (is_number(b, 1) || a == b) return 0;
  if (both_known(a, b))
    return b.integer_value() == -1 ? Expression(0) : Expression(a.integer_value() % b.integer_value());
  if (b.is_integer() && exact_quotient(a, b.integer_value())) return 0;
  return Expression::make(Op::modulo, {a, b});
}

std::optional<Expression> ceiling_of(const Expression& a, const Expression& b) {
  if (is_number(b, 0)) return std::nullopt;
  if (is_number(b, 1)) return a;
  if (both_known(a, b)) {
    const std::int64_t x = a.integer_value(), y = b.integer_value();
    if (y == -1) return product_of(-1, a);
    return x / y + (x % y != 0 && (x < 0) == (y < 0) ? 1 : 0);
  }
  if (a == b) return 1;
  if (b.is_integer()) {
    if (const auto exact = exact_quotient(a, b.integer_value())) return exact;
  }
  return Expression::make(Op::ceil_div, {a, b});
}

std::optional<Expression> power_of(const Expression& base, const Expression& exponent) {
  if (is_number(exponent, 0) || is_number(base, 1)) return 1;
  if (is_number(exponent, 1)) return base;
  if (both_known(base, exponent)) {
    const std::int64_t times = exponent.integer_value();
    if (times < 0 || times > 63) return std::nullopt;
    std::int64_t result = 1;
    for (std::int64_t i = 0; i < times; ++i)
      if (__builtin_mul_overflow(result, base.integer_value(), &result)) return std::nullopt;
    return result;
  }
  return Expression::make(Op::power, {base, exponent});
}

std::optional<Expression> logarithm_of(const Expression& a) {
  // log2(2^x), log2(2^k * 2^x)
  if (a.op() == Op::power && is_number(a.operands()[0], 2)) return a.operands()[1];
  if (a.op() == Op::multiply && a.operands()[0].is_integer() && a.operands()[1].op() == Op::power &&
      is_number(a.operands()[1].operands()[0], 2)) {
    const std::int64_t factor = a.operands()[0].integer_value();
    if (factor > 0 && (factor & (factor - 1)) == 0)
      return sum_of(a.operands()[1].operands()[1], *logarithm_of(factor));
  }
  if (!a.is_integer()) return Expression::make(Op::log2, {a});
  if (a.integer_value() < 1) return std::nullopt;
  return 63 - __builtin_clzll(static_cast<unsigned long long>(a.integer_value()));
}

Expression combination_of(Op op, const Expression& a, const Expression& b) {
  if (both_known(a, b)) return truth(op, a.integer_value(), b.integer_value());
  if (is_comparison(op)) {
    const Expression difference = difference_of(a, b);
    if (difference.is_integer()) return truth(op, difference.integer_value(), 0);
    if (op == Op::greater_equal && a.op() == Op::power && a.operands()[0].is_integer() &&
        a.operands()[0].integer_value() > 0 && b.is_integer() && b.integer_value() <= 1)
      return 1;
    if (is_truth_value(a) && is_number(b, 0) && op == Op::not_equal) return a;
    if (is_truth_value(a) && is_number(b, 0) && op == Op::equal) return negation_of(a);
  }
  if (op == Op::logical_and) {
    if (a.is_integer()) return a.integer_value() == 0 ? Expression(0) : b;
    if (b.is_integer()) return b.integer_value() == 0 ? Expression(0) : a;
  }
  if (op == Op::logical_or) {
    if (a.is_integer()) return a.integer_value() != 0 ? Expression(1) : b;
    if (b.is_integer()) return b.integer_value() != 0 ? Expression(1) : a;
  }
  if (a == b && !is_comparison(op)) return a;
  return Expression::make(op, {a, b});
}

Expression negation_of(const Expression& condition) {
  if (condition.is_integer()) return condition.integer_value() == 0 ? 1 : 0;
  if (is_comparison(condition.op())) return Expression::make(opposite(condition.op()), condition.operands());
  if (condition.op() == Op::logical_not && is_truth_value(condition.operands()[0]))
    return condition.operands()[0];
  if (!is_truth_value(condition)) return combination_of(Op::equal, condition, 0);
  return Expression::make(Op::logical_not, {condition});
}

Expression choice_of(const Expression& condition, const Expression& a, const Expression& b) {
  if (condition.is_integer()) return condition.integer_value() != 0 ? a : b;
  if (a == b) return a;
  // min and max, as people write them.
  const auto& operands = condition.operands();
  if (operands.size() == 2) {
    const Op op = condition.op();
    const bool less = op == Op::less || op == Op::less_equal,
               greater = op == Op::greater || op == Op::greater_equal;
    const bool same = operands[0] == a && operands[1] == b, swapped = operands[0] == b && operands[1] == a;
    if ((less && same) || (greater && swapped)) return combination_of(Op::minimum, a, b);
    if ((greater && same) || (less && swapped)) return combination_of(Op::maximum, a, b);
  }
  // One more where there is a rest: x / y rounded up.
  if (b.op() == Op::divide && difference_of(a, b) == Expression(1) && rounds_up(b, condition))
    return Expression::make(Op::ceil_div, b.operands());
  if (a.op() == Op::divide && difference_of(b, a) == Expression(1) && rounds_up(a, negation_of(condition)))
    return Expression::make(Op::ceil_div, a.operands());
  if (is_number(a, 1) && is_number(b, 0) && is_truth_value(condition)) return condition;
  if (is_number(a, 0) && is_number(b, 1)) return negation_of(condition);
  return Expression::make(Op::conditional, {condition, a, b});
}

Expression substituted(const Expression& expression, const Substitution& replacements) {
  if (expression.op() == Op::name) {
    const auto found = replacements.find(expression.name_text());
    return found == replacements.end() ? expression : found->second;
  }
  if (expression.operands().empty()) return expression;
  const bool concerned = std::any_of(replacements.begin(), replacements.end(),
                                     [&](const auto& one) { return mentions(expression, one.first); });
  if (!concerned) return expression;
  std::vector<Expression> operands;
  for (const Expression& operand : expression.operands())
    operands.push_back(substituted(operand, replacements));
  const auto or_else = [&](const std::optional<Expression>& simple) {
    return simple ? *simple : Expression::make(expression.op(), operands);
  };
  switch (expression.op()) {
    case Op::negate:
      return product_of(-1, operands[0]);
    case Op::logical_not:
      return negation_of(operands[0]);
    case Op::add:
      return sum_of(operands[0], operands[1]);
    case Op::subtract:
      return difference_of(operands[0], operands[1]);
    case Op::multiply:
      return product_of(operands[0], operands[1]);
    case Op::divide:
      return or_else(quotient_of(operands[0], operands[1]));
    case Op::modulo:
      return or_else(remainder_of(operands[0], operands[1]));
    case Op::ceil_div:
      return or_else(ceiling_of(operands[0], operands[1]));
    case Op::power:
      return or_else(power_of(operands[0], operands[1]));
    case Op::log2:
      return or_else(logarithm_of(operands[0]));
    case Op::conditional:
      return choice_of(operands[0], operands[1], operands[2]);
    default:
      return operands.size() == 2 ? combination_of(expression.op(), operands[0], operands[1])
                                  : Expression::make(expression.op(), operands);
  }
}

bool mentions(const Expression& expression, const std::string& name) {
  if (expression.op() == Op::name) return expression.name_text() == name;
  const auto& operands = expression.operands();
  return std::any_of(operands.begin(), operands.end(),
                     [&](const Expression& operand) { return mentions(operand, name); });
}

std::optional<Expression> passes_of(const Expression& condition, const std::string& t) {
  if (condition.is_integer())
    return condition.integer_value() == 0 ? std::optional<Expression>(0) : std::nullopt;
  if (condition.op() == Op::logical_and) {
    const auto a = passes_of(condition.operands()[0], t), b = passes_of(condition.operands()[1], t);
    if (!a || !b) return std::nullopt;
    return combination_of(Op::minimum, *a, *b);
  }
  if (!is_comparison(condition.op())) {
    if (is_truth_value(condition)) return std::nullopt;
    return passes_of(Expression::make(Op::not_equal, {condition, 0}), t);
  }
  if (!mentions(condition, t)) return std::nullopt;
  Expression left = condition.operands()[0], right = condition.operands()[1];
  Op op = condition.op();
  if (!mentions(left, t)) {
    std::swap(left, right);
    op = mirrored(op);
  }
  if (mentions(right, t)) {
    left = difference_of(left, right);
    right = 0;
  }
  const auto progress = progress_of(left, t);
  if (!progress) return std::nullopt;
  if (progress->step) return passes_of_line(op, progress->start, *progress->step, right);
  return passes_of_power(op, *progress, right);
}

Expression first_counter(int line) {
  return Expression::name(fmt::format("i_{}", line));
}

std::optional<Expression> first_without(const Expression& condition, const std::string& t, int line) {
  const Expression counter = first_counter(line);
  const Expression leaves = opposite_of(substituted(condition, {{t, counter}}));
  if (!mentions(leaves, counter.name_text()) || has_first(leaves)) return std::nullopt;
  return Expression::make(Op::first, {counter, leaves});
}

}  // namespace warptime::compiling
