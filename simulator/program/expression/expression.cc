#include "simulator/program/expression/expression.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <new>

#include "simulator/base/integer_math.h"
#include "simulator/program/expression/node.h"

namespace warptime {

// ---- nodes

namespace {

// A block of memory for nodes. The analyzer makes nodes, which live long, between lists that do not: in the
// heap they would lie far apart, with holes between them. A thread fills one block after the other; the last
// node that is freed frees the block, in whatever thread.
class NodeBlock {
 public:
  static void* allocate(std::size_t size) {
    size = (size + alignment - 1) / alignment * alignment;
    Filling& filling = filling_;
    if (size > filling.left) {
      if (size > most) return make(begin + size, 1) + begin;  // of its own
      filling.retire();
      filling.block = make(bytes, reserved);
      filling.left = bytes - begin;
    }
    char* node = filling.block + (bytes - filling.left);
    filling.left -= size;
    ++filling.nodes;
    return node;
  }
  static void free(const void* node) {
    const auto address = reinterpret_cast<std::uintptr_t>(node);
    forget(reinterpret_cast<char*>(address / bytes * bytes), 1);
  }

 private:
  // At the beginning of the block: how many nodes of it are in use; while it is filled, many more, so that it
  // is not freed.
  using Count = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t reserved = 1u << 30;
  static constexpr std::size_t bytes = 1 << 14, alignment = alignof(std::max_align_t), begin = alignment;
  static constexpr std::size_t most = bytes / 8;  // a larger node has a block of its own
  struct Filling {
    char* block = nullptr;
    std::size_t left = 0;
    std::uint32_t nodes = 0;
    void retire() {
      if (block != nullptr) forget(block, reserved - nodes);
      block = nullptr;
      left = nodes = 0;
    }
    ~Filling() { retire(); }
  };

  static char* make(std::size_t size, std::uint32_t count) {
    auto* block = static_cast<char*>(::operator new(size, std::align_val_t(bytes)));
    new (block) Count(count);
    return block;
  }
  static void forget(char* block, std::uint32_t nodes) {
    if (reinterpret_cast<Count*>(block)->fetch_sub(nodes, std::memory_order_acq_rel) == nodes)
      ::operator delete(block, std::align_val_t(bytes));
  }

