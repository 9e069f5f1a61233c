// A CUDA Toolkit that may be on this machine: where its programs are looked for, and files for talking to
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

// The PATH, $CUDA_HOME/bin, $CUDA_PATH/bin and /usr/local/cuda/bin.
std::vector<std::string> toolkit_folders();

// Whether a path means nothing to a shell, quoted or not: letters, digits and _ . / + - only, and no - in
// front.
bool safe_for_shell(std::string_view path);

// A folder of our own, removed with this object. It stands in $TMPDIR, or in /tmp where there is none. Its
// path is safe for a shell: where that of $TMPDIR is not, the folder stands in /tmp.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }  // empty: none could be made

 private:
  std::string path_;
};

// The error of `tool` where TemporaryFolder could make none.
Diagnostic no_temporary_folder(const std::string& tool);

// For a process that ends at once: removes the folder of every TemporaryFolder.
void remove_temporary_folders();

bool write_file(const std::string& path, std::string_view text);
std::optional<std::string> read_file(const std::string& path);

}  // namespace warptime::compiling
