// A map from lines of memory, or groups of them, that only grows. Its entries lie one behind the other, in the order in
// which they came, and a table of their numbers finds them (open addressing): a launch at random has hundreds of
// thousands, and pages that are touched cost more than look-ups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime {

template <typename Value>
class LineTable {
 public:
  LineTable() : numbers_(1 << 6) {}

  // A new one is Value(). Valid until the next call.
  Value& operator[](std::int64_t line) {
    std::uint32_t* number = &number_of(line);
    if (*number == 0) {
      entries_.push_back({line, {}});
      if (3 * entries_.size() > 2 * numbers_.size()) {
        numbers_.assign(2 * numbers_.size(), 0);
        for (std::size_t i = 0; i + 1 < entries_.size(); ++i)
          number_of(entries_[i].line) = static_cast<std::uint32_t>(i + 1);
        number = &number_of(line);
      }
      *number = static_cast<std::uint32_t>(entries_.size());
    }
    return entries_[*number - 1].value;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::int64_t line = 0;
    Value value;
  };

  // That of the line's entry, from 1 on, or 0 in the place for it.
  std::uint32_t& number_of(std::int64_t line) {
    const std::size_t mask = numbers_.size() - 1;
    std::size_t slot = (static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15U >> 20) & mask;
    while (numbers_[slot] != 0 && entries_[numbers_[slot] - 1].line != line) slot = (slot + 1) & mask;
    return numbers_[slot];
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> numbers_;  // a power of two of them, at most two thirds of them used
};

}  // namespace warptime