  static thread_local Filling filling_;
};

thread_local NodeBlock::Filling NodeBlock::filling_;

}  // namespace

Expression::Node* Expression::new_node(Operator op, std::size_t bytes_behind) {
  static_assert(sizeof(Node) % alignof(std::string) == 0 && sizeof(Node) % alignof(Expression) == 0);
  auto* node = new (NodeBlock::allocate(sizeof(Node) + bytes_behind)) Node;
  node->op = op;
  return node;
}

Expression::Node* Expression::new_name(std::string name) {
  assert(is_name(name));
  auto* node = new_node(Operator::name, sizeof(std::string));
  new (node + 1) std::string(std::move(name));
  return node;
}

void Expression::destroy(const Node* node) {
  if (node->op == Operator::name)
    reinterpret_cast<const std::string*>(node + 1)->~basic_string();
  else
    std::destroy_n(reinterpret_cast<const Expression*>(node + 1), node->operand_count);
  node->~Node();
  NodeBlock::free(node);
}

// Programs are full of small numbers: those are made once.
const Expression::Node* Expression::permanent_number(std::int64_t value) {
  constexpr std::int64_t most = 1024;
  static const std::vector<Node>& numbers = []() -> auto& {
    auto& list = *new std::vector<Node>(static_cast<std::size_t>(most + 1));
    for (std::int64_t i = 0; i <= most; ++i) {
      Node& node = list[static_cast<std::size_t>(i)];
      node.permanent = true;
      node.integer = i;
    }
    return list;
  }
  ();
  return value >= 0 && value <= most ? &numbers[static_cast<std::size_t>(value)] : nullptr;
}

Expression::Expression(std::int64_t value) : node_(permanent_number(value)) {
  if (node_ != nullptr) return;
  auto* node = new_node(Operator::integer, 0);
  node->integer = value;
  node_ = node;
}

Expression Expression::decimal(double value) {
  assert(std::isfinite(value));
  auto* node = new_node(Operator::decimal, 0);
  node->decimal = value;
  return Expression(node);
}

Expression Expression::name(std::string name) {
  return Expression(new_name(std::move(name)));
}

Expression Expression::permanent_name(std::string name) {
  auto* node = new_name(std::move(name));
  node->permanent = true;
  return Expression(node);
}

Expression Expression::make(Operator op, std::span<const Expression> operands) {
  assert(operands_allowed(op, operands.size()));
  auto* node = new_node(op, operands.size() * sizeof(Expression));
  node->operand_count = static_cast<std::uint32_t>(operands.size());
  std::uninitialized_copy(operands.begin(), operands.end(), reinterpret_cast<Expression*>(node + 1));
  for (const Expression& operand : operands) {
    node->depth = std::max(node->depth, operand.node_->depth + 1);
    if (__builtin_add_overflow(node->size, operand.node_->size, &node->size)) node->size = kSaturated;
  }
  return Expression(node);
}

Expression Expression::make(Operator op, Expression a, Expression b) {
  assert(operands_allowed(op, 2));
  auto* node = new_node(op, 2 * sizeof(Expression));
  node->operand_count = 2;
  node->depth = std::max(a.depth(), b.depth()) + 1;
  node->size = 1;
  if (__builtin_add_overflow(node->size, a.size(), &node->size) ||
      __builtin_add_overflow(node->size, b.size(), &node->size))
    node->size = kSaturated;
  auto* operands = reinterpret_cast<Expression*>(node + 1);
  new (operands) Expression(std::move(a));
  new (operands + 1) Expression(std::move(b));
  return Expression(node);
}

const std::string& Expression::name_text() const {
  assert(op() == Operator::name);
  return *reinterpret_cast<const std::string*>(node_ + 1);
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> result;
  collect_names(result);
  return result;
}

void Expression::collect_names(std::vector<std::string>& into) const {
  if (op() == Operator::first) {
    const std::string& counter = operands()[0].name_text();
    for (std::string& name : operands()[1].names())
      if (name != counter && std::find(into.begin(), into.end(), name) == into.end())
        into.push_back(std::move(name));
    return;
  }
  if (op() == Operator::name && std::find(into.begin(), into.end(), name_text()) == into.end()) {
    into.push_back(name_text());
  }
  for (const Expression& operand : operands()) operand.collect_names(into);
}

Expression Expression::substitute(const std::map<std::string, Expression, std::less<>>& replacements) const {
  if (op() == Operator::name) {
    const auto found = replacements.find(name_text());
    return found == replacements.end() ? *this : found->second;
  }
  if (operands().empty()) return *this;
  if (op() == Operator::first && replacements.contains(operands()[0].name_text())) {
    auto others = replacements;
    others.erase(operands()[0].name_text());
    return substitute(others);
  }
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
  if (a.op() != b.op() || a.node_->size != b.node_->size) return false;
  switch (a.op()) {
    case Expression::Operator::integer:
      return a.node_->integer == b.node_->integer;
    case Expression::Operator::decimal:
      return a.node_->decimal == b.node_->decimal;
    case Expression::Operator::name:
      return a.name_text() == b.name_text();
    default: {
      const auto x = a.operands(), y = b.operands();
      return std::equal(x.begin(), x.end(), y.begin(), y.end());
    }
  }
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
    case Operator::first:
      return {"first", kTightest};
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
  const auto operands = e.operands();
  switch (e.op()) {
    case Operator::integer:
      fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), e.integer_value());
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
    case Operator::first:
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
      out += ' ';
      out += op.text;
      out += ' ';
      print(operands[1], op.binding + 1, out);
      break;
  }
  if (parentheses) out += ')';
}

}  // namespace

void append_text(const Expression& expression, std::string& out) {
  print(expression, kOr, out);
}

std::string to_string(const Expression& expression) {
  std::string out;
  append_text(expression, out);
  return out;
}

}  // namespace warptime
