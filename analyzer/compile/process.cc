#include "analyzer/compile/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

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

// Both at once: a program that fills the one that is not read would wait for ever.
void read_both(ProcessPipe& output, ProcessPipe& errors, ProcessResult& result) {
  while (output.read_end() >= 0 || errors.read_end() >= 0) {
    std::array<pollfd, 2> waiting{pollfd{output.read_end(), POLLIN, 0}, pollfd{errors.read_end(), POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
    if (waiting[0].revents != 0) output.drain_into(result.output);
    if (waiting[1].revents != 0) errors.drain_into(result.errors);
  }
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

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& variables) {
  ProcessPipe output;
  ProcessPipe errors;
  if (!output.good() || !errors.good())
    return error(fmt::format("cannot make a pipe for {}: {}", arguments[0], strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end(), STDERR_FILENO);
  std::vector<std::string> words = arguments;
  std::vector<std::string> environment = environment_with(variables);
  pid_t process = 0;
  const int refused = posix_spawn(&process, arguments[0].c_str(), &actions, nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (refused != 0) return error(fmt::format("cannot start {}: {}", arguments[0], strerror(refused)));
  output.close_write();
  errors.close_write();
  ProcessResult result;
  read_both(output, errors, result);
  result.status = exit_status(process);
  return result;
}

}  // namespace warptime::compiling
