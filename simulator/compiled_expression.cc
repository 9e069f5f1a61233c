#include "simulator/compiled_expression.h"

#include <algorithm>
#include <cmath>

#include "simulator/expression_arithmetic.h"

namespace warptime {
namespace {

using Op = Expression::Op;

}  // namespace

CompiledExpression::CompiledExpression(const Expression& expression,
                                       const std::function<int(const std::string&)>& slot_of) {
  if (arithmetic::too_large(expression)) {
    nodes_.emplace_back();  // a decimal: fails
  } else {
    compile(expression, slot_of);
  }
}

std::uint32_t CompiledExpression::compile(const Expression& expression,
                                          const std::function<int(const std::string&)>& slot_of) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  Node node;
  node.op = expression.op();
  if (node.op == Op::integer) node.number = expression.integer_value();
  if (node.op == Op::decimal) {
    const double value = expression.decimal_value();
    if (value == std::floor(value) && value >= -0x1p63 && value < 0x1p63) {
      node.op = Op::integer;
      node.number = static_cast<std::int64_t>(value);
    }
  }
  if (node.op == Op::name) {
    node.number = slot_of(expression.name_text());
    if (node.number < 0) node.op = Op::decimal;
  }
  std::vector<std::uint32_t> operands;
  for (const Expression& operand : expression.operands()) operands.push_back(compile(operand, slot_of));
  node.operands = static_cast<std::uint32_t>(operands.size());
  node.first = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  nodes_[index] = node;
  return index;
}

bool CompiledExpression::evaluate_operands(const Node& node, const std::int64_t* slots,
                                           std::int64_t& value) const {
  const std::uint32_t* const operand = &operands_[node.first];
  std::int64_t a = 0, b = 0;
  if (!evaluate(operand[0], slots, a)) return false;
  switch (node.op) {
    case Op::logical_and:
    case Op::logical_or:
      if ((a != 0) == (node.op == Op::logical_or)) {
        value = a != 0;
        return true;
      }
      if (!evaluate(operand[1], slots, b)) return false;
      value = b != 0;
      return true;
    case Op::conditional:
      return evaluate(operand[a != 0 ? 1 : 2], slots, value);
    case Op::minimum:
    case Op::maximum:
      for (std::uint32_t i = 1; i < node.operands; ++i) {
        if (!evaluate(operand[i], slots, b)) return false;
        a = node.op == Op::minimum ? std::min(a, b) : std::max(a, b);
      }
      value = a;
      return true;
    case Op::negate:
      return arithmetic::binary(Op::subtract, 0, a, value) == nullptr;
    case Op::logical_not:
      value = a == 0;
      return true;
    case Op::log2:
      if (a < 1) return false;
      value = arithmetic::log2(a);
      return true;
    default:
      return evaluate(operand[1], slots, b) && arithmetic::binary(node.op, a, b, value) == nullptr;
  }
}

}  // namespace warptime
