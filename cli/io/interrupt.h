// Ctrl-C for commands that then finish with the rows that they have.
#pragma once

#include <atomic>

namespace warptime::cli {

// While it lives, the first SIGINT (Ctrl-C) or SIGTERM sets a flag; a later one does what it did before.
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
