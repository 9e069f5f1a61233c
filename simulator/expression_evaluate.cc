// Expression -> a count (whole numbers, checked) or a number (real).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "simulator/expression.h"

namespace warptime {
namespace {

using Op = Expression::Op;

constexpr std::uint32_t kDeepestTree = 10'000;
constexpr std::uint64_t kLargestTree = 1'000'000;
constexpr std::size_t kLongestQuote = 80;

// Both evaluations stop at the first failure, which is remembered here.
class Failure {
 public:
  void set(std::string what, const Expression& where) {
    if (failed_) return;
    failed_ = true;
    std::string quote = to_string(where);
    if (quote.size() > kLongestQuote) quote = quote.substr(0, kLongestQuote) + "…";
    message_ = fmt::format("{} in `{}`", what, quote);
  }
  void set_unbound(const std::string& name, const Bindings& bindings) {
    if (failed_) return;
    failed_ = true;
    message_ = fmt::format("`{}` has no value", name);
    std::vector<std::string> known;
    for (const auto& [bound, value] : bindings) known.push_back(bound);
    if (const std::string near = nearest(name, known); !near.empty()) {
      hint_ = fmt::format("did you mean `{}`?", near);
    }
  }
  explicit operator bool() const { return failed_; }
  Diagnostic diagnostic() const { return error(message_, hint_); }

 private:
  bool failed_ = false;
  std::string message_, hint_;
};

class CountEvaluator {
 public:
  explicit CountEvaluator(const Bindings& bindings) : bindings_(bindings) {}
  const Failure& failure() const { return failure_; }

  std::int64_t evaluate(const Expression& e) {
    if (failure_) return 0;
    const auto& operands = e.operands();
    switch (e.op()) {
      case Op::integer:
        return e.integer_value();
      case Op::decimal:
        return whole(e);
      case Op::name:
        return bound(e);
      case Op::logical_and:
        return evaluate(operands[0]) != 0 && evaluate(operands[1]) != 0;
      case Op::logical_or:
        return evaluate(operands[0]) != 0 || evaluate(operands[1]) != 0;
      case Op::conditional:
        return evaluate(evaluate(operands[0]) != 0 ? operands[1] : operands[2]);
      case Op::minimum:
      case Op::maximum:
        return extreme(e);
      case Op::negate:
        return subtract(e, 0, evaluate(operands[0]));
      case Op::logical_not:
        return evaluate(operands[0]) == 0;
      case Op::log2:
        return log2(e, evaluate(operands[0]));
      default: {
        const std::int64_t a = evaluate(operands[0]);
        const std::int64_t b = evaluate(operands[1]);
        return failure_ ? 0 : binary(e, a, b);
      }
    }
  }

 private:
  std::int64_t fail(const Expression& e, std::string what) {
    failure_.set(std::move(what), e);
    return 0;
  }
  std::int64_t overflow(const Expression& e) { return fail(e, "the result does not fit 64 bits"); }

  std::int64_t whole(const Expression& e) {
    const double value = e.decimal_value();
    if (value != std::floor(value)) return fail(e, "a whole number is needed");
    if (value < -0x1p63 || value >= 0x1p63) return overflow(e);
    return static_cast<std::int64_t>(value);
  }

  std::int64_t bound(const Expression& e) {
    const auto found = bindings_.find(e.name_text());
    if (found != bindings_.end()) return found->second;
    failure_.set_unbound(e.name_text(), bindings_);
    return 0;
  }

  std::int64_t extreme(const Expression& e) {
    std::int64_t best = evaluate(e.operands()[0]);
    for (std::size_t i = 1; i < e.operands().size(); ++i) {
      const std::int64_t value = evaluate(e.operands()[i]);
      best = e.op() == Op::minimum ? std::min(best, value) : std::max(best, value);
    }
    return best;
  }

  std::int64_t binary(const Expression& e, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    switch (e.op()) {
      case Op::add:
        return __builtin_add_overflow(a, b, &result) ? overflow(e) : result;
      case Op::subtract:
        return subtract(e, a, b);
      case Op::multiply:
        return __builtin_mul_overflow(a, b, &result) ? overflow(e) : result;
      case Op::divide:
      case Op::modulo:
      case Op::ceil_div:
        return divide(e, a, b);
      case Op::power:
        return power(e, a, b);
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
      default:
        return a != b;
    }
  }

  std::int64_t subtract(const Expression& e, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_sub_overflow(a, b, &result) ? overflow(e) : result;
  }

  std::int64_t divide(const Expression& e, std::int64_t a, std::int64_t b) {
    if (b == 0) return fail(e, "division by zero");
    if (b == -1) return e.op() == Op::modulo ? 0 : subtract(e, 0, a);
    const std::int64_t quotient = a / b, remainder = a % b;
    const bool same_sign = (remainder < 0) == (b < 0);
    if (e.op() == Op::modulo) return remainder != 0 && !same_sign ? remainder + b : remainder;
    if (e.op() == Op::ceil_div) return remainder != 0 && same_sign ? quotient + 1 : quotient;
    return remainder != 0 && !same_sign ? quotient - 1 : quotient;
  }

