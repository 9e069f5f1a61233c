// Reading what the user names: a file, or `-` for standard input.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime {

inline constexpr std::size_t input_limit_bytes = std::size_t{1} << 30;
// Of what has no length before it is read: a pipe, a device.
inline constexpr std::size_t stream_limit_bytes = std::size_t{1} << 28;

// The whole text. Errors: no such file, a directory, an empty file, one that cannot be read, a named pipe that
// no program opens for writing within seconds, more than input_limit_bytes or stream_limit_bytes.
Result<std::string> read_text(const std::string& file);

// Texts that are in no file, by the names that stand for them: read_text() gives these first, as long as this lives. One at
// a time.
class NamedTexts {
 public:
  explicit NamedTexts(std::map<std::string, std::string> texts);
  NamedTexts(const NamedTexts&) = delete;
  NamedTexts& operator=(const NamedTexts&) = delete;
  ~NamedTexts();
};
bool is_named_text(const std::string& file);

// Whether read_text() has read this very file, under whatever name.
bool was_read(const std::string& file);

// The names of the files that read_text() has read, or tried to read, each once, in that order.
std::vector<std::string> names_of_files_read();

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
