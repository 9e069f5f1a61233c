// Expression -> a count (whole numbers, checked) or a number (real).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/expression_arithmetic.h"

namespace warptime {
namespace {

using Op = Expression::Op;

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
        return binary(e, Op::subtract, 0, evaluate(operands[0]));
      case Op::logical_not:
        return evaluate(operands[0]) == 0;
      case Op::log2:
        return log2(e, evaluate(operands[0]));
      default: {
        const std::int64_t a = evaluate(operands[0]);
        const std::int64_t b = evaluate(operands[1]);
        return binary(e, e.op(), a, b);
      }
    }
  }

 private:
  std::int64_t fail(const Expression& e, std::string what) {
    failure_.set(std::move(what), e);
    return 0;
  }

  std::int64_t whole(const Expression& e) {
    const double value = e.decimal_value();
    if (value != std::floor(value)) return fail(e, "a whole number is needed");
    if (value < -0x1p63 || value >= 0x1p63) return fail(e, arithmetic::kOverflow);
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

  std::int64_t binary(const Expression& e, Op op, std::int64_t a, std::int64_t b) {
    if (failure_) return 0;
    std::int64_t result = 0;
    const char* const wrong = arithmetic::binary(op, a, b, result);
    return wrong != nullptr ? fail(e, wrong) : result;
  }

  std::int64_t log2(const Expression& e, std::int64_t value) {
    if (failure_) return 0;
    if (value < 1) return fail(e, fmt::format("log2 of {}", value));
    return arithmetic::log2(value);
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
  if (arithmetic::too_large(expression)) {
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
