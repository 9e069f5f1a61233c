// The value of an expression for each thread of a warp at once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "simulator/program/expression/expression.h"

namespace warptime {

inline constexpr std::size_t kLanes = 32;
using LaneValues = std::array<std::int64_t, kLanes>;

// What names stand for while a warp runs: numbers that its threads share (its block's index, the counters of loops) and
// numbers of each thread.
struct LaneSlots {
  std::vector<std::int64_t> shared;
  std::array<LaneValues, 4> own{};  // threadIdx.x, .y, .z, laneid
};

// Where a name's number is.
struct LaneName {
  enum class Where : std::uint8_t { unknown, constant, shared, own } where = Where::unknown;
  std::int64_t value = 0;  // the constant; the index of the slot
};

class LaneExpression {
 public:
  using Names = std::function<LaneName(const std::string&)>;
  LaneExpression() = default;  // 0
  LaneExpression(const Expression& expression, const Names& names);

  bool known() const { return known_; }     // whether all of its names are
  bool is_shared() const { return !own_; }  // whether all threads have the same value
  bool uses_from(std::size_t first_slot) const { return highest_slot_ >= static_cast<int>(first_slot); }

  // Sums and products wrap; what divides by 0, or has no logarithm, is 0: a thread that computes it takes another branch.
  std::int64_t shared_value(const LaneSlots& slots) const;  // is_shared()
  void values(const LaneSlots& slots, LaneValues& result) const;

  // Values of its parts that do not change while some slots do, once they are needed.
  struct Kept {
    bool made = false;
    std::vector<LaneValues> values;
  };
  // Lets `Kept` have the parts that do not depend on the slots from `first_slot` on.
  void keep_parts(std::size_t first_slot);
  // The same as without `kept`, which is of this expression, and of these slots but for the ones that may change.
  void values(const LaneSlots& slots, Kept& kept, LaneValues& result) const;

 private:
  struct Node {
    Expression::Operator op = Expression::Operator::integer;
    LaneName name;  // of a leaf
    std::array<std::uint32_t, 3> operands{};
    std::uint32_t operand_count = 0;
    bool own = false;
    int kept = -1;  // its index in Kept::values
  };
  std::uint32_t compile(const Expression& expression, const Names& names);
  std::uint32_t add(const Node& node);
  std::int64_t shared_value(const Node& node, const LaneSlots& slots) const;
  // kept: none, or with its values made.
  void values(const Node& node, const LaneSlots& slots, const Kept* kept, LaneValues& result) const;

  std::vector<Node> nodes_{1};  // the root is the last
  bool known_ = true, own_ = false;
  int highest_slot_ = -1;  // of those that threads share
  int kept_ = 0;           // how many parts have an index in Kept::values
};

}  // namespace warptime
