#include "cli/io/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/io/report.h"
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
std::array<std::atomic<const char*>, 64> unfinished;

extern "C" void remove_unfinished(int signal_number) {
  for (const auto& one : unfinished)
    if (const char* temporary = one.load()) ::unlink(temporary);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

// `temporary` stays where it is until forget_unfinished().
void guard_unfinished(const char* temporary) {
  for (auto& one : unfinished) {
    const char* none = nullptr;
    if (one.compare_exchange_strong(none, temporary)) break;
  }
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal_number, remove_unfinished) == SIG_IGN) std::signal(signal_number, SIG_IGN);
}

void forget_unfinished(const char* temporary) {
  for (auto& one : unfinished) {
    const char* expected = temporary;
    if (one.compare_exchange_strong(expected, nullptr)) return;
  }
}

// mkstemp makes private files. The result gets the mode of the file that it replaces, or of an ordinary new
// file.
void set_mode(int descriptor, const std::string& target) {
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, exists ? status.st_mode & 07777 : 0666 & ~mask);
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
    guard_unfinished(output->temporary_.c_str());
    set_mode(output->descriptor_, output->target_);
  }
  return output;
}

Output::~Output() {
  if (descriptor_ > STDOUT_FILENO) ::close(descriptor_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_unfinished(temporary_.c_str());
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
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return {cannot_write(file_, errno)};
  forget_unfinished(temporary_.c_str());
  temporary_.clear();
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

int write_results(const std::vector<ResultFile>& results) {
  std::vector<std::unique_ptr<Output>> outputs;
  for (const auto& result : results) {
    auto output = Output::open(result.file);
    if (!output) return fail(wrong_input, output.diagnostics());
    (*output)->write(result.text);
    outputs.push_back(std::move(*output));
  }
  for (const auto& output : outputs)
    if (const auto failures = output->complete(); !failures.empty()) return fail(wrong_input, failures);
  for (const auto& output : outputs)
    if (const auto failures = output->publish(); !failures.empty()) return fail(wrong_input, failures);
  return done;
}

int write_result(const std::optional<std::string>& file, std::string_view text) {
  return write_results({{file, std::string(text)}});
}

}  // namespace warptime::cli
