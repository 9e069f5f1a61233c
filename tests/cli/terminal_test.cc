// Progress is for a person at a terminal: a long sweep shows it there, and nowhere else.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

namespace {

constexpr char no_terminal[] = "no terminal can be had here";

// A sweep that would take for ever, its rows going nowhere. What it says on stderr is read until `wanted`
// appears or `patience` is over.
std::string stderr_of_endless_sweep(bool terminal, const std::string& wanted, std::chrono::seconds patience) {
  int reader = -1, writer = -1;
  if (terminal) {
    if (::openpty(&reader, &writer, nullptr, nullptr, nullptr) != 0) return no_terminal;
  } else {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    reader = ends[0], writer = ends[1];
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(writer, STDERR_FILENO);
    ::execl(WARPTIME_BINARY, "warptime", "predict", WARPTIME_ROOT "/samples/puchala2022/matrix.plan.yaml",
            "--gpu", "gt-720m", "--param", "K=8", "--param", "N=1..1000000000000", "--format", "csv", "-o",
            "/dev/null", nullptr);
    ::_exit(127);
  }
  ::close(writer);
  std::string text;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end && text.find(wanted) == std::string::npos) {
    pollfd ready{reader, POLLIN, 0};
    if (::poll(&ready, 1, 100) <= 0) continue;
    char buffer[4096];
    const auto count = ::read(reader, buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(reader);
  return text;
}

TEST(Progress, IsShownAtATerminal) {
  const auto text = stderr_of_endless_sweep(true, "left", std::chrono::seconds(60));
  if (text == no_terminal) GTEST_SKIP() << text;
  EXPECT_NE(text.find(" of 1000000000000 rows ("), std::string::npos) << text;
  EXPECT_NE(text.find("left"), std::string::npos) << text;
}

TEST(Progress, IsNotShownInAPipe) {
  EXPECT_EQ(stderr_of_endless_sweep(false, "left", std::chrono::seconds(3)), "");
}

}  // namespace
