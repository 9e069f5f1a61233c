// What nvcc is given. nvcc runs its steps through a shell and puts its arguments between double quotes, where
// a shell still expands `…` and $(…). Nothing that a user wrote may reach that shell: paths go in as links
// under names of ours, and flags that the shell would read are refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/compile/compile.h"

namespace warptime::compiling {

// Links, in a temporary folder, to those folders and files whose names the shell would read.
class SafeNames {
 public:
  // `folder` is a temporary folder, under a name that is safe itself.
  explicit SafeNames(std::string folder) : folder_(std::move(folder)) {}

  // `path` where its name is safe, else a link to what it names. Errors: the link cannot be made.
  Result<std::string> of(const std::string& path);

  // What nvcc says, with the paths as the user wrote them.
  std::string undo_in_message(std::string text) const;

  // PTX whose `.file` lines name the user's files.
  std::string undo_in_ptx(std::string ptx) const;

 private:
  struct Link {
    std::string name, path;
  };
  std::string folder_;
  std::vector<Link> links_;
};

// The arguments that follow the program's name: from `input`, a copy of the source, to PTX in `output`, both
// under safe names. `source_folder` is where the source itself lies, for the files that it includes. Errors:
// a flag that the shell would read.
Result<std::vector<std::string>> nvcc_arguments(const Source& source, const std::string& source_folder,
                                                const CompileOptions& options, const std::string& input,
                                                const std::string& output, SafeNames& names);

// `name` as the text of a string literal: backslashes, quotes and control characters are escaped.
std::string escaped_for_literal(std::string_view name);

std::string replace_all(std::string text, const std::string& what, const std::string& with);

}  // namespace warptime::compiling
