// Characters and pieces of text, the same in every locale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warptime {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// A character of an identifier of C.
constexpr bool is_identifier(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

// Without spaces and tabs at both ends.
constexpr std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A list that was split at each comma, put together again where a comma stood inside of parentheses: `max(a`,
// `b)`, `8` become `max(a, b)` and `8`.
struct WholePiece {
  std::string text;
  std::size_t first = 0;  // index of the piece that it begins with
};
inline std::vector<WholePiece> rejoined_in_parentheses(const std::vector<std::string>& pieces) {
  std::vector<WholePiece> whole;
  std::ptrdiff_t open = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (open > 0)
      whole.back().text += ", " + std::string(trimmed(pieces[i]));
    else
      whole.push_back({pieces[i], i});
    open += std::count(pieces[i].begin(), pieces[i].end(), '(') -
            std::count(pieces[i].begin(), pieces[i].end(), ')');
  }
  return whole;
}

}  // namespace warptime
