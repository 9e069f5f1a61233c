#include "analyzer/compile/host_values.h"

#include <algorithm>
#include <utility>

namespace warptime::compiling {

namespace {

std::shared_ptr<const HostValue> with_member(const HostValue* old, const HostPlace& place, std::size_t depth,
                                             HostValue value) {
  if (depth == place.parts.size()) return std::make_shared<const HostValue>(std::move(value));
  const HostPlace::Part& part = place.parts[depth];
  const auto wanted = part.field ? HostValue::Kind::record : HostValue::Kind::array;
  HostValue holder;
  if (old && (old->kind == HostValue::Kind::record || old->kind == HostValue::Kind::array)) holder = *old;
  holder.kind = wanted;
  const auto member = holder.members.find(part);
  holder.members[part] = with_member(member == holder.members.end() ? nullptr : member->second.get(), place,
                                     depth + 1, std::move(value));
  return std::make_shared<const HostValue>(std::move(holder));
}

}  // namespace

bool same_value(const HostValue& a, const HostValue& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case HostValue::Kind::unknown:
      return a.id == b.id;
    case HostValue::Kind::integer:
      return a.expression == b.expression;
    case HostValue::Kind::real:
      return a.expression == b.expression && a.denominator == b.denominator;
    case HostValue::Kind::decimal:
      return a.number == b.number;
    case HostValue::Kind::pointer:
      return a.place == b.place && a.into_array == b.into_array && a.expression == b.expression;
    case HostValue::Kind::function:
      return a.function == b.function;
    case HostValue::Kind::closure:
      return a.function == b.function && a.around == b.around;
    case HostValue::Kind::record:
    case HostValue::Kind::array:
      break;
  }
  return a.whole == b.whole && a.members.size() == b.members.size() &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && (x.second == y.second || same_value(*x.second, *y.second));
         });
}

HostValue with_substitution(const HostValue& value, const Substitution& replacements) {
  HostValue result = value;
  result.expression = substituted(value.expression, replacements);
  result.denominator = substituted(value.denominator, replacements);
  for (auto& [part, member] : result.members)
    member = std::make_shared<const HostValue>(with_substitution(*member, replacements));
  return result;
}

const HostValue* HostMemory::find(const HostPlace& place) const {
  const auto object = objects_.find(place.object);
  if (object == objects_.end() || place.inexact) return nullptr;
  const HostValue* value = object->second.get();
  static const HostValue zero = HostValue::of(0);
  for (const HostPlace::Part& part : place.parts) {
    if (!value->is(HostValue::Kind::record) && !value->is(HostValue::Kind::array)) return nullptr;
    const auto member = value->members.find(part);
    if (member == value->members.end()) return value->whole ? &zero : nullptr;
    value = member->second.get();
  }
  return value;
}

void HostMemory::store(const HostPlace& place, HostValue value) {
  const auto old = objects_.find(place.object);
  objects_[place.object] =
      with_member(old == objects_.end() ? nullptr : old->second.get(), place, 0, std::move(value));
}

}  // namespace warptime::compiling
