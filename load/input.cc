#include "load/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "simulator/plan/plan.h"

namespace warptime {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ > STDIN_FILENO) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

// The regular files that this process has read, by device and inode.
class FilesRead {
 public:
  void add(const struct stat& status) {
    const std::lock_guard lock(mutex_);
    if (S_ISREG(status.st_mode)) files_.emplace(status.st_dev, status.st_ino);
  }
  bool contains(const struct stat& status) {
    const std::lock_guard lock(mutex_);
    return S_ISREG(status.st_mode) && files_.count({status.st_dev, status.st_ino}) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<dev_t, ino_t>> files_;
};

FilesRead& files_read() {
  static FilesRead files;
  return files;
}

Diagnostic wrong_file(const std::string& file, std::string message, std::string hint = {}) {
  return error_at(file == "-" ? "standard input" : file, 0, 0, std::move(message), std::move(hint));
}

Diagnostic cannot_read(const std::string& file, int error_number) {
  if (error_number == ENOENT) return wrong_file(file, "no such file");
  if (error_number == EISDIR) return wrong_file(file, "is a directory, not a file");
  return wrong_file(file, fmt::format("cannot be read: {}", std::strerror(error_number)));
}

std::string_view skip_space_and_comments(std::string_view text) {
  while (true) {
    const auto start = text.find_first_not_of(" \t\r\n\v\f");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    const bool line_comment = text.substr(0, 2) == "//";
    if (!line_comment && text.substr(0, 2) != "/*") return text;
    const auto end = line_comment ? text.find('\n') : text.find("*/", 2);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + (line_comment ? 1 : 2));
  }
}

bool looks_like_ptx(std::string_view text) {
  return skip_space_and_comments(text).substr(0, 8) == ".version";
}

// A key of a kernel program's or a plan's top level at the start of a line, or JSON.
bool looks_like_yaml(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && (text[start] == '{' || text[start] == '[')) return true;
  for (const std::string_view key : {"---\n", "%YAML", "warptime:", "program:", "launches:"}) {
    const auto found = text.find(key);
    if (found == 0 || (found != std::string_view::npos && text[found - 1] == '\n')) return true;
  }
  return false;
}

}  // namespace

Result<std::string> read_text(const std::string& file) {
  const Descriptor descriptor(file == "-" ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.number() < 0) return cannot_read(file, errno);
  struct stat status {};
  const bool known = ::fstat(descriptor.number(), &status) == 0;
  if (known && S_ISDIR(status.st_mode)) return cannot_read(file, EISDIR);
  if (known) files_read().add(status);

  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const auto count = ::read(descriptor.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(file, errno);
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > input_limit_bytes)
      return wrong_file(file, fmt::format("is larger than {} MiB", input_limit_bytes >> 20));
  }
  if (text.empty()) return wrong_file(file, "is empty");
  return text;
}

bool was_read(const std::string& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && files_read().contains(status);
}

InputKind kind_of(std::string_view file, std::string_view text) {
  const auto extension = std::filesystem::path(file).extension();
  if (extension == ".cu" || extension == ".cuh") return InputKind::cuda;
  if (extension == ".ptx") return InputKind::ptx;
  const bool named_yaml = extension == ".yaml" || extension == ".yml" || extension == ".json";
  if (!named_yaml && looks_like_ptx(text)) return InputKind::ptx;
  if (!named_yaml && !looks_like_yaml(text)) return InputKind::cuda;
  return looks_like_plan(text) ? InputKind::plan : InputKind::kernel_program;
}

Result<Input> read_input(const std::string& file) {
  auto text = read_text(file);
  if (!text) return text.diagnostics();
  const InputKind kind = kind_of(file, *text);
  return Input{file, std::move(*text), kind};
}

}  // namespace warptime
