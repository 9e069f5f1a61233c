#include "simulator/sm/drawn_lines.h"

#include <algorithm>
#include <numeric>

namespace warptime {
namespace {

constexpr int kSectorsOfLine = 4;
// Groups behind the one whose time it is that are looked at for one that was not asked for again.
constexpr std::size_t kLookedAt = 16;
// Lines that are asked for sector by sector lie in so many places side by side, more than a request has.
constexpr std::size_t kOpenLines = 64;

bool has_line(std::span<const LineSectors> made, std::int64_t line) {
  return std::any_of(made.begin(), made.end(), [&](const LineSectors& one) { return one.line == line; });
}

std::uint8_t sectors_from(int first, int count) {
  return static_cast<std::uint8_t>(((1 << count) - 1) << first);
}

}  // namespace

void DrawnLines::restart(std::size_t warp) {
  for (auto& [number, array] : arrays_) {
    if (warp < array.last.size()) array.last[warp] = {};
    for (auto& [profile, access] : array.accesses)
      if (warp < access.turns.size()) access.turns[warp] = 0;
  }
}

void DrawnLines::draw(const AccessProfile& profile, const Place& place, std::size_t warp,
                      RandomNumbers random, std::vector<LineSectors>& made) {
  Array& array = arrays_[place.array];
  if (array.last.size() <= warp) array.last.resize(warp + 1);
  const auto [found, is_new] = array.accesses.try_emplace(&profile);
  if (is_new) array.most_sectors += profile.launch.sectors;
  Array::Access& access = found->second;
  if (access.turns.size() <= warp) access.turns.resize(warp + 1);
  const double sectors_now = sectors_at_turn(profile, access.turns[warp]++);
  const Request last = array.last[warp];
  const std::int64_t sectors = std::max<std::int64_t>(random.near(sectors_now), 1);
  const std::int64_t least = (sectors + kSectorsOfLine - 1) / kSectorsOfLine;
  const std::int64_t lines =
      std::clamp<std::int64_t>(random.near(profile.lines / profile.sectors * sectors_now), least, sectors);
  const std::size_t first = array.history.size();
  const double again = profile.repeats + std::accumulate(profile.sm.begin(), profile.sm.end(), 0.0);
  const double never =
      (1 - again) * rate_of_first(profile, access.sectors / std::max(sectors_on_sm(profile), 1.0));
  access.sectors += static_cast<double>(sectors);
  made.clear();
  for (std::int64_t i = 0; i < lines; ++i) {
    const auto size = static_cast<int>(sectors / lines + (i < sectors % lines ? 1 : 0));
    const auto known_at = [&](double share) {
      return share < profile.repeats ? repeated(array, last, static_cast<std::size_t>(i), made)
                                     : reused(array, profile, share - profile.repeats, random, first, made);
    };
    const bool wanted = again > 0 && random.share() >= never;
    Group* known = wanted ? known_at(random.share() * again) : nullptr;
    if (wanted && known == nullptr) {
      array.early += size;
    } else if (!wanted && array.early >= size && again > 0) {
      known = known_at(random.share() * again);
      if (known != nullptr) array.early -= size;
    }
    if (known == nullptr && static_cast<double>(array.sectors + size) > array.most_sectors)
      known = any_before(array, random, first, made);
    const LineSectors line = known != nullptr ? known->of : fresh(array, place, size, random);
    if (known != nullptr) known->again = true;
    made.push_back(line);
    array.history.push_back({line});
  }
  array.last[warp] = {first, made.size()};
}

// One of the groups of the warp's last request.
DrawnLines::Group* DrawnLines::repeated(Array& array, const Request& last, std::size_t place,
                                        std::span<const LineSectors> made) {
  for (std::size_t i = 0; i < last.count; ++i) {
    Group& group = array.history[last.first + (place + i) % last.count];
    if (!has_line(made, group.of.line)) return &group;
  }
  return nullptr;
}

// One of before, by its reuse time; null: a new one.
DrawnLines::Group* DrawnLines::reused(Array& array, const AccessProfile& profile, double share,
                                      RandomNumbers random, std::size_t end,
                                      std::span<const LineSectors> made) {
  std::size_t k = 0;
  for (; k < profile.sm.size() && share >= profile.sm[k]; ++k) share -= profile.sm[k];
  if (k >= profile.sm.size()) return nullptr;
  const std::uint64_t time = (std::uint64_t{1} << k) + random.next() % (std::uint64_t{1} << k);
  const std::uint64_t now = array.history.size();
  if (time > now) return nullptr;
  const std::size_t at = std::min(static_cast<std::size_t>(now - time), end);
  for (std::size_t i = at; i < std::min(at + kLookedAt, end); ++i)
    if (Group& group = array.history[i]; !group.again && !has_line(made, group.of.line)) return &group;
  for (std::size_t i = at; i-- > (at > kLookedAt ? at - kLookedAt : 0);)
    if (Group& group = array.history[i]; !group.again && !has_line(made, group.of.line)) return &group;
  return nullptr;
}

// Where all is known that the launch touches.
DrawnLines::Group* DrawnLines::any_before(Array& array, RandomNumbers random, std::size_t end,
                                          std::span<const LineSectors> made) {
  for (std::size_t tries = 0; end > 0 && tries < kLookedAt; ++tries)
    if (Group& group = array.history[random.next() % end]; !has_line(made, group.of.line)) return &group;
  return nullptr;
}

// What nobody on the SM has asked for.
LineSectors DrawnLines::fresh(Array& array, const Place& place, int sectors, RandomNumbers random) {
  PartOfLine part;
  if (array.parts.size() >= kOpenLines) {
    part = array.parts.front();
    array.parts.pop_front();
  }
  if (part.used == 0 || part.used + sectors > kSectorsOfLine) {
    const std::int64_t most = std::clamp<std::int64_t>(random.near(place.sectors_of_line), 1, kSectorsOfLine);
    part = {place.base + array.lines++, 0, static_cast<int>(most)};
  }
  const int count = std::min(sectors, kSectorsOfLine - part.used);
  const LineSectors line{part.line, sectors_from(part.used, count)};
  part.used += count;
  array.sectors += count;
  if (part.used < part.most) array.parts.push_back(part);
  return line;
}

}  // namespace warptime
