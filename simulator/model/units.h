// Times and shares as explanations write them.
#pragma once

#include <string>

namespace warptime {

// A gain of less than this part of a row's time is none.
inline constexpr double kWorthSaying = 0.001;

std::string time_text(double microseconds);  // "37.3 µs", "1.042 ms"
std::string percent_text(double part);       // 0.75: "75.0%"

}  // namespace warptime
