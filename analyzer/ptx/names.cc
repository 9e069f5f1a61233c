#include "analyzer/ptx/names.h"

#include <algorithm>
#include <cstring>

namespace warptime::ptx {
namespace {

inline std::uint64_t load(const char* from, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15ull;
  return a ^ (a >> 29);
}

// Eight bytes at a time; the last step overlaps the one before rather than going byte by byte.
inline std::uint64_t hash_of(std::string_view name) {
  const char* p = name.data();
  const std::size_t size = name.size();
  std::uint64_t hash = size * 0xd6e8feb86659fd93ull;
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8) hash = mix(hash, load(p + i, 8));
    return mix(mix(hash, load(p + size - 8, 8)), 0x2545f4914f6cdd1dull);
  }
  if (size >= 4) return mix(mix(hash, load(p, 4) << 32 | load(p + size - 4, 4)), 0x2545f4914f6cdd1dull);
  std::uint64_t last = 0;
  if (size > 0) {
    last = static_cast<std::uint64_t>(static_cast<unsigned char>(p[0])) |
           static_cast<std::uint64_t>(static_cast<unsigned char>(p[size / 2])) << 8 |
           static_cast<std::uint64_t>(static_cast<unsigned char>(p[size - 1])) << 16;
  }
  return mix(mix(hash, last), 0x2545f4914f6cdd1dull);
}

// As memcmp, for names of a few characters: without a call, and with the loads of hash_of.
inline bool same(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  const char* p = a.data();
  const char* q = b.data();
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8)
      if (load(p + i, 8) != load(q + i, 8)) return false;
    return load(p + size - 8, 8) == load(q + size - 8, 8);
  }
  if (size >= 4) return load(p, 4) == load(q, 4) && load(p + size - 4, 4) == load(q + size - 4, 4);
  return size == 0 || (p[0] == q[0] && p[size / 2] == q[size / 2] && p[size - 1] == q[size - 1]);
}

}  // namespace

inline std::size_t NameTable::find_slot(std::string_view name, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot].generation == generation_; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot].entry];
    if (entry.hash == hash && same(entry.name, name)) break;
  }
  return slot;
}

std::uint32_t NameTable::find(std::string_view name) const {
  const Slot& slot = slots_[find_slot(name, hash_of(name))];
  return slot.generation == generation_ ? slot.entry : no_index;
}

std::uint32_t NameTable::intern(std::string_view name) {
  const std::uint64_t hash = hash_of(name);
  const std::size_t found = find_slot(name, hash);
  if (slots_[found].generation == generation_) return slots_[found].entry;
  const auto number = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({name, hash});
  slots_[found] = {generation_, number};
  if (entries_.size() * 2 > slots_.size()) grow();
  return number;
}

void NameTable::grow() {
  std::vector<Slot>(slots_.size() * 2).swap(slots_);
  generation_ = 1;
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & mask;
    while (slots_[slot].generation == generation_) slot = (slot + 1) & mask;
    slots_[slot] = {generation_, i};
  }
}

void NameTable::clear() {
  entries_.clear();
  if (++generation_ != 0) return;
  std::fill(slots_.begin(), slots_.end(), Slot{});  // once in 2^32 times
  generation_ = 1;
}

}  // namespace warptime::ptx
