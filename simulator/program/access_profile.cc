#include "simulator/program/access_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

namespace warptime {

std::string access_name(const Item& item) {
  const auto* access = std::get_if<MemoryAccess>(&item.what);
  if (access == nullptr) return {};
  const std::string_view kind = is_atomic(*access)                         ? "atomic"
                                : access->kind == MemoryAccess::Kind::load ? "load"
                                                                           : "store";
  const bool of_ptx = item.lines.empty();
  const LineSet& lines = of_ptx ? item.ptx : item.lines;
  const int line = lines.empty() ? 0 : lines.ranges().front().first;
  return fmt::format("{}{}{}_at_{}line_{}", kind, access->array.empty() ? "" : "_of_", access->array,
                     of_ptx ? "ptx_" : "", line);
}

std::string chip_access_name(ChipAccess::Space space, ChipAccess::Kind kind, int line, bool of_ptx) {
  return fmt::format("{}_{}_at_{}line_{}", kChipSpaces[static_cast<std::size_t>(space)],
                     kChipAccessKinds[static_cast<std::size_t>(kind)], of_ptx ? "ptx_" : "", line);
}

std::size_t part_of_first(double place) {
  const double halvings = -std::log2(std::clamp(place, 1e-9, 1.0));
  return kPartsOfFirst - 1 - std::min(static_cast<std::size_t>(halvings), kPartsOfFirst - 1);
}

double rate_of_first(const AccessProfile& profile, double place) {
  if (profile.first.size() != kPartsOfFirst) return 1;
  const std::size_t part = part_of_first(place);
  const auto length = std::exp2(static_cast<double>(std::max<std::size_t>(part, 1)) - kPartsOfFirst);
  return profile.first[part] / length;
}

double sectors_at_turn(const AccessProfile& profile, std::uint32_t before) {
  if (profile.by_turn.empty()) return profile.sectors;
  return profile.by_turn[std::min<std::size_t>(std::bit_width(before), profile.by_turn.size() - 1)];
}

double sectors_on_sm(const AccessProfile& profile) {
  return profile.requests * profile.sectors / std::clamp(profile.blocks, 1.0, kBlocksOfSm);
}

double share_missed(const ReuseTimes& times, double lines) {
  double later = 1,
         between = 0;  // of the sectors: asked for again later than 2^k, or never; lines until then
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double span = std::exp2(static_cast<double>(k)), next = later - times[k];
    const double more = span * (later + next) / 2;
    if (between + more >= lines)
      return std::clamp(later - times[k] * (more > 0 ? (lines - between) / more : 1), 0.0, 1.0);
    between += more;
    later = next;
  }
  return std::clamp(later, 0.0, 1.0);
}

TouchedMemory touched_by(const AccessProfile& profile, double blocks, double threads) {
  const double many = blocks * threads / std::max(profile.threads, 1.0);
  // Of `all` bytes of which each of `times` blocks touches `block`, at random.
  const auto covered = [](double all, double block, double times) {
    return all * -std::expm1(times * std::log1p(-std::min(block / all, 1 - 1e-12)));
  };
  const auto grown = [&](double block, double launch) {
    if (block <= 0 || many <= 0) return 0.0;
    constexpr double most = 1e6;  // times the launch's: then blocks share nothing
    double low = std::max(launch, block), high = low * most;
    for (int i = 0; i < 60; ++i) {
      const double middle = std::sqrt(low * high);
      (covered(middle, block, profile.blocks) < launch ? low : high) = middle;
    }
    return std::max(covered(low, block, many), std::min(many, 1.0) * block);
  };
  return {grown(profile.block.sectors, profile.launch.sectors),
          grown(profile.block.pieces, profile.launch.pieces),
          grown(profile.block.lines, profile.launch.lines)};
}

}  // namespace warptime
