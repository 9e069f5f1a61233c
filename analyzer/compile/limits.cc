#include "analyzer/compile/limits.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <utility>

namespace warptime::compiling {

namespace {

struct LimitsInForce {
  std::mutex mutex;
  CompilerLimits limits;
  std::function<void(const Diagnostic&)> end;
};

LimitsInForce& limits_in_force() {
  static LimitsInForce in_force;
  return in_force;
}

// Of this process, in bytes; 0 where the system does not say.
std::uint64_t resident_bytes() {
  std::FILE* statistics = std::fopen("/proc/self/statm", "re");
  if (statistics == nullptr) return 0;
  unsigned long long total_pages = 0, resident_pages = 0;
  const bool read = std::fscanf(statistics, "%llu %llu", &total_pages, &resident_pages) == 2;
  std::fclose(statistics);
  return read ? resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

void limit_compilers(const CompilerLimits& limits, std::function<void(const Diagnostic&)> end) {
  LimitsInForce& in_force = limits_in_force();
  const std::lock_guard lock(in_force.mutex);
  in_force.limits = limits;
  in_force.end = std::move(end);
}

CompilerLimits compiler_limits() {
  LimitsInForce& in_force = limits_in_force();
  const std::lock_guard lock(in_force.mutex);
  return in_force.limits;
}

Diagnostic takes_too_long(const std::string& what, double seconds) {
  return error(fmt::format("{} takes longer than {:g} s", what, seconds),
               fmt::format("allow more with --max-time {:g}", 10 * seconds));
}

void ClangWatch::check() const {
  LimitsInForce& in_force = limits_in_force();
  const std::lock_guard lock(in_force.mutex);
  if (!in_force.end) return;
  const CompilerLimits& limits = in_force.limits;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  if (taken.count() > limits.seconds) {
    Diagnostic slow = takes_too_long("clang", limits.seconds);
    slow.file = file_;
    in_force.end(slow);
  } else if (resident_bytes() > limits.memory_bytes) {
    const double mebibytes = static_cast<double>(limits.memory_bytes) / (1 << 20);
    in_force.end(error_at(file_, 0, 0, fmt::format("clang takes more than {:g} MiB of memory", mebibytes),
                          fmt::format("allow more with --max-memory {:g}", 4 * mebibytes)));
  }
}

}  // namespace warptime::compiling
