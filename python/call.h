// Commands of the command line, run inside a Python process: on a thread of their own, with the GIL released, their results and
// diagnostics as values, and stopped by Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/io/capture.h"

namespace warptime::python {

// What a command is asked, and what it gave.
class Call : public cli::Capture {
 public:
  // Returns the exit status.
  using Work = std::function<int(Call&)>;
  using Texts = std::map<std::string, std::string>;

  Call(Work work, Texts texts) : work_(std::move(work)), texts_(std::move(texts)) {}

  void write(std::string_view text) override;
  void say(const Diagnostic& diagnostic) override;
  void exceed(const Diagnostic& why) override;
  void progress(std::uint64_t done, std::uint64_t total) override;

  // True from Ctrl-C on.
  const std::atomic<bool>& stop() const { return stop_; }

  // Runs the work, one call after the other, and returns when it has ended. `on_progress`: called with the steps done and
  // all steps, as often as they change, but not more than some times a second; None: not called. Throws what a signal handler of
  // Python or `on_progress` raises; the work then ends as soon as it can, in the background.
  static void run(const std::shared_ptr<Call>& call, const pybind11::object& on_progress);

  int status = 0;
  std::string output;
  Diagnostics diagnostics;

 private:
  void run_here();
  bool wait_for_end(std::chrono::milliseconds time);
  void report_progress(const pybind11::object& on_progress, std::uint64_t& reported);
  void abandon();

  Work work_;
  Texts texts_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> done_ = 0, total_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

// Waits for calls that go on in the background, at most so long; false: one does not end. For the end of the process.
bool wait_for_background(std::chrono::milliseconds time);

// What is not UTF-8 is replaced.
pybind11::str text_of(const std::string& bytes);

// A list of dictionaries.
pybind11::list to_python(const Diagnostics& diagnostics);

}  // namespace warptime::python
