#include "cli/io/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

namespace warptime::cli {
namespace {

std::atomic<bool> diagnostics_have_colours = false;

// The line and the thread that shows it.
class ActivityLine {
 public:
  void start(std::string_view what) {
    name(what);
    begin_ = Clock::now();
    thread_ = std::thread([this] { run(); });
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      if (!thread_.joinable()) return;
      ended_ = true;
      clear_now();
    }
    changed_.notify_all();
    thread_.join();
  }

  void name(std::string_view what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    clear_now();
  }

  void suspend(bool suspended) {
    const std::lock_guard lock(mutex_);
    suspended_ = suspended;
    if (suspended) clear_now();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void clear_now() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(250), [this] { return ended_; })) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
      if (seconds < 1 || suspended_) continue;
      std::fputs(fmt::format("\r{}: {} s\x1b[K", what_, seconds).c_str(), stderr);
      shown_ = true;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  std::string what_;
  Clock::time_point begin_;
  bool ended_ = false, shown_ = false, suspended_ = false;
};

// Never destroyed: the process may end while the thread runs.
std::atomic<ActivityLine*> activity_line = nullptr;

}  // namespace

bool has_colour(int descriptor, ColourWhen when) {
  if (when != ColourWhen::automatic) return when == ColourWhen::always;
  const char* const no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::strcmp(terminal, "dumb") != 0 &&
         ::isatty(descriptor) != 0;
}

std::size_t width_of_terminal(int descriptor) {
  if (::isatty(descriptor) == 0) return 0;
  if (const char* const columns = std::getenv("COLUMNS")) {
    std::size_t width = 0;
    const char* const end = columns + std::strlen(columns);
    const auto [stopped, failure] = std::from_chars(columns, end, width);
    if (failure == std::errc() && stopped == end && width > 0) return width;
  }
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool colours_diagnostics() {
  return diagnostics_have_colours.load();
}

void set_colours_diagnostics(bool colours) {
  diagnostics_have_colours.store(colours);
}

void show_activity(std::string_view what, bool enabled) {
  if (!enabled || activity_line.load() != nullptr) return;
  auto* line = new ActivityLine;
  line->start(what);
  activity_line.store(line);
}

void hide_activity() {
  if (ActivityLine* line = activity_line.exchange(nullptr)) line->stop();
}

void name_activity(std::string_view what) {
  if (ActivityLine* line = activity_line.load()) line->name(what);
}

void clear_activity_line() {
  if (ActivityLine* line = activity_line.load()) line->clear();
}

void suspend_activity(bool suspended) {
  if (ActivityLine* line = activity_line.load()) line->suspend(suspended);
}

}  // namespace warptime::cli
