#include "cli/io/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "cli/io/capture.h"
#include "cli/io/terminal.h"

namespace warptime::cli {
namespace {

std::string rounded(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.0f} h", std::ceil(seconds / 3600));
}

}  // namespace

void Progress::step(std::uint64_t steps) {
  done_ += steps;
  if (Capture* capture = current_capture()) return capture->progress(done_, total_);
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double fraction = static_cast<double>(done_) / static_cast<double>(total_);
  const auto text = fmt::format("\r{} of {} rows ({:.0f}%), about {} left\x1b[K", done_, total_,
                                100 * fraction, rounded(elapsed / fraction - elapsed));
  suspend_activity(true);
  std::fputs(text.c_str(), stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  shown_ = false;
  suspend_activity(false);
}

}  // namespace warptime::cli
