// What a signal does that ends the command: Ctrl-C, a closed terminal, `kill`.
#pragma once

#include <atomic>
#include <string>

namespace warptime::cli {

// From now on, the first SIGINT, SIGTERM or SIGHUP ends the process with status 128 + its number (130 for
// Ctrl-C), says so, and leaves no temporary file: `clean_up` runs first, on a thread of its own. A signal
// that the process was started to ignore stays ignored. To be called once, before any other thread starts.
void end_on_signals(void (*clean_up)());

// For a process that was forked from one which called end_on_signals(), in the only thread that it has: the same without a
// word.
void end_quietly_on_signals();

// What the process says when Ctrl-C ends it, in place of "interrupted: no result is written"; empty: nothing.
void say_when_interrupted(std::string text);

// Ends the process as a signal does: removes temporary files, then exits with `status`. From any thread.
[[noreturn]] void end_now(int status);

// What Ctrl-C does to an Interrupt, for programs that take signals themselves.
void interrupt_now();

// Ctrl-C for commands that then finish with the rows so far: during its lifetime, the first signal only sets
// a flag; one that comes later ends the process, and so do thirty seconds.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();
  const std::atomic<bool>& flag() const;
  bool happened() const { return flag().load(); }
};

}  // namespace warptime::cli
