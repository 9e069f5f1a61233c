#include "lsp/document.h"

#include <algorithm>
#include <utility>

namespace warptime::lsp {
namespace {

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// UTF-16 code units of the character that begins with this byte: characters of four bytes take two.
std::size_t units_of(char first) {
  return static_cast<unsigned char>(first) >= 0xF0 ? 2 : 1;
}

std::size_t units_in(std::string_view text) {
  std::size_t units = 0;
  for (const char byte : text)
    if (!continues(byte)) units += units_of(byte);
  return units;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<std::size_t> starts_of_lines(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!pair && (text[i] == '\n' || text[i] == '\r')) starts.push_back(i + 1);
  }
  return starts;
}

}  // namespace

Document::Document(std::string text) : text_(std::move(text)) {
  find_lines();
}

void Document::find_lines() {
  starts_ = starts_of_lines(text_);
}

std::string_view Document::line(std::size_t line) const {
  if (line >= starts_.size()) return {};
  const std::size_t begin = starts_[line];
  std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return std::string_view(text_).substr(begin, end - begin);
}

std::size_t Document::offset(const Position& position) const {
  if (position.line >= starts_.size()) return text_.size();
  const std::string_view of_line = line(position.line);
  std::size_t units = 0, at = 0;
  while (at < of_line.size()) {
    const std::size_t more = units_of(of_line[at]);
    if (units + more > position.character) break;
    units += more;
    do ++at;
    while (at < of_line.size() && continues(of_line[at]));
  }
  return starts_[position.line] + at;
}

Position Document::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line_number = static_cast<std::size_t>(next - starts_.begin()) - 1;
  const std::string_view of_line = line(line_number);
  return {line_number, units_in(of_line.substr(0, offset - starts_[line_number]))};
}

std::optional<LineChange> Document::replace(const Range& range, std::string_view text) {
  if (range.end < range.start) return std::nullopt;
  const std::size_t begin = offset(range.start), end = offset(range.end);
  const Position first = position(begin), last = position(end);
  const std::size_t lines_before = lines();
  text_.replace(begin, end - begin, text);
  find_lines();
  LineChange change;
  change.first = static_cast<int>(first.line) + 1;
  change.removed = static_cast<int>(last.line - first.line) + 1;
  change.inserted = change.removed + static_cast<int>(lines()) - static_cast<int>(lines_before);
  return change;
}

LineChange Document::replace_all(std::string text) {
  const Document before(std::move(text_));
  text_ = std::move(text);
  find_lines();
  std::size_t same = 0, same_at_end = 0;
  const std::size_t shorter = std::min(lines(), before.lines());
  while (same < shorter && line(same) == before.line(same)) ++same;
  while (same_at_end < shorter - same &&
         line(lines() - 1 - same_at_end) == before.line(before.lines() - 1 - same_at_end))
    ++same_at_end;
  return {static_cast<int>(same) + 1, static_cast<int>(before.lines() - same - same_at_end),
          static_cast<int>(lines() - same - same_at_end)};
}

Range Document::range_of_line(int number) const {
  const std::size_t index = std::min(static_cast<std::size_t>(std::max(number, 1)) - 1, starts_.size() - 1);
  const std::string_view of_line = line(index);
  const std::size_t first = std::min(of_line.find_first_not_of(" \t"), of_line.size());
  return {{index, units_in(of_line.substr(0, first))}, {index, units_in(of_line)}};
}

Range Document::range_of_word(int number, int column) const {
  Range range = range_of_line(number);
  const std::string_view of_line = line(range.start.line);
  const auto begin = static_cast<std::size_t>(std::max(column, 1)) - 1;
  if (column < 1 || begin >= of_line.size()) return range;
  std::size_t end = begin + 1;
  if (is_word(of_line[begin]))
    while (end < of_line.size() && is_word(of_line[end])) ++end;
  else
    while (end < of_line.size() && continues(of_line[end])) ++end;
  range.start.character = units_in(of_line.substr(0, begin));
  range.end.character = units_in(of_line.substr(0, end));
  return range;
}

}  // namespace warptime::lsp
