#include "cli/io/forked.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "cli/io/interrupt.h"

namespace warptime::cli {
namespace {

constexpr int kOutOfMemory = 77, kFailed = 78;

bool write_all(int descriptor, std::string_view rest) {
  while (!rest.empty()) {
    const auto count = ::write(descriptor, rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

[[noreturn]] void be_child(int descriptor, pid_t parent, const std::function<void(const SendResult&)>& work,
                           std::uint64_t memory_bytes) {
  // It ends with the parent, as that ends with a signal: without temporary files.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kFailed);
  end_quietly_on_signals();
  const rlimit no_core{0, 0}, memory{memory_bytes, memory_bytes};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_DATA, &memory);
  // What it would print belongs to no protocol and no table.
  if (const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
  }
  try {
    work([descriptor](std::string_view piece) { return write_all(descriptor, piece); });
  } catch (const std::bad_alloc&) {
    ::_exit(kOutOfMemory);
  } catch (...) {
    ::_exit(kFailed);
  }
  end_now(0);
}

}  // namespace

Result<Forked> Forked::start(const std::function<void(const SendResult&)>& work, std::uint64_t memory_bytes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return error(fmt::format("no pipe can be had: {}", std::strerror(errno)));
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    be_child(ends[1], parent, work, memory_bytes);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return error(fmt::format("no process can be had: {}", std::strerror(errno)));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Forked(child, ends[0]);
}

Forked::Forked(Forked&& other) noexcept
    : child_(std::exchange(other.child_, -1)), descriptor_(std::exchange(other.descriptor_, -1)) {}

Forked& Forked::operator=(Forked&& other) noexcept {
  std::swap(child_, other.child_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Forked::~Forked() {
  kill();
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Forked::read(std::string& result) {
  char buffer[1 << 16];
  while (true) {
    const auto count = ::read(descriptor_, buffer, sizeof buffer);
    if (count > 0) {
      result.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

bool Forked::read_all(std::string& result, std::chrono::milliseconds longest,
                      const std::function<bool()>& stop) {
  constexpr int kLookMilliseconds = 20;
  const auto end = std::chrono::steady_clock::now() + longest;
  while (read(result)) {
    if (stop() || std::chrono::steady_clock::now() > end) {
      kill();
      return false;
    }
    pollfd ready{descriptor_, POLLIN, 0};
    ::poll(&ready, 1, kLookMilliseconds);
  }
  return true;
}

std::string Forked::ended() {
  if (child_ < 0) return "killed";
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  if (WIFSIGNALED(status)) return fmt::format("by a signal ({})", ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == kOutOfMemory) return "for lack of memory";
  if (WEXITSTATUS(status) == kFailed) return "with an internal error";
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("with status {}", WEXITSTATUS(status));
}

void Forked::kill() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

}  // namespace warptime::cli
