#include "models/git.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "analyzer/compile/process.h"

namespace warptime::models {
namespace {

namespace fs = std::filesystem;

std::string find_git() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = (fs::path(folder.empty() ? "." : folder) / "git").string();
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// SHA-1 or SHA-256, in hexadecimal digits.
bool is_object_name(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Result<GitRevision> GitRevision::open(const std::string& folder, const std::string& revision) {
  GitRevision result;
  result.name_ = revision;
  result.git_ = find_git();
  if (result.git_.empty())
    return error_at("--against", 0, 0, "there is no git on the PATH",
                    "`--against` needs git to read the files of the other revision");
  std::error_code failed;
  result.folder_ = fs::canonical(folder, failed).string();
  if (failed) return error_at(folder, 0, 0, failed.message());
  const auto inside =
      compiling::run_process({result.git_, "-C", result.folder_, "rev-parse", "--show-prefix"});
  if (!inside) return inside.diagnostics();
  if (inside->status != 0)
    return error_at(folder, 0, 0,
                    fmt::format("is not in a readable git repository: {}", first_line(inside->errors)));
  // A revision that begins like an option is none.
  const auto commit = revision.empty() || revision[0] == '-'
                          ? compiling::ProcessResult{1, {}, {}}
                          : compiling::run_process({result.git_, "-C", result.folder_, "rev-parse",
                                                    "--verify", "--quiet", revision + "^{commit}"});
  if (!commit) return commit.diagnostics();
  // `^main` and `a..b` are no single revision, and git prints more than a name for them.
  if (commit->status != 0 || !is_object_name(first_line(commit->output)))
    return error_at(
        "--against", 0, 0,
        fmt::format("`{}` is not a revision of the git repository that {} is in", revision, folder),
        "a branch, a tag or a commit; in a shallow clone, fetch it first");
  result.commit_ = first_line(commit->output);
  return result;
}

Result<std::optional<std::string>> GitRevision::text(const std::string& file) const {
  std::error_code failed;
  const auto absolute = fs::weakly_canonical(file, failed);
  if (failed) return error_at(file, 0, 0, failed.message());
  const auto relative = absolute.lexically_relative(folder_).generic_string();
  const auto object = fmt::format("{}:./{}", commit_, relative);
  const auto there = compiling::run_process({git_, "-C", folder_, "cat-file", "-e", object});
  if (!there) return there.diagnostics();
  if (there->status != 0) return std::optional<std::string>();
  auto shown = compiling::run_process({git_, "-C", folder_, "show", object});
  if (!shown) return shown.diagnostics();
  if (shown->status != 0)
    return error_at(file, 0, 0, fmt::format("git show {}: {}", object, first_line(shown->errors)));
  return std::optional(std::move(shown->output));
}

}  // namespace warptime::models
