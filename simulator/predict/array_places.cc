#include "simulator/predict/array_places.h"

#include <algorithm>

namespace warptime {

ArrayPlaces array_places(const Plan& plan, const PlanLaunch& launch, const Bindings& values) {
  constexpr std::int64_t kSpan = array_begin(0);
  Bindings bindings = values;
  for (std::size_t k = 0; k < plan.arrays.size(); ++k) bindings[plan.arrays[k].name] = array_begin(k);
  ArrayPlaces places;
  const auto add = [&](const std::string& argument, const Expression& expression) {
    const auto pointer = evaluate_count(expression, bindings);
    if (!pointer || *pointer < kSpan / 2) return;
    const auto k = static_cast<std::size_t>((*pointer + kSpan / 2) / kSpan - 1);
    if (k >= plan.arrays.size()) return;
    const PlanArray& array = plan.arrays[k];
    const auto each = static_cast<std::int64_t>(bytes_of(array.type));
    ArrayPlace place;
    place.allocation = static_cast<std::int64_t>(k);
    place.offset = (*pointer - array_begin(k)) * each;
    if (const auto elements = evaluate_count(array.elements, values);
        elements && *elements<kSpan / each&& * elements * each> place.offset)
      place.bytes = *elements * each - std::max<std::int64_t>(place.offset, 0);
    places[argument] = place;
  };
  for (const PlanArray& array : plan.arrays) add(array.name, Expression::name(array.name));
  for (const auto& [argument, expression] : launch.data) add(argument, expression);
  return places;
}

}  // namespace warptime
