#include "load/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/base/did_you_mean.h"
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
  void add_name(const std::string& file) {
    const std::lock_guard lock(mutex_);
    if (std::find(names_.begin(), names_.end(), file) == names_.end()) names_.push_back(file);
  }
  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  bool contains(const struct stat& status) {
    const std::lock_guard lock(mutex_);
    return S_ISREG(status.st_mode) && files_.count({status.st_dev, status.st_ino}) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<dev_t, ino_t>> files_;
  std::vector<std::string> names_;
};

// What NamedTexts holds: threads that compile read files, too.
struct TextsByName {
  std::mutex mutex;
  std::map<std::string, std::string> texts;
};

TextsByName& texts_by_name() {
  static TextsByName texts;
  return texts;
}

std::optional<std::string> named_text(const std::string& file) {
  TextsByName& all = texts_by_name();
  const std::lock_guard lock(all.mutex);
  const auto found = all.texts.find(file);
  if (found == all.texts.end()) return std::nullopt;
  return found->second;
}

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

// Whether a line begins with the key `launches:`, perhaps misspelt, and none with `program:`: a plan that cannot be
// read is still one, and its errors are.
bool looks_like_broken_plan(std::string_view text) {
  bool launches = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon > 12) continue;
    const std::string_view key = line.substr(0, colon);
    if (key == "program") return false;
    launches = launches || !nearest(key, {"launches"}).empty();
  }
  return launches;
}

bool is_named_as_plan(std::string_view file) {
  return file.ends_with(".plan.yaml") || file.ends_with(".plan.yml") || file.ends_with(".plan.json");
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

namespace {

// The file is opened without waiting: a named pipe would else wait for its writer, perhaps for ever.
int open_for_reading(const std::string& file) {
  if (file == "-") return STDIN_FILENO;
  return ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

// Whether some program opens the other end of a pipe in time. What it may have written already goes to `text`.
bool wait_for_writer(int pipe, std::string& text) {
  constexpr int most_waits = 200;
  constexpr auto wait = std::chrono::milliseconds(10);
  for (int i = 0; i < most_waits; ++i) {
    pollfd waiting{pipe, POLLIN, 0};
    if (::poll(&waiting, 1, 0) > 0) return true;  // data, or their end: there was a writer
    char first = 0;
    const auto count = ::read(pipe, &first, 1);
    if (count > 0) text += first;
    if (count != 0) return true;  // a writer that has written nothing yet: EAGAIN
    std::this_thread::sleep_for(wait);
  }
  return false;
}

// A device that is no terminal and not the null device, which is like an empty file: many never end.
bool is_device(int descriptor, const struct stat& status) {
  constexpr unsigned memory_devices = 1, null_device = 3;
  if (S_ISBLK(status.st_mode)) return true;
  if (!S_ISCHR(status.st_mode) || ::isatty(descriptor) != 0) return false;
  return major(status.st_rdev) != memory_devices || minor(status.st_rdev) != null_device;
}

std::size_t limit_of(const struct stat& status) {
  return S_ISREG(status.st_mode) ? input_limit_bytes : stream_limit_bytes;
}

Diagnostic too_large(const std::string& file, std::size_t limit) {
  return wrong_file(file, fmt::format("is larger than {} MiB", limit >> 20));
}

// In pieces: a text that grows by copies would need three times its size.
Result<std::string> read_all(int descriptor, const std::string& file, std::size_t limit, std::string first) {
  constexpr std::size_t piece_bytes = 1 << 20;
  std::deque<std::string> pieces{std::move(first)};
  std::size_t bytes = pieces.front().size();
  std::vector<char> buffer(1 << 16);
  while (true) {
    const auto count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(file, errno);
    if (count == 0) break;
    if (pieces.back().size() + static_cast<std::size_t>(count) > piece_bytes) pieces.emplace_back();
    pieces.back().append(buffer.data(), static_cast<std::size_t>(count));
    bytes += static_cast<std::size_t>(count);
    if (bytes > limit) return too_large(file, limit);
  }
  if (pieces.size() == 1) return std::move(pieces.front());
  std::string text;
  text.reserve(bytes);
  for (; !pieces.empty(); pieces.pop_front()) text += pieces.front();
  return text;
}

}  // namespace

NamedTexts::NamedTexts(std::map<std::string, std::string> texts) {
  TextsByName& all = texts_by_name();
  const std::lock_guard lock(all.mutex);
  all.texts = std::move(texts);
}

NamedTexts::~NamedTexts() {
  TextsByName& all = texts_by_name();
  const std::lock_guard lock(all.mutex);
  all.texts.clear();
}

bool is_named_text(const std::string& file) {
  return named_text(file).has_value();
}

Result<std::string> read_text(const std::string& file) {
  if (auto text = named_text(file)) {
    if (text->empty()) return wrong_file(file, "is empty");
    return std::move(*text);
  }
  if (file != "-") files_read().add_name(file);
  const Descriptor descriptor(open_for_reading(file));
  if (descriptor.number() < 0) return cannot_read(file, errno);
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0) return cannot_read(file, errno);
  if (S_ISDIR(status.st_mode)) return cannot_read(file, EISDIR);
  if (is_device(descriptor.number(), status)) return wrong_file(file, "is a device");
  if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > input_limit_bytes)
    return too_large(file, input_limit_bytes);
  std::string first;
  if (S_ISFIFO(status.st_mode) && file != "-" && !wait_for_writer(descriptor.number(), first))
    return wrong_file(file, "is a pipe that no program writes to", "start the program that writes it first");
  if (file != "-") ::fcntl(descriptor.number(), F_SETFL, 0);
  files_read().add(status);
  auto text = read_all(descriptor.number(), file, limit_of(status), std::move(first));
  if (text && text->empty()) return wrong_file(file, "is empty");
  return text;
}

std::vector<std::string> names_of_files_read() {
  return files_read().names();
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
  const bool plan = is_named_as_plan(file) || looks_like_plan(text) || looks_like_broken_plan(text);
  return plan ? InputKind::plan : InputKind::kernel_program;
}

Result<Input> read_input(const std::string& file) {
  auto text = read_text(file);
  if (!text) return text.diagnostics();
  const InputKind kind = kind_of(file, *text);
  return Input{file, std::move(*text), kind};
}

}  // namespace warptime
