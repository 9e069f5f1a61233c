#include "analyzer/compile/toolkit.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

namespace warptime::compiling {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder.empty() ? "." : folder);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = variable(name); !home.empty()) folders.push_back(home + "/bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

bool safe_for_shell(std::string_view path) {
  return !path.empty() && path[0] != '-' && std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./+-").find(c) != std::string_view::npos;
  });
}

namespace {

struct TemporaryFolders {
  std::mutex mutex;
  std::set<std::string> paths;
};

TemporaryFolders& temporary_folders() {
  static TemporaryFolders all;
  return all;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code bad;
  const fs::path wanted = fs::temp_directory_path(bad);
  const fs::path users = bad ? fs::path() : fs::canonical(wanted, bad);
  if (bad) return;
  const fs::path parent = safe_for_shell(users.string()) ? users : fs::path("/tmp");
  std::string pattern = (parent / "warptime-XXXXXX").string();
  TemporaryFolders& all = temporary_folders();
  const std::lock_guard lock(all.mutex);
  if (!mkdtemp(pattern.data())) return;
  path_ = pattern;
  all.paths.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  TemporaryFolders& all = temporary_folders();
  const std::lock_guard lock(all.mutex);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  all.paths.erase(path_);
}

Diagnostic no_temporary_folder(const std::string& tool) {
  const std::string given = variable("TMPDIR");
  std::error_code failed;
  if (!given.empty() && !fs::is_directory(given, failed))
    return error(
        fmt::format("{} needs a temporary folder, and TMPDIR is `{}`, which is no folder", tool, given),
        "set TMPDIR to a writable folder, or unset it");
  return error(fmt::format("{} needs a temporary folder, and {} is not writable", tool,
                           given.empty() ? "/tmp" : given),
               "set TMPDIR to a writable folder");
}

void remove_temporary_folders() {
  TemporaryFolders& all = temporary_folders();
  const std::lock_guard lock(all.mutex);
  for (const std::string& path : all.paths) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  all.paths.clear();
}

bool write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return file.good();
}

std::optional<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace warptime::compiling
