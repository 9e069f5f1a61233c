// How text for people looks on the terminal that it goes to. Elsewhere (files, pipes, other programs) it is plain, and as wide
// as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warptime::cli {

struct TextStyle {
  bool colour = false;
  std::size_t width = 0;  // of the terminal, in characters; 0: there is none
};
// Of what goes to standard output. One for the process.
const TextStyle& text_style();
void set_text_style(const TextStyle& style);

enum class Colour : std::uint8_t { bold, dim, red, green, yellow, magenta, cyan };
// With the colour, where the style has any.
std::string coloured(std::string_view text, Colour colour);
// The same whatever the style.
std::string in_colour(std::string_view text, Colour colour);

// A compiler's messages, or ours: `error:`, `warning:`, `note:` and `hint:` behind their places, and the marks below lines of
// the source, in the colours that compilers have.
std::string in_colours_of_messages(std::string_view text);

}  // namespace warptime::cli
