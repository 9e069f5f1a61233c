#include "simulator/program/lane_expression.h"

#include <algorithm>
#include <bit>

#include "simulator/program/expression/arithmetic.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;

[[gnu::always_inline]] inline std::int64_t apply(Operator op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (op) {
    case Operator::add:
      return static_cast<std::int64_t>(x + y);
    case Operator::subtract:
      return static_cast<std::int64_t>(x - y);
    case Operator::multiply:
      return static_cast<std::int64_t>(x * y);
    case Operator::logical_and:
      return static_cast<int>(a != 0) & static_cast<int>(b != 0);
    case Operator::logical_or:
      return static_cast<int>(a != 0) | static_cast<int>(b != 0);
    case Operator::minimum:
      return std::min(a, b);
    case Operator::maximum:
      return std::max(a, b);
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
    case Operator::not_equal:
      return a != b;
    case Operator::bit_and:
      return a & b;
    case Operator::bit_or:
      return a | b;
    case Operator::bit_xor:
      return a ^ b;
    default: {
      std::int64_t value = 0;
      return arithmetic::binary(op, a, b, value) == nullptr ? value : 0;
    }
  }
}

std::int64_t apply(Operator op, std::int64_t a) {
  switch (op) {
    case Operator::negate:
      return static_cast<std::int64_t>(-static_cast<std::uint64_t>(a));
    case Operator::log2:
      return a >= 1 ? arithmetic::log2(a) : 0;
    default:  // logical_not
      return a == 0;
  }
}

// b: of all lanes, or the same for all.
std::int64_t lane_of(const LaneValues& b, std::size_t i) {
  return b[i];
}
std::int64_t lane_of(std::int64_t b, std::size_t) {
  return b;
}

template <Operator op, typename Second>
void apply_op(LaneValues& a, const Second& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a[i] = apply(op, a[i], lane_of(b, i));
}

// Loops that the compiler turns into vector instructions. False: none for this operator.
template <typename Second>
bool apply_as_vector(Operator op, LaneValues& a, const Second& b) {
  switch (op) {
    case Operator::add:
      return apply_op<Operator::add>(a, b), true;
    case Operator::subtract:
      return apply_op<Operator::subtract>(a, b), true;
    case Operator::multiply:
      return apply_op<Operator::multiply>(a, b), true;
    case Operator::logical_and:
      return apply_op<Operator::logical_and>(a, b), true;
    case Operator::logical_or:
      return apply_op<Operator::logical_or>(a, b), true;
    case Operator::minimum:
      return apply_op<Operator::minimum>(a, b), true;
    case Operator::maximum:
      return apply_op<Operator::maximum>(a, b), true;
    case Operator::less:
      return apply_op<Operator::less>(a, b), true;
    case Operator::less_equal:
      return apply_op<Operator::less_equal>(a, b), true;
    case Operator::greater:
      return apply_op<Operator::greater>(a, b), true;
    case Operator::greater_equal:
      return apply_op<Operator::greater_equal>(a, b), true;
    case Operator::equal:
      return apply_op<Operator::equal>(a, b), true;
    case Operator::not_equal:
      return apply_op<Operator::not_equal>(a, b), true;
    case Operator::bit_and:
      return apply_op<Operator::bit_and>(a, b), true;
    case Operator::bit_or:
      return apply_op<Operator::bit_or>(a, b), true;
    case Operator::bit_xor:
      return apply_op<Operator::bit_xor>(a, b), true;
    default:
      return false;
  }
}

void apply_to_all(Operator op, LaneValues& a, const LaneValues& b) {
  if (apply_as_vector(op, a, b)) return;
  for (std::size_t i = 0; i < kLanes; ++i) a[i] = apply(op, a[i], b[i]);
}

