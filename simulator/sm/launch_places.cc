#include "simulator/sm/launch_places.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "simulator/program/place.h"

namespace warptime {

std::string place_of_cause(const Item* item) {
  return item == nullptr ? "starts of blocks" : place_of(*item);
}

void LaunchPlace::add(const LaunchPlace& other, double times) {
  for (std::size_t i = 0; i < kSmWaits; ++i) {
    waits[i] += times * other.waits[i];
    draining[i] += times * other.draining[i];
  }
  for (std::size_t i = 0; i < kPipes; ++i) pipe_waits[i] += times * other.pipe_waits[i];
  for (std::size_t i = 0; i < kChipWaits; ++i) chip_waits[i] += times * other.chip_waits[i];
  for (const auto field :
       {&LaunchPlace::requests, &LaunchPlace::sectors, &LaunchPlace::least_sectors,
        &LaunchPlace::load_sectors, &LaunchPlace::load_hits, &LaunchPlace::local_sectors,
        &LaunchPlace::local_hits, &LaunchPlace::l2_bytes, &LaunchPlace::memory_bytes,
        &LaunchPlace::shared_ways, &LaunchPlace::shared_least_ways, &LaunchPlace::asked_sectors,
        &LaunchPlace::written_sectors, &LaunchPlace::local_asked_sectors, &LaunchPlace::local_store_sectors,
        &LaunchPlace::atomic_sectors, &LaunchPlace::first_bytes})
    this->*field += times * (other.*field);
}

namespace {

ChipWait chip_wait_of(const Item* item) {
  if (item == nullptr) return ChipWait::queue;
  if (std::holds_alternative<MemoryAccess>(item->what)) return ChipWait::l1;
  if (!item->detail || item->detail->on_chip.empty()) return ChipWait::queue;
  switch (item->detail->on_chip.front().space) {
    case ChipAccess::Space::shared:
      return ChipWait::shared;
    case ChipAccess::Space::local:
      return ChipWait::local;
    case ChipAccess::Space::constant:
      return ChipWait::constants;
  }
  return ChipWait::queue;
}

}  // namespace

LaunchPlace& PlaceListener::place_of_item(const Item* item) {
  const auto [known, fresh] = by_item_.try_emplace(item, places_.size());
  if (fresh) {
    const std::string where = place_of_cause(item);
    const auto [named, is_new] = by_name_.try_emplace(where, places_.size());
    known->second = named->second;
    if (is_new) {
      places_.emplace_back();
      places_.back().where = where;
      if (item != nullptr) places_.back().lines = item->lines;
    }
  }
  return places_[known->second];
}

void PlaceListener::passed(double begin, double end, const SmCause& cause, bool drains) {
  LaunchPlace& place = place_of_item(cause.item);
  place.waits[static_cast<std::size_t>(cause.wait)] += end - begin;
  if (cause.wait == SmWait::pipe) place.pipe_waits[static_cast<std::size_t>(cause.pipe)] += end - begin;
  const bool of_latency = cause.wait == SmWait::chain || cause.wait == SmWait::latency ||
                          cause.wait == SmWait::barrier || cause.wait == SmWait::blocks;
  if (drains && of_latency)
    place.draining[static_cast<std::size_t>(cause.wait)] += end - begin;
  else if (cause.wait == SmWait::on_chip)
    place.chip_waits[static_cast<std::size_t>(chip_wait_of(cause.item))] += end - begin;
}

void PlaceListener::shared_access(int ways, int least) {
  ways_ += ways;
  least_ways_ += least;
}

void PlaceListener::executed(const SmExecution& execution) {
  const SmCounts &before = *execution.before, &after = *execution.after;
  LaunchPlace& place = place_of_item(execution.item);
  place.shared_ways += std::exchange(ways_, 0);
  place.shared_least_ways += std::exchange(least_ways_, 0);
  const double local_stores = after.local_store_sectors - before.local_store_sectors;
  const double local_loads = after.local_load_sectors - before.local_load_sectors;
  const double local_load_hits = after.local_load_hits - before.local_load_hits;
  place.local_sectors += local_loads + local_stores;
  place.local_hits += local_load_hits + after.local_store_hits - before.local_store_hits;
  place.local_asked_sectors += local_loads - local_load_hits;
  place.local_store_sectors += local_stores;
  const auto* access = std::get_if<MemoryAccess>(&execution.item->what);
  if (access == nullptr || execution.threads == 0) return;
  const double loads = after.load_sectors - before.load_sectors, hits = after.load_hits - before.load_hits;
  const double stores = after.store_sectors - before.store_sectors;
  const double merged = after.merged_sectors - before.merged_sectors;
  const double atomics = after.atomic_sectors - before.atomic_sectors;
  const double bytes = static_cast<double>(std::popcount(execution.threads) * access->bytes.value_or(4));
  place.requests += 1;
  place.sectors += loads + stores + atomics;
  place.least_sectors += std::min(loads + stores + atomics, std::ceil(bytes / kSectorBytes));
  place.load_sectors += loads;
  place.load_hits += hits;
  place.asked_sectors += loads - hits;
  place.written_sectors += stores - merged;
  place.atomic_sectors += atomics;
  place.first_bytes += after.first_bytes - before.first_bytes;
}

std::vector<LaunchPlace> PlaceListener::second_half() const {
  std::vector<LaunchPlace> half = places_;
  for (std::size_t i = 0; i < at_half_.size(); ++i) half[i].add(at_half_[i], -1);
  return half;
}

namespace {

void add(const std::vector<LaunchPlace>& places, double times, std::vector<LaunchPlace>& to) {
  for (const LaunchPlace& place : places) {
    const auto same =
        std::find_if(to.begin(), to.end(), [&](const LaunchPlace& one) { return one.where == place.where; });
    if (same != to.end()) {
      same->add(place, times);
    } else {
      to.push_back(place);
      to.back().add(place, times - 1);
    }
  }
}

}  // namespace

void PlaceListener::add_later(const PlaceListener& other, bool whole, double times) {
  add(whole ? other.places_ : other.second_half(), times, *other_half_);
}

std::vector<LaunchPlace> PlaceListener::places(double more) const {
  std::vector<LaunchPlace> all = places_;
  add(other_half_ ? *other_half_ : second_half(), more, all);
  return all;
}

}  // namespace warptime
