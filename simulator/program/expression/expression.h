// Expressions over parameters: the counts, conditions, durations and launch sizes of kernel programs and
// plans.
//
// Grammar, loosest first:  ||   &&   == != < <= > >=   + -   * / %   unary - !   ^   and, tightest: numbers,
// names, ( ), min(a, b, …)  max(a, b, …)  ceil_div(a, b)  log2(a)  if(c, a, b)  bit_and(a, b)  bit_or(a, b)
// bit_xor(a, b), these three of the bits of whole numbers in two's complement; first(k, c), the least k = 0, 1, 2, … with
// which the condition c holds, where k is a name that has this meaning in c alone, and c has no first() itself.
// `^` is power, right-associative. A comparison is 1 or 0.
// As a count (or condition) everything is a 64-bit whole number: `/` rounds down, `%` has the divisor's sign
// (so that a == b * (a / b) + a % b), log2 rounds down; an overflow or a division by zero is an error, never
// a wrapped value. As a number (a duration in cycles) `/` and log2 are real.
// `&&`, `||` and if() evaluate only what they need. A name is letters, digits, `_` and inner dots: `K`,
// `blockDim.x`.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
    first,                                             // two: the name that counts, and the condition
  };
  // clang-format on

  Expression() : Expression(0) {}
  Expression(std::int64_t value);                                          // NOLINT: implicit on purpose
  Expression(int value) : Expression(static_cast<std::int64_t>(value)) {}  // NOLINT
  Expression(const Expression& other) noexcept : node_(other.node_) { retain(node_); }
  Expression(Expression&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Expression& operator=(const Expression& other) noexcept {
    retain(other.node_);
    release(std::exchange(node_, other.node_));
    return *this;
  }
  Expression& operator=(Expression&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Expression() { release(node_); }
  static Expression decimal(double value);
  static Expression name(std::string name);
  static Expression make(Operator op, std::span<const Expression> operands);
  static Expression make(Operator op, std::initializer_list<Expression> operands) {
    return make(op, std::span(operands.begin(), operands.size()));
  }
  static Expression make(Operator op, Expression a, Expression b);
  // A name that is never freed: for those that many programs share, so that threads do not contend for the count of
  // its users.
  static Expression permanent_name(std::string name);

  // Errors: a Diagnostic with `column` set inside `text` (no file, line 1). Parentheses may be nested 200
  // deep, and the tree be 1000 deep.
  static Result<Expression> parse(std::string_view text);

  Operator op() const { return node_->op; }
  std::int64_t integer_value() const {  // Operator::integer only
    assert(op() == Operator::integer);
    return node_->integer;
  }
  double decimal_value() const {  // Operator::decimal only
    assert(op() == Operator::decimal);
    return node_->decimal;
  }
  const std::string& name_text() const;          // Operator::name only
  std::span<const Expression> operands() const;  // empty for leaves

  bool is_integer() const { return op() == Operator::integer; }
  std::uint32_t depth() const { return node_->depth; }  // of the tree; a leaf has 1
  // The nodes of the tree, shared ones counted each time; saturates.
  std::uint64_t size() const { return node_->size; }
  // The parameters it uses, in order of first appearance, each once. The name that a first() counts with is none.
  std::vector<std::string> names() const;
  void collect_names(std::vector<std::string>& into) const;
  Expression substitute(const std::map<std::string, Expression, std::less<>>& replacements) const;

  friend bool operator==(const Expression& a, const Expression& b);  // the same tree

 private:
  // Programs hold many: a node is one block of memory, with its operands, or its name, right behind it.
  struct Node {
    mutable std::atomic<std::uint32_t> users = 1;  // Expressions that point to it
    bool permanent = false;  // shared by all threads, never freed, and its users not counted
    Operator op = Operator::integer;
    std::uint32_t operand_count = 0;
    std::uint32_t depth = 1;
    std::uint64_t size = 1;
    union {
      std::int64_t integer = 0;
      double decimal;
    };
  };
  explicit Expression(const Node* node) : node_(node) {}  // takes over the count of one user
  static Node* new_node(Operator op, std::size_t bytes_behind);
  static Node* new_name(std::string name);
  static void destroy(const Node* node);
  static const Node* permanent_number(std::int64_t value);  // null: it has none
  static void retain(const Node* node) {
    if (node != nullptr && !node->permanent) node->users.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(const Node* node) {
    if (node == nullptr || node->permanent) return;
    if (node->users.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(node);
  }

  const Node* node_;  // null only where it was moved from
};

inline std::span<const Expression> Expression::operands() const {
  return {reinterpret_cast<const Expression*>(node_ + 1), node_->operand_count};
}

// Whether `text` is a valid name in an expression.
bool is_name(std::string_view text);

// Minimal parentheses, spaces around binary operators: `K / 4`, `2 * (K - 1)`. parse(to_string(e)) == e.
std::string to_string(const Expression& expression);
void append_text(const Expression& expression, std::string& out);  // the same at the end of `out`

// Errors: an unbound name (says which), a tree deeper than 10,000 or larger than 1,000,000 nodes, overflow of
// 64 bits, division by zero, log2 of a number below 1, a decimal that is not a whole number, as a count; a first() whose
// condition does not hold among the first million numbers (fewer where it is long), or that is inside another.
Result<std::int64_t> evaluate_count(const Expression& expression, const Bindings& bindings);
Result<double> evaluate_number(const Expression& expression, const Bindings& bindings);

}  // namespace warptime
