#include "analyzer/flow/access.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

namespace warptime::flow {
namespace {

constexpr int lanes = 32;
constexpr int max_depth = 300;
using Lanes = std::array<std::int64_t, lanes>;

// Evaluates a value for the threads of one warp, with wrap-around where it overflows (only differences matter).
class LaneEvaluator {
 public:
  explicit LaneEvaluator(Evaluator& evaluator) : evaluator_(evaluator) {}

  bool data_decides = false;  // a thread-dependent value without a closed form was met

  Lanes evaluate(ValueId value, int depth = 0) {
    if (const auto it = memo_.find(value); it != memo_.end()) return it->second;
    if (depth > max_depth) {
      data_decides = true;
      return {};
    }
    const auto result = compute(value, depth);
    memo_[value] = result;
    return result;
  }

 private:
  static Lanes same(std::int64_t number) {
    Lanes all;
    all.fill(number);
    return all;
  }

  template <class F>
  Lanes combine(const Values::Node& node, int depth, F f) {
    const auto a = evaluate(node.a, depth + 1), b = evaluate(node.b, depth + 1);
    Lanes r;
    for (int i = 0; i < lanes; ++i) r[i] = f(a[i], b[i]);
    return r;
  }

  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    if (b == 0 || b == -1) return b == 0 ? 0 : static_cast<std::int64_t>(-static_cast<std::uint64_t>(a));
    const auto q = a / b;
    return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
  }
  static std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  static std::int64_t wrap_multiply(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }

  Lanes special(Special which) {
    switch (which) {
      case Special::tid_x: case Special::laneid: {
        Lanes r;
        for (int i = 0; i < lanes; ++i) r[i] = i;
        return r;
      }
      case Special::ntid_x: return same(256);
      case Special::ntid_y: case Special::ntid_z: case Special::nctaid_y: case Special::nctaid_z: return same(1);
      case Special::nctaid_x: return same(4096);
      case Special::warpsize: return same(32);
      case Special::other: data_decides = true; return {};
      default: return {};
    }
  }

  Lanes phi(std::uint32_t index, int depth) {
    if (!open_.insert(index).second) return {};
    // The first turn: what comes from outside the loop. Elsewhere any way in will do, if the choice is not the threads' own.
    const auto& cfg = evaluator_.cfg();
    const auto block = evaluator_.phi(index).block;
    const auto loop = cfg.blocks[block].loop;
    const bool header = loop != none && cfg.loops[loop].header == block;
    const auto incoming = evaluator_.incoming(index);
    const auto& predecessors = cfg.blocks[block].predecessors;
    std::optional<Lanes> result;
    for (std::size_t i = 0; i < incoming.size() && !result; ++i)
      if (!header || i >= predecessors.size() || !cfg.contains(loop, predecessors[i])) result = evaluate(incoming[i], depth + 1);
    open_.erase(index);
    return result.value_or(Lanes{});
  }