  std::int64_t power(const Expression& e, std::int64_t base, std::int64_t exponent) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    if (exponent < 0) return fail(e, "a negative power is no whole number");
    std::int64_t result = 1;
    while (true) {
      if (exponent % 2 != 0 && __builtin_mul_overflow(result, base, &result)) return overflow(e);
      exponent /= 2;
      if (exponent == 0) return result;
      if (__builtin_mul_overflow(base, base, &base)) return overflow(e);
    }
  }

  std::int64_t log2(const Expression& e, std::int64_t value) {
    if (failure_) return 0;
    if (value < 1) return fail(e, fmt::format("log2 of {}", value));
    return std::bit_width(static_cast<std::uint64_t>(value)) - 1;
  }

  const Bindings& bindings_;
  Failure failure_;
};

class NumberEvaluator {
 public:
  explicit NumberEvaluator(const Bindings& bindings) : bindings_(bindings) {}
  const Failure& failure() const { return failure_; }

  double evaluate(const Expression& e) {
    if (failure_) return 0;
    const double value = evaluate_unchecked(e);
    return failure_ || std::isfinite(value) ? value : fail(e, "the result is out of the range of numbers");
  }

 private:
  double fail(const Expression& e, std::string what) {
    failure_.set(std::move(what), e);
    return 0;
  }

  double evaluate_unchecked(const Expression& e) {
    const auto& operands = e.operands();
    switch (e.op()) {
      case Op::integer:
        return static_cast<double>(e.integer_value());
      case Op::decimal:
        return e.decimal_value();
      case Op::name: {
        const auto found = bindings_.find(e.name_text());
        if (found != bindings_.end()) return static_cast<double>(found->second);
        failure_.set_unbound(e.name_text(), bindings_);
        return 0;
      }
      case Op::logical_and:
        return evaluate(operands[0]) != 0 && evaluate(operands[1]) != 0;
      case Op::logical_or:
        return evaluate(operands[0]) != 0 || evaluate(operands[1]) != 0;
      case Op::conditional:
        return evaluate(evaluate(operands[0]) != 0 ? operands[1] : operands[2]);
      case Op::minimum:
      case Op::maximum: {
        double best = evaluate(operands[0]);
        for (std::size_t i = 1; i < operands.size(); ++i) {
          const double value = evaluate(operands[i]);
          best = e.op() == Op::minimum ? std::min(best, value) : std::max(best, value);
        }
        return best;
      }
      case Op::negate:
        return -evaluate(operands[0]);
      case Op::logical_not:
        return evaluate(operands[0]) == 0;
      case Op::log2: {
        const double value = evaluate(operands[0]);
        if (failure_) return 0;
        return value < 1 ? fail(e, fmt::format("log2 of {}", value)) : std::log2(value);
      }
      default: {
        const double a = evaluate(operands[0]);
        const double b = evaluate(operands[1]);
        return failure_ ? 0 : binary(e, a, b);
      }
    }
  }

  double binary(const Expression& e, double a, double b) {
    const bool divides = e.op() == Op::divide || e.op() == Op::modulo || e.op() == Op::ceil_div;
    if (divides && b == 0) return fail(e, "division by zero");
    switch (e.op()) {
      case Op::add:
        return a + b;
      case Op::subtract:
        return a - b;
      case Op::multiply:
        return a * b;
      case Op::divide:
        return a / b;
      case Op::modulo: {
        const double remainder = std::fmod(a, b);
        return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
      }
      case Op::ceil_div:
        return std::ceil(a / b);
      case Op::power:
        return std::pow(a, b);
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
      default:
        return a != b;
    }
  }

  const Bindings& bindings_;
  Failure failure_;
};

template <class Evaluator, class Value>
Result<Value> evaluate_with(const Expression& expression, const Bindings& bindings) {
  if (expression.depth() > kDeepestTree || expression.size() > kLargestTree) {
    return error(fmt::format("the expression is too large: {} levels, {} nodes", expression.depth(),
                             expression.size()));
  }
  Evaluator evaluator(bindings);
  const Value value = evaluator.evaluate(expression);
  if (evaluator.failure()) return evaluator.failure().diagnostic();
  return value;
}

}  // namespace

Result<std::int64_t> evaluate_count(const Expression& expression, const Bindings& bindings) {
  return evaluate_with<CountEvaluator, std::int64_t>(expression, bindings);
}

Result<double> evaluate_number(const Expression& expression, const Bindings& bindings) {
  return evaluate_with<NumberEvaluator, double>(expression, bindings);
}

}  // namespace warptime
