// The text of an open document, and places in it as the protocol has them: lines from 0, and UTF-16 code units in a line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::lsp {

struct Position {
  std::size_t line = 0, character = 0;
  friend bool operator==(const Position&, const Position&) = default;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Range {
  Position start, end;
  friend bool operator==(const Range&, const Range&) = default;
};

// What a change did to lines: those from `first` on, `removed` of them, are `inserted` other ones now. `first` counts from 1.
struct LineChange {
  int first = 1, removed = 0, inserted = 0;
};

// UTF-8 text with lines that end in \n, \r\n or \r.
class Document {
 public:
  explicit Document(std::string text);

  const std::string& text() const { return text_; }
  std::size_t lines() const { return starts_.size(); }
  // Without its end; `line` from 0. A line that is not there is empty.
  std::string_view line(std::size_t line) const;

  // A place behind the end of a line is that end, one behind the last line the end of the text; one within a pair of
  // surrogates is its beginning.
  std::size_t offset(const Position& position) const;
  Position position(std::size_t offset) const;

  // Errors (nothing is changed, and nothing comes back): an end before the start.
  std::optional<LineChange> replace(const Range& range, std::string_view text);
  LineChange replace_all(std::string text);

  // From the first character of line `line` (from 1) that is not white space to its end. Lines out of range: the nearest.
  Range range_of_line(int line) const;
  // The word at a byte's column, both from 1; column 0, or behind the end: range_of_line().
  Range range_of_word(int line, int column) const;

 private:
  void find_lines();

  std::string text_;
  std::vector<std::size_t> starts_;  // offsets of the beginnings of lines
};

}  // namespace warptime::lsp