// Divisions are the slowest of all. The quotients of a warp's threads by one number are mostly the same, or two.
// False: they are not, or numbers are too large to tell.
bool divide_all(Operator op, LaneValues& a, std::int64_t b) {
  constexpr std::int64_t most = std::int64_t{1} << 61;
  if (b < 1 || b > most) return false;
  const bool modulo = op == Operator::modulo;
  if (std::has_single_bit(static_cast<std::uint64_t>(b))) {
    const int shift = std::countr_zero(static_cast<std::uint64_t>(b));
    for (std::int64_t& value : a) value = modulo ? value & (b - 1) : value >> shift;
    return true;
  }
  std::int64_t low = a[0], high = a[0];
  for (const std::int64_t value : a) low = std::min(low, value), high = std::max(high, value);
  if (low < -most || high > most) return false;
  std::int64_t quotient = 0;
  if (arithmetic::divide(Operator::divide, low, b, quotient) != nullptr) return false;
  const std::int64_t begin = quotient * b;
  if (high - begin >= 2 * b) return false;
  if (high - begin < b) {
    for (std::int64_t& value : a) value = modulo ? value - begin : quotient;
    return true;
  }
  for (std::int64_t& value : a) {
    const bool next = value - begin >= b;
    value = modulo ? value - begin - (next ? b : 0) : quotient + (next ? 1 : 0);
  }
  return true;
}

// The second operand is the same for all.
void apply_to_all(Operator op, LaneValues& a, std::int64_t b) {
  if (op == Operator::multiply && std::has_single_bit(static_cast<std::uint64_t>(b))) {
    const int shift = std::countr_zero(static_cast<std::uint64_t>(b));
    for (std::int64_t& value : a)
      value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift);
    return;
  }
  if (apply_as_vector(op, a, b)) return;
  if ((op == Operator::divide || op == Operator::modulo) && divide_all(op, a, b)) return;
  for (std::int64_t& value : a) value = apply(op, value, b);
}

}  // namespace

LaneExpression::LaneExpression(const Expression& expression, const Names& names) {
  nodes_.clear();
  if (arithmetic::too_large(expression)) {
    known_ = false;
    nodes_.emplace_back();
    return;
  }
  compile(expression, names);
  own_ = nodes_.back().own;
}

std::uint32_t LaneExpression::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t LaneExpression::compile(const Expression& expression, const Names& names) {
  Node node;
  node.op = expression.op();
  if (node.op == Operator::integer) {
    node.name = {LaneName::Where::constant, expression.integer_value()};
    return add(node);
  }
  if (node.op == Operator::name) {
    node.name = names(expression.name_text());
    node.own = node.name.where == LaneName::Where::own;
    if (node.name.where == LaneName::Where::unknown) known_ = false;
    if (node.name.where == LaneName::Where::shared)
      highest_slot_ = std::max(highest_slot_, static_cast<int>(node.name.value));
    return add(node);
  }
  if (node.op == Operator::decimal || node.op == Operator::first) {
    node.op = Operator::decimal;
    known_ = false;
    return add(node);
  }
  const auto& operands = expression.operands();
  const bool chain = node.op == Operator::minimum || node.op == Operator::maximum;  // of two or more
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  std::vector<std::uint32_t> indices;
  for (const Expression& operand : operands) indices.push_back(compile(operand, names));
  const bool constant = std::all_of(indices.begin(), indices.end(), [this](std::uint32_t i) {
    return nodes_[i].name.where == LaneName::Where::constant;
  });
  const auto join = [&](std::span<const std::uint32_t> of) {
    node.operand_count = static_cast<std::uint32_t>(of.size());
    node.own = false;
    for (std::size_t i = 0; i < of.size(); ++i) {
      node.operands[i] = of[i];
      node.own = node.own || nodes_[of[i]].own;
    }
    return add(node);
  };
  std::uint32_t index = 0;
  if (chain) {
    index = indices[0];
    for (std::size_t i = 1; i < indices.size(); ++i)
      index = join(std::array<std::uint32_t, 2>{index, indices[i]});
  } else {
    index = join(indices);
  }
  if (!constant || !known_) return index;
  Node value;
  value.name = {LaneName::Where::constant, shared_value(nodes_[index], {})};
  nodes_.resize(first);
  return add(value);
}

