#include "simulator/program/expression/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "simulator/base/integer_math.h"
#include "simulator/program/expression/node.h"

namespace warptime {

namespace {

std::shared_ptr<const Expression::Node> leaf(Expression::Operator op, std::int64_t integer, double decimal,
                                             std::string name) {
  auto node = std::make_shared<Expression::Node>();
  node->op = op;
  node->integer = integer;
  node->decimal = decimal;
  node->name = std::move(name);
  return node;
}

}  // namespace

namespace {

// Programs are full of small numbers: those are made once.
const std::shared_ptr<const Expression::Node>& small_number(std::int64_t value) {
  constexpr std::int64_t most = 1024;
  static const std::vector<std::shared_ptr<const Expression::Node>> numbers = [] {
    std::vector<std::shared_ptr<const Expression::Node>> list;
    for (std::int64_t i = 0; i <= most; ++i) list.push_back(leaf(Expression::Operator::integer, i, 0, {}));
    return list;
  }();
  static const std::shared_ptr<const Expression::Node> none;
  return value >= 0 && value <= most ? numbers[static_cast<std::size_t>(value)] : none;
}

}  // namespace

Expression::Expression(std::int64_t value) : node_(small_number(value)) {
  if (!node_) node_ = leaf(Operator::integer, value, 0, {});
}

Expression Expression::decimal(double value) {
  assert(std::isfinite(value));
  return Expression(leaf(Operator::decimal, 0, value, {}));
}

Expression Expression::name(std::string name) {
  assert(is_name(name));
  return Expression(leaf(Operator::name, 0, 0, std::move(name)));
}

Expression Expression::make(Operator op, std::vector<Expression> operands) {
  assert(operands_allowed(op, operands.size()));
  auto node = std::make_shared<Node>();
  node->op = op;
  for (const Expression& operand : operands) {
    node->depth = std::max(node->depth, operand.node_->depth + 1);
    if (__builtin_add_overflow(node->size, operand.node_->size, &node->size)) node->size = kSaturated;
  }
  node->operands = std::move(operands);
  return Expression(std::move(node));
}

Expression::Operator Expression::op() const {
  return node_->op;
}

std::int64_t Expression::integer_value() const {
  assert(op() == Operator::integer);
  return node_->integer;
}

double Expression::decimal_value() const {
  assert(op() == Operator::decimal);
  return node_->decimal;
}

const std::string& Expression::name_text() const {
  assert(op() == Operator::name);
  return node_->name;
}

const std::vector<Expression>& Expression::operands() const {
  return node_->operands;
}

std::uint32_t Expression::depth() const {
  return node_->depth;
}

std::uint64_t Expression::size() const {
  return node_->size;
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> result;
  collect_names(result);
  return result;
}

void Expression::collect_names(std::vector<std::string>& into) const {
  if (op() == Operator::name && std::find(into.begin(), into.end(), node_->name) == into.end()) {
    into.push_back(node_->name);
  }
  for (const Expression& operand : operands()) operand.collect_names(into);
}

Expression Expression::substitute(const std::map<std::string, Expression, std::less<>>& replacements) const {
  if (op() == Operator::name) {
    const auto found = replacements.find(node_->name);
    return found == replacements.end() ? *this : found->second;
  }
  if (operands().empty()) return *this;
  std::vector<Expression> replaced;
  replaced.reserve(operands().size());
  bool changed = false;
  for (const Expression& operand : operands()) {
    replaced.push_back(operand.substitute(replacements));
    changed = changed || replaced.back().node_ != operand.node_;
  }
  return changed ? make(op(), std::move(replaced)) : *this;
}

bool operator==(const Expression& a, const Expression& b) {
  if (a.node_ == b.node_) return true;
  return a.op() == b.op() && a.node_->integer == b.node_->integer && a.node_->decimal == b.node_->decimal &&
         a.node_->name == b.node_->name && a.operands() == b.operands();
}

bool is_name(std::string_view text) {
  const auto starts = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool part_begins = true;
  for (const char c : text) {
    if (c == '.') {
      if (part_begins) return false;
      part_begins = true;
      continue;
    }
    if (!starts(c) && (part_begins || c < '0' || c > '9')) return false;
    part_begins = false;
  }
  return !part_begins;
}

bool operands_allowed(Expression::Operator op, std::size_t count) {
  using Operator = Expression::Operator;
  switch (op) {
    case Operator::integer:
    case Operator::decimal:
    case Operator::name:
      return count == 0;
    case Operator::negate:
    case Operator::logical_not:
    case Operator::log2:
      return count == 1;
    case Operator::minimum:
    case Operator::maximum:
      return count >= 2;
    case Operator::conditional:
      return count == 3;
    default:
      return count == 2;
  }
}

namespace {

using Operator = Expression::Operator;

// How tightly an expression holds together when printed, loosest first.
enum Binding { kOr = 1, kAnd, kComparison, kSum, kProduct, kUnary, kPower, kTightest, kParentheses };

struct OperatorText {
  std::string_view text;
  Binding binding;
};

OperatorText operator_of(Operator op) {
  switch (op) {
    case Operator::logical_or:
      return {"||", kOr};
    case Operator::logical_and:
      return {"&&", kAnd};
    case Operator::less:
      return {"<", kComparison};
    case Operator::less_equal:
      return {"<=", kComparison};
    case Operator::greater:
      return {">", kComparison};
    case Operator::greater_equal:
      return {">=", kComparison};
    case Operator::equal:
      return {"==", kComparison};
    case Operator::not_equal:
      return {"!=", kComparison};
    case Operator::add:
      return {"+", kSum};
    case Operator::subtract:
      return {"-", kSum};
    case Operator::multiply:
      return {"*", kProduct};
    case Operator::divide:
      return {"/", kProduct};
    case Operator::modulo:
      return {"%", kProduct};
    case Operator::power:
      return {"^", kPower};
    case Operator::negate:
      return {"-", kUnary};
    case Operator::logical_not:
      return {"!", kUnary};
    case Operator::minimum:
      return {"min", kTightest};
    case Operator::maximum:
      return {"max", kTightest};
    case Operator::ceil_div:
      return {"ceil_div", kTightest};
    case Operator::log2:
      return {"log2", kTightest};
    case Operator::conditional:
      return {"if", kTightest};
    case Operator::bit_and:
      return {"bit_and", kTightest};
    case Operator::bit_or:
      return {"bit_or", kTightest};
    case Operator::bit_xor:
      return {"bit_xor", kTightest};
    case Operator::integer:
    case Operator::decimal:
    case Operator::name:
      break;
  }
  return {"", kTightest};
}

bool is_number(const Expression& e) {
  return e.op() == Operator::integer || e.op() == Operator::decimal;
}

bool is_negative_number(const Expression& e) {
  return (e.op() == Operator::integer && e.integer_value() < 0) ||
         (e.op() == Operator::decimal && std::signbit(e.decimal_value()));
}

Binding binding_of(const Expression& e) {
  return is_negative_number(e) ? kUnary : operator_of(e.op()).binding;
}

std::string decimal_text(double value) {
  std::string text = fmt::format("{}", value);  // the shortest that reads back to the same number
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void print(const Expression& e, int at_least, std::string& out) {
  const bool parentheses = binding_of(e) < at_least;
  if (parentheses) out += '(';
  const OperatorText op = operator_of(e.op());
  const auto& operands = e.operands();
  switch (e.op()) {
    case Operator::integer:
      out += fmt::format("{}", e.integer_value());
      break;
    case Operator::decimal:
      out += decimal_text(e.decimal_value());
      break;
    case Operator::name:
      out += e.name_text();
      break;
    case Operator::negate:
    case Operator::logical_not:
      out += op.text;
      // -(5), as -5 is a number and not the negation of one.
      print(operands[0], e.op() == Operator::negate && is_number(operands[0]) ? kParentheses : kUnary, out);
      break;
    case Operator::minimum:
    case Operator::maximum:
    case Operator::ceil_div:
    case Operator::log2:
    case Operator::conditional:
    case Operator::bit_and:
    case Operator::bit_or:
    case Operator::bit_xor:
      out += op.text;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        out += i == 0 ? "(" : ", ";
        print(operands[i], kOr, out);
      }
      out += ')';
      break;
    case Operator::power:
      print(operands[0], kTightest, out);
      out += " ^ ";
      print(operands[1], kUnary, out);
      break;
    default:
      print(operands[0], op.binding, out);
      out += fmt::format(" {} ", op.text);
      print(operands[1], op.binding + 1, out);
      break;
  }
  if (parentheses) out += ')';
}

}  // namespace

std::string to_string(const Expression& expression) {
  std::string out;
  print(expression, kOr, out);
  return out;
}

}  // namespace warptime
