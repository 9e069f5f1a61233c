#include "cli/io/interrupt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>

#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/io/terminal.h"

namespace warptime::cli {
namespace {

using SignalClock = std::chrono::steady_clock;

// A signal that comes again at once is the same one: some tools send it to a process and to its group.
constexpr auto same_signal = std::chrono::milliseconds(300);

constexpr auto time_to_finish = std::chrono::seconds(30);

std::atomic<bool> interrupted = false;
std::atomic<bool> only_sets_the_flag = false;
void (*clean_up_at_end)() = nullptr;

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal_number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&set, signal_number);
  }
  return set;
}

std::string& interrupt_note() {
  static std::string text = "interrupted: no result is written";
  return text;
}

[[noreturn]] void end_by_signal(int signal_number) {
  if (signal_number != SIGINT)
    say_note(fmt::format("ended by a signal ({}): no result is written", ::strsignal(signal_number)));
  else if (!interrupt_note().empty())
    say_note(interrupt_note());
  end_now(128 + signal_number);
}

// A row may take long, and a command that keeps its rows finishes the one that it is at: it has this time.
void let_finish(const sigset_t& set, int signal_number) {
  const auto begin = SignalClock::now();
  while (only_sets_the_flag.load()) {
    if (SignalClock::now() - begin > time_to_finish) end_by_signal(signal_number);
    const timespec second{1, 0};
    const int again = ::sigtimedwait(&set, nullptr, &second);
    if (again > 0 && SignalClock::now() - begin > same_signal) end_by_signal(again);
  }
}

[[noreturn]] void wait_for_signals(sigset_t set) {
  while (true) {
    int signal_number = 0;
    if (::sigwait(&set, &signal_number) != 0) continue;
    if (!only_sets_the_flag.load()) end_by_signal(signal_number);
    interrupted.store(true);
    let_finish(set, signal_number);
  }
}

}  // namespace

void end_on_signals(void (*clean_up)()) {
  clean_up_at_end = clean_up;
  const sigset_t set = ending_signals();
  // Threads that start later block them, too: the one below is the only one that takes them.
  if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) return;
  std::thread(wait_for_signals, set).detach();
}

void end_quietly_on_signals() {
  only_sets_the_flag.store(false);
  std::thread([set = ending_signals()] {
    int signal_number = 0;
    while (::sigwait(&set, &signal_number) != 0) {
    }
    end_now(128 + signal_number);
  }).detach();
}

void say_when_interrupted(std::string text) {
  interrupt_note() = std::move(text);
}

void end_now(int status) {
  static std::mutex once;
  once.lock();  // never released: the first to come here ends the process
  clear_activity_line();
  if (clean_up_at_end != nullptr) clean_up_at_end();
  remove_unfinished_outputs();
  ::_exit(status);
}

void interrupt_now() {
  interrupted.store(true);
}

Interrupt::Interrupt() {
  interrupted.store(false);
  only_sets_the_flag.store(true);
}

Interrupt::~Interrupt() {
  only_sets_the_flag.store(false);
}

const std::atomic<bool>& Interrupt::flag() const {
  return interrupted;
}

}  // namespace warptime::cli
