#include "analyzer/periods/branch_joins.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/periods/items.h"
#include "simulator/program/typical_shares.h"
#include "simulator/program/walk.h"

namespace warptime::periods {

using analysis::ExprId;

int BranchJoins::ptx_line(std::uint32_t instruction) const {
  return static_cast<int>(flow_.code.function().instructions[instruction].line);
}

void BranchJoins::append(std::uint32_t last, ExprId guard, Items taken, Items other, bool at_end,
                         Items& items) {
  const auto dependence = flow_.evaluator.dependence(guard);
  const bool divergent = (dependence & analysis::on_thread) != 0;
  if (same_items(taken, other) && (!divergent || taken.empty())) {
    periods::append(items, std::move(other));
    return;
  }
  if (conditions_.uniform(guard)) {
    if (append_when(last, guard, taken, other, items)) return;
  } else if (divergent) {
    append_both(last, guard, std::move(taken), std::move(other), at_end, items);
    return;
  } else if ((dependence & analysis::on_block) != 0 && (dependence & analysis::on_data) == 0) {
    const bool take = weight_of(taken) > weight_of(other);
    if (auto condition = conditions_.of_threads(guard)) {
      notes_.assume(
          last,
          fmt::format("`{}` differs between blocks: without a launch, taken as in the blocks that do more",
                      conditions_.readable(take ? guard : exprs_.logical_not(guard))));
      When when{Expression(take ? 1 : 0), std::move(taken), std::move(other)};
      when.then_threads = std::move(*condition);
      items.push_back({std::move(when), notes_.source_lines(last), notes_.ptx_lines(last)});
      return;
    }
    notes_.assume(last, fmt::format("`{}` differs between blocks: taken as in the blocks that do more",
                                    conditions_.readable(take ? guard : exprs_.logical_not(guard))));
    periods::append(items, take ? std::move(taken) : std::move(other));
    return;
  }
  // The same for all threads, but nothing here says which.
  if (same_periods(taken, other)) {  // nor does it matter to times: the user is not asked
    periods::append(items, std::move(other));
    return;
  }
  // The user must.
  constexpr double half = 0.5;
  const auto name = parameters_.ask_for_share(
      fmt::format("{}{}", kTakenAt, notes_.place_for_name(last)),
      fmt::format("share of the warps that take the branch at {}: `{}` is not an expression of "
                  "the kernel's arguments",
                  notes_.place(last), conditions_.readable(guard)),
      half, ptx_line(last));
  emit_when(Expression::make(Expression::Operator::not_equal, {Expression::name(name), Expression(0)}),
            std::move(taken), std::move(other), last, items);
}

// The threads of a warp part: the warp executes both sides.
void BranchJoins::append_both(std::uint32_t last, ExprId guard, Items taken, Items other, bool at_end,
                              Items& items) {
  if (taken.empty() || other.empty()) {
    const auto condition = conditions_.readable(taken.empty() ? exprs_.logical_not(guard) : guard);
    if (at_end)
      notes_.assume(last, fmt::format("guard `{}`: taken to pass", condition));
    else
      notes_.assume(last,
                    fmt::format("`{}` differs between the threads of a warp: taken to hold for some of each",
                                condition));
  } else {
    notes_.assume(last, fmt::format("`{}` differs between the threads of a warp: both sides are executed",
                                    conditions_.readable(guard)));
  }
  restrict_sides(last, guard, taken, other);
  periods::append(items, std::move(other));
  periods::append(items, std::move(taken));
}

// Whether a side of the branch begins on a path that CUDA's mathematical functions take for extraordinary arguments only.
bool BranchJoins::is_slow_path(std::uint32_t last, bool taken) {
  for (const auto& block : flow_.cfg.blocks)
    if (block.end == last + 1 && block.end > block.first && block.successors.size() == 2)
      return flow_.is_slow(block.successors[taken ? 0 : 1]);
  return false;
}

// Which threads execute the sides; where data decide, which share of the warps.
void BranchJoins::restrict_sides(std::uint32_t last, ExprId guard, Items& taken, Items& other) {
  if (auto condition = conditions_.of_threads(guard)) {
    if (!taken.empty()) restrict_to(taken, *condition);
    if (other.empty()) return;
    if (auto otherwise = conditions_.of_threads(exprs_.logical_not(guard)))
      restrict_to(other, *otherwise);
    else
      restrict_to(other, Expression::make(Expression::Operator::logical_not, {*condition}));
    return;
  }
  const auto share = [&](Items& side, std::string_view name, const char* which) {
    if (side.empty()) return;
    const double taken_by = is_slow_path(last, &side == &taken) ? 0 : 1;
    restrict_to_share(
        side, parameters_.ask_for_share(
                  fmt::format("{}{}", name, notes_.place_for_name(last)),
                  fmt::format("share of the warps of which some thread {} the branch at {}: {}{}`", which,
                              notes_.place(last), kDataDecide, conditions_.readable(guard)),
                  taken_by, ptx_line(last)));
  };
  share(taken, kTakenAt, "takes");
  share(other, kNotTakenAt, "does not take");
}

bool BranchJoins::append_when(std::uint32_t last, ExprId guard, Items& taken, Items& other, Items& items) {
  auto expression = conditions_.expression_of(guard, last);
  if (!expression) return false;
  // `then` is the side that does something; where both do, the one that reads `<`, `<=` or `==`.
  const auto op = expression->op();
  const bool reads_backwards = op == Expression::Operator::greater ||
                               op == Expression::Operator::greater_equal ||
                               op == Expression::Operator::not_equal;
  const bool swap = taken.empty() || (!other.empty() && reads_backwards);
  if (swap) expression = conditions_.expression_of(exprs_.logical_not(guard), last);
  if (!expression) return false;
  if (swap)
    emit_when(*expression, std::move(other), std::move(taken), last, items);
  else
    emit_when(*expression, std::move(taken), std::move(other), last, items);
  return true;
}

void BranchJoins::emit_when(Expression condition, Items then_items, Items else_items, std::uint32_t last,
                            Items& items) {
  items.push_back({When{std::move(condition), std::move(then_items), std::move(else_items)},
                   notes_.source_lines(last), notes_.ptx_lines(last)});
}

}  // namespace warptime::periods
