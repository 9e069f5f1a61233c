#include "simulator/program/place.h"

#include <fmt/format.h>

namespace warptime {
namespace {

std::string plural(std::string_view what, const LineSet& lines) {
  const auto& ranges = lines.ranges();
  const bool one = ranges.size() == 1 && ranges.front().first == ranges.front().second;
  return fmt::format("{}{} {}", what, one ? "" : "s", to_string(lines));
}

}  // namespace

std::string place_of(const Item& item) {
  if (!item.lines.empty()) return plural("line", item.lines);
  if (!item.ptx.empty()) return plural("PTX line", item.ptx);
  if (const auto* calculation = std::get_if<Calculation>(&item.what))
    return fmt::format("calc: {}", to_string(calculation->cycles));
  if (const auto* instructions = std::get_if<Instructions>(&item.what))
    return fmt::format("instructions: {}", to_string(instructions->count));
  const auto& access = std::get<MemoryAccess>(item.what);
  const char* const kind = access.kind == MemoryAccess::Kind::load ? "load" : "store";
  if (access.cycles) return fmt::format("{}: {}", kind, to_string(*access.cycles));
  return fmt::format("{} ({})", kind, to_string(access.access.value_or(Access::coalesced)));
}

}  // namespace warptime
