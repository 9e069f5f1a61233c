// Files as another git revision has them, through the git command.
#pragma once

#include <optional>
#include <string>

#include "simulator/base/diagnostic.h"

namespace warptime::models {

class GitRevision {
 public:
  // Of the repository that `folder` is in. Errors: no git on the PATH, no repository, no such revision.
  static Result<GitRevision> open(const std::string& folder, const std::string& revision);

  const std::string& name() const { return name_; }  // as the user gave it
  // The text of a file, whose path is as it would be opened; nothing where the revision does not have it.
  Result<std::optional<std::string>> text(const std::string& file) const;

 private:
  GitRevision() = default;
  std::string git_;     // the program
  std::string folder_;  // absolute
  std::string name_;
  std::string commit_;
};

}  // namespace warptime::models
