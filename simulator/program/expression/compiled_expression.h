// An expression compiled for millions of evaluations: its names are indices into an array.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulator/program/expression/expression.h"

namespace warptime {

class CompiledExpression {
 public:
  // slot_of: the index of a name's value in the array for evaluate(); negative if it has none.
  CompiledExpression(const Expression& expression, const std::function<int(const std::string&)>& slot_of);

  // The value of evaluate_count; false on an error, which evaluate_count reports.
  [[gnu::always_inline]] bool evaluate(const std::int64_t* slots, std::int64_t& value) const {
    if (shifted_) {
      value = slots[slot_] >> shift_;  // rounds down
      return !__builtin_add_overflow(value, added_, &value);
    }
    return evaluate(0, slots, value);
  }

 private:
  struct Node {
    Expression::Operator op = Expression::Operator::decimal;  // a decimal has no whole value
    std::uint32_t a = 0, b = 0, c = 0;                        // operands; min and max take two at a time
    std::int64_t number = 0;                                  // an integer's value, a name's slot
  };
  std::uint32_t compile(const Expression& expression, const std::function<int(const std::string&)>& slot_of);
  bool evaluate(std::uint32_t index, const std::int64_t* slots, std::int64_t& value) const {
    const Node& node = nodes_[index];
    if (node.op == Expression::Operator::integer) {
      value = node.number;
      return true;
    }
    if (node.op == Expression::Operator::name) {
      value = slots[node.number];
      return true;
    }
    return node.op != Expression::Operator::decimal && evaluate_operands(node, slots, value);
  }
  struct First;
  bool evaluate_first(const First& first, const std::int64_t* slots, std::int64_t& value) const;
  bool evaluate_operands(const Node& node, const std::int64_t* slots, std::int64_t& value) const;
  void find_shift();

  std::vector<Node> nodes_;                               // the root is the first
  std::vector<std::shared_ptr<const First>> first_ones_;  // by the numbers of their nodes
  // Most expressions are a name, divided by a power of two, plus a constant: N, N / 2, K / 2 + 1.
  bool shifted_ = false;
  std::size_t slot_ = 0;
  int shift_ = 0;
  std::int64_t added_ = 0;
};

}  // namespace warptime
