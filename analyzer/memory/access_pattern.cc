#include "analyzer/memory/access_pattern.h"

#include <algorithm>

namespace warptime::analysis {
namespace {

constexpr int max_access_depth = 300;
constexpr std::int64_t sector_bytes = 32;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? 0 : static_cast<std::int64_t>(-static_cast<std::uint64_t>(a));
  const auto q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t truncated_divide(std::int64_t a, std::int64_t b) {
  return b == 0 || b == -1 ? floor_divide(a, b) : a / b;
}

// With wrap-around: only differences matter.
std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrap_subtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t wrap_multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// x + c of (x mod n) + c, again and again: what goes round keeps its threads apart as it goes, but for where
// it begins again. n and c are the same for all threads. Other values as they are.
ExprId before_remainder(Evaluator& evaluator, ExprId value) {
  constexpr int most_remainders = 64;  // of an unrolled loop
  auto& values = evaluator.values();
  const auto same_for_all = [&](ExprId v) { return (evaluator.dependence(v) & on_thread) == 0; };
  const auto once = [&](ExprId v) -> std::optional<ExprId> {
    std::vector<Term> terms;
    values.linear_form(v, terms);
    for (const auto& term : terms) {
      const auto parts = values.parts(term.atom);
      for (const auto& part : parts) {
        const auto node = values[part.atom];
        if ((node.op != SymbolicOp::floor_divide && node.op != SymbolicOp::truncated_divide) ||
            !same_for_all(node.b))
          continue;
        const auto rest = values.subtract(v, values.subtract(node.a, values.multiply(node.b, part.atom)));
        if (same_for_all(rest)) return values.add(node.a, rest);
      }
    }
    return std::nullopt;
  };
  for (int i = 0; i < most_remainders; ++i) {
    const auto next = once(value);
    if (!next) break;
    value = *next;
  }
  return value;
}

}  // namespace

std::int64_t AccessAnalysis::at(const LaneValue& value, int lane) const {
  return value.each != none
             ? samples_[static_cast<std::size_t>(set_)].arrays[value.each][static_cast<std::size_t>(lane)]
             : wrap_add(value.first, wrap_multiply(value.stride, lane));
}

AccessAnalysis::LaneValue AccessAnalysis::from(const Lanes& each, bool data_decides, bool sampled) {
  const auto stride = wrap_subtract(each[1], each[0]);
  bool one_distance = true;
  for (std::size_t i = 1; i < lanes; ++i)
    one_distance = one_distance && each[i] == wrap_add(each[i - 1], stride);
  if (one_distance) return {each[0], stride, none, data_decides, sampled};
  auto& arrays = samples_[static_cast<std::size_t>(set_)].arrays;
  arrays.push_back(each);
  return {0, 0, static_cast<std::uint32_t>(arrays.size() - 1), data_decides, sampled};
}

AccessAnalysis::LaneValue AccessAnalysis::evaluate(ExprId value, int depth) {
  {
    const auto& samples = samples_[static_cast<std::size_t>(set_)];
    if (value < samples.places.size() && samples.places[value] != 0)
      return samples.known[samples.places[value] - 1];
  }
  if (depth > max_access_depth) return {0, 0, none, true};
  const bool met_before = met_open_;
  met_open_ = false;
  const auto result = compute(value, depth);
  if (!met_open_) {
    auto& samples = samples_[static_cast<std::size_t>(set_)];
    if (samples.places.size() <= value)
      samples.places.resize(std::max<std::size_t>(value + 1, evaluator_.values().size()), 0);
    samples.known.push_back(result);
    samples.places[value] = static_cast<std::uint32_t>(samples.known.size());
  }
  if (open_.empty())
    met_open_ = false;
  else
    met_open_ = met_open_ || met_before;
  return result;
}

template <class F>
AccessAnalysis::LaneValue AccessAnalysis::combine(const SymbolicExprs::Node& node, int depth, F f) {
  const auto a = evaluate(node.a, depth + 1), b = evaluate(node.b, depth + 1);
  const bool data = a.data_decides || b.data_decides,
             sampled = a.sampled || b.sampled || a.start_sampled || b.start_sampled;
  if (a.uniform() && b.uniform()) return {f(a.first, b.first), 0, none, data, sampled};
  Lanes r;
  for (int i = 0; i < lanes; ++i) r[static_cast<std::size_t>(i)] = f(at(a, i), at(b, i));
  return from(r, data, sampled);
}

AccessAnalysis::LaneValue AccessAnalysis::special(Special which) const {
  switch (which) {
    case Special::tid_x:
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
AccessAnalysis::LaneValue AccessAnalysis::argument(std::uint32_t index) const {
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

AccessAnalysis::LaneValue AccessAnalysis::phi(std::uint32_t index, int depth) {
  if (std::find(open_.begin(), open_.end(), index) != open_.end()) {
    met_open_ = true;
    return {0};
  }
  open_.push_back(index);
  // The first turn: what comes from outside the loop. Elsewhere any way in will do, if the choice is not the
  // threads' own.
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
  // Another turn, or another way, may bring another number.
  auto value = result.value_or(LaneValue{});
  (value.uniform() ? value.sampled : value.start_sampled) = true;
  // Where threads go on by different steps, the first turn says nothing of the next.
  if (header)
    for (std::size_t i = 0; i < incoming.size() && i < predecessors.size(); ++i)
      if (cfg.contains(loop, predecessors[i])) {
        auto& values = evaluator_.values();
        const auto step = values.subtract(before_remainder(evaluator_, incoming[i]), values.phi(index));
        if ((evaluator_.dependence(step) & on_thread) != 0) value.data_decides = true;
      }
  return value;
}

AccessAnalysis::LaneValue AccessAnalysis::compute(ExprId value, int depth) {
  const auto& values = evaluator_.values();
  const auto node = values[value];
  switch (node.op) {
    case SymbolicOp::constant:
      return {node.number};
    case SymbolicOp::argument:
      return argument(node.a);
    case SymbolicOp::special:
      return special(static_cast<Special>(node.a));
    case SymbolicOp::counter: {
      constexpr std::int64_t turns[sample_sets] = {0, 1, 6, 11};
      return {turns[set_], 0, none, false, true};
    }
    case SymbolicOp::symbol:
      return {std::int64_t{1} << 30};
    case SymbolicOp::phi:
      return phi(node.a, depth);
    case SymbolicOp::result:
    case SymbolicOp::opaque:
      return {std::int64_t{1} << 16, 0, none, (evaluator_.dependence(value) & on_thread) != 0};
    case SymbolicOp::sum: {
      LaneValue r{node.number};
      bool one_by_one = false, number_sampled = false;
      const auto terms = values.terms(value);
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
      each.fill(node.number);
      for (std::size_t p = 0; p < terms.size(); ++p)
        for (int i = 0; i < lanes; ++i) {
          auto& sum = each[static_cast<std::size_t>(i)];
          sum = wrap_add(sum, wrap_multiply(terms[p].coefficient, at(parts_[first_part + p], i)));
        }
      parts_.resize(first_part);
      auto all = from(each, r.data_decides, r.sampled);
      all.start_sampled = number_sampled;
      return all;
    }
    case SymbolicOp::product: {
      LaneValue r{1};
      for (const auto& t : values.terms(value)) {
        const auto part = evaluate(t.atom, depth + 1);
        const bool data = r.data_decides || part.data_decides,
                   sampled = r.sampled || part.sampled || r.start_sampled || part.start_sampled;
        if (r.uniform() && part.each == none) {
          r = {wrap_multiply(r.first, part.first), wrap_multiply(r.first, part.stride), none, data, sampled};
        } else if (part.uniform() && r.each == none) {
          r = {wrap_multiply(r.first, part.first), wrap_multiply(r.stride, part.first), none, data, sampled};
        } else {
          Lanes each;
          for (int i = 0; i < lanes; ++i)
            each[static_cast<std::size_t>(i)] = wrap_multiply(at(r, i), at(part, i));
          r = from(each, data, sampled);
        }
      }
      return r;
    }
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
      return combine(node, depth, [](auto a, auto b) { return std::min(a, b); });
    case SymbolicOp::maximum:
      return combine(node, depth, [](auto a, auto b) { return std::max(a, b); });
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
    case SymbolicOp::select: {
      const auto c = evaluate(node.a, depth + 1), t = evaluate(node.b, depth + 1),
                 e = evaluate(node.c, depth + 1);
      const bool data = c.data_decides || t.data_decides || e.data_decides;
      const bool sampled = c.sampled || c.start_sampled || t.sampled || e.sampled;
      if (c.uniform()) {
        auto chosen = c.first != 0 ? t : e;
        chosen.data_decides = data;
        chosen.sampled = chosen.sampled || sampled;
        return chosen;
      }
      Lanes each;
      for (int i = 0; i < lanes; ++i) each[static_cast<std::size_t>(i)] = at(c, i) != 0 ? at(t, i) : at(e, i);
      return from(each, data, sampled || t.start_sampled || e.start_sampled);
    }
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

// From a start that is aligned to 128 bytes.
std::int64_t AccessAnalysis::sectors_of(const LaneValue& place, std::int64_t bytes) {
  const auto start = at(place, 0) & ~std::int64_t{127};
  sectors_.clear();
  bool ascending = true;
  for (int i = 0; i < lanes; ++i) {
    const auto offset = wrap_subtract(at(place, i), start);
    for (auto s = offset >> 5; s <= wrap_add(offset, bytes - 1) >> 5; ++s) {
      if (!sectors_.empty() && sectors_.back() == s) continue;
      ascending = ascending && (sectors_.empty() || sectors_.back() < s);
      sectors_.push_back(s);
    }
  }
  if (ascending) return static_cast<std::int64_t>(sectors_.size());
  std::sort(sectors_.begin(), sectors_.end());
  return std::unique(sectors_.begin(), sectors_.end()) - sectors_.begin();
}

Access AccessAnalysis::access_of(const LaneValue& place, std::int64_t sectors, std::int64_t bytes) const {
  const bool one_distance = place.each == none;
  if (one_distance && place.stride == 0) return Access::uniform;
  if (sectors <= (lanes * bytes + sector_bytes - 1) / sector_bytes + 1) return Access::coalesced;
  return one_distance ? Access::strided : Access::scattered;
}

AddressPattern AccessAnalysis::pattern(ExprId address, std::int64_t bytes,
                                       const std::function<ExprId()>& resolved) {
  AddressPattern pattern;
  bytes = std::clamp<std::int64_t>(bytes, 1, 1024);
  if ((evaluator_.dependence(address) & on_thread) == 0) {
    pattern.access = Access::uniform;
    pattern.sectors = (bytes + sector_bytes - 1) / sector_bytes;
    return pattern;
  }
  set_ = 0;
  auto place = evaluate(address, 0);
  if ((place.sampled || place.data_decides) && evaluator_.values()[address].has_phi) {
    address = resolved();
    place = evaluate(address, 0);
  }
  if (place.data_decides) return pattern;
  pattern.sectors = sectors_of(place, bytes);
  pattern.access = access_of(place, *pattern.sectors, bytes);
  if (place.each == none) pattern.distance = place.stride;
  if (!place.sampled) return pattern;
  const auto sectors = *pattern.sectors;
  for (set_ = 1; set_ < sample_sets; ++set_) {
    const auto other = evaluate(address, 0);
    const auto touched = sectors_of(other, bytes);
    if (touched == sectors && access_of(other, touched, bytes) == pattern.access) continue;
    // The arguments decide: one distance that they give, or anything.
    if (touched != sectors) pattern.sectors.reset();
    if (pattern.distance && other.each == none)
      pattern.access = Access::strided;
    else
      pattern.access = Access::scattered;
    if (other.each != none) pattern.distance.reset();
  }
  set_ = 0;
  return pattern;
}

std::optional<ExprId> AccessAnalysis::stride_form(const AddressPattern& pattern, ExprId resolved) {
  auto& values = evaluator_.values();
  ExprId coefficient = 0, rest = 0;
  // The measured distance stands on sample arguments: it serves only where the closed form has the same
  // number.
  if (!pattern.distance || !values.split_linear(resolved, values.special(Special::tid_x), coefficient, rest))
    return std::nullopt;
  if (values.is_constant(coefficient) && !values.is_constant(coefficient, *pattern.distance))
    return std::nullopt;
  return coefficient;
}

}  // namespace warptime::analysis
