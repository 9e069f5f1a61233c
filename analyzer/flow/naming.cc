#include "analyzer/flow/naming.h"

#include <algorithm>
#include <cassert>

namespace warptime::flow {
namespace {

using E = Expression;

class Writer {
 public:
  Writer(Values& values, const Naming& naming, int most_parts) : values_(values), naming_(naming), most_parts_(most_parts) {}

  Taken taken;

  std::optional<E> write(ValueId value) {
    if (++depth_ > 200 || ++steps_ > most_parts_) {
      --depth_;
      return std::nullopt;
    }
    auto result = write_node(value);
    --depth_;
    return result;
  }

 private:
  std::optional<E> named(std::string name) {
    if (name.empty()) return naming_.threads_too ? std::optional(E::name("data")) : std::nullopt;
    return E::name(std::move(name));
  }

  std::optional<E> binary(E::Op op, ValueId a, ValueId b) {
    auto x = write(a), y = write(b);
    if (!x || !y) return std::nullopt;
    return E::make(op, {std::move(*x), std::move(*y)});
  }

  std::optional<E> write_node(ValueId value) {
    const auto node = values_[value];
    switch (node.op) {
      case Op::constant: return E(node.number);
      case Op::argument: return named(naming_.argument ? naming_.argument(node.a, node.b) : "");
      case Op::special: {
        const auto which = static_cast<Special>(node.a);
        const bool dimension = (node.dependence & on_launch) != 0;
        return named(dimension || naming_.threads_too ? special_name(which) : "");
      }
      case Op::counter: return named(naming_.counter ? naming_.counter(node.a) : "");
      case Op::bit_and: case Op::bit_or: case Op::bit_xor: return named("");
      case Op::opaque: return named(naming_.other ? naming_.other(value) : "");
      case Op::phi: case Op::result: case Op::symbol: return named("");
      case Op::sum: return sum(value);
      case Op::product: {
        std::optional<E> all;
        for (const auto& t : values_.terms(value)) {
          auto part = write(t.atom);
          if (!part) return std::nullopt;
          all = all ? E::make(E::Op::multiply, {*all, *part}) : *part;
        }
        return all;
      }
      case Op::floor_divide: return quotient(node);
      case Op::truncated_divide: taken.division_of_not_negative = true; return binary(E::Op::divide, node.a, node.b);
      case Op::minimum: return binary(E::Op::minimum, node.a, node.b);
      case Op::maximum: return binary(E::Op::maximum, node.a, node.b);
      case Op::less: return comparison(E::Op::less, E::Op::greater, node);
      case Op::less_equal: return comparison(E::Op::less_equal, E::Op::greater_equal, node);
      case Op::less_unsigned: taken.unsigned_as_signed = true; return comparison(E::Op::less, E::Op::greater, node);
      case Op::less_equal_unsigned: taken.unsigned_as_signed = true; return comparison(E::Op::less_equal, E::Op::greater_equal, node);
      case Op::equal: return comparison(E::Op::equal, E::Op::equal, node);
      case Op::not_equal: return comparison(E::Op::not_equal, E::Op::not_equal, node);
      case Op::logical_and: return binary(E::Op::logical_and, node.a, node.b);
      case Op::logical_or: return binary(E::Op::logical_or, node.a, node.b);
      case Op::logical_not: {
        auto a = write(node.a);
        return a ? std::optional(E::make(E::Op::logical_not, {*a})) : std::nullopt;
      }
      case Op::select: {
        auto c = write(node.a), t = write(node.b), e = write(node.c);
        if (!c || !t || !e) return std::nullopt;
        return E::make(E::Op::conditional, {*c, *t, *e});
      }
      case Op::power_of_two: {
        auto e = write(node.a);
        return e ? std::optional(E::make(E::Op::power, {E(2), *e})) : std::nullopt;
      }
      case Op::log2_floor: {
        auto a = write(node.a);
        return a ? std::optional(E::make(E::Op::log2, {*a})) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  // `k < L - 1` rather than `L - 1 > k`: the simpler side first, a number last.
  std::optional<E> comparison(E::Op op, E::Op flipped, const Values::Node& node) {
    const auto weight = [&](ValueId v) {
      if (values_.is_constant(v)) return std::size_t{1000};
      return values_[v].op == Op::sum ? values_.terms(v).size() + 1 : std::size_t{1};
    };
    auto a = node.a, b = node.b;
    // `K - 1 >= 3` reads K >= 4.
    if (values_.is_constant(a)) {
      std::swap(a, b);
      std::swap(op, flipped);
    }
    if (values_.is_constant(b) && values_[a].op == Op::sum && values_[a].number != 0) {
      const auto number = values_.constant(values_[a].number);
      a = values_.subtract(a, number);
      b = values_.subtract(b, number);
    }
    if (weight(b) < weight(a)) return binary(flipped, b, a);
    return binary(op, a, b);
  }

  // (a + b - 1) / b reads ceil_div(a, b).
  std::optional<E> quotient(const Values::Node& node) {
    const auto less = values_.subtract(node.a, values_.add(node.b, values_.constant(-1)));
    const auto parts = [&](ValueId v) {
      std::vector<Term> terms;
      return (values_.linear_form(v, terms) != 0 ? 1 : 0) + terms.size();
    };
    if (parts(less) < parts(node.a) && parts(less) > 0) return binary(E::Op::ceil_div, less, node.b);
    return binary(E::Op::divide, node.a, node.b);
  }

  struct Part {
    std::int64_t coefficient;
    E expression;
  };

  // Finds m·x - m·d·(x / d), takes it out of the sum, and writes it as m·(x % d).
  bool take_modulo(ValueId& value, std::vector<Part>& parts) {
    std::vector<Term> terms;
    const auto number = values_.linear_form(value, terms);
    for (const auto& t : terms) {
      std::vector<ValueId> atoms{t.atom};
      if (values_[t.atom].op == Op::product) {
        atoms.clear();
        for (const auto& f : values_.terms(t.atom)) atoms.push_back(f.atom);
      }
      for (const auto atom : atoms) {
        const auto node = values_[atom];
        if ((node.op != Op::floor_divide && node.op != Op::truncated_divide) || t.coefficient == INT64_MIN) continue;
        std::int64_t multiple = 0;
        if (values_.is_constant(node.b) && atoms.size() == 1) {
          if (t.coefficient % values_[node.b].number != 0) continue;
          multiple = -(t.coefficient / values_[node.b].number);
        } else if (!values_.is_constant(node.b)) {
          multiple = -t.coefficient;
        }
        if (multiple == 0) continue;
        const auto remainder = values_.subtract(node.a, values_.multiply(node.b, atom));
        const auto rest = values_.subtract(value, values_.scale(remainder, multiple));
        std::vector<Term> after;
        const auto left = values_.linear_form(rest, after);
        if (after.size() + (left != 0) >= terms.size() + (number != 0)) continue;
        auto x = write(node.a), d = write(node.b);
        if (!x || !d) continue;
        if (node.op == Op::truncated_divide) taken.division_of_not_negative = true;
        parts.push_back({multiple, E::make(E::Op::modulo, {*x, *d})});
        value = rest;
        return true;
      }
    }
    return false;
  }

  std::optional<E> sum(ValueId value) {
    std::vector<Part> parts;
    while (take_modulo(value, parts)) {
    }
    std::vector<Term> terms;
    const auto number = values_.linear_form(value, terms);
    for (const auto& t : terms) {
      auto part = write(t.atom);
      if (!part) return std::nullopt;
      parts.push_back({t.coefficient, *part});
    }
    // What is added comes before what is subtracted.
    std::stable_partition(parts.begin(), parts.end(), [](const Part& p) { return p.coefficient > 0; });
    std::optional<E> all;
    const auto scaled = [](std::int64_t c, const E& e) { return c == 1 ? e : E::make(E::Op::multiply, {E(c), e}); };
    if (number > 0 && (parts.empty() || parts[0].coefficient < 0)) all = E(number);
    const bool number_done = all.has_value();
    for (const auto& [c, e] : parts) {
      if (c == INT64_MIN) return std::nullopt;
      if (!all) all = c > 0 ? scaled(c, e) : E::make(E::Op::negate, {scaled(-c, e)});
      else all = E::make(c > 0 ? E::Op::add : E::Op::subtract, {*all, scaled(c > 0 ? c : -c, e)});
    }
    if (!all) return E(number);
    if (number_done || number == 0) return all;
    if (number == INT64_MIN) return std::nullopt;
    return E::make(number > 0 ? E::Op::add : E::Op::subtract, {*all, E(number > 0 ? number : -number)});
  }

  Values& values_;
  const Naming& naming_;
  int depth_ = 0;
  int steps_ = 0;
  int most_parts_;
};

}  // namespace

std::string special_name(Special which) {
  static constexpr const char* names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockDim.x", "blockDim.y", "blockDim.z",
                                          "blockIdx.x",  "blockIdx.y",  "blockIdx.z",  "gridDim.x",  "gridDim.y",  "gridDim.z",
                                          "laneid",      "warpid",      "warpSize",    ""};
  return names[static_cast<int>(which)];
}

std::optional<Expression> to_expression(Values& values, ValueId value, const Naming& naming, Taken* taken, int most_parts) {
  Writer writer(values, naming, most_parts);
  auto result = writer.write(value);
  if (taken != nullptr) *taken = writer.taken;
  return result;
}

}  // namespace warptime::flow
