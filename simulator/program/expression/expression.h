// Expressions over parameters: the counts, conditions, durations and launch sizes of kernel programs and
// plans.
//
// Grammar, loosest first:  ||   &&   == != < <= > >=   + -   * / %   unary - !   ^   and, tightest: numbers,
// names, ( ), min(a, b, …)  max(a, b, …)  ceil_div(a, b)  log2(a)  if(c, a, b)  bit_and(a, b)  bit_or(a, b)
// bit_xor(a, b), the last three of the bits of whole numbers in two's complement.
// `^` is power, right-associative. A comparison is 1 or 0.
// As a count (or condition) everything is a 64-bit whole number: `/` rounds down, `%` has the divisor's sign
// (so that a == b * (a / b) + a % b), log2 rounds down; an overflow or a division by zero is an error, never
// a wrapped value. As a number (a duration in cycles) `/` and log2 are real.
// `&&`, `||` and if() evaluate only what they need. A name is letters, digits, `_` and inner dots: `K`,
// `blockDim.x`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime {

using Bindings = std::map<std::string, std::int64_t, std::less<>>;  // parameter name -> value

class Expression {
 public:
  // clang-format off
  enum class Operator : std::uint8_t {
    integer, decimal, name,                            // leaves
    negate, logical_not,                               // one operand
    add, subtract, multiply, divide, modulo, power,    // two
    less, less_equal, greater, greater_equal, equal, not_equal, logical_and, logical_or,
    minimum, maximum,                                  // two or more
    ceil_div, log2, conditional,                       // two, one, three: if(c, a, b)
    bit_and, bit_or, bit_xor,                          // two
  };
  // clang-format on
  struct Node;

  Expression() : Expression(0) {}
  Expression(std::int64_t value);                                          // NOLINT: implicit on purpose
  Expression(int value) : Expression(static_cast<std::int64_t>(value)) {}  // NOLINT
  static Expression decimal(double value);
  static Expression name(std::string name);
  static Expression make(Operator op, std::vector<Expression> operands);

  // Errors: a Diagnostic with `column` set inside `text` (no file, line 1). Parentheses may be nested 200
  // deep, and the tree be 1000 deep.
  static Result<Expression> parse(std::string_view text);

  Operator op() const;
  std::int64_t integer_value() const;               // Operator::integer only
  double decimal_value() const;                     // Operator::decimal only
  const std::string& name_text() const;             // Operator::name only
  const std::vector<Expression>& operands() const;  // empty for leaves

  bool is_integer() const { return op() == Operator::integer; }
  std::uint32_t depth() const;  // of the tree; a leaf has 1
  std::uint64_t size() const;   // nodes of the tree, shared ones counted each time; saturates
  // The parameters it uses, in order of first appearance, each once.
  std::vector<std::string> names() const;
  void collect_names(std::vector<std::string>& into) const;
  Expression substitute(const std::map<std::string, Expression, std::less<>>& replacements) const;

  friend bool operator==(const Expression& a, const Expression& b);  // the same tree

 private:
  explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

// Whether `text` is a valid name in an expression.
bool is_name(std::string_view text);

// Minimal parentheses, spaces around binary operators: `K / 4`, `2 * (K - 1)`. parse(to_string(e)) == e.
std::string to_string(const Expression& expression);

// Errors: an unbound name (says which), a tree deeper than 10,000 or larger than 1,000,000 nodes, overflow of
// 64 bits, division by zero, log2 of a number below 1, a decimal that is not a whole number, as a count.
Result<std::int64_t> evaluate_count(const Expression& expression, const Bindings& bindings);
Result<double> evaluate_number(const Expression& expression, const Bindings& bindings);

}  // namespace warptime
