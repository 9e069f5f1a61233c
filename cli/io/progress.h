// The progress of a long sweep, on one line of a terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace warptime::cli {

// Shows nothing in the first second, and nothing at all unless `enabled`.
class Progress {
 public:
  // total: steps to come.
  Progress(std::uint64_t total, bool enabled) : total_(total), enabled_(enabled) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }
  void step(std::uint64_t steps = 1);
  std::uint64_t done() const { return done_; }
  // Makes room for other text.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t total_;
  bool enabled_;
  std::uint64_t done_ = 0;
  bool shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_ + std::chrono::seconds(1);
};

}  // namespace warptime::cli