std::int64_t LaneExpression::shared_value(const LaneSlots& slots) const {
  return shared_value(nodes_.back(), slots);
}

std::int64_t LaneExpression::shared_value(const Node& node, const LaneSlots& slots) const {
  if (node.operand_count == 0)
    return node.name.where == LaneName::Where::shared
               ? slots.shared[static_cast<std::size_t>(node.name.value)]
               : node.name.value;
  const std::int64_t a = shared_value(nodes_[node.operands[0]], slots);
  if (node.operand_count == 1) return apply(node.op, a);
  if (node.operand_count == 3) return shared_value(nodes_[node.operands[a != 0 ? 1 : 2]], slots);
  return apply(node.op, a, shared_value(nodes_[node.operands[1]], slots));
}

void LaneExpression::values(const LaneSlots& slots, LaneValues& result) const {
  values(nodes_.back(), slots, nullptr, result);
}

void LaneExpression::keep_parts(std::size_t first_slot) {
  std::vector<char> changes(nodes_.size(), 0);
  const auto worth_keeping = [&](std::size_t i) {
    return nodes_[i].own && nodes_[i].operand_count > 0 && changes[i] == 0;
  };
  kept_ = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {  // operands come first
    const Node& node = nodes_[i];
    if (node.operand_count == 0)
      changes[i] = node.name.where == LaneName::Where::shared &&
                   node.name.value >= static_cast<std::int64_t>(first_slot);
    const std::span<const std::uint32_t> operands(node.operands.data(), node.operand_count);
    for (const std::uint32_t operand : operands) changes[i] |= changes[operand];
    if (worth_keeping(i)) continue;
    for (const std::uint32_t operand : operands)
      if (worth_keeping(operand)) nodes_[operand].kept = kept_++;
  }
}

void LaneExpression::values(const LaneSlots& slots, Kept& kept, LaneValues& result) const {
  if (!kept.made) {
    kept.values.resize(static_cast<std::size_t>(kept_));
    for (const Node& node : nodes_)
      if (node.kept >= 0) values(node, slots, nullptr, kept.values[static_cast<std::size_t>(node.kept)]);
    kept.made = true;
  }
  values(nodes_.back(), slots, &kept, result);
}

void LaneExpression::values(const Node& node, const LaneSlots& slots, const Kept* kept,
                            LaneValues& result) const {
  if (!node.own) return result.fill(shared_value(node, slots));
  if (kept != nullptr && node.kept >= 0) {
    result = kept->values[static_cast<std::size_t>(node.kept)];
    return;
  }
  if (node.operand_count == 0) {
    result = slots.own[static_cast<std::size_t>(node.name.value)];
    return;
  }
  if (node.operand_count == 2) {
    const Node &left = nodes_[node.operands[0]], &right = nodes_[node.operands[1]];
    const bool commutes = node.op == Operator::add || node.op == Operator::multiply;
    if (!right.own || (commutes && !left.own)) {
      values(right.own ? right : left, slots, kept, result);
      return apply_to_all(node.op, result, shared_value(right.own ? left : right, slots));
    }
  }
  values(nodes_[node.operands[0]], slots, kept, result);
  if (node.operand_count == 1) {
    for (std::int64_t& value : result) value = apply(node.op, value);
    return;
  }
  LaneValues second;
  values(nodes_[node.operands[1]], slots, kept, second);
  if (node.operand_count == 2) return apply_to_all(node.op, result, second);
  LaneValues third;
  values(nodes_[node.operands[2]], slots, kept, third);
  for (std::size_t i = 0; i < kLanes; ++i) result[i] = result[i] != 0 ? second[i] : third[i];
}

}  // namespace warptime
