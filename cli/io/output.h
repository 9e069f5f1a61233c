// Where results go: standard output, or a file that appears whole or not at all.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

// A file is written beside itself under another name and renamed by finish(), so that an error leaves an
// older one as it was; what is no regular file (a pipe, /dev/null) is written to directly.
class Output {
 public:
  // No file, or `-`: standard output. Errors: a folder that is not there or not writable, a directory.
  static Result<std::unique_ptr<Output>> open(const std::optional<std::string>& file);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Buffered, but never for long: a reader sees rows as they come. False where nothing more can be written:
  // the caller may stop.
  bool write(std::string_view text);
  // Completes the output. A reader who closed the pipe has what it wants: that is no error. Errors: a full
  // disk and the like.
  Diagnostics finish();
  // The same for output that is not whole: where there is a file of that name already it stays, and this one
  // gets `.partial` added to its name. Gives its name; empty: standard output.
  Result<std::string> finish_with_part();

 private:
  Output() = default;
  bool flush();

  std::string file_;       // as the user named it; empty: standard output
  std::string target_;     // file_, symbolic links followed
  std::string temporary_;  // empty: written to directly
  int descriptor_ = -1;
  int failure_ = 0;  // errno
  std::string buffer_;
  std::chrono::steady_clock::time_point last_flush_ = std::chrono::steady_clock::now();
};

// All of a result at once; says what goes wrong and gives the exit status.
int write_result(const std::optional<std::string>& file, std::string_view text);

}  // namespace warptime::cli
