#include "cli/views/style.h"

#include <algorithm>
#include <array>
#include <utility>

namespace warptime::cli {
namespace {

TextStyle& style_in_use() {
  static TextStyle style;
  return style;
}

constexpr std::string_view kReset = "\x1b[0m";

std::string_view code_of(Colour colour) {
  constexpr std::array<std::string_view, 7> codes = {"\x1b[1m",  "\x1b[2m",    "\x1b[1;31m", "\x1b[32m",
                                                     "\x1b[33m", "\x1b[1;35m", "\x1b[1;36m"};
  return codes[static_cast<std::size_t>(colour)];
}

// Only marks: `^`, `~` and space.
bool is_marks(std::string_view line) {
  return line.find('^') != std::string_view::npos &&
         line.find_first_not_of(" \t^~") == std::string_view::npos;
}

std::string message_line(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, Colour>, 5> kinds = {{{"fatal error: ", Colour::red},
                                                                         {"error: ", Colour::red},
                                                                         {"warning: ", Colour::magenta},
                                                                         {"note: ", Colour::cyan},
                                                                         {"hint: ", Colour::cyan}}};
  if (is_marks(line)) return in_colour(line, Colour::green);
  for (const auto& [word, colour] : kinds) {
    const auto at = line.find(word);
    // At the beginning, or behind a place.
    if (at == std::string_view::npos || (at > 0 && line.substr(0, at).find(": ") + 2 != at)) continue;
    std::string text;
    if (at > 0) text = in_colour(line.substr(0, at), Colour::bold);
    return text + in_colour(word.substr(0, word.size() - 1), colour) + " " +
           std::string(line.substr(at + word.size()));
  }
  return std::string(line);
}

}  // namespace

const TextStyle& text_style() {
  return style_in_use();
}

void set_text_style(const TextStyle& style) {
  style_in_use() = style;
}

std::string in_colour(std::string_view text, Colour colour) {
  if (text.empty()) return {};
  std::string result(code_of(colour));
  result += text;
  return result += kReset;
}

std::string coloured(std::string_view text, Colour colour) {
  return text_style().colour ? in_colour(text, colour) : std::string(text);
}

std::string in_colours_of_messages(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    result += message_line(text.substr(0, end));
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace warptime::cli
