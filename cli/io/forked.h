// Work in a process of its own, forked from this one without exec: what it does not survive (a crash in the compiler, a limit
// of time or memory) this process does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

// Sends a piece of the work's result. False: nobody reads it any more.
using SendResult = std::function<bool(std::string_view piece)>;

class Forked {
 public:
  // Starts the work; the child ends with it. No other thread of this process may hold a lock that the work needs: of the
  // threads, the child has this one alone. memory_bytes: of the child's data; what it asks for beyond is refused. Errors:
  // no process can be had.
  static Result<Forked> start(const std::function<void(const SendResult&)>& work, std::uint64_t memory_bytes);

  Forked(Forked&& other) noexcept;
  Forked& operator=(Forked&& other) noexcept;
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;
  // Kills the child if it still works.
  ~Forked();

  // To wait for with poll().
  int descriptor() const { return descriptor_; }
  // Appends what there is of the result, without waiting. False: that was the end.
  bool read(std::string& result);
  // All of the result; stops waiting, and kills the child, after `longest`, or where `stop` says so. False: then.
  bool read_all(std::string& result, std::chrono::milliseconds longest, const std::function<bool()>& stop);
  // After the end of the result: empty if the child ended well, else how: "by a signal (Segmentation fault)".
  std::string ended();
  void kill();

 private:
  Forked(pid_t child, int descriptor) : child_(child), descriptor_(descriptor) {}

  pid_t child_ = -1;
  int descriptor_ = -1;
};

}  // namespace warptime::cli
