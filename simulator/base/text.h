// Characters and pieces of text, the same in every locale.
#pragma once

#include <string_view>

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

}  // namespace warptime
