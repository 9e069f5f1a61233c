// A cache of 128-byte lines with four sectors each, of which those are filled that were asked for. A line has eight places;
// the one of its eight that was used longest ago makes room, or of all lines, where there is no room for as many as
// there are places. L1 of NVIDIA's GPUs since Volta (Jia et al. 2018, section 3.2), which shares its memory with the blocks.
// Which lines share places is not published: as many side by side as there are sets do not, and else it is as good as
// drawn. So it is on the H100, which keeps half as many lines as L1 holds if they are side by side, loses some of them
// if they are far apart, and most of as many as it holds (data/hardware/h100_row_strides.csv).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime {

class SectorCache {
 public:
  // At least one line; `places`, if there are more than lines.
  explicit SectorCache(std::size_t lines, std::size_t places = 0);

  struct Line {
    std::int64_t address = 0;              // of the line, in lines
    std::uint8_t loaded = 0;               // sectors that a load finds: a bit each
    std::uint8_t stored = 0;               // sectors that a store finds
    double ready[4] = {0, 0, 0, 0};        // when each loaded sector is there
    double waiting[4] = {0, 0, 0, 0};      // bytes of each sector that were stored, and wait for others
    double filled[4] = {0, 0, 0, 0};       // bytes of each sector that were stored since L1 has the line
    std::int64_t storer = -1;              // who stored to it last, …
    std::int64_t opened = 0;               // … when so many lines had been stored to, …
    double leaves = 0, leaves_others = 0;  // … and until when its own stores meet those, and those of others
  };
  // The line, now the one that was used last; nullptr: it is not in the cache.
  Line* find(std::int64_t address);
  // The same, or a new one, empty, in place of another.
  Line& find_or_add(std::int64_t address);

 private:
  std::size_t first_place_of(std::int64_t address) const;
  void use(std::size_t place);
  void unlink(std::size_t place);

  // Of the ring of all lines, behind the last place: the newest and the oldest.
  struct Links {
    std::size_t newer = 0, older = 0;
  };

  std::size_t ways_, sets_, most_;
  std::vector<std::int64_t> addresses_;  // of the lines, set by set
  std::vector<std::uint64_t> used_;      // when each was used last; 0: there is none
  std::vector<Line> lines_;
  std::vector<Links> links_;  // where there are more places than lines
  std::size_t count_ = 0;
  std::uint64_t uses_ = 0;
};

// What has been seen of a line's sectors at L2, and when.
struct LineAtL2 {
  float seen = 0;            // whatever the caller counts
  float first_part = 0;      // when the first of `parts` was stored
  float parts_seen = 0;      // whatever the caller counts of them
  std::uint8_t sectors = 0;  // a bit each
  std::uint8_t fresh = 0;    // those that memory gave and nothing has changed since, and of …
  std::uint8_t changed = 0;  // … these those that a store has
  std::uint8_t parts = 0;    // those that one store has written a part of
  // Those that were stored to, and not written back since; those that were, and not stored to since.
  std::uint8_t stored = 0, written_back = 0;
  // Bytes of each sector that were stored, no more than it has.
  std::uint8_t filled[4] = {0, 0, 0, 0};
};

}  // namespace warptime
