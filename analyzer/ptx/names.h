// A table of names: each text gets a small number, found again by one hash lookup. Names are views; the text
// must outlive the table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/ptx/module.h"

namespace warptime::ptx {

class NameTable {
 public:
  NameTable() : slots_(64) {}

  // The number of `name`, a new one where it has none: names are numbered 0, 1, 2, … in the order of their
  // coming.
  std::uint32_t intern(std::string_view name);

  // The number of `name`; no_index where it has none.
  std::uint32_t find(std::string_view name) const;

  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }

  // Forgets all names, in constant time.
  void clear();

 private:
  struct Entry {
    std::string_view name;
    std::uint64_t hash;
  };
  struct Slot {
    std::uint32_t generation = 0;  // of another generation: free
    std::uint32_t entry = 0;
  };

  std::size_t find_slot(std::string_view name, std::uint64_t hash) const;
  void grow();

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two
  std::uint32_t generation_ = 1;
};

}  // namespace warptime::ptx
