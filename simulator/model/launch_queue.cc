#include "simulator/model/launch_queue.h"

#include <algorithm>

namespace warptime {

void LaunchQueue::add(double kernel_us, double times) {
  if (!(times > 0)) return;
  const double waits_us = overheads_.gap_us - overheads_.host_us;
  const double first_us = launches_ > 0 ? std::max(0.0, lag_us_ + waits_us) + kernel_us : kernel_us;
  // Each further one ends later after it was ready than the one before, by the time that it takes longer than the host,
  // or earlier by what it takes less, until it need not wait.
  lag_us_ = std::max(kernel_us, first_us + (times - 1) * (kernel_us + waits_us));
  launches_ += times;
}

double LaunchQueue::total_us() const {
  return launches_ > 0 ? overheads_.events_us + (launches_ - 1) * overheads_.host_us + lag_us_ : 0;
}

}  // namespace warptime
