// Ctrl-C for commands that then finish with the rows so far.
#pragma once

#include <atomic>

namespace warptime::cli {

// During its lifetime, the first SIGINT (Ctrl-C) or SIGTERM sets a flag; a later one has its usual effect.
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
