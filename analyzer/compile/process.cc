#include "analyzer/compile/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>

#include "analyzer/compile/limits.h"

namespace warptime::compiling {

namespace {

class ProcessPipe {
 public:
  ProcessPipe() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) == 0) {
      read_ = ends[0];
      write_ = ends[1];
    }
  }
  ~ProcessPipe() {
    close_read();
    close_write();
  }
  ProcessPipe(const ProcessPipe&) = delete;
  ProcessPipe& operator=(const ProcessPipe&) = delete;

  bool good() const { return read_ >= 0 || write_ >= 0; }
  int read_end() const { return read_; }
  int write_end() const { return write_; }
  void close_write() { close_end(write_); }
  void close_read() { close_end(read_); }

  // One read; closes the pipe when the other side is done.
  void drain_into(std::string& text) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(read_, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      close_read();
    }
  }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  int read_ = -1;
  int write_ = -1;
};

// The programs that run, by their process groups.
class RunningProcesses {
 public:
  // 0, or why the program was not started.
  template <class Start>
  int start(Start spawn) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return EINTR;
    pid_t process = 0;
    const int refused = spawn(&process);
    if (refused == 0) groups_.insert(process);
    return refused;
  }
  void kill(pid_t group) {
    const std::lock_guard lock(mutex_);
    if (groups_.count(group) > 0) ::kill(-group, SIGKILL);
  }
  void ended(pid_t group) {
    const std::lock_guard lock(mutex_);
    groups_.erase(group);
  }
  // Does not come back where the process ends: what was killed is no result, nor an error.
  void wait_where_stopped() {
    mutex_.lock();
    const bool stopped = stopped_;
    mutex_.unlock();
    if (!stopped) return;
    for (;;) ::pause();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const pid_t group : groups_) ::kill(-group, SIGKILL);
  }

 private:
  std::mutex mutex_;
  std::set<pid_t> groups_;
  bool stopped_ = false;
};

RunningProcesses& running_processes() {
  static RunningProcesses all;
  return all;
}

using ProcessClock = std::chrono::steady_clock;

// Milliseconds until `end`, for poll().
int until(ProcessClock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - ProcessClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

enum class Reading { all, too_long, too_much };

// Both at once: a program that fills the one that is not read would wait for ever.
Reading read_both(ProcessPipe& output, ProcessPipe& errors, ProcessClock::time_point end,
                  ProcessResult& result) {
  while (output.read_end() >= 0 || errors.read_end() >= 0) {
    std::array<pollfd, 2> waiting{pollfd{output.read_end(), POLLIN, 0}, pollfd{errors.read_end(), POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), until(end)) < 0 && errno != EINTR) return Reading::all;
    if (waiting[0].revents != 0) output.drain_into(result.output);
    if (waiting[1].revents != 0) errors.drain_into(result.errors);
    if (result.output.size() + result.errors.size() > longest_process_output) return Reading::too_much;
    if (ProcessClock::now() >= end) return Reading::too_long;
  }
  return Reading::all;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    if (variables.count(text.substr(0, text.find('='))) == 0) environment.push_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int exit_status(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A process group of its own, no signal blocked, and default actions: as a shell starts a program.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// 0, or why it was not started.
int spawn(pid_t* process, const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& variables, const ProcessPipe& output,
          const ProcessPipe& errors, const CompilerLimits& limits) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end(), STDERR_FILENO);
  std::vector<std::string> words = arguments;
  std::vector<std::string> environment = environment_with(variables);
  const SpawnAttributes attributes;
  const int refused = running_processes().start([&](pid_t* started) {
    const int wrong = posix_spawn(started, arguments[0].c_str(), &actions, attributes.get(),
                                  pointers_to(words).data(), pointers_to(environment).data());
    if (wrong == 0) {
      const rlimit memory{limits.memory_bytes, limits.memory_bytes};
      prlimit(*started, RLIMIT_AS, &memory, nullptr);
      *process = *started;
    }
    return wrong;
  });
  posix_spawn_file_actions_destroy(&actions);
  return refused;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& variables) {
  ProcessPipe output;
  ProcessPipe errors;
  if (!output.good() || !errors.good())
    return error(fmt::format("cannot make a pipe for {}: {}", arguments[0], strerror(errno)));
  const CompilerLimits limits = compiler_limits();
  const auto end = ProcessClock::now() + std::chrono::duration_cast<ProcessClock::duration>(
                                             std::chrono::duration<double>(limits.seconds));
  pid_t process = 0;
  if (const int refused = spawn(&process, arguments, variables, output, errors, limits); refused != 0)
    return error(fmt::format("cannot start {}: {}", arguments[0], strerror(refused)));
  output.close_write();
  errors.close_write();
  ProcessResult result;
  const Reading reading = read_both(output, errors, end, result);
  if (reading != Reading::all) running_processes().kill(process);
  result.status = exit_status(process);
  running_processes().ended(process);
  running_processes().wait_where_stopped();
  if (reading == Reading::too_long) return takes_too_long(arguments[0], limits.seconds);
  if (reading == Reading::too_much)
    return error(fmt::format("{} prints more than {} MiB", arguments[0], longest_process_output >> 20));
  return result;
}

void stop_processes() {
  running_processes().stop();
}

}  // namespace warptime::compiling
