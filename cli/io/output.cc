#include "cli/io/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/io/report.h"

namespace warptime::cli {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;
constexpr auto longest_wait = std::chrono::milliseconds(50);

Diagnostic cannot_write(const std::string& file, int error_number) {
  return error_at(file.empty() ? "standard output" : file, 0, 0,
                  fmt::format("cannot be written: {}", std::strerror(error_number)));
}

// The temporary file of this process, for when a signal ends it; empty: none.
char unfinished[PATH_MAX];

extern "C" void remove_unfinished(int signal_number) {
  if (unfinished[0] != 0) ::unlink(unfinished);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void guard_unfinished(const std::string& temporary) {
  if (temporary.size() >= sizeof unfinished) return;
  std::memcpy(unfinished, temporary.c_str(), temporary.size() + 1);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal_number, remove_unfinished) == SIG_IGN) std::signal(signal_number, SIG_IGN);
}

// mkstemp makes private files; the result gets the mode that an ordinary new file, or the one it replaces,
// has.
void set_mode(int descriptor, const std::string& target) {
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, exists ? status.st_mode & 07777 : 0666 & ~mask);
}

}  // namespace

Result<std::unique_ptr<Output>> Output::open(const std::optional<std::string>& file) {
  std::unique_ptr<Output> output(new Output);
  if (!file || *file == "-") {
    output->descriptor_ = STDOUT_FILENO;
    return output;
  }
  output->file_ = *file;
  std::error_code ignored;
  const auto resolved = std::filesystem::canonical(*file, ignored);
  output->target_ = ignored ? *file : resolved.string();

  struct stat status {};
  const bool exists = ::stat(output->target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return cannot_write(*file, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    output->descriptor_ = ::open(output->target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    output->temporary_ = output->target_ + ".XXXXXX";
    output->descriptor_ = ::mkostemp(output->temporary_.data(), O_CLOEXEC);
  }
  if (output->descriptor_ < 0) {
    output->temporary_.clear();
    return cannot_write(*file, errno);
  }
  if (!output->temporary_.empty()) {
    guard_unfinished(output->temporary_);
    set_mode(output->descriptor_, output->target_);
  }
  return output;
}

Output::~Output() {
  if (descriptor_ > STDOUT_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  unfinished[0] = 0;
}

bool Output::write(std::string_view text) {
  if (failure_ != 0) return false;
  buffer_ += text;
  if (buffer_.size() < buffer_bytes && std::chrono::steady_clock::now() - last_flush_ < longest_wait)
    return true;
  return flush();
}

bool Output::flush() {
  std::string_view rest = buffer_;
  while (failure_ == 0 && !rest.empty()) {
    const auto count = ::write(descriptor_, rest.data(), rest.size());
    if (count >= 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      failure_ = errno;
  }
  buffer_.clear();
  last_flush_ = std::chrono::steady_clock::now();
  return failure_ == 0;
}

Diagnostics Output::finish() {
  flush();
  if (failure_ == EPIPE) return {};
  if (failure_ == 0 && !temporary_.empty()) {
    // Closed before it is renamed: some file systems report a full disk only then.
    if (::close(std::exchange(descriptor_, -1)) != 0 || std::rename(temporary_.c_str(), target_.c_str()) != 0)
      failure_ = errno;
    else
      temporary_.clear();
  }
  if (failure_ != 0) return {cannot_write(file_, failure_)};
  return {};
}

Result<std::string> Output::finish_with_part() {
  if (!temporary_.empty() && ::access(target_.c_str(), F_OK) == 0) {
    target_ += ".partial";
    file_ += ".partial";
  }
  if (auto failures = finish(); !failures.empty()) return failures;
  return file_;
}

int write_result(const std::optional<std::string>& file, std::string_view text) {
  auto output = Output::open(file);
  if (!output) return fail(wrong_input, output.diagnostics());
  (*output)->write(text);
  const auto failures = (*output)->finish();
  return failures.empty() ? done : fail(wrong_input, failures);
}

}  // namespace warptime::cli
