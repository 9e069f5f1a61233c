#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "analyzer/periods/items.h"
#include "analyzer/periods/lowering.h"

namespace warptime::periods {
namespace {

using analysis::ExprId;
using analysis::Facts;
using analysis::none;

std::size_t size_of(const Items& items) {
  auto size = items.size();
  for (const auto& item : items) {
    if (const auto* r = std::get_if<Repeat>(&item.what))
      size += size_of(r->body);
    else if (const auto* w = std::get_if<When>(&item.what))
      size += size_of(w->then_items) + size_of(w->else_items);
  }
  return size;
}

Expression less_one(const Expression& count) {
  using E = Expression;
  if (count.is_integer()) return E(count.integer_value() - 1);
  const auto& parts = count.operands();
  // `K + 1 - 1` reads K.
  if (count.op() == E::Operator::add && parts[1].is_integer() && parts[1].integer_value() > INT64_MIN)
    return parts[1].integer_value() == 1
               ? parts[0]
               : E::make(E::Operator::add, {parts[0], E(parts[1].integer_value() - 1)});
  if (count.op() == E::Operator::subtract && parts[1].is_integer() && parts[1].integer_value() < INT64_MAX)
    return E::make(E::Operator::subtract, {parts[0], E(parts[1].integer_value() + 1)});
  return E::make(E::Operator::subtract, {count, E(1)});
}

}  // namespace

// The instruction that stands for a loop: the one of its header's turn with the smallest source line, where
// the `for` is.
std::uint32_t Lowering::instruction_of_loop(const analysis::Loop& loop) const {
  auto best = flow_.cfg.blocks[loop.header].first;
  for (const auto b : loop.blocks)
    for (auto i = flow_.cfg.blocks[b].first; i < flow_.cfg.blocks[b].end; ++i)
      if (source_line(i) != 0 && (source_line(best) == 0 || source_line(i) < source_line(best))) best = i;
  return best;
}

// Lowers a loop as its parent meets it; gives the block that follows.
std::uint32_t Lowering::loop_items(std::uint32_t index, const Facts& facts, int depth, Items& items) {
  const auto& loop = flow_.cfg.loops[index];
  const auto& trip = flow_.loops.trip_count(index);
  const auto header_instruction = instruction_of_loop(loop);
  if (loop.exits.empty()) {
    fail(fail_at(header_instruction, "a loop that never ends"));
    return none;
  }
  const auto& exit = loop.exits[trip.exit == none ? 0 : trip.exit];
  auto count = trip_expression(index, trip, facts);
  if (failure_) return none;
  out_.repeats_of_loop[index] = to_string(count);
  open_counter(index);
  const bool every_turn = trip.exit != none;
  // One turn is `first` (header to exiting block) and `second` (exiting block back to the header); the last
  // turn is `first` alone.
  Items first = turn_until_exit(index, exit, every_turn, facts, depth);
  const auto& successors = flow_.cfg.blocks[exit.from].successors;
  Items second;
  for (const auto s : successors)
    if (every_turn && s != exit.to && s != loop.header)
      second = region(s, loop.header, index, facts, depth + 1);
  if (failure_) return none;
  const bool counted = counters_used_.contains(index);
  const auto counter = counted ? counters_[index] : std::string();
  LineSet lines, ptx;
  lines.add(source_lines(header_instruction));
  ptx.add(ptx_lines(header_instruction));
  if (second.empty()) {
    emit_repeat(std::move(count), counter, std::move(first), lines, ptx, items);
  } else {
    // Each loop around this one doubles what is written twice here.
    copied_items_ += size_of(first);
    if (copied_items_ > 16 * function_.instructions.size() + 50'000) {
      fail(fail_at(header_instruction,
                   "loops within loops that are left in the middle of a turn: their last turns, written out, "
                   "are too long"));
      return none;
    }
    Items last_turn = counted ? last_turn_items(index, exit, trip, count, facts, depth) : first;
    Items body = std::move(first);
    append(body, std::move(second));
    emit_repeat(less_one(count), counter, std::move(body), lines, ptx, items);
    append(items, std::move(last_turn));
  }
  counters_.erase(index);
  counters_used_.erase(index);
  if (!flow_.cfg.contains(loop.parent, exit.to)) {
    assume(flow_.cfg.blocks[exit.from].end - 1,
           "leaving this loop leaves the enclosing one too: taken to continue with its next turn");
    return none;
  }
  return exit.to;
}

Items Lowering::turn_until_exit(std::uint32_t index, const analysis::Loop::Exit& exit, bool every_turn,
                                const Facts& facts, int depth) {
  const auto& loop = flow_.cfg.loops[index];
  Items items;
  if (!every_turn) return turn(index, loop.header, loop.header, facts, depth);
  if (exit.from != loop.header) items = turn(index, loop.header, exit.from, facts, depth);
  block_items(exit.from, index, facts, items);
  return items;
}

// From the loop's header; `stop` may be the header itself: once around.
Items Lowering::turn(std::uint32_t index, std::uint32_t from, std::uint32_t stop, const Facts& facts,
                     int depth) {
  if (from != stop) return region(from, stop, index, facts, depth + 1);
  Items items;
  Facts known = facts;
  block_items(from, index, known, items);
  const auto next = after_block(from, stop, index, known, depth + 1, items);
  if (next != none && next != stop) append(items, region(next, stop, index, known, depth + 1));
  return items;
}

// A value that is written as the parameter which stands for a loop's turns.
ExprId Lowering::named_count(const Expression& count) {
  const auto value = exprs_.opaque(analysis::on_argument);
  value_names_[value] = to_string(count);
  return value;
}

// The last turn again, with the loop's counter at its last value.
Items Lowering::last_turn_items(std::uint32_t index, const analysis::Loop::Exit& exit,
                                const analysis::TripCount& trip, const Expression& count, const Facts& facts,
                                int depth) {
  last_turn_[index] = exprs_.add(
      trip.count && written_counts_.contains(index) ? *trip.count : named_count(count), exprs_.constant(-1));
  auto items = turn_until_exit(index, exit, true, facts, depth);
  last_turn_.erase(index);
  return items;
}

void Lowering::emit_repeat(Expression count, const std::string& counter, Items body, LineSet lines,
                           LineSet ptx, Items& items) {
  if (body.empty() || (count.is_integer() && count.integer_value() == 0)) return;
  if (count.is_integer() && count.integer_value() == 1 && counter.empty()) {
    append(items, std::move(body));
    return;
  }
  items.push_back({Repeat{std::move(count), counter, std::move(body)}, std::move(lines), std::move(ptx)});
}

Expression Lowering::trip_expression(std::uint32_t index, const analysis::TripCount& trip,
                                     const Facts& facts) {
  const auto& loop = flow_.cfg.loops[index];
  const auto at = instruction_of_loop(loop);
  auto why = trip.why_not;
  if (trip.count) {
    auto count = facts.simplify(*trip.count);
    if (!last_turn_.empty()) count = facts.simplify(with_last_turns(count));
    if ((flow_.evaluator.dependence(count) &
         (analysis::on_thread | analysis::on_block | analysis::on_data)) == 0)
      if (auto expression = expression_of(count, at)) {
        if (trip.busiest_thread)
          assume(at, fmt::format("the number of turns differs between threads: `{}` is that of the busiest",
                                 to_string(*expression)));
        written_counts_.insert(index);
        if (expression->is_integer() && expression->integer_value() < 1) return Expression(1);
        return *expression;
      }
    why = fmt::format("its count `{}` is not a form of the kernel's arguments", readable(count));
  }
  return Expression::name(parameter_for(fmt::format("turns_at_{}", place_for_name(at)),
                                        fmt::format("turns of the loop at {}: {}", place(at), why)));
}

}  // namespace warptime::periods
