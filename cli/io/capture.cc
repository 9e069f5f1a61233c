#include "cli/io/capture.h"

#include <atomic>

namespace warptime::cli {
namespace {

std::atomic<Capture*> capture_in_use = nullptr;

}  // namespace

void set_capture(Capture* capture) {
  capture_in_use.store(capture);
}

Capture* current_capture() {
  return capture_in_use.load();
}

}  // namespace warptime::cli
