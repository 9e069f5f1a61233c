#include "cli/io/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "cli/io/capture.h"
#include "cli/io/report.h"
#include "cli/io/terminal.h"
#include "load/input.h"

namespace warptime::cli {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;
constexpr auto longest_wait = std::chrono::milliseconds(50);

Diagnostic cannot_write(const std::string& file, int error_number) {
  return error_at(file.empty() ? "standard output" : file, 0, 0,
                  fmt::format("cannot be written: {}", std::strerror(error_number)));
}

// The temporary files of this process, for when a signal ends it.
class UnfinishedOutputs {
 public:
  void add(const std::string& file) {
    const std::lock_guard lock(mutex_);
    files_.insert(file);
  }
  void forget(const std::string& file) {
    const std::lock_guard lock(mutex_);
    files_.erase(file);
  }
  void remove_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& file : files_) ::unlink(file.c_str());
    files_.clear();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> files_;
};

UnfinishedOutputs& unfinished() {
  static UnfinishedOutputs all;
  return all;
}

// mkstemp makes private files. The result gets the mode and, where possible, the owner of the file that it
// replaces, or the mode of an ordinary new file.
void set_mode(int descriptor, const std::string& target) {
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (exists && ::fchown(descriptor, status.st_uid, status.st_gid) != 0) {
    // Not ours to give away: the file is then the user's own.
  }
  ::fchmod(descriptor, exists ? status.st_mode & 07777 : 0666 & ~mask);
}

// `file` with symbolic links followed, also where the last one leads to no file.
std::string link_target(const std::string& file) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;
  fs::path path(file);
  std::error_code failed;
  for (int i = 0; i < most_links && fs::is_symlink(path, failed); ++i) {
    const fs::path next = fs::read_symlink(path, failed);
    if (failed) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path real = fs::canonical(folder, failed);
  return failed ? path.string() : (real / path.filename()).string();
}

// Nobody may write to it, or this user may not. (root may, but does not mean to where all bits say no.)
bool is_read_only(const std::string& file, const struct stat& status) {
  constexpr mode_t any_write = S_IWUSR | S_IWGRP | S_IWOTH;
  return (status.st_mode & any_write) == 0 || ::access(file.c_str(), W_OK) != 0;
}

Diagnostic read_only(const std::string& file) {
  return error_at(file, 0, 0, "cannot be written: it is read-only",
                  "give the result another file, or make this one writable");
}

Diagnostic pipe_unread(const std::string& file) {
  return error_at(file, 0, 0, "cannot be written: it is a pipe that no program reads",
                  "start the program that reads it first");
}

Diagnostic is_input(const std::string& file) {
  return error_at(file, 0, 0, "is an input of this command: the result would replace it",
                  "give the result a file of its own");
}

}  // namespace

