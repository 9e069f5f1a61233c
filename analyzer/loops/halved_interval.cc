#include "analyzer/loops/halved_interval.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace warptime::analysis {
namespace {

class Halvings {
 public:
  Halvings(Evaluator& evaluator, ClosedForms& forms, std::uint32_t loop)
      : evaluator_(evaluator), exprs_(evaluator.exprs()), forms_(forms), loop_(loop) {}

  std::optional<ExprId> count(ExprId stay) {
    const auto node = exprs_[stay];
    std::int64_t at_least = 0;  // of b - a, while it goes on
    switch (node.op) {
      case SymbolicOp::less:
      case SymbolicOp::less_unsigned:
      case SymbolicOp::not_equal:
        at_least = 1;
        break;
      case SymbolicOp::less_equal:
      case SymbolicOp::less_equal_unsigned:
        break;
      default:
        return std::nullopt;
    }
    if (!find_ends(stay)) return std::nullopt;
    for (const auto& [low, high] : {std::pair{0U, 1U}, std::pair{1U, 0U}}) {
      const End &from = ends_[low], &to = ends_[high];
      if (!moves_to_middle(from, to) || !moves_to_middle(to, from)) continue;
      for (const bool after : {false, true}) {
        const auto length = after ? exprs_.subtract(to.next, from.next) : exprs_.subtract(to.self, from.self);
        auto more = exprs_.subtract(exprs_.subtract(node.b, node.a), length);
        if (!exprs_.is_constant(more)) {
          if (node.op != SymbolicOp::not_equal) continue;
          more = exprs_.subtract(exprs_.subtract(node.a, node.b), length);
          if (!exprs_.is_constant(more)) continue;
        }
        const std::int64_t number = exprs_[more].number;
        if (number < at_least - 2 || number > at_least) continue;
        const auto times = halvings(exprs_.subtract(to.start, from.start), at_least - number);
        return after ? times : exprs_.add(times, exprs_.constant(1));
      }
    }
    return std::nullopt;
  }

 private:
  // A register of the loop: as an iteration finds it and leaves it, and before the first.
  struct End {
    ExprId self = 0, next = 0, start = 0;
  };

  // The two registers without a closed form that the condition is about.
  bool find_ends(ExprId stay) {
    const auto& cfg = evaluator_.cfg();
    std::vector<std::uint32_t> phis;
    exprs_.any_leaf(stay, [&](ExprId leaf) {
      const auto node = exprs_[leaf];
      if (node.op == SymbolicOp::phi && evaluator_.phi(node.a).block == cfg.loops[loop_].header &&
          std::find(phis.begin(), phis.end(), node.a) == phis.end())
        phis.push_back(node.a);
      return phis.size() > ends_.size();
    });
    if (phis.size() != ends_.size()) return false;
    for (std::size_t i = 0; i < ends_.size(); ++i)
      if (!find_end(phis[i], ends_[i])) return false;
    return true;
  }

  bool find_end(std::uint32_t phi, End& end) {
    const auto values = forms_.around(phi, loop_);
    if (!values || !values->next || !is_invariant(evaluator_, values->start, loop_)) return false;
    end = {exprs_.phi(phi), *values->next, values->start};
    return true;
  }

  // Whether it stays where it is or goes to the middle between the two, or next to it, as data decide.
  bool moves_to_middle(const End& end, const End& other) {
    constexpr int deepest = 4;  // of selections
    bool moves = false;
    return exprs_[end.next].op == SymbolicOp::select && is_choice(end.next, end, other, deepest, moves) &&
           moves;
  }

  bool is_choice(ExprId value, const End& end, const End& other, int deepest, bool& moves) {
    if (value == end.self) return true;
    const auto node = exprs_[value];
    if (node.op == SymbolicOp::select)
      return deepest > 0 && (evaluator_.dependence(node.a) & on_data) != 0 &&
             is_choice(node.b, end, other, deepest - 1, moves) &&
             is_choice(node.c, end, other, deepest - 1, moves);
    const auto sum = exprs_.add(end.self, other.self), way = exprs_.subtract(end.self, other.self);
    moves = true;
    return is_beside_half(value, 0, sum) || is_beside_half(value, other.self, way) ||
           is_beside_half(value, end.self, exprs_.scale(way, -1));
  }

  // Whether value is from + x / 2, or one more or less. PTX divides rounding down, or adds 1 first where x is negative.
  bool is_beside_half(ExprId value, ExprId from, ExprId x) {
    const auto two = exprs_.constant(2);
    const auto toward_zero = exprs_.add(x, exprs_.compare(SymbolicOp::less, x, exprs_.constant(0)));
    for (const auto half : {exprs_.floor_divide(x, two), exprs_.truncated_divide(x, two),
                            exprs_.floor_divide(toward_zero, two)}) {
      if (is_at_most_one(exprs_.subtract(exprs_.subtract(value, from), half))) return true;
    }
    return false;
  }

  // A number from -1 to 1, or one of two.
  bool is_at_most_one(ExprId expr) const {
    const auto node = exprs_[expr];
    const auto is = [&](ExprId one) {
      return exprs_.is_constant(one) && exprs_[one].number >= -1 && exprs_[one].number <= 1;
    };
    return is(expr) || (node.op == SymbolicOp::select && is(node.b) && is(node.c));
  }

  // Until the ends, which are `length` from each other, are less than `apart` (0 to 2) apart.
  ExprId halvings(ExprId length, std::int64_t apart) {
    const auto one = exprs_.constant(1);
    if (apart == 2)
      return exprs_.log2_floor(exprs_.maximum(one, exprs_.add(exprs_.scale(length, 2), exprs_.constant(-1))));
    const auto places = apart == 0 ? exprs_.add(length, one) : length;
    return exprs_.add(exprs_.log2_floor(exprs_.maximum(one, places)), one);
  }

  Evaluator& evaluator_;
  SymbolicExprs& exprs_;
  ClosedForms& forms_;
  std::uint32_t loop_;
  std::array<End, 2> ends_{};
};

}  // namespace

std::optional<ExprId> halvings(Evaluator& evaluator, ClosedForms& forms, std::uint32_t loop, ExprId stay) {
  return Halvings(evaluator, forms, loop).count(stay);
}

}  // namespace warptime::analysis
