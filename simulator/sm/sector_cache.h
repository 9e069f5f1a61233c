// A cache of 128-byte lines with four sectors each, of which those are filled that were asked for; the line that was
// used longest ago makes room. L1 of NVIDIA's GPUs since Volta (Jia et al. 2018, section 3.2; its replacement is not
// published, and is taken to be LRU).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime {

class SectorCache {
 public:
  explicit SectorCache(std::size_t lines);

  struct Line {
    std::int64_t address = 0;  // of the line, in lines
    std::uint8_t loaded = 0;   // sectors that a load finds: a bit each
    std::uint8_t stored = 0;   // sectors that a store finds
    std::uint32_t newer = 0, older = 0;
    double ready[4] = {0, 0, 0, 0};        // when each loaded sector is there
    double waiting[4] = {0, 0, 0, 0};      // bytes of each sector that were stored, and wait for others
    std::int64_t storer = -1;              // who stored to it last, …
    std::int64_t opened = 0;               // … when so many lines had been stored to, …
    double leaves = 0, leaves_others = 0;  // … and until when its own stores meet those, and those of others
  };
  // The line, now the newest; nullptr: it is not in the cache.
  Line* find(std::int64_t address);
  // The same, or a new one, empty, in place of the oldest.
  Line& find_or_add(std::int64_t address);

 private:
  std::size_t slot_of(std::int64_t address) const;
  void unlink(std::uint32_t index);
  void make_newest(std::uint32_t index);
  void remove_slot(std::size_t slot);

  std::size_t most_;
  std::vector<Line> lines_;           // [0]: the ends of the list
  std::vector<std::uint32_t> slots_;  // a hash table of indices into lines_; 0: empty
};

// Which sectors of lines have been seen, and when: a map from lines that only grows.
class SectorMap {
 public:
  SectorMap() : slots_(1 << 10) {}

  struct Line {
    float seen = 0;            // whatever the caller counts
    std::uint8_t sectors = 0;  // a bit each
  };
  // Valid until the next call.
  Line& operator[](std::int64_t line);

 private:
  struct Slot {
    std::int64_t line = 0;
    Line value;
    bool used = false;
  };
  Slot& slot_of(std::int64_t line);

  std::vector<Slot> slots_;  // a power of two of them, at most half of them used
  std::size_t used_ = 0;
};

}  // namespace warptime
