// The outputs for results: standard output, or a file that is written completely or not at all. A command
// that fails writes no file, a command with several files writes all of them or none, and no command writes
// over its input, over a file that is read-only, or twice to one file.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

// Whether a file may be replaced that this command has read (load/input.h: was_read).
enum class OverInput : bool { refuse, replace };

// Writes a temporary file beside the target, which finish() renames: an error leaves an older file as it was.
// A target that is not a regular file (a pipe, /dev/null) is written to directly; a symbolic link is followed,
// also to a file that does not exist yet.
class Output {
 public:
  // No file, or `-`: standard output. Errors: a folder that does not exist or is not writable, a directory, a
  // file that is read-only or that the command has read, a pipe that nobody reads.
  static Result<std::unique_ptr<Output>> open(const std::optional<std::string>& file,
                                              OverInput over_input = OverInput::refuse);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Buffered for at most 50 ms, so that a reader sees rows early. False if nothing more can be written: the
  // caller may stop.
  bool write(std::string_view text);
  // complete() and publish().
  Diagnostics finish();
  // Writes the rest of the text and closes the temporary file. Errors: a full disk and the like. A reader
  // that closed the pipe is not an error.
  Diagnostics complete();
  // Gives the completed file its name. Errors: as for open().
  Diagnostics publish();
  // Takes publish() back: an older file is there again, or none.
  void withdraw();
  // finish() for incomplete output: an existing file of that name stays, and this one gets `.partial` added
  // to its name, and a number where that is taken, too. Returns that name; empty: standard output.
  Result<std::string> finish_with_part();

 private:
  Output() = default;
  Diagnostics open_temporary();
  void drop_temporary();
  bool flush();
  bool write_now(std::string_view rest);

  std::string file_;       // as the user named it; empty: standard output
  std::string target_;     // file_, symbolic links followed
  std::string temporary_;  // the text, or after publish() what it replaced; empty: neither
  bool published_ = false;
  OverInput over_input_ = OverInput::refuse;
  int descriptor_ = -1;
  int failure_ = 0;  // errno
  std::string buffer_;
  std::chrono::steady_clock::time_point last_flush_ = std::chrono::steady_clock::now();
};

// For a process that ends at once: removes the temporary files of every Output.
void remove_unfinished_outputs();

struct ResultFile {
  std::optional<std::string> file;  // none, or `-`: standard output
  std::string text;
};

// Writes all of the results or none: no file is renamed before every text is written, and where one cannot be
// renamed, those before it are withdrawn. Errors: also two results for one file. Reports what goes wrong and
// returns the exit status.
int write_results(const std::vector<ResultFile>& results);
int write_result(const std::optional<std::string>& file, std::string_view text);

}  // namespace warptime::cli
