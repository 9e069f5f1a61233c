#include "analyzer/loops/exit_conditions.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/loops/closed_forms.h"
#include "analyzer/symbolic/facts.h"
#include "analyzer/symbolic/value_ranges.h"

namespace warptime::analysis {
namespace {

// The first t with step · t = distance in registers of 32 bits, for a step that passes it by in the numbers: a multiple of a
// hash's constant, say. Nothing where there is none, or only after so many iterations that it is none of the kind.
std::optional<std::int64_t> until_wrapped(std::int64_t distance, std::int64_t step) {
  constexpr std::int64_t whole = std::int64_t{1} << 32, most = 1 << 16;
  if (distance <= -whole || distance >= whole || step >= whole) return std::nullopt;
  const auto d = static_cast<std::uint32_t>(distance), s = static_cast<std::uint32_t>(step);
  const int twos = std::countr_zero(s);
  if (s == 0 || (d & ((1U << twos) - 1)) != 0) return std::nullopt;
  const std::uint32_t odd = s >> twos;
  std::uint32_t inverse = odd;  // of 3 bits; each step of Newton's doubles them
  for (int bits = 3; bits < 32; bits *= 2) inverse *= 2 - odd * inverse;
  const std::uint32_t mask = UINT32_MAX >> twos, t = ((d >> twos) * inverse) & mask;
  if (t > most) return std::nullopt;
  return t;
}

}  // namespace

bool ExitSolver::invariant(ExprId expr) const {
  return is_invariant(evaluator_, expr, loop_);
}

std::optional<ExprId> ExitSolver::count(ExprId stay) {
  const auto node = exprs_[stay];
  switch (node.op) {
    case SymbolicOp::less:
    case SymbolicOp::less_equal:
    case SymbolicOp::equal:
    case SymbolicOp::not_equal:
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal_unsigned:
      return of_comparison(stay);
    case SymbolicOp::logical_and: {  // leaves at the first of the two
      if (holds_in_all_iterations(node.a)) return count(node.b);
      if (holds_in_all_iterations(node.b)) return count(node.a);
      const auto a = count(node.a);
      const auto of_a = std::exchange(per_thread_, std::nullopt);
      const auto b = count(node.b);
      if (!a && !b) return std::nullopt;
      may_end_earlier_ = may_end_earlier_ || !a || !b;
      if (!a) return b;
      if (b && (of_a || per_thread_))
        per_thread_ = exprs_.minimum(of_a.value_or(*a), per_thread_.value_or(*b));
      else if (!b)  // data may end it earlier
        per_thread_ = of_a;
      return b ? exprs_.minimum(*a, *b) : *a;
    }
    case SymbolicOp::logical_not: {  // of "leaves at a or at b"
      const auto of = exprs_[node.a];
      if (of.op != SymbolicOp::logical_or) return std::nullopt;
      const auto a = exprs_.logical_not(of.a);
      return count(exprs_.logical_and(a, exprs_.logical_not(of.b)));
    }
    case SymbolicOp::constant:
      if (node.number == 0) return exprs_.constant(1);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<ExprId> ExitSolver::of_comparison(ExprId stay) {
  const auto node = exprs_[stay];
  if (const auto count = linear(node.op, node.a, node.b)) return count;
  if ((node.dependence & on_counter) == 0) return std::nullopt;
  // It is left in one of the first two iterations, whatever all else is.
  constexpr std::int64_t tried = 2;
  const auto counter = exprs_.counter(loop_);
  for (std::int64_t iteration = 0; iteration < tried; ++iteration) {
    const auto then = exprs_.rewrite(
        stay, [](const SymbolicExprs::Node& inner) { return (inner.dependence & on_counter) != 0; },
        [&](ExprId leaf) { return leaf == counter ? exprs_.constant(iteration) : leaf; });
    if (exprs_.is_constant(then, 0)) return exprs_.constant(iteration + 1);
  }
  return std::nullopt;
}

// Whether it holds in the first iteration, for all threads, and the counter moves away from its bound.
bool ExitSolver::holds_in_all_iterations(ExprId condition) {
  const auto node = exprs_[condition];
  if (node.op != SymbolicOp::less && node.op != SymbolicOp::less_equal) return false;
  ExprId slope = 0, start = 0;
  if (!exprs_.split_linear(exprs_.subtract(node.b, node.a), exprs_.counter(loop_), slope, start))
    return false;
  if (node.op == SymbolicOp::less) start = exprs_.add(start, exprs_.constant(-1));
  const Facts no_facts(exprs_);
  return no_facts.not_negative(start) && no_facts.not_negative(slope);
}

// Runs 1 + (the first iteration t, from 0, in which `a op b` does not hold) times.
std::optional<ExprId> ExitSolver::linear(SymbolicOp op, ExprId a, ExprId b) {
  if (const auto count = geometric(op, a, b)) {
    if ((evaluator_.dependence(*count) & on_thread) == 0) return count;
    per_thread_ = count;
    if (const auto most = maximum_.of(*count, took_maximum_)) return most;
    return at_most(*count);
  }
  ExprId slope = 0, start = 0;
  if (counts_down_past_zero(op, a, b))
    return linear(SymbolicOp::less_equal, exprs_.scale(a, -1), exprs_.constant(0));
  if (!exprs_.split_linear(exprs_.subtract(a, b), exprs_.counter(loop_), slope, start)) return std::nullopt;
  if (!invariant(start) || !invariant(slope)) return std::nullopt;
  // The condition never changes: it leaves in the first iteration, or never.
  if (exprs_.is_constant(slope, 0)) return std::nullopt;
  const auto iterations = iterations_until(op, start, slope);
  if (!iterations || op == SymbolicOp::equal) return iterations;
  per_thread_ = exprs_.add(*iterations, exprs_.constant(1));
  const auto most = maximum_.of(*per_thread_, took_maximum_);
  if (most) return most;
  // The thread that begins nearest to its warp's, or row's, first place: `for (i = threadIdx.x % 32; …)`.
  const bool rises = direction_of(slope) > 0;
  const auto first = maximum_.without_remainders(start, rises);
  if (const auto longest = iterations_until(op, first, slope); first != start && longest) {
    took_maximum_ = true;
    if (const auto count = maximum_.of(exprs_.add(*longest, exprs_.constant(1)), took_maximum_)) return count;
  }
  return at_most(*per_thread_);
}

// x < 2^32 - c without a sign, where each iteration takes c or more from x: until it is below 0, as clang has loops of
// `while (n-- > 0)` that it unrolls.
bool ExitSolver::counts_down_past_zero(SymbolicOp op, ExprId x, ExprId bound) {
  constexpr std::int64_t all = std::int64_t{1} << 32, most = 64;
  ExprId slope = 0, start = 0;
  if (op != SymbolicOp::less_unsigned || !exprs_.is_constant(bound)) return false;
  const auto number = exprs_[bound].number;
  if (number < -most) return false;
  const auto left = number < 0 ? -number : all - number;
  return left > 0 && left <= most && exprs_.split_linear(x, exprs_.counter(loop_), slope, start) &&
         exprs_.is_constant(slope) && exprs_[slope].number <= -left;
}

// Where no largest index gives the most of a count: its structure may have a limit, as of `(n + threadIdx.x) % 8`.
std::optional<ExprId> ExitSolver::at_most(ExprId of_thread) {
  took_maximum_ = true;
  if (const auto most = maximum_.of_window(of_thread)) return most;
  const auto range = ValueRanges(exprs_).range(of_thread);
  if (range.high < ValueRanges::Range::far) return exprs_.constant(range.high);
  // What a launch executes is found from the count of each thread.
  if ((evaluator_.dependence(of_thread) & on_data) != 0) return std::nullopt;
  of_ends_ = true;
  return maximum_.of_ends(of_thread);
}

// 1 where an expression is not negative, -1 where its negation is not; 0: unknown. Arguments are taken to be positive, as
// steps are.
int ExitSolver::direction_of(ExprId slope) {
  const Facts no_facts(exprs_);
  if (no_facts.not_negative(slope)) return 1;
  if (no_facts.not_negative(exprs_.scale(slope, -1))) return -1;
  std::vector<Term> terms;
  const auto number = exprs_.linear_terms(slope, terms);
  int all = number > 0 ? 1 : number < 0 ? -1 : 0;
  for (const auto& term : terms) {
    for (const auto& part : exprs_.parts(term.atom))
      if (exprs_[part.atom].op != SymbolicOp::argument && !no_facts.not_negative(part.atom)) return 0;
    const int one = term.coefficient > 0 ? 1 : -1;
    if (all == -one) return 0;
    all = one;
  }
  positive_step_ = all > 0 ? slope : exprs_.scale(slope, -1);
  return all;
}

// The first t, from 0, in which `start + slope · t op 0` does not hold; of an equality, how often it runs. A
// slope that is not a number is taken for positive or negative by its sign where all is positive.
std::optional<ExprId> ExitSolver::iterations_until(SymbolicOp op, ExprId start, ExprId slope) {
  const auto direction = direction_of(slope);
  if (direction == 0) return std::nullopt;
  const bool rises = direction > 0;
  const auto up = rises ? slope : exprs_.scale(slope, -1);
  switch (op) {
    case SymbolicOp::not_equal: {  // start + slope · t = 0
      const auto distance = rises ? exprs_.scale(start, -1) : start;
      if (exprs_.is_constant(distance) && exprs_.is_constant(up)) {
        const auto d = exprs_[distance].number, s = exprs_[up].number;
        if (d >= 0 && d % s == 0) return exprs_.constant(d / s);
        const auto wrapped = until_wrapped(d, s);
        return wrapped ? std::optional(exprs_.constant(*wrapped)) : std::nullopt;
      }
      return exprs_.floor_divide(distance, up);
    }
    case SymbolicOp::less:
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal:
    case SymbolicOp::less_equal_unsigned: {
      if (!rises) return std::nullopt;  // moves away from the bound
      // The first t with start + slope · t >= 0 (or > 0): ceil((-start [+ 1]) / slope), not below 0.
      const bool strict = op == SymbolicOp::less || op == SymbolicOp::less_unsigned;
      auto distance = exprs_.scale(start, -1);
      if (!strict) distance = exprs_.add(distance, exprs_.constant(1));
      const auto rounded = exprs_.floor_divide(exprs_.add(distance, exprs_.add(up, exprs_.constant(-1))), up);
      return exprs_.maximum(exprs_.constant(0), rounded);
    }
    case SymbolicOp::equal:
      return exprs_.constant(2);  // holds for one iteration at most; in the first by its guard
    default:
      return std::nullopt;
  }
}

// start · 2^(k·t + c) < bound, start / 2^(k·t + c) > bound, …: the count is a logarithm.
std::optional<ExprId> ExitSolver::geometric(SymbolicOp op, ExprId a, ExprId b) {
  const auto one = exprs_.constant(1);
  switch (op) {
    case SymbolicOp::less:
    case SymbolicOp::less_unsigned:
      if (const auto count = growing(a, exprs_.add(b, exprs_.constant(-1)))) return count;
      return shrinking(b, exprs_.add(a, one));
    case SymbolicOp::less_equal:
    case SymbolicOp::less_equal_unsigned:
      if (const auto count = growing(a, b)) return count;
      return shrinking(b, a);
    case SymbolicOp::not_equal:
      if (exprs_.is_constant(b, 0)) return shrinking(a, one);
      if (exprs_.is_constant(a, 0)) return shrinking(b, one);
      if (const auto count = growing(a, exprs_.add(b, exprs_.constant(-1)))) return count;
      return growing(b, exprs_.add(a, exprs_.constant(-1)));
    default:
      break;
  }
  return std::nullopt;
}

// k and c of 2^(k·t + c) with numbers k > 0 and c >= 0, t the loop's counter; k = 0: something else.
ExitSolver::Power ExitSolver::power_of_counter(ExprId atom) {
  const auto node = exprs_[atom];
  ExprId k = 0, c = 0;
  if (node.op != SymbolicOp::power_of_two || !exprs_.split_linear(node.a, exprs_.counter(loop_), k, c))
    return {};
  if (!exprs_.is_constant(k) || !exprs_.is_constant(c) || exprs_[k].number < 1 || exprs_[c].number < 0)
    return {};
  return {exprs_[k].number, exprs_[c].number};
}

// 1 + the first iteration t with start · 2^(k·t + c) > most. With r = most / start that is k·t + c >=
// log2(2·r + 1), rounded down.
std::optional<ExprId> ExitSolver::growing(ExprId grows, ExprId most) {
  std::vector<Term> terms;
  if (exprs_.linear_terms(grows, terms) != 0 || terms.empty() || !invariant(most)) return std::nullopt;
  // The power is a factor of every term.
  const auto parts = exprs_.parts(terms[0].atom);
  Power power;
  ExprId start = 0, rest = 0;
  for (const auto& part : parts) {
    power = power_of_counter(part.atom);
    if (power.k == 0) continue;
    if (!exprs_.split_linear(grows, part.atom, start, rest) || rest != 0) return std::nullopt;
    break;
  }
  if (power.k == 0 || !invariant(start)) return std::nullopt;
  return iterations_until_power(exprs_.floor_divide(most, start), power);
}

// 1 + the first iteration t with start / 2^(k·t + c) < least. With r = start / least that is k·t + c >=
// log2(2·r + 1), all rounded down.
std::optional<ExprId> ExitSolver::shrinking(ExprId shrinks, ExprId least) {
  const auto node = exprs_[shrinks];
  if (node.op != SymbolicOp::floor_divide || !invariant(node.a) || !invariant(least)) return std::nullopt;
  const auto power = power_of_counter(node.b);
  if (power.k == 0) return std::nullopt;
  return iterations_until_power(exprs_.floor_divide(node.a, least), power);
}

// 1 + the first iteration t >= 0 with k·t + c >= log2(2·ratio + 1).
ExprId ExitSolver::iterations_until_power(ExprId ratio, Power power) {
  const auto one = exprs_.constant(1);
  const auto wanted = exprs_.log2_floor(exprs_.maximum(one, exprs_.add(exprs_.scale(ratio, 2), one)));
  const auto iterations = exprs_.floor_divide(exprs_.add(wanted, exprs_.constant(power.k - 1 - power.c)),
                                              exprs_.constant(power.k));
  return exprs_.add(exprs_.maximum(exprs_.constant(0), iterations), exprs_.constant(1));
}

}  // namespace warptime::analysis
