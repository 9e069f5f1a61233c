#include "simulator/model/units.h"

#include <fmt/format.h>

namespace warptime {

std::string time_text(double microseconds) {
  return microseconds < 1000 ? fmt::format("{:.4g} µs", microseconds)
                             : fmt::format("{:.4g} ms", microseconds / 1000);
}

std::string percent_text(double part) {
  return fmt::format("{:.1f}%", 100 * part);
}

}  // namespace warptime
