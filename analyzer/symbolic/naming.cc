#include "analyzer/symbolic/naming.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "analyzer/symbolic/facts.h"

namespace warptime::analysis {
namespace {

using E = Expression;

// All programs share the names of threads and launches.
const E& special_expression(Special which) {
  constexpr auto kinds = static_cast<std::size_t>(Special::other);
  static const auto& expressions = *new std::vector<E>([] {
    std::vector<E> made;
    for (std::size_t i = 0; i < kinds; ++i)
      made.push_back(E::permanent_name(special_name(static_cast<Special>(i))));
    return made;
  }());
  return expressions[static_cast<std::size_t>(which)];
}

constexpr int most_nesting = 200;

class Writer {
 public:
  Writer(SymbolicExprs& exprs, const Naming& naming, int most_parts)
      : exprs_(exprs), naming_(naming), most_parts_(most_parts) {}

  Assumptions assumed;

  std::optional<E> write(ExprId id) {
    if (naming_.written == nullptr || !is_kept(id)) return write_anew(id);
    if (const auto* known = naming_.written->find(id)) {
      steps_ += known->parts;
      deepest_ = std::max(deepest_, depth_ + known->height);
      if (depth_ + known->height > most_nesting || steps_ > most_parts_) return std::nullopt;
      assumed.add(known->assumed);
      return known->expression;
    }
    const auto assumed_before = std::exchange(assumed, {});
    const auto deepest_before = std::exchange(deepest_, depth_);
    const auto steps_before = steps_, bits_before = bits_written_;
    auto result = write_anew(id);
    if (result && bits_written_ == bits_before)
      naming_.written->set(id, {*result, steps_ - steps_before, deepest_ - depth_, assumed});
    assumed.add(assumed_before);
    deepest_ = std::max(deepest_, deepest_before);
    return result;
  }

 private:
  std::optional<E> write_anew(ExprId id) {
    if (++depth_ > most_nesting || ++steps_ > most_parts_) {
      --depth_;
      return std::nullopt;
    }
    deepest_ = std::max(deepest_, depth_);
    auto result = write_node(id);
    --depth_;
    return result;
  }

  // Counters have their names for a while only.
  bool is_kept(ExprId id) const {
    const auto node = exprs_[id];
    if ((node.dependence & on_counter) != 0) return false;
    return node.op == SymbolicOp::argument || node.op >= SymbolicOp::sum;
  }

  std::optional<E> named(std::string name) {
    if (name.empty()) return naming_.threads_too ? std::optional(E::name("data")) : std::nullopt;
    return E::name(std::move(name));
  }

  std::optional<E> binary(E::Operator op, ExprId a, ExprId b) {
    auto x = write(a), y = write(b);
    if (!x || !y) return std::nullopt;
    return E::make(op, std::move(*x), std::move(*y));
  }

