#include "simulator/program/expression/compiled_expression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "simulator/program/expression/arithmetic.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;

}  // namespace

// Its condition has slots of its own: the number that is tried, and the values of its names.
struct CompiledExpression::First {
  CompiledExpression condition;
  std::vector<std::size_t> slots;  // of those names outside
  std::int64_t most = 0;           // numbers that are tried
};

CompiledExpression::CompiledExpression(const Expression& expression,
                                       const std::function<int(const std::string&)>& slot_of) {
  if (arithmetic::too_large(expression)) {
    nodes_.emplace_back();  // a decimal: fails
  } else {
    compile(expression, slot_of);
    find_shift();
  }
}

void CompiledExpression::find_shift() {
  const auto is_integer = [&](std::uint32_t index) { return nodes_[index].op == Operator::integer; };
  std::uint32_t at = 0;
  if (const Node& node = nodes_[at];
      (node.op == Operator::add || node.op == Operator::subtract) && is_integer(node.b)) {
    const std::int64_t number = nodes_[node.b].number;
    if (number == std::numeric_limits<std::int64_t>::min()) return;
    added_ = node.op == Operator::add ? number : -number;
    at = node.a;
  }
  if (const Node& node = nodes_[at]; node.op == Operator::divide && is_integer(node.b)) {
    const std::int64_t number = nodes_[node.b].number;
    if (number < 1 || !std::has_single_bit(static_cast<std::uint64_t>(number))) return;
    shift_ = std::countr_zero(static_cast<std::uint64_t>(number));
    at = node.a;
  }
  if (nodes_[at].op != Operator::name) return;
  slot_ = static_cast<std::size_t>(nodes_[at].number);
  shifted_ = true;
}

std::uint32_t CompiledExpression::compile(const Expression& expression,
                                          const std::function<int(const std::string&)>& slot_of) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  Node node;
  node.op = expression.op();
  if (node.op == Operator::integer) node.number = expression.integer_value();
  if (node.op == Operator::decimal) {
    const double value = expression.decimal_value();
    if (value == std::floor(value) && value >= -0x1p63 && value < 0x1p63) {
      node.op = Operator::integer;
      node.number = static_cast<std::int64_t>(value);
    }
  }
  if (node.op == Operator::name) {
    node.number = slot_of(expression.name_text());
    if (node.number < 0) node.op = Operator::decimal;
  }
  const auto& operands = expression.operands();
  if (node.op == Operator::first) {
    std::vector<std::size_t> slots;
    bool known = true;
    CompiledExpression condition(operands[1], [&](const std::string& name) -> int {
      if (name == operands[0].name_text()) return 0;
      const int slot = slot_of(name);
      known = known && slot >= 0;
      slots.push_back(static_cast<std::size_t>(std::max(slot, 0)));
      return static_cast<int>(slots.size());
    });
    if (!known || !condition.first_ones_.empty()) {
      node.op = Operator::decimal;
    } else {
      node.number = std::ssize(first_ones_);
      first_ones_.push_back(std::make_shared<const First>(
          First{std::move(condition), std::move(slots), arithmetic::most_tried(operands[1])}));
    }
    nodes_[index] = node;
    return index;
  }
  if (!operands.empty()) node.a = compile(operands[0], slot_of);
  if (operands.size() > 1) node.b = compile(operands[1], slot_of);
  const bool extreme = node.op == Operator::minimum || node.op == Operator::maximum;
  for (std::size_t i = 2; extreme && i < operands.size(); ++i) {
    nodes_.push_back(node);  // of those before
    node.a = static_cast<std::uint32_t>(nodes_.size() - 1);
    node.b = compile(operands[i], slot_of);
  }
  if (!extreme && operands.size() > 2) node.c = compile(operands[2], slot_of);
  nodes_[index] = node;
  return index;
}

bool CompiledExpression::evaluate_first(const First& first, const std::int64_t* slots,
                                        std::int64_t& value) const {
  std::vector<std::int64_t> inside{0};
  for (const std::size_t slot : first.slots) inside.push_back(slots[slot]);
  for (value = 0; value < first.most; inside[0] = ++value) {
    std::int64_t holds = 0;
    if (!first.condition.evaluate(inside.data(), holds)) return false;
    if (holds != 0) return true;
  }
  return false;
}

bool CompiledExpression::evaluate_operands(const Node& node, const std::int64_t* slots,
                                           std::int64_t& value) const {
  if (node.op == Operator::first)
    return evaluate_first(*first_ones_[static_cast<std::size_t>(node.number)], slots, value);
  std::int64_t a = 0, b = 0;
  if (!evaluate(node.a, slots, a)) return false;
  switch (node.op) {
    case Operator::add:
      return evaluate(node.b, slots, b) && !__builtin_add_overflow(a, b, &value);
    case Operator::subtract:
      return evaluate(node.b, slots, b) && !__builtin_sub_overflow(a, b, &value);
    case Operator::multiply:
      return evaluate(node.b, slots, b) && !__builtin_mul_overflow(a, b, &value);
    case Operator::divide:
      return evaluate(node.b, slots, b) && arithmetic::divide(Operator::divide, a, b, value) == nullptr;
    case Operator::logical_and:
    case Operator::logical_or:
      if ((a != 0) == (node.op == Operator::logical_or)) {
        value = a != 0;
        return true;
      }
      if (!evaluate(node.b, slots, b)) return false;
      value = b != 0;
      return true;
    case Operator::conditional:
      return evaluate(a != 0 ? node.b : node.c, slots, value);
    case Operator::minimum:
    case Operator::maximum:
      if (!evaluate(node.b, slots, b)) return false;
      value = node.op == Operator::minimum ? std::min(a, b) : std::max(a, b);
      return true;
    case Operator::negate:
      return arithmetic::binary(Operator::subtract, 0, a, value) == nullptr;
    case Operator::logical_not:
      value = a == 0;
      return true;
    case Operator::log2:
      if (a < 1) return false;
      value = arithmetic::log2(a);
      return true;
    default:
      return evaluate(node.b, slots, b) && arithmetic::binary(node.op, a, b, value) == nullptr;
  }
}

}  // namespace warptime
