#include "simulator/sm/sector_cache.h"

#include <algorithm>
#include <utility>

#include "simulator/base/mixed_bits.h"

namespace warptime {

namespace {

constexpr std::size_t kWays = 8;  // of a set

}  // namespace

SectorCache::SectorCache(std::size_t lines, std::size_t places) : most_(std::max<std::size_t>(lines, 1)) {
  places = std::max(places, most_);
  ways_ = std::min(places, kWays);
  sets_ = places / ways_;
  places = ways_ * sets_;
  addresses_.resize(places);
  used_.resize(places);
  lines_.resize(places);
  if (most_ < places) links_.assign(places + 1, {places, places});
}

std::size_t SectorCache::first_place_of(std::int64_t address) const {
  const auto line = static_cast<std::uint64_t>(address);
  return (line + mixed_bits(line / sets_)) % sets_ * ways_;
}

void SectorCache::unlink(std::size_t place) {
  links_[links_[place].newer].older = links_[place].older;
  links_[links_[place].older].newer = links_[place].newer;
}

// It is the newest.
void SectorCache::use(std::size_t place) {
  const bool linked = used_[place] != 0;
  used_[place] = ++uses_;
  if (links_.empty()) return;
  const std::size_t ends = lines_.size();
  if (linked) unlink(place);
  links_[place] = {ends, links_[ends].older};  // `older` of the ends: the newest
  links_[links_[place].older].newer = place;
  links_[ends].older = place;
}

SectorCache::Line* SectorCache::find(std::int64_t address) {
  const std::size_t first = first_place_of(address);
  for (std::size_t place = first; place < first + ways_; ++place)
    if (addresses_[place] == address && used_[place] != 0) {
      use(place);
      return &lines_[place];
    }
  return nullptr;
}

SectorCache::Line& SectorCache::find_or_add(std::int64_t address) {
  if (Line* line = find(address)) return *line;
  const auto first = used_.begin() + static_cast<std::ptrdiff_t>(first_place_of(address));
  const auto oldest = std::min_element(first, first + static_cast<std::ptrdiff_t>(ways_));
  const auto place = static_cast<std::size_t>(oldest - used_.begin());
  if (*oldest == 0 && !links_.empty() && ++count_ > most_) {
    const std::size_t leaves = links_[lines_.size()].newer;  // of the ends: the oldest
    unlink(leaves);
    used_[leaves] = 0;
    --count_;
  }
  use(place);
  addresses_[place] = address;
  lines_[place] = {};
  lines_[place].address = address;
  return lines_[place];
}

}  // namespace warptime