  std::optional<E> write_node(ExprId id) {
    const auto node = exprs_[id];
    switch (node.op) {
      case SymbolicOp::constant:
        return E(node.number);
      case SymbolicOp::argument:
        return named(naming_.argument ? naming_.argument(node.a, node.b) : "");
      case SymbolicOp::special: {
        const auto which = static_cast<Special>(node.a);
        const bool dimension = (node.dependence & on_launch) != 0;
        if (which != Special::other && (dimension || naming_.threads_too || naming_.of_threads))
          return special_expression(which);
        return named("");
      }
      case SymbolicOp::counter:
        return named(naming_.counter ? naming_.counter(node.a) : "");
      case SymbolicOp::bit_and:
        return of_bits(E::Operator::bit_and, node);
      case SymbolicOp::bit_or:
        return of_bits(E::Operator::bit_or, node);
      case SymbolicOp::bit_xor:
        return of_bits(E::Operator::bit_xor, node);
      case SymbolicOp::opaque:
        return named(naming_.other ? naming_.other(id) : "");
      case SymbolicOp::phi:
      case SymbolicOp::result:
      case SymbolicOp::symbol:
        return named("");
      case SymbolicOp::sum:
        return sum(id);
      case SymbolicOp::product: {
        std::optional<E> all;
        for (const auto& t : exprs_.terms(id)) {
          auto part = write(t.atom);
          if (!part) return std::nullopt;
          all = all ? E::make(E::Operator::multiply, std::move(*all), std::move(*part)) : std::move(*part);
        }
        return all;
      }
      case SymbolicOp::floor_divide:
        return quotient(node);
      case SymbolicOp::truncated_divide:
        assumed.division_of_not_negative = true;
        return binary(E::Operator::divide, node.a, node.b);
      case SymbolicOp::minimum:
        return binary(E::Operator::minimum, node.a, node.b);
      case SymbolicOp::maximum:
        return binary(E::Operator::maximum, node.a, node.b);
      case SymbolicOp::less:
        return comparison(E::Operator::less, E::Operator::greater, node);
      case SymbolicOp::less_equal:
        return comparison(E::Operator::less_equal, E::Operator::greater_equal, node);
      case SymbolicOp::less_unsigned:
        return unsigned_comparison(E::Operator::less, E::Operator::greater, node);
      case SymbolicOp::less_equal_unsigned:
        return unsigned_comparison(E::Operator::less_equal, E::Operator::greater_equal, node);
      case SymbolicOp::equal:
        return comparison(E::Operator::equal, E::Operator::equal, node);
      case SymbolicOp::not_equal:
        return comparison(E::Operator::not_equal, E::Operator::not_equal, node);
      case SymbolicOp::logical_and:
        return binary(E::Operator::logical_and, node.a, node.b);
      case SymbolicOp::logical_or:
        return binary(E::Operator::logical_or, node.a, node.b);
      case SymbolicOp::logical_not: {
        auto a = write(node.a);
        return a ? std::optional(E::make(E::Operator::logical_not, {*a})) : std::nullopt;
      }
      case SymbolicOp::select: {
        auto c = write(node.a), t = write(node.b), e = write(node.c);
        if (!c || !t || !e) return std::nullopt;
        return E::make(E::Operator::conditional, {*c, *t, *e});
      }
      case SymbolicOp::power_of_two: {
        auto e = write(node.a);
        return e ? std::optional(E::make(E::Operator::power, E(2), std::move(*e))) : std::nullopt;
      }
      case SymbolicOp::log2_floor: {
        auto a = write(node.a);
        return a ? std::optional(E::make(E::Operator::log2, {*a})) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  // Of indices. What mixes the bits of a number again and again, as random numbers and hashes do, is meant to wrap.
  std::optional<E> of_bits(E::Operator op, const SymbolicExprs::Node& node) {
    ++bits_written_;
    constexpr int deepest = 12;
    if (!naming_.of_threads || ++bits_within_bits_ > deepest || scaled_bits(node.a) || scaled_bits(node.b) ||
        wraps(node.a) || wraps(node.b))
      return named("");
    auto result = binary(op, node.a, node.b);
    --bits_within_bits_;
    return result;
  }
  bool scaled_bits(ExprId side) {
    constexpr std::int64_t few = 64;
    const auto terms = exprs_.linear_terms(side);
    return std::any_of(terms.begin(), terms.end(), [&](const Term& t) {
      const auto op = exprs_[t.atom].op;
      const bool bits = op == SymbolicOp::bit_and || op == SymbolicOp::bit_or || op == SymbolicOp::bit_xor;
      return bits && (t.coefficient > few || t.coefficient < -few);
    });
  }

  // The sides of an unsigned comparison may be negative here, or wrap there: in 32-bit registers, which is what indices
  // are compared in. Sums of arguments alone are taken as they are meant.
  std::optional<E> unsigned_side(ExprId side) {
    constexpr std::int64_t whole = std::int64_t{1} << 32;
    if (exprs_.is_constant(side) && exprs_[side].number < 0 && exprs_[side].number >= -whole)
      return E(exprs_[side].number + whole);
    auto written = write(side);
    if (!written || !may_wrap(side)) return written;
    return E::make(E::Operator::modulo, std::move(*written), E(whole));
  }
  bool may_wrap(ExprId side) {
    return naming_.of_threads && (exprs_[side].dependence & (on_thread | on_block | on_counter)) != 0 &&
           !Facts(exprs_).not_negative(side);
  }
  std::optional<E> unsigned_comparison(E::Operator op, E::Operator flipped, const SymbolicExprs::Node& node) {
    assumed.unsigned_as_signed = true;
    if (!may_wrap(node.a) && !may_wrap(node.b)) return comparison(op, flipped, node);
    auto a = unsigned_side(node.a), b = unsigned_side(node.b);
    if (!a || !b) return std::nullopt;
    return E::make(op, std::move(*a), std::move(*b));
  }

  // `k < L - 1` rather than `L - 1 > k`: the simpler side first, a number last.
  std::optional<E> comparison(E::Operator op, E::Operator flipped, const SymbolicExprs::Node& node) {
    const auto weight = [&](ExprId v) {
      if (exprs_.is_constant(v)) return std::size_t{1000};
      return exprs_[v].op == SymbolicOp::sum ? exprs_.terms(v).size() + 1 : std::size_t{1};
    };
    auto a = node.a, b = node.b;
    // `K - 1 >= 3` reads K >= 4.
    if (exprs_.is_constant(a)) {
      std::swap(a, b);
      std::swap(op, flipped);
    }
    const bool equality = op == E::Operator::equal || op == E::Operator::not_equal;
    if (equality && exprs_.is_constant(b, 0) && exprs_[a].op == SymbolicOp::bit_or) {
      // No bit of either is 1.
      const auto zero = exprs_.constant(0);
      auto x = write(exprs_.compare(SymbolicOp::equal, exprs_[a].a, zero));
      auto y = write(exprs_.compare(SymbolicOp::equal, exprs_[a].b, zero));
      if (!x || !y) return std::nullopt;
      auto none = E::make(E::Operator::logical_and, {std::move(*x), std::move(*y)});
      return op == E::Operator::equal ? none : E::make(E::Operator::logical_not, {std::move(none)});
    }
    if (exprs_.is_constant(b) && exprs_[a].op == SymbolicOp::sum && exprs_[a].number != 0) {
      const auto number = exprs_.constant(exprs_[a].number);
      a = exprs_.subtract(a, number);
      b = exprs_.subtract(b, number);
    }
    if (wraps(a) || wraps(b)) {
      auto x = in_32_bits(a), y = in_32_bits(b);
      if (!x || !y) return std::nullopt;
      return E::make(op, std::move(*x), std::move(*y));
    }
    if (weight(b) < weight(a)) return binary(flipped, b, a);
    return binary(op, a, b);
  }

  // An index times a large number is meant to wrap: x % 3 == 0 is compared as a product with 3's inverse.
  bool wraps(ExprId side) {
    constexpr std::int64_t large = std::int64_t{1} << 28;
    if (!naming_.of_threads || (exprs_[side].dependence & (on_thread | on_block | on_counter)) == 0)
      return false;
    const auto terms = exprs_.linear_terms(side);
    return std::any_of(terms.begin(), terms.end(),
                       [](const Term& t) { return t.coefficient >= large || t.coefficient <= -large; });
  }
  // As the signed number that a 32-bit register holds.
  std::optional<E> in_32_bits(ExprId side) {
    auto written = write(side);
    if (!written || !wraps(side)) return written;
    const E half(std::int64_t{1} << 31), whole(std::int64_t{1} << 32);
    auto moved =
        E::make(E::Operator::modulo, {E::make(E::Operator::add, {std::move(*written), half}), whole});
    return E::make(E::Operator::subtract, {std::move(moved), half});
  }

  // (a + b - 1) / b reads ceil_div(a, b).
  std::optional<E> quotient(const SymbolicExprs::Node& node) {
    const auto less = exprs_.subtract(node.a, exprs_.add(node.b, exprs_.constant(-1)));
    const auto parts = [&](ExprId v) {
      return (exprs_.number_of(v) != 0 ? 1 : 0) + exprs_.linear_terms(v).size();
    };
    if (parts(less) < parts(node.a) && parts(less) > 0) return binary(E::Operator::ceil_div, less, node.b);
    return binary(E::Operator::divide, node.a, node.b);
  }

  struct Part {
    std::int64_t coefficient;
    E expression;
  };

  static bool is_quotient(SymbolicOp op) {
    return op == SymbolicOp::floor_divide || op == SymbolicOp::truncated_divide;
  }

  // Finds m·x - m·d·(x / d), takes it out of the sum, and writes it as m·(x % d).
  bool take_modulo(ExprId& id, std::vector<Part>& parts) {
    const auto terms = exprs_.linear_terms(id);
    const auto number = exprs_.number_of(id);
    for (const auto& t : terms) {
      const auto atoms = exprs_.parts(t.atom);
      for (const auto& [atom, power] : atoms) {
        const auto node = exprs_[atom];
        if (!is_quotient(node.op) || t.coefficient == INT64_MIN) continue;
        std::int64_t multiple = 0;
        if (exprs_.is_constant(node.b) && atoms.size() == 1) {
          if (t.coefficient % exprs_[node.b].number != 0) continue;
          multiple = -(t.coefficient / exprs_[node.b].number);
        } else if (!exprs_.is_constant(node.b)) {
          multiple = -t.coefficient;
        }
        if (multiple == 0) continue;
        const auto remainder = exprs_.subtract(node.a, exprs_.multiply(node.b, atom));
        const auto rest = exprs_.subtract(id, exprs_.scale(remainder, multiple));
        if (exprs_.linear_terms(rest).size() + (exprs_.number_of(rest) != 0) >= terms.size() + (number != 0))
          continue;
        auto x = write(node.a), d = write(node.b);
        if (!x || !d) continue;
        if (node.op == SymbolicOp::truncated_divide) assumed.division_of_not_negative = true;
        parts.push_back({multiple, E::make(E::Operator::modulo, std::move(*x), std::move(*d))});
        id = rest;
        return true;
      }
    }
    return false;
  }

  std::optional<E> sum(ExprId id) {
    std::vector<Part> parts;
    while (take_modulo(id, parts)) {
    }
    const auto terms = exprs_.linear_terms(id);
    const auto number = exprs_.number_of(id);
    parts.reserve(parts.size() + terms.size());
    for (const auto& t : terms) {
      auto part = write(t.atom);
      if (!part) return std::nullopt;
      parts.push_back({t.coefficient, std::move(*part)});
    }
    // What is added comes before what is subtracted.
    std::stable_partition(parts.begin(), parts.end(), [](const Part& p) { return p.coefficient > 0; });
    std::optional<E> all;
    const auto scaled = [](std::int64_t c, E e) {
      return c == 1 ? e : E::make(E::Operator::multiply, E(c), std::move(e));
    };
    if (number > 0 && (parts.empty() || parts[0].coefficient < 0)) all = E(number);
    const bool number_done = all.has_value();
    for (auto& [c, e] : parts) {
      if (c == INT64_MIN) return std::nullopt;
      if (!all)
        all = c > 0 ? scaled(c, std::move(e)) : E::make(E::Operator::negate, {scaled(-c, std::move(e))});
      else
        all = E::make(c > 0 ? E::Operator::add : E::Operator::subtract, std::move(*all),
                      scaled(c > 0 ? c : -c, std::move(e)));
    }
    if (!all) return E(number);
    if (number_done || number == 0) return all;
    if (number == INT64_MIN) return std::nullopt;
    return E::make(number > 0 ? E::Operator::add : E::Operator::subtract, std::move(*all),
                   E(number > 0 ? number : -number));
  }

  SymbolicExprs& exprs_;
  const Naming& naming_;
  int depth_ = 0;
  int deepest_ = 0;  // depth_ of the deepest part so far
  int steps_ = 0;
  int most_parts_;
  int bits_within_bits_ = 0;
  int bits_written_ = 0;  // times that of_bits() was asked: what it answers depends on what is around it
};

}  // namespace

std::string special_name(Special which) {
  static constexpr const char* names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockDim.x",
                                          "blockDim.y",  "blockDim.z",  "blockIdx.x",  "blockIdx.y",
                                          "blockIdx.z",  "gridDim.x",   "gridDim.y",   "gridDim.z",
                                          "laneid",      "warpid",      "warpSize",    ""};
  return names[static_cast<int>(which)];
}

std::optional<Expression> to_expression(SymbolicExprs& exprs, ExprId id, const Naming& naming,
                                        Assumptions* assumed, int most_parts) {
  Writer writer(exprs, naming, most_parts);
  auto result = writer.write(id);
  if (assumed != nullptr) *assumed = writer.assumed;
  return result;
}

}  // namespace warptime::analysis
