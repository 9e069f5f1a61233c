// Reading what the user names: a file, or `-` for standard input.
#pragma once

#include <string>
#include <string_view>

#include "simulator/base/diagnostic.h"

namespace warptime {

inline constexpr std::size_t input_limit_bytes = std::size_t{1} << 30;

// The whole text. Errors: no such file, a directory, an empty file, one that cannot be read, more than
// input_limit_bytes.
Result<std::string> read_text(const std::string& file);

// Whether read_text() has read this very file, under whatever name.
bool was_read(const std::string& file);

enum class InputKind { cuda, ptx, kernel_program, plan };

// Detected from the file's extension; from its content where the extension is unknown or the file is `-`.
InputKind kind_of(std::string_view file, std::string_view text);

struct Input {
  std::string file;
  std::string text;
  InputKind kind = InputKind::cuda;
};

Result<Input> read_input(const std::string& file);

}  // namespace warptime
