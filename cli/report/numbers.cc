#include "cli/report/numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace warptime::cli {

nlohmann::ordered_json six_digits(double number) {
  constexpr double exact = 9007199254740992;  // 2^53
  if (!std::isfinite(number)) return {};
  if (number == std::floor(number) && std::abs(number) < exact) return static_cast<std::int64_t>(number);
  return std::strtod(fmt::format("{:.6g}", number).c_str(), nullptr);
}

void round_numbers(nlohmann::ordered_json& json) {
  if (json.is_number_float()) {
    json = six_digits(json.get<double>());
  } else if (json.is_structured()) {
    for (auto& part : json) round_numbers(part);
  }
}

}  // namespace warptime::cli
