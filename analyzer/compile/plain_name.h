// Names of files as PTX can hold them: its strings have no escapes.
#pragma once

#include <string>
#include <string_view>

namespace warptime::compiling {

// `name` with a `?` in place of each quote, backslash and control character.
inline std::string plain_name(std::string_view name) {
  std::string plain(name);
  for (char& c : plain) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '"' || c == '\\') c = '?';
  }
  return plain;
}

}  // namespace warptime::compiling