Result<std::unique_ptr<Output>> Output::open(const std::optional<std::string>& file, OverInput over_input) {
  std::unique_ptr<Output> output(new Output);
  if (!file || *file == "-") {
    output->descriptor_ = STDOUT_FILENO;
    return output;
  }
  output->file_ = *file;
  output->over_input_ = over_input;
  if (over_input == OverInput::refuse && was_read(*file)) return is_input(*file);
  output->target_ = link_target(*file);
  std::error_code failed;
  if (std::filesystem::is_symlink(output->target_, failed)) return cannot_write(*file, ELOOP);

  struct stat status {};
  const bool exists = ::stat(output->target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return cannot_write(*file, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    // Without O_NONBLOCK a pipe would wait for its reader, perhaps for ever.
    output->descriptor_ = ::open(output->target_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (output->descriptor_ < 0) return errno == ENXIO ? pipe_unread(*file) : cannot_write(*file, errno);
    ::fcntl(output->descriptor_, F_SETFL, 0);
    return output;
  }
  if (exists && is_read_only(output->target_, status)) return read_only(*file);
  if (auto wrong = output->open_temporary(); !wrong.empty()) return wrong;
  return output;
}

Diagnostics Output::open_temporary() {
  // Not made of the target's name, which may be as long as names can be.
  temporary_ = (std::filesystem::path(target_).parent_path() / ".warptime.XXXXXX").string();
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    return {cannot_write(file_, errno)};
  }
  unfinished().add(temporary_);
  set_mode(descriptor_, target_);
  return {};
}

void Output::drop_temporary() {
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  unfinished().forget(temporary_);
  temporary_.clear();
}

Output::~Output() {
  if (descriptor_ > STDOUT_FILENO) ::close(descriptor_);
  drop_temporary();
}

bool Output::write(std::string_view text) {
  if (failure_ != 0) return false;
  if (text.size() >= buffer_bytes) return flush() && write_now(text);  // without a copy
  buffer_ += text;
  if (buffer_.size() < buffer_bytes && std::chrono::steady_clock::now() - last_flush_ < longest_wait)
    return true;
  return flush();
}

bool Output::flush() {
  const bool written = write_now(buffer_);
  buffer_.clear();
  return written;
}

bool Output::write_now(std::string_view rest) {
  if (Capture* capture = descriptor_ == STDOUT_FILENO ? current_capture() : nullptr) {
    capture->write(rest);
    return true;
  }
  if (descriptor_ == STDOUT_FILENO) clear_activity_line();
  while (failure_ == 0 && !rest.empty()) {
    const auto count = ::write(descriptor_, rest.data(), rest.size());
    if (count >= 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      failure_ = errno;
  }
  last_flush_ = std::chrono::steady_clock::now();
  return failure_ == 0;
}

Diagnostics Output::finish() {
  if (auto failures = complete(); !failures.empty()) return failures;
  return publish();
}

Diagnostics Output::complete() {
  flush();
  if (failure_ == EPIPE) return {};
  // Closed before it is renamed: some file systems report a full disk only then.
  if (failure_ == 0 && !temporary_.empty() && ::close(std::exchange(descriptor_, -1)) != 0) failure_ = errno;
  if (failure_ != 0) return {cannot_write(file_, failure_)};
  return {};
}

Diagnostics Output::publish() {
  if (failure_ != 0 || temporary_.empty()) return {};
  // Again: the command may have read it since open().
  if (over_input_ == OverInput::refuse && was_read(target_)) return {is_input(file_)};
  struct stat status {};
  // Exchanged, what it replaces stays at hand for withdraw(). Some file systems cannot do that.
  const bool replaces = ::stat(target_.c_str(), &status) == 0;
  const bool exchanged =
      replaces && S_ISREG(status.st_mode) &&
      ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0;
  if (!exchanged && std::rename(temporary_.c_str(), target_.c_str()) != 0)
    return {cannot_write(file_, errno)};
  published_ = exchanged || !replaces;
  if (!exchanged) {
    unfinished().forget(temporary_);
    temporary_.clear();
  }
  return {};
}

void Output::withdraw() {
  if (!published_) return;
  published_ = false;
  if (temporary_.empty()) {
    ::unlink(target_.c_str());
  } else if (std::rename(temporary_.c_str(), target_.c_str()) == 0) {
    unfinished().forget(temporary_);
    temporary_.clear();
  }
}

Result<std::string> Output::finish_with_part() {
  if (auto failures = complete(); !failures.empty()) return failures;
  const std::string target = target_, file = file_;
  struct stat status {};
  for (int i = 0; !temporary_.empty() && ::lstat(target_.c_str(), &status) == 0; ++i) {
    const std::string added = i == 0 ? ".partial" : fmt::format(".partial.{}", i + 1);
    target_ = target + added;
    file_ = file + added;
  }
  if (auto failures = publish(); !failures.empty()) return failures;
  return file_;
}

void remove_unfinished_outputs() {
  unfinished().remove_all();
}

namespace {

// Two results to one file: the second would replace the first.
Diagnostics check_targets(const std::vector<ResultFile>& results) {
  std::set<std::string> targets;
  for (const auto& result : results) {
    if (!result.file || *result.file == "-") continue;
    struct stat status {};
    const std::string target = link_target(*result.file);
    const bool is_device = ::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    if (!is_device && !targets.insert(target).second)
      return {error_at(*result.file, 0, 0, "two results would be written to this file",
                       "give each result a file of its own")};
  }
  return {};
}

Diagnostics publish_all(const std::vector<std::unique_ptr<Output>>& outputs) {
  for (const auto& output : outputs)
    if (auto failures = output->complete(); !failures.empty()) return failures;
  for (const auto& output : outputs) {
    auto failures = output->publish();
    if (failures.empty()) continue;
    for (const auto& one : outputs) one->withdraw();
    return failures;
  }
  return {};
}

}  // namespace

int write_results(const std::vector<ResultFile>& results) {
  if (auto wrong = check_targets(results); !wrong.empty()) return fail(wrong_input, wrong);
  std::vector<std::unique_ptr<Output>> outputs;
  for (const auto& result : results) {
    auto output = Output::open(result.file);
    if (!output) return fail(wrong_input, output.diagnostics());
    outputs.push_back(std::move(*output));
  }
  for (std::size_t i = 0; i < results.size(); ++i) outputs[i]->write(results[i].text);
  const auto failures = publish_all(outputs);
  return failures.empty() ? done : fail(wrong_input, failures);
}

int write_result(const std::optional<std::string>& file, std::string_view text) {
  return write_results({{file, std::string(text)}});
}

}  // namespace warptime::cli
