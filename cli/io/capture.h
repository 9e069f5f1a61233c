// A program that runs commands in its own process takes their output here, in place of stdout and stderr, and sees what they do.
#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

class Capture {
 public:
  virtual ~Capture() = default;
  // A piece of the result that would go to stdout.
  virtual void write(std::string_view text) = 0;
  // A diagnostic that would go to stderr. In any thread.
  virtual void say(const Diagnostic& diagnostic) = 0;
  // A compilation exceeds its limits, for which the command would end the process. It goes on, and calls this again. In
  // any thread.
  virtual void exceed(const Diagnostic& why) = 0;
  // So many of the steps are done.
  virtual void progress(std::uint64_t done, std::uint64_t total) = 0;
};

// One at a time for the process; null: the output goes to stdout and stderr again.
void set_capture(Capture* capture);
Capture* current_capture();

}  // namespace warptime::cli
