// The time of launches that follow each other in a stream, as two events around them see it.
//
// The host calls one launch after another and does not wait for kernels. A kernel is ready to run when its call is done,
// and begins when it is ready and the kernel before it has ended:
//
//   ready(1) = 0,  ready(i) = ready(i - 1) + host_us
//   begin(i) = max(ready(i), end(i - 1) + gap_us),  end(i) = begin(i) + kernel_us(i)
//   time     = end(n) + events_us
//
// Kernels that take longer than host_us - gap_us hide the calls of those behind them; the calls of shorter ones take
// as long as the host needs.
#pragma once

namespace warptime {

// What launches take beside the kernels' own times, in microseconds.
struct LaunchOverheads {
  double events_us =
      0;  // from the first event to the begin of a first kernel, and from the end of a last one to the
          // second event
  double host_us = 0;  // from one launch call to the next
  double gap_us = 0;   // from the end of a kernel to the begin of the next one, which is ready
};

class LaunchQueue {
 public:
  explicit LaunchQueue(const LaunchOverheads& overheads) : overheads_(overheads) {}

  // Launches of kernels that take so long, so many of them one after another.
  void add(double kernel_us, double times);
  // From one event to the other; 0 without launches.
  double total_us() const;

 private:
  LaunchOverheads overheads_;
  double launches_ = 0;
  double lag_us_ = 0;  // from when the last kernel was ready to its end
};

}  // namespace warptime
