#include "analyzer/memory/lane_values.h"

#include <algorithm>

#include "analyzer/memory/wrapping.h"

namespace warptime::analysis {
namespace {

constexpr int max_access_depth = 300;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? 0 : static_cast<std::int64_t>(-static_cast<std::uint64_t>(a));
  const auto q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t truncated_divide(std::int64_t a, std::int64_t b) {
  return b == 0 || b == -1 ? floor_divide(a, b) : a / b;
}

// x + c of (x mod n) + c, again and again: what wraps around keeps its distance between threads from one
// iteration to the next, but for where it begins again. n and c are the same for all threads. Other
// expressions as they are.
ExprId before_remainder(Evaluator& evaluator, ExprId expr) {
  constexpr int most_remainders = 64;  // of an unrolled loop
  auto& exprs = evaluator.exprs();
  const auto same_for_all = [&](ExprId v) { return (evaluator.dependence(v) & on_thread) == 0; };
  const auto once = [&](ExprId v) -> std::optional<ExprId> {
    std::vector<Term> terms;
    exprs.linear_terms(v, terms);
    for (const auto& term : terms) {
      const auto parts = exprs.parts(term.atom);
      for (const auto& part : parts) {
        const auto node = exprs[part.atom];
        if ((node.op != SymbolicOp::floor_divide && node.op != SymbolicOp::truncated_divide) ||
            !same_for_all(node.b))
          continue;
        const auto rest = exprs.subtract(v, exprs.subtract(node.a, exprs.multiply(node.b, part.atom)));
        if (same_for_all(rest)) return exprs.add(node.a, rest);
      }
    }
    return std::nullopt;
  };
  for (int i = 0; i < most_remainders; ++i) {
    const auto next = once(expr);
    if (!next) break;
    expr = *next;
  }
  return expr;
}

}  // namespace

std::int64_t LaneValues::at(const LaneValue& value, int lane) const {
  return value.each != none ? samples().arrays[value.each][static_cast<std::size_t>(lane)]
                            : wrap_add(value.first, wrap_multiply(value.stride, lane));
}

LaneValue LaneValues::from(const Lanes& each, bool data_decides, bool sampled) {
  const auto stride = wrap_subtract(each[1], each[0]);
  bool one_distance = true;
  for (std::size_t i = 1; i < warp_lanes; ++i)
    one_distance = one_distance && each[i] == wrap_add(each[i - 1], stride);
  if (one_distance) return {each[0], stride, none, data_decides, sampled};
  auto& arrays = samples().arrays;
  arrays.push_back(each);
  return {0, 0, static_cast<std::uint32_t>(arrays.size() - 1), data_decides, sampled};
}

LaneValue LaneValues::evaluate(ExprId expr, int depth) {
  if (const auto& known = samples(); expr < known.places.size() && known.places[expr] != 0)
    return known.known[known.places[expr] - 1];
  if (depth > max_access_depth) return {0, 0, none, true};
  const bool met_before = met_open_;
  met_open_ = false;
  const auto result = compute(expr, depth);
  if (!met_open_) {
    auto& keep = samples();
    if (keep.places.size() <= expr)
      keep.places.resize(std::max<std::size_t>(expr + 1, evaluator_.exprs().size()), 0);
    keep.known.push_back(result);
    keep.places[expr] = static_cast<std::uint32_t>(keep.known.size());
  }
  if (open_.empty())
    met_open_ = false;
  else
    met_open_ = met_open_ || met_before;
  return result;
}

template <class F>
LaneValue LaneValues::combine(const SymbolicExprs::Node& node, int depth, F f) {
  const auto a = evaluate(node.a, depth + 1), b = evaluate(node.b, depth + 1);
  const bool data = a.data_decides || b.data_decides,
             sampled = a.sampled || b.sampled || a.start_sampled || b.start_sampled;
  if (a.uniform() && b.uniform()) return {f(a.first, b.first), 0, none, data, sampled};
  Lanes r;
  for (int i = 0; i < warp_lanes; ++i) r[static_cast<std::size_t>(i)] = f(at(a, i), at(b, i));
  return from(r, data, sampled);
}

// An index is `one` or `other`, because it is clamped or mirrored at the border of an array, and samples decide
// where the border is: that says nothing of real arguments. The one in which threads differ counts, as for
// almost all warps of the array; of an index and its mirror image, the ascending one. Nothing: neither.
std::optional<LaneValue> LaneValues::inside(const LaneValue& one, const LaneValue& other) {
  const bool both_spread = !one.uniform() && !other.uniform();
  const auto magnitude = [](std::int64_t stride) { return stride < 0 ? wrap_subtract(0, stride) : stride; };
  const bool as_far =
      one.each == none && other.each == none && magnitude(one.stride) == magnitude(other.stride);
  if (both_spread ? !as_far : one.uniform() && other.uniform()) return std::nullopt;
  auto index = (both_spread ? one.stride < other.stride : one.uniform()) ? other : one;
  index.start_sampled = true;
  return index;
}

template <class F>
LaneValue LaneValues::clamp(const SymbolicExprs::Node& node, int depth, F f) {
  const auto a = evaluate(node.a, depth + 1), b = evaluate(node.b, depth + 1);
  const bool on_arguments =
      ((evaluator_.dependence(node.a) | evaluator_.dependence(node.b)) & on_argument) != 0;
  if (on_arguments && (a.sampled || b.sampled || a.start_sampled || b.start_sampled))
    if (auto index = inside(a, b)) {
      index->data_decides = a.data_decides || b.data_decides;
      return *index;
    }
  return combine(node, depth, f);
}

LaneValues::LaneValues(Evaluator& evaluator, const std::optional<std::array<std::int64_t, 3>>& block)
    : evaluator_(evaluator), block_(block) {
  if (!block_) return;
  const auto& [x, y, z] = *block_;
  count_ = static_cast<int>(std::min<std::int64_t>(warp_lanes, x * y * z));
}

// threadIdx.x, .y or .z of the first warp's threads: warps are cut from x + blockDim.x · (y + blockDim.y · z).
LaneValue LaneValues::coordinate(std::size_t dimension) {
  if (!block_) return dimension == 0 ? LaneValue{0, 1} : LaneValue{0};
  const auto& shape = *block_;
  if (shape[0] >= warp_lanes) return dimension == 0 ? LaneValue{0, 1} : LaneValue{0};
  std::int64_t neighbours = 1;  // with this coordinate the same
  for (std::size_t i = 0; i < dimension; ++i) neighbours *= shape[i];
  Lanes each;
  for (std::size_t lane = 0; lane < each.size(); ++lane)
    each[lane] = static_cast<std::int64_t>(lane) / neighbours % shape[dimension];
  return from(each, false, false);
}

LaneValue LaneValues::special(Special which) {
  if (block_ && which >= Special::ntid_x && which <= Special::ntid_z)
    return {(*block_)[static_cast<std::size_t>(which) - static_cast<std::size_t>(Special::ntid_x)]};
  switch (which) {
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z:
      return coordinate(static_cast<std::size_t>(which) - static_cast<std::size_t>(Special::tid_x));
    case Special::laneid:
      return {0, 1};
    case Special::ntid_x:
      return {256, 0, none, false, true};
    case Special::ntid_y:
    case Special::ntid_z:
    case Special::nctaid_y:
    case Special::nctaid_z:
      return {1};
    case Special::nctaid_x:
      return {4096, 0, none, false, true};
    case Special::warpsize:
      return {32};
    case Special::other:
      return {0, 0, none, true};
    default:
      return {0};
  }
}

// Large, different for each argument, and, of what may be a pointer, a multiple of every alignment. The sets
// have the arguments rise and fall, be multiples of each other and not.
LaneValue LaneValues::argument(std::uint32_t index) const {
  const auto& parameters = evaluator_.function().parameters;
  const auto i = std::int64_t{std::min(index, 30u)};
  const bool may_be_pointer =
      index >= parameters.size() || parameters[index].type == "u64" || parameters[index].type == "b64";
  std::int64_t number = (std::int64_t{1} << 20) * (1 + i);
  if (!may_be_pointer) {
    switch (set_) {
      case 1:
        number = (std::int64_t{1} << 20) * (40 - i) + 2 * i + 1;
        break;
      case 2:
        number = std::int64_t{1} << std::max<std::int64_t>(7, 27 - 5 * i);
        break;
      case 3:
        number = std::int64_t{1} << std::min<std::int64_t>(27, 7 + 5 * i);
        break;
      default:
        break;
    }
  }
  return {number, 0, none, false, true};
}

LaneValue LaneValues::phi(std::uint32_t index, int depth) {
  if (std::find(open_.begin(), open_.end(), index) != open_.end()) {
    met_open_ = true;
    return {0};
  }
  open_.push_back(index);
  // The first iteration: what comes from outside the loop. Elsewhere any incoming edge will do, if the choice
  // is not the threads' own.
  const auto& cfg = evaluator_.cfg();
  const auto block = evaluator_.phi(index).block;
  const auto loop = cfg.blocks[block].loop;
  const bool header = loop != none && cfg.loops[loop].header == block;
  const auto incoming = evaluator_.incoming(index);  // a copy
  const auto& predecessors = cfg.blocks[block].predecessors;
  std::optional<LaneValue> result;
  // Where branches choose by the thread, each thread has its own side's value.
  if (!header)
    if (const auto chosen = evaluator_.chosen_by_thread(index)) {
      const auto each = evaluate(*chosen, depth + 1);
      if (!each.data_decides) result = each;
    }
  for (std::size_t i = 0; i < incoming.size() && !result; ++i)
    if (!header || i >= predecessors.size() || !cfg.contains(loop, predecessors[i]))
      result = evaluate(incoming[i], depth + 1);
  open_.pop_back();
  // Another iteration, or another path, may bring another number.
  auto value = result.value_or(LaneValue{});
  (value.uniform() ? value.sampled : value.start_sampled) = true;
  // Where threads go on by different steps, the first iteration says nothing of the next.
  if (header)
    for (std::size_t i = 0; i < incoming.size() && i < predecessors.size(); ++i)
      if (cfg.contains(loop, predecessors[i])) {
        auto& exprs = evaluator_.exprs();
        const auto step = exprs.subtract(before_remainder(evaluator_, incoming[i]), exprs.phi(index));
        if ((evaluator_.dependence(step) & on_thread) != 0) value.data_decides = true;
      }
  return value;
}

LaneValue LaneValues::sum(ExprId expr, int depth) {
  const auto& exprs = evaluator_.exprs();
  const auto number = exprs[expr].number;
  LaneValue r{number};
  bool one_by_one = false, number_sampled = false;
  const auto terms = exprs.terms(expr);
  const auto first_part = parts_.size();
  for (const auto& t : terms) {
    const auto part = evaluate(t.atom, depth + 1);
    parts_.push_back(part);
    one_by_one = one_by_one || part.each != none;
    r.data_decides = r.data_decides || part.data_decides;
    r.sampled = r.sampled || (part.sampled && !part.uniform());
    number_sampled = number_sampled || part.sampled;
    r.first = wrap_add(r.first, wrap_multiply(t.coefficient, part.first));
    r.stride = wrap_add(r.stride, wrap_multiply(t.coefficient, part.stride));
  }
  if (!one_by_one) {
    parts_.resize(first_part);
    if (r.uniform())
      r.sampled = number_sampled;
    else if (number_sampled && !r.sampled)
      r.start_sampled = true;
    return r;
  }
  Lanes each;
  each.fill(number);
  for (std::size_t p = 0; p < terms.size(); ++p)
    for (int i = 0; i < warp_lanes; ++i) {
      auto& sum = each[static_cast<std::size_t>(i)];
      sum = wrap_add(sum, wrap_multiply(terms[p].coefficient, at(parts_[first_part + p], i)));
    }
  parts_.resize(first_part);
  auto all = from(each, r.data_decides, r.sampled);
  all.start_sampled = number_sampled;
  return all;
}

LaneValue LaneValues::product(ExprId expr, int depth) {
  const auto& exprs = evaluator_.exprs();
  LaneValue r{1};
  for (const auto& t : exprs.terms(expr)) {
    const auto part = evaluate(t.atom, depth + 1);
    const bool data = r.data_decides || part.data_decides,
               sampled = r.sampled || part.sampled || r.start_sampled || part.start_sampled;
    if (r.uniform() && part.each == none) {
      r = {wrap_multiply(r.first, part.first), wrap_multiply(r.first, part.stride), none, data, sampled};
    } else if (part.uniform() && r.each == none) {
      r = {wrap_multiply(r.first, part.first), wrap_multiply(r.stride, part.first), none, data, sampled};
    } else {
      Lanes each;
      for (int i = 0; i < warp_lanes; ++i)
        each[static_cast<std::size_t>(i)] = wrap_multiply(at(r, i), at(part, i));
      r = from(each, data, sampled);
    }
  }
  return r;
}

LaneValue LaneValues::select(const SymbolicExprs::Node& node, int depth) {
  const auto c = evaluate(node.a, depth + 1), t = evaluate(node.b, depth + 1),
             e = evaluate(node.c, depth + 1);
  const bool data = c.data_decides || t.data_decides || e.data_decides;
  const bool sampled = c.sampled || c.start_sampled || t.sampled || e.sampled;
  if (c.uniform()) {
    auto chosen = c.first != 0 ? t : e;
    if (c.sampled && (evaluator_.dependence(node.a) & on_thread) != 0 &&
        (evaluator_.dependence(node.a) & on_argument) != 0)
      if (auto index = inside(t, e)) {
        index->data_decides = data;
        return *index;
      }
    chosen.data_decides = data;
    chosen.sampled = chosen.sampled || sampled;
    return chosen;
  }
  Lanes each;
  for (int i = 0; i < warp_lanes; ++i)
    each[static_cast<std::size_t>(i)] = at(c, i) != 0 ? at(t, i) : at(e, i);
  return from(each, data, sampled || t.start_sampled || e.start_sampled);
}

LaneValue LaneValues::compute(ExprId expr, int depth) {
  const auto node = evaluator_.exprs()[expr];
  switch (node.op) {
    case SymbolicOp::constant:
      return {node.number};
    case SymbolicOp::argument:
      return argument(node.a);
    case SymbolicOp::special:
      return special(static_cast<Special>(node.a));
    case SymbolicOp::counter: {
      constexpr std::int64_t iterations[sample_sets] = {0, 1, 6, 11};
      return {iterations[set_], 0, none, false, true};
    }
    case SymbolicOp::symbol:
      return {std::int64_t{1} << 30};
    case SymbolicOp::phi:
      return phi(node.a, depth);
    case SymbolicOp::result:
    case SymbolicOp::opaque:
      return {std::int64_t{1} << 16, 0, none, (evaluator_.dependence(expr) & on_thread) != 0};
    case SymbolicOp::sum:
      return sum(expr, depth);
    case SymbolicOp::product:
      return product(expr, depth);
    case SymbolicOp::floor_divide:
      return combine(node, depth, floor_divide);
    case SymbolicOp::truncated_divide:
      return combine(node, depth, truncated_divide);
    case SymbolicOp::bit_and:
      return combine(node, depth, [](auto a, auto b) { return a & b; });
    case SymbolicOp::bit_or:
      return combine(node, depth, [](auto a, auto b) { return a | b; });
    case SymbolicOp::bit_xor:
      return combine(node, depth, [](auto a, auto b) { return a ^ b; });
    case SymbolicOp::minimum:
      return clamp(node, depth, [](auto a, auto b) { return std::min(a, b); });
    case SymbolicOp::maximum:
      return clamp(node, depth, [](auto a, auto b) { return std::max(a, b); });
    case SymbolicOp::less:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a < b; });
    case SymbolicOp::less_equal:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a <= b; });
    case SymbolicOp::equal:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a == b; });
    case SymbolicOp::not_equal:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a != b; });
    case SymbolicOp::less_unsigned:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t {
        return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
      });
    case SymbolicOp::less_equal_unsigned:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t {
        return static_cast<std::uint64_t>(a) <= static_cast<std::uint64_t>(b);
      });
    case SymbolicOp::logical_and:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a != 0 && b != 0; });
    case SymbolicOp::logical_or:
      return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a != 0 || b != 0; });
    case SymbolicOp::logical_not:
      return combine(node, depth, [](auto a, auto) -> std::int64_t { return a == 0; });
    case SymbolicOp::select:
      return select(node, depth);
    case SymbolicOp::power_of_two:
      return combine(node, depth,
                     [](auto a, auto) { return a >= 0 && a < 63 ? std::int64_t{1} << a : std::int64_t{0}; });
    case SymbolicOp::log2_floor:
      return combine(node, depth, [](auto a, auto) -> std::int64_t {
        return a >= 1 ? 63 - __builtin_clzll(static_cast<unsigned long long>(a)) : 0;
      });
  }
  return {};
}

}  // namespace warptime::analysis
