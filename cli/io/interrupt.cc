#include "cli/io/interrupt.h"

#include <csignal>
#include <ctime>

namespace warptime::cli {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM};
std::atomic<bool> interrupted = false;
struct sigaction previous_actions[2];

void restore() {
  for (std::size_t i = 0; i < 2; ++i) ::sigaction(signals[i], &previous_actions[i], nullptr);
}

// A signal that comes again at once is the same one: some tools send it to a process and to its group.
constexpr long same_signal_milliseconds = 300;

long milliseconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

volatile long first_signal = 0;

extern "C" void on_interrupt(int signal_number) {
  if (!interrupted.exchange(true)) {
    first_signal = milliseconds_now();
  } else if (milliseconds_now() - first_signal > same_signal_milliseconds) {
    restore();
    ::raise(signal_number);
  }
}

}  // namespace

Interrupt::Interrupt() {
  interrupted.store(false);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  for (std::size_t i = 0; i < 2; ++i) {
    ::sigaction(signals[i], nullptr, &previous_actions[i]);
    if (previous_actions[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  restore();
}

const std::atomic<bool>& Interrupt::flag() const {
  return interrupted;
}

}  // namespace warptime::cli
