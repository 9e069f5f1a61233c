#include "simulator/sm/sector_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace warptime {

SectorCache::SectorCache(std::size_t lines) : most_(std::max<std::size_t>(lines, 1)) {
  slots_.assign(std::bit_ceil(2 * most_ + 2), 0);
  lines_.reserve(most_ + 1);
  lines_.emplace_back();
}

std::size_t SectorCache::slot_of(std::int64_t address) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (static_cast<std::uint64_t>(address) * 0x9e3779b97f4a7c15U >> 20) & mask;
  while (slots_[slot] != 0 && lines_[slots_[slot]].address != address) slot = (slot + 1) & mask;
  return slot;
}

void SectorCache::unlink(std::uint32_t index) {
  Line& line = lines_[index];
  lines_[line.newer].older = line.older;
  lines_[line.older].newer = line.newer;
}

void SectorCache::make_newest(std::uint32_t index) {
  Line& line = lines_[index];
  line.newer = 0;
  line.older = lines_[0].older;  // the newest so far
  lines_[line.older].newer = index;
  lines_[0].older = index;
}

// Moves those behind it that would no longer be found (Knuth, The Art of Computer Programming 3, 6.4, algorithm R).
void SectorCache::remove_slot(std::size_t slot) {
  const std::size_t mask = slots_.size() - 1;
  slots_[slot] = 0;
  for (std::size_t next = (slot + 1) & mask; slots_[next] != 0; next = (next + 1) & mask) {
    const std::uint32_t index = slots_[next];
    slots_[next] = 0;
    slots_[slot_of(lines_[index].address)] = index;
  }
}

SectorCache::Line* SectorCache::find(std::int64_t address) {
  const std::uint32_t index = slots_[slot_of(address)];
  if (index == 0) return nullptr;
  if (lines_[0].older != index) {
    unlink(index);
    make_newest(index);
  }
  return &lines_[index];
}

SectorCache::Line& SectorCache::find_or_add(std::int64_t address) {
  if (Line* line = find(address)) return *line;
  std::uint32_t index = 0;
  if (lines_.size() <= most_) {
    index = static_cast<std::uint32_t>(lines_.size());
    lines_.emplace_back();
  } else {
    index = lines_[0].newer;  // the oldest
    remove_slot(slot_of(lines_[index].address));
    unlink(index);
    lines_[index] = {};
  }
  lines_[index].address = address;
  slots_[slot_of(address)] = index;
  make_newest(index);
  return lines_[index];
}

SectorMap::Slot& SectorMap::slot_of(std::int64_t line) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15U >> 20) & mask;
  while (slots_[slot].used && slots_[slot].line != line) slot = (slot + 1) & mask;
  return slots_[slot];
}

SectorMap::Line& SectorMap::operator[](std::int64_t line) {
  Slot* slot = &slot_of(line);
  if (!slot->used) {
    if (2 * ++used_ > slots_.size()) {
      const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(4 * slots_.size()));
      for (const Slot& one : before)
        if (one.used) slot_of(one.line) = one;
      slot = &slot_of(line);
    }
    *slot = {line, {}, true};
  }
  return slot->value;
}

}  // namespace warptime
