// Types as opcodes name them: the last part of `add.s32` is s32.
#pragma once

#include <string_view>

namespace warptime::analysis {

// The last part of an opcode: its type. `cvt.s64.s32` -> s32.
inline std::string_view last_word(std::string_view opcode) {
  const auto dot = opcode.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : opcode.substr(dot + 1);
}

// The bits of a type of one letter and a number, `s32`; 0 of other words, and beyond 128.
inline int width_of(std::string_view type) {
  if (type.size() < 2) return 0;
  int width = 0;
  for (const char c : type.substr(1)) {
    if (c < '0' || c > '9') return 0;
    width = width * 10 + (c - '0');
    if (width > 128) return 0;
  }
  return width;
}

inline bool is_integer_type(std::string_view type) {
  return !type.empty() && (type[0] == 's' || type[0] == 'u' || type[0] == 'b') && width_of(type) != 0;
}

}  // namespace warptime::analysis
