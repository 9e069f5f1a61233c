#include "simulator/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "simulator/expression_node.h"

namespace warptime {

namespace {

constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();

std::shared_ptr<const Expression::Node> leaf(Expression::Op op, std::int64_t integer, double decimal,
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
    for (std::int64_t i = 0; i <= most; ++i) list.push_back(leaf(Expression::Op::integer, i, 0, {}));
    return list;
  }();
  static const std::shared_ptr<const Expression::Node> none;
  return value >= 0 && value <= most ? numbers[static_cast<std::size_t>(value)] : none;
}

}  // namespace

Expression::Expression(std::int64_t value) : node_(small_number(value)) {
  if (!node_) node_ = leaf(Op::integer, value, 0, {});
}

Expression Expression::decimal(double value) {
  assert(std::isfinite(value));
  return Expression(leaf(Op::decimal, 0, value, {}));
}

Expression Expression::name(std::string name) {
  assert(is_name(name));
  return Expression(leaf(Op::name, 0, 0, std::move(name)));
}

Expression Expression::make(Op op, std::vector<Expression> operands) {
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

Expression::Op Expression::op() const {
  return node_->op;
}

std::int64_t Expression::integer_value() const {
  assert(op() == Op::integer);
  return node_->integer;
}

double Expression::decimal_value() const {
  assert(op() == Op::decimal);
  return node_->decimal;
}

const std::string& Expression::name_text() const {
  assert(op() == Op::name);
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
  if (op() == Op::name && std::find(into.begin(), into.end(), node_->name) == into.end()) {
    into.push_back(node_->name);
  }
  for (const Expression& operand : operands()) operand.collect_names(into);
}

Expression Expression::substitute(const std::map<std::string, Expression, std::less<>>& replacements) const {
  if (op() == Op::name) {
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

bool operands_allowed(Expression::Op op, std::size_t count) {
  using Op = Expression::Op;
  switch (op) {
    case Op::integer:
    case Op::decimal:
    case Op::name:
      return count == 0;
    case Op::negate:
    case Op::logical_not:
    case Op::log2:
      return count == 1;
    case Op::minimum:
    case Op::maximum:
      return count >= 2;
    case Op::conditional:
      return count == 3;
    default:
      return count == 2;
  }
}

namespace {

using Op = Expression::Op;

// How tightly an expression holds together when printed, loosest first.
enum Binding { kOr = 1, kAnd, kComparison, kSum, kProduct, kUnary, kPower, kTightest, kParentheses };

struct Operator {
  std::string_view text;
  Binding binding;
};

Operator operator_of(Op op) {
  switch (op) {
    case Op::logical_or:
      return {"||", kOr};
    case Op::logical_and:
      return {"&&", kAnd};
    case Op::less:
      return {"<", kComparison};
    case Op::less_equal:
      return {"<=", kComparison};
    case Op::greater:
      return {">", kComparison};
    case Op::greater_equal:
      return {">=", kComparison};
    case Op::equal:
      return {"==", kComparison};
    case Op::not_equal:
      return {"!=", kComparison};
    case Op::add:
      return {"+", kSum};
    case Op::subtract:
      return {"-", kSum};
    case Op::multiply:
      return {"*", kProduct};
    case Op::divide:
      return {"/", kProduct};
    case Op::modulo:
      return {"%", kProduct};
    case Op::power:
      return {"^", kPower};
    case Op::negate:
      return {"-", kUnary};
    case Op::logical_not:
      return {"!", kUnary};
    case Op::minimum:
      return {"min", kTightest};
    case Op::maximum:
      return {"max", kTightest};
    case Op::ceil_div:
      return {"ceil_div", kTightest};
    case Op::log2:
      return {"log2", kTightest};
    case Op::conditional:
      return {"if", kTightest};
    case Op::integer:
    case Op::decimal:
    case Op::name:
      break;
  }
  return {"", kTightest};
}

bool is_number(const Expression& e) {
  return e.op() == Op::integer || e.op() == Op::decimal;
}

bool is_negative_number(const Expression& e) {
  return (e.op() == Op::integer && e.integer_value() < 0) ||
         (e.op() == Op::decimal && std::signbit(e.decimal_value()));
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
  const Operator op = operator_of(e.op());
  const auto& operands = e.operands();
  switch (e.op()) {
    case Op::integer:
      out += fmt::format("{}", e.integer_value());
      break;
    case Op::decimal:
      out += decimal_text(e.decimal_value());
      break;
    case Op::name:
      out += e.name_text();
      break;
    case Op::negate:
    case Op::logical_not:
      out += op.text;
      // -(5), as -5 is a number and not the negation of one.
      print(operands[0], e.op() == Op::negate && is_number(operands[0]) ? kParentheses : kUnary, out);
      break;
    case Op::minimum:
    case Op::maximum:
    case Op::ceil_div:
    case Op::log2:
    case Op::conditional:
      out += op.text;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        out += i == 0 ? "(" : ", ";
        print(operands[i], kOr, out);
      }
      out += ')';
      break;
    case Op::power:
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
