#include "simulator/core_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace warptime {
namespace {

constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kMostWarps = 65'536;  // hardware has 64 at most on a whole multiprocessor

// Where one warp is in the schedule: a stack of positions, one per repeat that it is in.
class Cursor {
 public:
  explicit Cursor(const std::vector<Schedule::Step>& steps) {
    if (steps.empty()) return;
    frames_.push_back({&steps, 0, 1});
    enter();
  }

  bool done() const { return frames_.empty(); }
  const Period& period() const { return (*frames_.back().steps)[frames_.back().index].period; }

  void advance() {
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (++frame.index < frame.steps->size()) return enter();
      if (frame.turns_left > 1) {
        --frame.turns_left;
        frame.index = 0;
        return enter();
      }
      frames_.pop_back();
    }
  }

 private:
  struct Frame {
    const std::vector<Schedule::Step>* steps;
    std::size_t index;
    std::uint64_t turns_left;
  };

  void enter() {
    while (const Schedule::Loop* loop = (*frames_.back().steps)[frames_.back().index].loop.get()) {
      frames_.push_back({&loop->body, 0, loop->count});
    }
  }

  std::vector<Frame> frames_;
};

struct Warp {
  Cursor cursor;
  double loads_done = 0;  // when the loads that it has issued are all complete
};

class PlainSimulation {
 public:
  PlainSimulation(const Schedule& schedule, std::int64_t warps, double t_m, CorePackageListener* listener)
      : warps_(static_cast<std::size_t>(warps), Warp{Cursor(schedule.steps)}),
        t_m_(t_m),
        listener_(listener) {}

  CorePackageTime run() {
    bool completed = warps_.empty();
    while (!completed) {
      completed = true;
      for (std::size_t index = 0; index < warps_.size(); ++index) {
        if (turn(warps_[index], static_cast<int>(index))) completed = false;
      }
    }
    time_.total = std::max(now_, last_done_);
    time_.tail = time_.total - now_;
    if (time_.tail > 0 && listener_ != nullptr) listener_->idle(-1, now_, time_.total);
    return time_;
  }

 private:
  // Runs one warp until it has to wait for its loads. False: it was at its end already.
  bool turn(Warp& warp, int index) {
    wait(warp, index);
    if (warp.cursor.done()) return false;
    while (!warp.cursor.done()) {
      const Period& period = warp.cursor.period();
      warp.cursor.advance();
      if (period.kind == PeriodKind::calculation) {
        calculate(period, index);
        continue;
      }
      access(period, warp, index);
      if (period.kind == PeriodKind::load && !warp.cursor.done() &&
          warp.cursor.period().kind != PeriodKind::load)
        break;
    }
    return true;
  }

  void wait(const Warp& warp, int index) {
    if (warp.loads_done <= now_) return;
    if (listener_ != nullptr) listener_->idle(index, now_, warp.loads_done);
    time_.waiting += warp.loads_done - now_;
    now_ = warp.loads_done;
  }

  void calculate(const Period& period, int index) {
    const double begin = now_;
    now_ += period.cycles;
    time_.calculation += period.cycles;
    if (listener_ != nullptr) listener_->calculation(index, period, begin, now_);
  }

  void access(const Period& period, Warp& warp, int index) {
    const double begin = now_, complete = now_ + period.cycles;
    last_done_ = std::max(last_done_, complete);
    if (period.kind == PeriodKind::load) warp.loads_done = std::max(warp.loads_done, complete);
    now_ += t_m_;
    time_.issue += t_m_;
    if (listener_ != nullptr) listener_->memory_access(index, period, begin, now_, complete);
  }

  std::vector<Warp> warps_;
  double t_m_;
  CorePackageListener* listener_;
  double now_ = 0;
  double last_done_ = 0;  // when every memory transaction issued so far is complete
  CorePackageTime time_;
};

}  // namespace

Diagnostics check_core_package(std::int64_t warps, double t_m_cycles) {
  Diagnostics wrong;
  if (warps < 0 || warps > kMostWarps) {
    wrong.push_back(
        error(fmt::format("{} warps on one core package: there can be 0 to {}", warps, kMostWarps)));
  }
  if (!(t_m_cycles >= 0) || t_m_cycles > std::numeric_limits<double>::max()) {
    wrong.push_back(error(fmt::format("t_m is {} cycles: it is a number, 0 or more", t_m_cycles)));
  }
  return wrong;
}

Diagnostic too_many_steps(const Schedule& schedule, std::int64_t warps, std::uint64_t limit) {
  const std::uint64_t periods = schedule.period_count();
  return error(fmt::format("too long to simulate: {} periods for each of {} warps take more than {} steps",
                           periods == kSaturated ? "2^64 or more" : fmt::format("{}", periods), warps,
                           limit));
}

namespace {

std::uint64_t count_steps(const Schedule& schedule, std::int64_t warps) {
  std::uint64_t steps = schedule.period_count();
  return __builtin_mul_overflow(steps, static_cast<std::uint64_t>(warps), &steps) ? kSaturated : steps;
}

}  // namespace

Result<CorePackageTime> simulate_plain(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                       const CorePackageOptions& options) {
  if (auto wrong = check_core_package(warps, t_m_cycles); !wrong.empty()) return wrong;
  if (count_steps(schedule, warps) > options.step_limit)
    return too_many_steps(schedule, warps, options.step_limit);
  const CorePackageTime time = PlainSimulation(schedule, warps, t_m_cycles, options.listener).run();
  if (!std::isfinite(time.total)) return error("the time is out of the range of numbers");
  return time;
}

Result<CorePackageTime> simulate_core_package(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                              const CorePackageOptions& options) {
  constexpr std::uint64_t kFewSteps = std::uint64_t{1} << 18;
  const bool plain = options.listener != nullptr || warps < 0 ||
                     count_steps(schedule, warps) <= std::min(kFewSteps, options.step_limit);
  return plain ? simulate_plain(schedule, warps, t_m_cycles, options)
               : simulate_in_rounds(schedule, warps, t_m_cycles, options);
}

}  // namespace warptime
