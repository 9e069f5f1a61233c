// Times and shares as text, for explanations.
#pragma once

#include <string>

namespace warptime {

// A gain of less than this share of a row's time is not reported.
inline constexpr double kWorthSaying = 0.001;

std::string time_text(double microseconds);  // "37.3 µs", "1.042 ms"
std::string percent_text(double part);       // 0.75: "75.0%"

}  // namespace warptime
