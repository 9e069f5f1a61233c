#include "analyzer/loops/trip_count.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "analyzer/symbolic/facts.h"
#include "analyzer/symbolic/univariate.h"

namespace warptime::analysis {
namespace {

constexpr std::size_t max_open_phis = 64;
constexpr std::size_t max_form_depth = 150;  // closed forms within closed forms
// Closed forms that are looked for in one kernel, in all and for each register that changes; beyond,
// registers stay without one. (Registers that hang together in a circle are looked at again and again, from
// every one of them.)
constexpr std::uint64_t least_steps = 1000, steps_per_phi = 32;

}  // namespace

ExprId LoopAnalysis::resolve(ExprId value, std::uint32_t context) {
  if (exprs_[value].has_phi)
    value = exprs_.rewrite(
        value, [](const SymbolicExprs::Node& node) { return node.has_phi; },
        [&](ExprId leaf) {
          const auto node = exprs_[leaf];
          return node.op == SymbolicOp::phi ? closed_form(node.a, context) : leaf;
        });
  return leave_loops(value, context);
}

ExprId LoopAnalysis::leave_loops(ExprId value, std::uint32_t context) {
  const auto& cfg = evaluator_.cfg();
  if ((exprs_[value].dependence & on_counter) == 0) return value;
  return exprs_.rewrite(
      value, [](const SymbolicExprs::Node& node) { return (node.dependence & on_counter) != 0; },
      [&](ExprId leaf) {
        const auto node = exprs_[leaf];
        if (node.op != SymbolicOp::counter || cfg.encloses(node.a, context)) return leaf;
        if (std::find(open_loops_.begin(), open_loops_.end(), node.a) != open_loops_.end()) return leaf;
        const auto trip = trip_count(node.a);
        if (!trip.count) return exprs_.opaque(on_data | on_thread);
        return leave_loops(exprs_.add(*trip.count, exprs_.constant(-1)), context);
      });
}

ExprId LoopAnalysis::closed_form(std::uint32_t phi, std::uint32_t context) {
  const auto self = exprs_.phi(phi);
  if (const auto at = std::find(open_.begin(), open_.end(), phi); at != open_.end()) {
    lowest_touched_ = std::min(lowest_touched_, static_cast<std::size_t>(at - open_.begin()));
    return self;
  }
  const auto memo = closed_forms_.find(pair_key(phi, context));
  if (memo != closed_forms_.end()) return memo->second;
  if (open_.size() > max_open_phis || depth_ > max_form_depth ||
      ++steps_ > least_steps + steps_per_phi * evaluator_.phi_count())
    return self;
  struct Deeper {
    explicit Deeper(std::size_t& depth) : of(depth) { ++of; }
    ~Deeper() { --of; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    std::size_t& of;
  } deeper(depth_);
  if (const auto only = evaluator_.copy_of(phi)) {
    return resolve(*only, context);
  }
  const auto& cfg = evaluator_.cfg();
  const auto block = evaluator_.phi(phi).block;
  const auto loop = cfg.blocks[block].loop;
  // Registers of enclosing loops first: what an inner loop starts from goes round the outer one through the
  // inner one.
  if (loop != none && cfg.loops[loop].header == block && cfg.loops[loop].parent != none) {
    const auto& predecessors = cfg.blocks[block].predecessors;
    const auto incoming = evaluator_.incoming(phi);  // a copy
    for (std::size_t i = 0; i < incoming.size() && i < predecessors.size(); ++i)
      if (!cfg.contains(loop, predecessors[i]) && exprs_[incoming[i]].has_phi)
        resolve(incoming[i], cfg.loops[loop].parent);
    if (const auto now = closed_forms_.find(pair_key(phi, context)); now != closed_forms_.end())
      return now->second;
  }
  const auto touched_before = std::exchange(lowest_touched_, not_touched);
  const auto depth = open_.size();
  open_.push_back(phi);
  const auto form =
      loop != none && cfg.loops[loop].header == block ? recurrence(phi, loop) : merge(phi, loop);
  open_.pop_back();
  const auto result = form == self ? self : leave_loops(form, context);
  // What met a phi that is still open is not the last word on this one.
  if (lowest_touched_ >= depth) {
    closed_forms_[pair_key(phi, context)] = result;
    lowest_touched_ = touched_before;
  } else {
    lowest_touched_ = std::min(lowest_touched_, touched_before);
  }
  return result;
}

bool LoopAnalysis::invariant(ExprId value, std::uint32_t loop) {
  const auto& cfg = evaluator_.cfg();
  return !exprs_.any_leaf(value, [&](ExprId leaf) {
    const auto node = exprs_[leaf];
    switch (node.op) {
      case SymbolicOp::counter:
        return cfg.encloses(loop, node.a);
      case SymbolicOp::phi:
        return cfg.contains(loop, evaluator_.phi(node.a).block);
      case SymbolicOp::opaque:
        return true;
      case SymbolicOp::result: {  // an instruction of the loop makes a new value each turn
        for (const auto b : cfg.loops[loop].blocks)
          if (node.a >= cfg.blocks[b].first && node.a < cfg.blocks[b].end) return true;
        return false;
      }
      default:
        return false;
    }
  });
}

ExprId LoopAnalysis::recurrence(std::uint32_t phi, std::uint32_t loop) {
  const auto& cfg = evaluator_.cfg();
  const auto self = exprs_.phi(phi);
  const auto block = evaluator_.phi(phi).block;
  const auto& predecessors = cfg.blocks[block].predecessors;
  const auto incoming = evaluator_.incoming(phi);  // a copy
  std::optional<ExprId> start, next;
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const bool inside = i < predecessors.size() && cfg.contains(loop, predecessors[i]);
    auto& place = inside ? next : start;
    const auto value = resolve(incoming[i], inside ? loop : cfg.loops[loop].parent);
    if (place && *place != value) return self;
    place = value;
  }
  if (!start) return self;
  if (!next || *next == self) return *start;
  const auto counter = exprs_.counter(loop);
  const auto step = exprs_.subtract(*next, self);
  if (invariant(step, loop)) return exprs_.add(*start, exprs_.multiply(step, counter));
  // next = factor · self
  ExprId factor = 0, rest = 0;
  if (exprs_.split_linear(*next, self, factor, rest) && exprs_.is_constant(rest, 0)) {
    if (exprs_.is_constant(factor)) {
      const auto n = exprs_[factor].number;
      if (n > 1 && (n & (n - 1)) == 0) {
        const auto bits = exprs_.log2_floor(factor);
        return exprs_.multiply(*start, exprs_.power_of_two(exprs_.multiply(bits, counter)));
      }
    }
  }
  const auto node = exprs_[*next];
  if (node.op == SymbolicOp::floor_divide && node.a == self && exprs_.is_constant(node.b)) {
    const auto n = exprs_[node.b].number;
    if (n > 1 && (n & (n - 1)) == 0)
      return exprs_.floor_divide(*start,
                                 exprs_.power_of_two(exprs_.multiply(exprs_.log2_floor(node.b), counter)));
  }
  return self;
}

// Where branches meet: the same value from everywhere, or one that the branches' conditions select.
ExprId LoopAnalysis::merge(std::uint32_t phi, std::uint32_t context) {
  const auto& cfg = evaluator_.cfg();
  const auto self = exprs_.phi(phi);
  const auto block = evaluator_.phi(phi).block;
  const auto& predecessors = cfg.blocks[block].predecessors;
  const auto incoming = evaluator_.incoming(phi);  // a copy
  if (incoming.size() != predecessors.size()) return self;
  std::vector<Way> ways;
  for (std::size_t i = 0; i < incoming.size(); ++i)
    if (cfg.blocks[predecessors[i]].reachable)
      ways.push_back({predecessors[i], resolve(incoming[i], context)});
  return selected(block, ways, 0).value_or(self);
}

// The value that the branches between the common dominator of `ways` and `block` select.
std::optional<ExprId> LoopAnalysis::selected(std::uint32_t block, const std::vector<Way>& ways, int depth) {
  const auto& cfg = evaluator_.cfg();
  if (ways.empty() || ways.size() > 16 || depth > 16) return std::nullopt;
  if (std::all_of(ways.begin(), ways.end(), [&](const Way& way) { return way.value == ways[0].value; }))
    return ways[0].value;
  auto up = ways[0].from;
  for (const auto& way : ways)
    while (up != none && !cfg.dominates(up, way.from)) up = cfg.blocks[up].dominator;
  if (up == none || cfg.blocks[up].successors.size() != 2) return std::nullopt;
  std::vector<Way> sides[2];
  for (const auto& way : ways) {
    int side = -1;
    for (int i = 0; i < 2; ++i) {
      const auto next = cfg.blocks[up].successors[i];
      const bool by = way.from == up ? next == block : next != block && cfg.dominates(next, way.from);
      if (by) side = side == -1 ? i : 2;
    }
    if (side != 0 && side != 1) return std::nullopt;
    sides[side].push_back(way);
  }
  if (sides[0].empty() || sides[1].empty()) return std::nullopt;
  const auto then_value = selected(block, sides[0], depth + 1),
             else_value = selected(block, sides[1], depth + 1);
  if (!then_value || !else_value) return std::nullopt;
  const auto condition = resolve(evaluator_.guard(cfg.blocks[up].end - 1), cfg.blocks[up].loop);
  return exprs_.select(condition, *then_value, *else_value);
}

const TripCount& LoopAnalysis::trip_count(std::uint32_t loop) {
  if (const auto it = trip_counts_.find(loop); it != trip_counts_.end()) return it->second;
  static const TripCount open{std::nullopt, none, false, "its count depends on itself", false};
  if (std::find(open_loops_.begin(), open_loops_.end(), loop) != open_loops_.end()) return open;
  open_loops_.push_back(loop);
  const auto saved =
      std::exchange(open_, {});  // the phis of another question do not stand in the way of this one
  const auto touched = std::exchange(lowest_touched_, not_touched);
  auto found = find_trip_count(loop);
  open_ = saved;
  lowest_touched_ = touched;
  open_loops_.pop_back();
  return trip_counts_[loop] = std::move(found);
}

TripCount LoopAnalysis::find_trip_count(std::uint32_t loop_index) {
  const auto& cfg = evaluator_.cfg();
  const auto& loop = cfg.loops[loop_index];
  TripCount result;
  result.has_other_exits = loop.exits.size() > 1;
  if (loop.exits.empty()) {
    result.why_not = "the loop has no exit";
    return result;
  }
  for (std::uint32_t e = 0; e < loop.exits.size(); ++e) {
    const auto from = loop.exits[e].from;
    const bool every_turn = cfg.blocks[from].loop == loop_index &&
                            std::all_of(loop.latches.begin(), loop.latches.end(),
                                        [&](auto latch) { return cfg.dominates(from, latch); });
    if (!every_turn) continue;
    if (result.exit == none) result.exit = e;
    const auto& block = cfg.blocks[from];
    if (block.successors.size() != 2) continue;
    const auto guard = resolve(evaluator_.guard(block.end - 1), loop_index);
    const auto stay = block.successors[0] == loop.exits[e].to ? exprs_.logical_not(guard) : guard;
    bool busiest = false;
    if (const auto count = solve(stay, loop_index, busiest)) {
      result.exit = e;
      result.count = count;
      result.maximum_over_threads = busiest;
      return result;
    }
  }
  result.why_not = result.exit == none ? "none of its exits is in every turn"
                                       : "its exit condition has no closed form over the kernel's arguments";
  return result;
}

std::optional<ExprId> LoopAnalysis::solve(ExprId stay, std::uint32_t loop, bool& maximum_over_threads) {
  const auto node = exprs_[stay];
  switch (node.op) {
    case SymbolicOp::less:
    case SymbolicOp::less_equal:
    case SymbolicOp::equal:
    case SymbolicOp::not_equal:
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal_unsigned:
      return solve_comparison(node.op, node.a, node.b, loop, maximum_over_threads);
    case SymbolicOp::logical_and: {  // leaves at the first of the two
      const auto a = solve(node.a, loop, maximum_over_threads);
      const auto b = solve(node.b, loop, maximum_over_threads);
      if (a && b) return exprs_.minimum(*a, *b);
      return std::nullopt;
    }
    case SymbolicOp::constant:
      if (node.number == 0) return exprs_.constant(1);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Runs 1 + (the first turn t, from 0, in which `a op b` does not hold) times.
std::optional<ExprId> LoopAnalysis::solve_comparison(SymbolicOp op, ExprId a, ExprId b, std::uint32_t loop,
                                                     bool& maximum_over_threads) {
  if (const auto count = solve_geometric(op, a, b, loop)) return count;
  const auto counter = exprs_.counter(loop);
  ExprId slope = 0, start = 0;
  if (!exprs_.split_linear(exprs_.subtract(a, b), counter, slope, start)) return std::nullopt;
  if (!invariant(start, loop) || !invariant(slope, loop)) return std::nullopt;
  const auto one = exprs_.constant(1);
  const Facts no_facts(exprs_);
  // a - b = start + slope · t. A slope that is not a number is taken for positive or negative by its sign
  // where all is positive.
  int sign = 0;
  if (no_facts.not_negative(slope))
    sign = 1;
  else if (no_facts.not_negative(exprs_.scale(slope, -1)))
    sign = -1;
  if (exprs_.is_constant(slope, 0)) {
    return std::nullopt;  // the condition never changes: it leaves in the first turn, or never
  }
  if (sign == 0) return std::nullopt;
  const auto up = sign > 0 ? slope : exprs_.scale(slope, -1);
  std::optional<ExprId> turns;
  switch (op) {
    case SymbolicOp::not_equal: {  // start + slope · t = 0
      const auto distance = sign > 0 ? exprs_.scale(start, -1) : start;
      if (exprs_.is_constant(distance) && exprs_.is_constant(up)) {
        const auto d = exprs_[distance].number, s = exprs_[up].number;
        if (d < 0 || d % s != 0) return std::nullopt;  // passes it by: would run until the register wraps
      }
      turns = exprs_.floor_divide(distance, up);
      break;
    }
    case SymbolicOp::less:
    case SymbolicOp::less_unsigned:
    case SymbolicOp::less_equal:
    case SymbolicOp::less_equal_unsigned: {
      if (sign < 0) return std::nullopt;  // moves away from the bound
      // The first t with start + slope · t >= 0 (or > 0): ceil((-start [+ 1]) / slope), not below 0.
      const bool strict = op == SymbolicOp::less || op == SymbolicOp::less_unsigned;
      auto distance = exprs_.scale(start, -1);
      if (!strict) distance = exprs_.add(distance, one);
      const auto rounded = exprs_.floor_divide(exprs_.add(distance, exprs_.add(up, exprs_.constant(-1))), up);
      turns = exprs_.maximum(exprs_.constant(0), rounded);
      break;
    }
    case SymbolicOp::equal:
      return exprs_.constant(2);  // holds for one turn at most; in the first by its guard
    default:
      return std::nullopt;
  }
  return busiest(exprs_.add(*turns, one), maximum_over_threads);
}

// start · 2^(k·t + c) < bound, start / 2^(k·t + c) > bound, …: the count is a logarithm.
std::optional<ExprId> LoopAnalysis::solve_geometric(SymbolicOp op, ExprId a, ExprId b, std::uint32_t loop) {
  const auto one = exprs_.constant(1);
  switch (op) {
    case SymbolicOp::less:
    case SymbolicOp::less_unsigned:
      if (const auto count = solve_growing(a, exprs_.add(b, exprs_.constant(-1)), loop)) return count;
      return solve_shrinking(b, exprs_.add(a, one), loop);
    case SymbolicOp::less_equal:
    case SymbolicOp::less_equal_unsigned:
      if (const auto count = solve_growing(a, b, loop)) return count;
      return solve_shrinking(b, a, loop);
    case SymbolicOp::not_equal:
      if (exprs_.is_constant(b, 0)) return solve_shrinking(a, one, loop);
      if (exprs_.is_constant(a, 0)) return solve_shrinking(b, one, loop);
      if (const auto count = solve_growing(a, exprs_.add(b, exprs_.constant(-1)), loop)) return count;
      return solve_growing(b, exprs_.add(a, exprs_.constant(-1)), loop);
    default:
      break;
  }
  return std::nullopt;
}

// k and c of 2^(k·t + c) with numbers k > 0 and c >= 0, t the loop's counter; k = 0: something else.
LoopAnalysis::Power LoopAnalysis::power_of_counter(ExprId atom, std::uint32_t loop) {
  const auto node = exprs_[atom];
  ExprId k = 0, c = 0;
  if (node.op != SymbolicOp::power_of_two || !exprs_.split_linear(node.a, exprs_.counter(loop), k, c))
    return {};
  if (!exprs_.is_constant(k) || !exprs_.is_constant(c) || exprs_[k].number < 1 || exprs_[c].number < 0)
    return {};
  return {exprs_[k].number, exprs_[c].number};
}

// 1 + the first turn t with start · 2^(k·t + c) > most. With r = most / start that is k·t + c >= log2(2·r +
// 1), rounded down.
std::optional<ExprId> LoopAnalysis::solve_growing(ExprId grows, ExprId most, std::uint32_t loop) {
  std::vector<Term> terms;
  if (exprs_.linear_form(grows, terms) != 0 || terms.empty() || !invariant(most, loop)) return std::nullopt;
  // The power is a factor of every term.
  const auto parts = exprs_.parts(terms[0].atom);
  Power power;
  ExprId start = 0, rest = 0;
  for (const auto& part : parts) {
    power = power_of_counter(part.atom, loop);
    if (power.k == 0) continue;
    if (!exprs_.split_linear(grows, part.atom, start, rest) || rest != 0) return std::nullopt;
    break;
  }
  if (power.k == 0 || !invariant(start, loop)) return std::nullopt;
  return turns_until_power(exprs_.floor_divide(most, start), power);
}

// 1 + the first turn t with start / 2^(k·t + c) < least. With r = start / least that is k·t + c >= log2(2·r +
// 1), all rounded down.
std::optional<ExprId> LoopAnalysis::solve_shrinking(ExprId shrinks, ExprId least, std::uint32_t loop) {
  const auto node = exprs_[shrinks];
  if (node.op != SymbolicOp::floor_divide || !invariant(node.a, loop) || !invariant(least, loop))
    return std::nullopt;
  const auto power = power_of_counter(node.b, loop);
  if (power.k == 0) return std::nullopt;
  return turns_until_power(exprs_.floor_divide(node.a, least), power);
}

// 1 + the first turn t >= 0 with k·t + c >= log2(2·ratio + 1).
ExprId LoopAnalysis::turns_until_power(ExprId ratio, Power power) {
  const auto one = exprs_.constant(1);
  const auto wanted = exprs_.log2_floor(exprs_.maximum(one, exprs_.add(exprs_.scale(ratio, 2), one)));
  const auto turns = exprs_.floor_divide(exprs_.add(wanted, exprs_.constant(power.k - 1 - power.c)),
                                         exprs_.constant(power.k));
  return exprs_.add(exprs_.maximum(exprs_.constant(0), turns), exprs_.constant(1));
}

template <class F>
bool LoopAnalysis::over_threads(ExprId value, F each) const {
  constexpr std::int64_t most_threads = 1024;  // of a block, on every GPU
  constexpr std::uint16_t most_nesting = 12;
  const auto node = exprs_[value];
  if (node.indirect || node.dependence != on_thread || node.depth > most_nesting) return false;
  FormOfOneLeaf form(exprs_, value, exprs_.special(Special::tid_x));
  for (std::int64_t thread = 0; thread < most_threads; ++thread) {
    const auto number = form.at(thread);
    if (!number) return false;
    if (!each(*number)) break;
  }
  return true;
}

std::optional<std::int64_t> LoopAnalysis::same_for_all_threads(ExprId value) const {
  std::optional<std::int64_t> first;
  bool same = true;
  const bool known = over_threads(value, [&](std::int64_t number) {
    if (!first) first = number;
    same = number == *first;
    return same;
  });
  return known && same ? first : std::nullopt;
}

// A count that neither grows nor falls with the thread's index, of that index alone.
std::optional<ExprId> LoopAnalysis::busiest_by_trial(ExprId count, bool& changed) {
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  const bool known = over_threads(count, [&](std::int64_t number) {
    least = std::min(least, number);
    most = std::max(most, number);
    return true;
  });
  if (!known) return std::nullopt;
  changed = changed || least != most;
  return exprs_.constant(most);
}

// Where the count depends on the thread or block: that of the one which runs longest. Linear dependence only.
std::optional<ExprId> LoopAnalysis::busiest(ExprId count, bool& changed) {
  if ((exprs_[count].dependence & (on_thread | on_block)) == 0) return count;
  constexpr std::array<std::pair<Special, Special>, 6> ranges{{
      {Special::tid_x, Special::ntid_x},
      {Special::tid_y, Special::ntid_y},
      {Special::tid_z, Special::ntid_z},
      {Special::ctaid_x, Special::nctaid_x},
      {Special::ctaid_y, Special::nctaid_y},
      {Special::ctaid_z, Special::nctaid_z},
  }};
  // The direction in which the count grows with an index; 0: not known. Through floor division, maximum and
  // minimum it is that of what is inside.
  const std::function<int(ExprId, ExprId)> direction = [&](ExprId value, ExprId atom) -> int {
    if (!exprs_.any_leaf(value, [&](ExprId leaf) { return leaf == atom; })) return 2;  // none at all
    const auto node = exprs_[value];
    if (value == atom) return 1;
    const auto join = [](int x, int y) { return x == 2 ? y : y == 2 ? x : x == y ? x : 0; };
    switch (node.op) {
      case SymbolicOp::sum: {
        int all = 2;
        for (const auto& t : exprs_.terms(value)) {
          const auto d = direction(t.atom, atom);
          all = join(all, d == 2 || d == 0 ? d : (t.coefficient > 0 ? d : -d));
        }
        return all;
      }
      case SymbolicOp::product: {
        int all = 2;
        for (const auto& t : exprs_.terms(value)) {
          all = join(all, direction(t.atom, atom));
          if (!Facts(exprs_).not_negative(t.atom)) return 0;
        }
        return all;
      }
      case SymbolicOp::floor_divide: {
        if (direction(node.b, atom) != 2 || !Facts(exprs_).not_negative(node.b)) return 0;
        return direction(node.a, atom);
      }
      case SymbolicOp::minimum:
      case SymbolicOp::maximum:
        return join(direction(node.a, atom), direction(node.b, atom));
      default:
        return 0;
    }
  };
  for (const auto& [index, extent] : ranges) {
    const auto atom = exprs_.special(index);
    const auto d = direction(count, atom);
    if (d == 2) continue;
    if (d == 0) return busiest_by_trial(count, changed);
    const auto extreme = d < 0 ? exprs_.constant(0) : exprs_.add(exprs_.special(extent), exprs_.constant(-1));
    count = exprs_.rewrite(
        count,
        [](const SymbolicExprs::Node& node) { return (node.dependence & (on_thread | on_block)) != 0; },
        [&](ExprId leaf) { return leaf == atom ? extreme : leaf; });
    changed = true;
  }
  if ((exprs_[count].dependence & (on_thread | on_block)) != 0) return std::nullopt;
  return count;
}

}  // namespace warptime::analysis
