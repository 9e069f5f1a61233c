#include "analyzer/periods/loop_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "analyzer/cfg/slow_paths.h"
#include "analyzer/periods/items.h"
#include "analyzer/periods/region_lowering.h"

namespace warptime::periods {

using analysis::ExprId;
using analysis::Facts;
using analysis::none;

namespace {

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

// Whether counts and conditions inside use the counter.
bool counts_with(const Items& body, const std::string& counter) {
  if (counter.empty()) return false;
  KernelProgram program;
  program.program = body;
  const auto names = used_names(program);
  return std::find(names.begin(), names.end(), counter) != names.end();
}

}  // namespace

// The instruction that stands for a loop: the one with the smallest source line, where the `for` is.
std::uint32_t LoopLowering::instruction_of_loop(const analysis::Loop& loop) const {
  auto best = flow_.cfg.blocks[loop.header].first;
  for (const auto b : loop.blocks)
    for (auto i = flow_.cfg.blocks[b].first; i < flow_.cfg.blocks[b].end; ++i)
      if (notes_.source_line(i) != 0 &&
          (notes_.source_line(best) == 0 || notes_.source_line(i) < notes_.source_line(best)))
        best = i;
  return best;
}

std::uint32_t LoopLowering::append_loop(std::uint32_t index, const Facts& facts, int depth, Items& items) {
  const auto& loop = flow_.cfg.loops[index];
  const auto& trip = flow_.loops.trip_count(index);
  const auto header_instruction = instruction_of_loop(loop);
  if (loop.exits.empty()) return append_endless_loop(index, header_instruction, facts, depth, items);
  const auto& exit = loop.exits[trip.exit == none ? 0 : trip.exit];
  auto count = trip_expression(index, trip, facts);
  if (notes_.failure()) return none;
  out_.repeats_of_loop[index] = to_string(count);
  counters_.open(index);
  const bool every_iteration = trip.exit != none;
  // One iteration is `first` (header to exiting block) and `second` (exiting block back to the header); the
  // last iteration is `first` alone.
  Items first = iteration_until_exit(index, exit, every_iteration, facts, depth);
  const auto& successors = flow_.cfg.blocks[exit.from].successors;
  Items second;
  for (const auto s : successors)
    if (every_iteration && s != exit.to && s != loop.header)
      second = regions_.region(s, loop.header, index, facts, depth + 1);
  if (notes_.failure()) return none;
  const auto per_thread =
      written_counts_.contains(index) && trip.per_thread
          ? conditions_.of_threads(conditions_.resolve(*trip.per_thread, loop.parent, facts))
          : std::nullopt;
  // Of the counted exit alone, where the loop has others.
  const auto own_per_thread = per_thread && trip.until
                                  ? conditions_.of_threads(conditions_.resolve(
                                        trip.own_per_thread.value_or(*trip.own_count), loop.parent, facts))
                                  : per_thread;
  const auto used = counters_.name_if_used(index);
  if (per_thread) counters_.mention(index);
  const auto counter = used.empty() ? counters_.name_if_mentioned(index) : used;
  LineSet lines, ptx;
  lines.add(notes_.source_lines(header_instruction));
  ptx.add(notes_.ptx_lines(header_instruction));
  if (second.empty()) {
    emit_repeat(std::move(count), per_thread, counter, std::move(first), lines, ptx, items);
  } else {
    // Each loop around this one doubles what is written twice here.
    copied_items_ += size_of(first);
    if (copied_items_ > 16 * function_.instructions.size() + 50'000) {
      notes_.fail(notes_.error_about(header_instruction,
                                     "nested loops that are left in the middle of an iteration: their last "
                                     "iterations, written out, are too long"));
      return none;
    }
    Items last = used.empty() ? first : last_iteration_items(index, exit, trip, count, facts, depth);
    if (per_thread) {
      // Each thread's last iteration is at a time of its own: in a launch, the repeat has all of them, and what
      // follows the exit runs in all but a thread's last one.
      restrict_to(second, Expression::make(
                              Expression::Operator::less,
                              {Expression::name(counter), less_one(own_per_thread.value_or(*per_thread))}));
      restrict_to(last, Expression(0));
    } else {
      if (!counter.empty()) replace_counter(last, counter, less_one(count));
      if (trip.until) last = if_left_here(trip, facts, exit, std::move(last));
    }
    Items body = std::move(first);
    append(body, std::move(second));
    emit_repeat(less_one(count), per_thread, counter, std::move(body), lines, ptx, items);
    append(items, std::move(last));
  }
  counters_.close(index);
  if (!flow_.cfg.contains(loop.parent, exit.to)) {
    notes_.assume(
        flow_.cfg.blocks[exit.from].end - 1,
        "leaving this loop leaves the enclosing one too: taken to continue with its next iteration");
    return none;
  }
  return exit.to;
}

// The part of the last iteration that is executed only if the counted exit ends the loop, and not one behind it.
Items LoopLowering::if_left_here(const analysis::TripCount& trip, const Facts& facts,
                                 const analysis::Loop::Exit& exit, Items last) {
  const auto condition =
      facts.simplify(exprs_.compare(analysis::SymbolicOp::less_equal, *trip.own_count, *trip.until));
  if (exprs_.is_constant(condition)) return exprs_[condition].number != 0 ? std::move(last) : Items();
  const auto at = flow_.cfg.blocks[exit.from].end - 1;
  auto expression = conditions_.uniform(condition) ? conditions_.expression_of(condition, at) : std::nullopt;
  if (!expression) return last;
  Items items;
  items.push_back(
      {When{std::move(*expression), std::move(last), {}}, notes_.source_lines(at), notes_.ptx_lines(at)});
  return items;
}

Items LoopLowering::iteration_until_exit(std::uint32_t index, const analysis::Loop::Exit& exit,
                                         bool every_iteration, const Facts& facts, int depth) {
  const auto& loop = flow_.cfg.loops[index];
  Items items;
  if (!every_iteration) return iteration(index, loop.header, loop.header, facts, depth);
  if (exit.from != loop.header) items = iteration(index, loop.header, exit.from, facts, depth);
  blocks_.append_block(exit.from, index, facts, items);
  return items;
}

Items LoopLowering::iteration(std::uint32_t index, std::uint32_t from, std::uint32_t stop, const Facts& facts,
                              int depth) {
  if (from != stop) return regions_.region(from, stop, index, facts, depth + 1);
  Items items;
  Facts known = facts;
  blocks_.append_block(from, index, known, items);
  const auto next = regions_.after_block(from, stop, index, known, depth + 1, items);
  if (next != none && next != stop) append(items, regions_.region(next, stop, index, known, depth + 1));
  return items;
}

Items LoopLowering::last_iteration_items(std::uint32_t index, const analysis::Loop::Exit& exit,
                                         const analysis::TripCount& trip, const Expression& count,
                                         const Facts& facts, int depth) {
  const auto iterations =
      trip.count && written_counts_.contains(index) ? *trip.count : conditions_.named(count);
  counters_.begin_last_iteration(index, exprs_.add(iterations, exprs_.constant(-1)));
  auto items = iteration_until_exit(index, exit, true, facts, depth);
  counters_.end_last_iteration(index);
  return items;
}

// A persistent kernel, say: how long it runs is not in the code.
std::uint32_t LoopLowering::append_endless_loop(std::uint32_t index, std::uint32_t instruction,
                                                const Facts& facts, int depth, Items& items) {
  const auto& loop = flow_.cfg.loops[index];
  auto count = Expression::name(parameters_.ask_for(
      fmt::format("iterations_at_{}", notes_.place_for_name(instruction)),
      fmt::format("iterations of the loop at {}, which never ends by itself", notes_.place(instruction))));
  notes_.assume(instruction, "this loop never ends by itself: what follows it is not modelled");
  out_.repeats_of_loop[index] = to_string(count);
  counters_.open(index);
  Items body = iteration(index, loop.header, loop.header, facts, depth);
  const auto used = counters_.name_if_used(index);
  const auto counter = used.empty() ? counters_.name_if_mentioned(index) : used;
  counters_.close(index);
  emit_repeat(std::move(count), std::nullopt, counter, std::move(body), notes_.source_lines(instruction),
              notes_.ptx_lines(instruction), items);
  return none;
}

void LoopLowering::emit_repeat(Expression count, std::optional<Expression> per_thread,
                               const std::string& counter, Items body, LineSet lines, LineSet ptx,
                               Items& items) {
  if (body.empty() || (count.is_integer() && count.integer_value() == 0)) return;
  if (count.is_integer() && count.integer_value() == 1 && !per_thread && !counts_with(body, counter)) {
    if (!counter.empty()) replace_counter(body, counter, Expression(0));
    append(items, std::move(body));
    return;
  }
  Repeat repeat{std::move(count), counter, std::move(body)};
  repeat.per_thread = std::move(per_thread);
  items.push_back({std::move(repeat), std::move(lines), std::move(ptx)});
}

Expression LoopLowering::trip_expression(std::uint32_t index, const analysis::TripCount& trip,
                                         const Facts& facts) {
  const auto& loop = flow_.cfg.loops[index];
  const auto at = instruction_of_loop(loop);
  auto why = trip.why_not;
  if (trip.count) {
    auto count = facts.simplify(*trip.count);
    if (counters_.in_last_iteration()) count = facts.simplify(counters_.with_last_values(count));
    // The ends stand for all threads only where the program says what each does.
    const bool each_known =
        !trip.of_ends || conditions_.of_threads(conditions_.resolve(*trip.per_thread, loop.parent, facts));
    if (each_known && conditions_.uniform(count))
      if (auto expression = conditions_.expression_of(count, at)) {
        if (trip.maximum_over_threads)
          notes_.assume(
              at, fmt::format(
                      "the number of iterations differs between threads: `{}` is {}", to_string(*expression),
                      trip.of_ends ? "that of the first or the last thread" : "the maximum over threads"));
        if (trip.may_end_earlier) notes_.assume(at, std::string(kMayBeLeftEarly));
        if (trip.positive_step)
          notes_.assume(at, fmt::format("the step `{}` of the loop is positive",
                                        conditions_.readable(*trip.positive_step)));
        written_counts_.insert(index);
        if (expression->is_integer() && expression->integer_value() < 1) return Expression(1);
        return *expression;
      }
    why = fmt::format("its count `{}` is not an expression of the kernel's arguments",
                      conditions_.readable(count));
  }
  if (flow_.is_slow(loop.header)) {
    notes_.assume(at, "the loop is for extraordinary arguments of a mathematical function: one iteration");
    return Expression(1);
  }
  if (analysis::is_long_division(flow_.code, flow_.cfg, index)) {
    notes_.assume(
        at, "the loop is the long division of a remainder: one iteration, for a quotient of a few bits");
    return Expression(1);
  }
  return Expression::name(
      parameters_.ask_for(fmt::format("iterations_at_{}", notes_.place_for_name(at)),
                          fmt::format("iterations of the loop at {}: {}", notes_.place(at), why)));
}

}  // namespace warptime::periods
