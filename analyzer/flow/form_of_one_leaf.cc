#include "analyzer/flow/form_of_one_leaf.h"

#include <algorithm>

#include "analyzer/flow/arithmetic.h"

namespace warptime::flow {

FormOfOneLeaf::FormOfOneLeaf(const Values& values, ValueId form, ValueId leaf) {
  ValueMemo places;
  add(values, form, leaf, places);
  numbers_.resize(steps_.size());
}

std::uint32_t FormOfOneLeaf::add(const Values& values, ValueId id, ValueId leaf, ValueMemo& places) {
  if (const auto* place = places.find(id)) return *place;
  const auto node = values[id];
  Step step;
  step.op = node.op;
  step.number = node.number;
  switch (node.op) {
    case Op::constant: break;
    case Op::argument: case Op::special: case Op::counter: case Op::phi: case Op::result: case Op::opaque: case Op::symbol:
      step.op = id == leaf ? Op::special : Op::opaque;
      break;
    case Op::sum: case Op::product: {
      std::vector<StepTerm> own;
      for (const auto& t : values.terms(id)) own.push_back({add(values, t.atom, leaf, places), t.coefficient});
      step.a = static_cast<std::uint32_t>(terms_.size());
      step.b = static_cast<std::uint32_t>(own.size());
      terms_.insert(terms_.end(), own.begin(), own.end());
      break;
    }
    default:
      step.a = add(values, node.a, leaf, places);
      step.b = add(values, node.b, leaf, places);
      step.c = add(values, node.c, leaf, places);
      break;
  }
  steps_.push_back(step);
  const auto place = static_cast<std::uint32_t>(steps_.size() - 1);
  places.set(id, place);
  return place;
}

std::optional<std::int64_t> FormOfOneLeaf::at(std::int64_t leaf) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].op == Op::special) numbers_[i] = leaf;
    else numbers_[i] = compute(steps_[i]);
  }
  return numbers_.back();
}

std::optional<std::int64_t> FormOfOneLeaf::compute(const Step& step) const {
  switch (step.op) {
    case Op::constant: return step.number;
    case Op::opaque: return std::nullopt;
    case Op::sum: case Op::product: {
      auto all = step.op == Op::sum ? step.number : 1;
      for (auto i = step.a; i < step.a + step.b; ++i) {
        const auto& part = numbers_[terms_[i].step];
        std::int64_t scaled = 0;
        if (!part || __builtin_mul_overflow(*part, step.op == Op::sum ? terms_[i].coefficient : all, &scaled)) return std::nullopt;
        if (step.op == Op::product) all = scaled;
        else if (__builtin_add_overflow(all, scaled, &all)) return std::nullopt;
      }
      return all;
    }
    case Op::select: {
      const auto& condition = numbers_[step.a];
      return condition ? numbers_[*condition != 0 ? step.b : step.c] : std::nullopt;
    }
    default: break;
  }
  const auto &a = numbers_[step.a], &b = numbers_[step.b];
  if (!a || !b) return std::nullopt;
  switch (step.op) {
    case Op::floor_divide: return *b <= 0 ? std::nullopt : std::optional(floor_div(*a, *b));
    case Op::truncated_divide: return *b <= 0 ? std::nullopt : std::optional(*a / *b);
    case Op::minimum: return std::min(*a, *b);
    case Op::maximum: return std::max(*a, *b);
    case Op::less: return *a < *b;
    case Op::less_equal: return *a <= *b;
    case Op::equal: return *a == *b;
    case Op::not_equal: return *a != *b;
    case Op::less_unsigned: return static_cast<std::uint64_t>(*a) < static_cast<std::uint64_t>(*b);
    case Op::less_equal_unsigned: return static_cast<std::uint64_t>(*a) <= static_cast<std::uint64_t>(*b);
    case Op::logical_and: return *a != 0 && *b != 0;
    case Op::logical_or: return *a != 0 || *b != 0;
    case Op::logical_not: return *a == 0;
    case Op::power_of_two: return *a < 0 || *a > 61 ? std::nullopt : std::optional(std::int64_t{1} << *a);
    case Op::log2_floor: return *a < 1 ? std::nullopt : std::optional<std::int64_t>(63 - __builtin_clzll(static_cast<unsigned long long>(*a)));
    case Op::bit_and: return *a & *b;
    case Op::bit_or: return *a | *b;
    case Op::bit_xor: return *a ^ *b;
    default: return std::nullopt;
  }
}

}  // namespace warptime::flow
