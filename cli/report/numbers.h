// Numbers of a report: six significant digits, which no screen shows more of.
#pragma once

#include <nlohmann/json.hpp>

namespace warptime::cli {

// Whole numbers below 2^53 stay whole. A number that is not finite: null.
nlohmann::ordered_json six_digits(double number);
// Each number that is not whole, in place.
void round_numbers(nlohmann::ordered_json& json);

}  // namespace warptime::cli