  Lanes compute(ValueId value, int depth) {
    const auto& values = evaluator_.values();
    const auto node = values[value];
    switch (node.op) {
      case Op::constant: return same(node.number);
      // Pointers and sizes alike: large, a multiple of every alignment, and different for each argument.
      case Op::argument: return same((std::int64_t{1} << 20) * (1 + node.a));
      case Op::special: return special(static_cast<Special>(node.a));
      case Op::counter: return {};
      case Op::symbol: return same(std::int64_t{1} << 30);
      case Op::phi: return phi(node.a, depth);
      case Op::result: case Op::opaque:
        if ((evaluator_.dependence(value) & on_thread) != 0) data_decides = true;
        return same(std::int64_t{1} << 16);
      case Op::sum: {
        Lanes r = same(node.number);
        for (const auto& t : values.terms(value)) {
          const auto part = evaluate(t.atom, depth + 1);
          for (int i = 0; i < lanes; ++i) r[i] = wrap_add(r[i], wrap_multiply(t.coefficient, part[i]));
        }
        return r;
      }
      case Op::product: {
        Lanes r = same(1);
        for (const auto& t : values.terms(value)) {
          const auto part = evaluate(t.atom, depth + 1);
          for (int i = 0; i < lanes; ++i) r[i] = wrap_multiply(r[i], part[i]);
        }
        return r;
      }
      case Op::floor_divide: return combine(node, depth, floor_divide);
      case Op::minimum: return combine(node, depth, [](auto a, auto b) { return std::min(a, b); });
      case Op::maximum: return combine(node, depth, [](auto a, auto b) { return std::max(a, b); });
      case Op::less: return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a < b; });
      case Op::less_equal: return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a <= b; });
      case Op::equal: return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a == b; });
      case Op::not_equal: return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a != b; });
      case Op::less_unsigned:
        return combine(node, depth, [](auto a, auto b) -> std::int64_t {
          return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
        });
      case Op::less_equal_unsigned:
        return combine(node, depth, [](auto a, auto b) -> std::int64_t {
          return static_cast<std::uint64_t>(a) <= static_cast<std::uint64_t>(b);
        });
      case Op::logical_and: return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a != 0 && b != 0; });
      case Op::logical_or: return combine(node, depth, [](auto a, auto b) -> std::int64_t { return a != 0 || b != 0; });
      case Op::logical_not: return combine(node, depth, [](auto a, auto) -> std::int64_t { return a == 0; });
      case Op::select: {
        const auto c = evaluate(node.a, depth + 1), t = evaluate(node.b, depth + 1), e = evaluate(node.c, depth + 1);
        Lanes r;
        for (int i = 0; i < lanes; ++i) r[i] = c[i] != 0 ? t[i] : e[i];
        return r;
      }
      case Op::power_of_two:
        return combine(node, depth, [](auto a, auto) { return a >= 0 && a < 63 ? std::int64_t{1} << a : std::int64_t{0}; });
      case Op::log2_floor:
        return combine(node, depth, [](auto a, auto) -> std::int64_t {
          return a >= 1 ? 63 - __builtin_clzll(static_cast<unsigned long long>(a)) : 0;
        });
    }
    return {};
  }

  Evaluator& evaluator_;
  std::unordered_map<ValueId, Lanes> memo_;
  std::set<std::uint32_t> open_;
};

std::int64_t sectors_of(const Lanes& addresses, std::int64_t bytes) {
  std::set<std::int64_t> sectors;
  const auto start = addresses[0] & ~std::int64_t{127};
  for (const auto address : addresses)
    for (auto s = (address - start) >> 5; s <= (address - start + bytes - 1) >> 5; ++s) sectors.insert(s);
  return static_cast<std::int64_t>(sectors.size());
}

}  // namespace

AccessPattern access_pattern(Evaluator& evaluator, ValueId address, ValueId resolved, std::int64_t bytes) {
  AccessPattern pattern;
  bytes = std::clamp<std::int64_t>(bytes, 1, 1024);
  auto& values = evaluator.values();
  const auto dependence = evaluator.dependence(address);
  if ((dependence & on_thread) == 0) {
    pattern.access = Access::uniform;
    pattern.sectors = (bytes + 31) / 32;
    return pattern;
  }
  LaneEvaluator lanes_of(evaluator);
  const auto addresses = lanes_of.evaluate(address);
  if (lanes_of.data_decides) {
    pattern.access = Access::scattered;
    pattern.sectors = lanes;
    return pattern;
  }
  const auto stride = addresses[1] - addresses[0];
  bool one_distance = true, all_same = true;
  for (int i = 1; i < lanes; ++i) {
    one_distance = one_distance && addresses[i] - addresses[i - 1] == stride;
    all_same = all_same && addresses[i] == addresses[0];
  }
  pattern.sectors = sectors_of(addresses, bytes);
  ValueId coefficient = 0, rest = 0;
  // The measured distance stands on sample arguments: it serves only where the closed form has the same number.
  if (one_distance && values.split_linear(resolved, values.special(Special::tid_x), coefficient, rest) &&
      (!values.is_constant(coefficient) || values.is_constant(coefficient, stride)))
    pattern.stride = coefficient;
  if (all_same) pattern.access = Access::uniform;
  else if (pattern.sectors <= (lanes * bytes + 31) / 32 + 1) pattern.access = Access::coalesced;
  else if (one_distance) pattern.access = Access::strided;
  else pattern.access = Access::scattered;
  return pattern;
}

}  // namespace warptime::flow
