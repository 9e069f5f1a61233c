// Expression -> a count (whole numbers, checked) or a number (real).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/base/did_you_mean.h"
#include "simulator/program/expression/arithmetic.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;

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

// What a first() counts with, while its condition is looked at.
struct FirstCounter {
  const std::string* name = nullptr;
  std::int64_t value = 0;
};

// The least number with which `holds` does, as long as nothing fails.
template <class Holds>
std::int64_t first_of(const Expression& e, FirstCounter& counter, Failure& failure, Holds holds) {
  if (counter.name != nullptr) {
    failure.set("a `first` inside another one", e);
    return 0;
  }
  const std::int64_t most = arithmetic::most_tried(e.operands()[1]);
  counter = {&e.operands()[0].name_text(), 0};
  while (counter.value < most && !holds(e.operands()[1]) && !failure) ++counter.value;
  counter.name = nullptr;
  if (counter.value == most)
    failure.set(fmt::format("the condition holds for none of the first {} numbers", most), e);
  return counter.value;
}

class CountEvaluator {
 public:
  explicit CountEvaluator(const Bindings& bindings) : bindings_(bindings) {}
  const Failure& failure() const { return failure_; }

  std::int64_t evaluate(const Expression& e) {
    if (failure_) return 0;
    const auto& operands = e.operands();
    switch (e.op()) {
      case Operator::integer:
        return e.integer_value();
      case Operator::decimal:
        return whole(e);
      case Operator::name:
        return bound(e);
      case Operator::logical_and:
        return evaluate(operands[0]) != 0 && evaluate(operands[1]) != 0;
      case Operator::logical_or:
        return evaluate(operands[0]) != 0 || evaluate(operands[1]) != 0;
      case Operator::conditional:
        return evaluate(evaluate(operands[0]) != 0 ? operands[1] : operands[2]);
      case Operator::minimum:
      case Operator::maximum:
        return extreme(e);
      case Operator::negate:
        return binary(e, Operator::subtract, 0, evaluate(operands[0]));
      case Operator::logical_not:
        return evaluate(operands[0]) == 0;
      case Operator::log2:
        return log2(e, evaluate(operands[0]));
      case Operator::first:
        return first_of(e, counter_, failure_,
                        [this](const Expression& holds) { return evaluate(holds) != 0; });
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
    if (value != std::floor(value)) return fail(e, "the value must be a whole number");
    if (value < -0x1p63 || value >= 0x1p63) return fail(e, arithmetic::kOverflow);
    return static_cast<std::int64_t>(value);
  }

  std::int64_t bound(const Expression& e) {
    if (counter_.name != nullptr && *counter_.name == e.name_text()) return counter_.value;
    const auto found = bindings_.find(e.name_text());
    if (found != bindings_.end()) return found->second;
    failure_.set_unbound(e.name_text(), bindings_);
    return 0;
  }

  std::int64_t extreme(const Expression& e) {
    std::int64_t best = evaluate(e.operands()[0]);
    for (std::size_t i = 1; i < e.operands().size(); ++i) {
      const std::int64_t value = evaluate(e.operands()[i]);
      best = e.op() == Operator::minimum ? std::min(best, value) : std::max(best, value);
    }
    return best;
  }

  std::int64_t binary(const Expression& e, Operator op, std::int64_t a, std::int64_t b) {
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
  FirstCounter counter_;
  Failure failure_;
};

class NumberEvaluator {
 public:
  explicit NumberEvaluator(const Bindings& bindings) : bindings_(bindings) {}
  const Failure& failure() const { return failure_; }

  double evaluate(const Expression& e) {
    if (failure_) return 0;
    const double value = evaluate_unchecked(e);
    return failure_ || std::isfinite(value) ? value : fail(e, "the result is too large for a number");
  }

 private:
  double fail(const Expression& e, std::string what) {
    failure_.set(std::move(what), e);
    return 0;
  }

  double evaluate_unchecked(const Expression& e) {
    const auto& operands = e.operands();
    switch (e.op()) {
      case Operator::integer:
        return static_cast<double>(e.integer_value());
      case Operator::decimal:
        return e.decimal_value();
      case Operator::first:
        return static_cast<double>(first_of(
            e, counter_, failure_, [this](const Expression& holds) { return evaluate(holds) != 0; }));
      case Operator::name: {
        if (counter_.name != nullptr && *counter_.name == e.name_text())
          return static_cast<double>(counter_.value);
        const auto found = bindings_.find(e.name_text());
        if (found != bindings_.end()) return static_cast<double>(found->second);
        failure_.set_unbound(e.name_text(), bindings_);
        return 0;
      }
      case Operator::logical_and:
        return evaluate(operands[0]) != 0 && evaluate(operands[1]) != 0;
      case Operator::logical_or:
        return evaluate(operands[0]) != 0 || evaluate(operands[1]) != 0;
      case Operator::conditional:
        return evaluate(evaluate(operands[0]) != 0 ? operands[1] : operands[2]);
      case Operator::minimum:
      case Operator::maximum: {
        double best = evaluate(operands[0]);
        for (std::size_t i = 1; i < operands.size(); ++i) {
          const double value = evaluate(operands[i]);
          best = e.op() == Operator::minimum ? std::min(best, value) : std::max(best, value);
        }
        return best;
      }
      case Operator::negate:
        return -evaluate(operands[0]);
      case Operator::logical_not:
        return evaluate(operands[0]) == 0;
      case Operator::log2: {
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
    const bool divides =
        e.op() == Operator::divide || e.op() == Operator::modulo || e.op() == Operator::ceil_div;
    if (divides && b == 0) return fail(e, "division by zero");
    switch (e.op()) {
      case Operator::add:
        return a + b;
      case Operator::subtract:
        return a - b;
      case Operator::multiply:
        return a * b;
      case Operator::divide:
        return a / b;
      case Operator::modulo: {
        const double remainder = std::fmod(a, b);
        return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
      }
      case Operator::ceil_div:
        return std::ceil(a / b);
      case Operator::power:
        return std::pow(a, b);
      case Operator::less:
        return a < b;
      case Operator::less_equal:
        return a <= b;
      case Operator::greater:
        return a > b;
      case Operator::greater_equal:
        return a >= b;
      case Operator::equal:
        return a == b;
      case Operator::bit_and:
      case Operator::bit_or:
      case Operator::bit_xor:
        return of_bits(e, a, b);
      default:
        return a != b;
    }
  }

  double of_bits(const Expression& e, double a, double b) {
    for (const double value : {a, b})
      if (value != std::floor(value) || value < -0x1p63 || value >= 0x1p63)
        return fail(e, "the bits of a number that is not a whole number of 64 bits");
    std::int64_t result = 0;
    arithmetic::binary(e.op(), static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), result);
    return static_cast<double>(result);
  }

  const Bindings& bindings_;
  FirstCounter counter_;
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
  if (expression.is_integer()) return expression.integer_value();
  return evaluate_with<CountEvaluator, std::int64_t>(expression, bindings);
}

Result<double> evaluate_number(const Expression& expression, const Bindings& bindings) {
  if (expression.is_integer()) return static_cast<double>(expression.integer_value());
  return evaluate_with<NumberEvaluator, double>(expression, bindings);
}

}  // namespace warptime
