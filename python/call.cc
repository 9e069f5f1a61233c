#include "python/call.h"

#include <csignal>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "cli/io/interrupt.h"
#include "cli/io/report.h"
#include "load/input.h"

namespace warptime::python {
namespace {

namespace py = pybind11;

constexpr auto kCheckSignals = std::chrono::milliseconds(20);
// What ends by itself after Ctrl-C has this long to do so before the call returns without it.
constexpr auto kTimeToStop = std::chrono::milliseconds(1000);

// The commands share the capture, the texts and the limits of compilers: one runs at a time.
std::timed_mutex& one_at_a_time() {
  static auto* mutex = new std::timed_mutex;  // a thread may hold it when the process ends
  return *mutex;
}

std::string_view name_of(Severity severity) {
  return severity == Severity::note ? "note" : severity == Severity::warning ? "warning" : "error";
}

// The threads of a call leave signals to Python's main thread.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigdelset(&all, fault);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

void Call::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (!ended_) output += text;
}

void Call::say(const Diagnostic& diagnostic) {
  const std::lock_guard lock(mutex_);
  if (!ended_) diagnostics.push_back(diagnostic);
}

void Call::exceed(const Diagnostic& why) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  diagnostics.push_back(why);
  status = cli::wrong_input;
  ended_ = true;
  changed_.notify_all();
}

void Call::progress(std::uint64_t done, std::uint64_t total) {
  total_.store(total);
  done_.store(done);
}

void Call::run_here() {
  const std::lock_guard one(one_at_a_time());
  int result = cli::interrupted_status;
  if (!stop_.load()) {
    const NamedTexts named(std::move(texts_));
    cli::set_capture(this);
    try {
      result = work_(*this);
    } catch (const std::bad_alloc&) {
      say(error("out of memory"));
      result = cli::wrong_input;
    } catch (const std::exception& failed) {
      say(error(failed.what()));
      result = cli::wrong_input;
    }
    cli::set_capture(nullptr);
  }
  const std::lock_guard lock(mutex_);
  if (!ended_) status = result;
  ended_ = true;
  changed_.notify_all();
}

bool Call::wait_for_end(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return ended_; });
}

void Call::report_progress(const py::object& on_progress, std::uint64_t& reported) {
  const std::uint64_t done = done_.load();
  if (on_progress.is_none() || done == reported) return;
  reported = done;
  on_progress(done, total_.load());
}

// Ctrl-C: what looks at its flag ends; what does not (a compilation) goes on in the background.
void Call::abandon() {
  const py::gil_scoped_release released;
  stop_.store(true);
  const auto give_up = std::chrono::steady_clock::now() + kTimeToStop;
  do {
    cli::interrupt_now();
  } while (!wait_for_end(kCheckSignals) && std::chrono::steady_clock::now() < give_up);
  const std::lock_guard lock(mutex_);
  ended_ = true;  // whatever comes later is not taken
}

void Call::run(const std::shared_ptr<Call>& call, const py::object& on_progress) {
  {
    const BlockedSignals blocked;  // the thread inherits it
    std::thread([call] { call->run_here(); }).detach();
  }
  std::uint64_t reported = 0;
  bool ended = false;
  try {
    while (!ended) {
      {
        const py::gil_scoped_release released;
        ended = call->wait_for_end(kCheckSignals);
      }
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      call->report_progress(on_progress, reported);
    }
  } catch (py::error_already_set&) {
    if (!ended) call->abandon();
    throw;
  }
}

bool wait_for_background(std::chrono::milliseconds time) {
  const py::gil_scoped_release released;
  if (!one_at_a_time().try_lock_for(time)) return false;
  one_at_a_time().unlock();
  return true;
}

py::str text_of(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

py::list to_python(const Diagnostics& diagnostics) {
  py::list list;
  for (const Diagnostic& one : diagnostics) {
    py::dict entry;
    entry["severity"] = name_of(one.severity);
    entry["message"] = text_of(one.message);
    entry["file"] = text_of(one.file);
    entry["line"] = one.line;
    entry["column"] = one.column;
    entry["source_line"] = text_of(one.source_line);
    entry["hint"] = text_of(one.hint);
    entry["text"] = text_of(to_text(one));
    list.append(entry);
  }
  return list;
}

}  // namespace warptime::python
