#include "cli/views/svg.h"

#include <algorithm>
#include <cstddef>

namespace warptime::cli {
namespace {

// How many bytes the character at the beginning of `text` has in UTF-8; 0: it is none that XML may hold.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80   ? 1
                           : byte(0) < 0xc2 ? 0
                           : byte(0) < 0xe0 ? 2
                           : byte(0) < 0xf0 ? 3
                                            : 4;
  if (size == 0 || byte(0) > 0xf4 || text.size() < size) return 0;
  if (size == 1) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (byte(0) == 0xe0 && byte(1) < 0xa0) return 0;                      // too long a form
  if (byte(0) == 0xed && byte(1) >= 0xa0) return 0;                     // half of a pair
  if (byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe) return 0;  // no characters
  if (byte(0) == 0xf0 && byte(1) < 0x90) return 0;                      // too long a form
  if (byte(0) == 0xf4 && byte(1) >= 0x90) return 0;                     // beyond Unicode
  return size;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) {
      safe += "\xef\xbf\xbd";  // the replacement character
    } else if (text[0] == '&') {
      safe += "&amp;";
    } else if (text[0] == '<') {
      safe += "&lt;";
    } else if (text[0] == '>') {
      safe += "&gt;";
    } else if (text[0] == '"') {
      safe += "&quot;";
    } else {
      safe += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return safe;
}

}  // namespace warptime::cli
