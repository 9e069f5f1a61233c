#include "analyzer/periods/branch_joins.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/periods/items.h"

namespace warptime::periods {

using analysis::ExprId;

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
    notes_.assume(last, fmt::format("`{}` differs between blocks: taken as in the blocks that do more",
                                    conditions_.readable(take ? guard : exprs_.logical_not(guard))));
    periods::append(items, take ? std::move(taken) : std::move(other));
    return;
  }
  // The same for all threads, but nothing here says which: the user must.
  const auto name = parameters_.ask_for(fmt::format("taken_at_{}", notes_.place_for_name(last)),
                                        fmt::format("1 where the branch at {} is taken, 0 where not: `{}` is "
                                                    "not an expression of the kernel's arguments",
                                                    notes_.place(last), conditions_.readable(guard)));
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
  periods::append(items, std::move(other));
  periods::append(items, std::move(taken));
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
