#include "simulator/model/puchala/core_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "simulator/base/integer_math.h"

namespace warptime {
namespace {

// Where one warp is in the schedule: a stack of positions, one per repeat that it is in.
class Cursor {
 public:
  explicit Cursor(const std::vector<Schedule::Step>& steps) {
    if (steps.empty()) return;
    frames_.push_back({&steps, 0, 1});
    enter();
  }

  struct Frame {
    const std::vector<Schedule::Step>* steps;
    std::size_t index;
    std::uint64_t iterations_left;  // including the current one
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  bool done() const { return frames_.empty(); }
  const Period& period() const { return (*frames_.back().steps)[frames_.back().index].period; }
  const std::vector<Frame>& frames() const { return frames_; }
  void elide_iterations(std::size_t level, std::uint64_t iterations) {
    frames_[level].iterations_left -= iterations;
  }

  // The frame in which this step begins another iteration, or kNone.
  std::size_t advance() {
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (++frame.index < frame.steps->size()) {
        enter();
        return kNone;
      }
      if (frame.iterations_left > 1) {
        --frame.iterations_left;
        frame.index = 0;
        const std::size_t level = frames_.size() - 1;
        enter();
        return level;
      }
      frames_.pop_back();
    }
    return kNone;
  }

 private:
  void enter() {
    while (const Schedule::Loop* loop = (*frames_.back().steps)[frames_.back().index].loop.get()) {
      frames_.push_back({&loop->body, 0, loop->count});
    }
  }

  std::vector<Frame> frames_;
};

struct Warp {
  Cursor cursor;
  double loads_done = 0;  // when all its issued loads are complete
};

CorePackageTime sum(const CorePackageTime& a, const CorePackageTime& b) {
  return {a.total + b.total, a.calculation + b.calculation, a.issue + b.issue, a.waiting + b.waiting,
          a.tail + b.tail};
}
CorePackageTime multiple(double factor, const CorePackageTime& a) {
  return {factor * a.total, factor * a.calculation, factor * a.issue, factor * a.waiting, factor * a.tail};
}

class PlainSimulation {
 public:
  PlainSimulation(const Schedule& schedule, std::int64_t warps, double t_m, CorePackageListener* listener)
      : warps_(static_cast<std::size_t>(warps), Warp{Cursor(schedule.steps)}),
        t_m_(t_m),
        listener_(listener) {}
  PlainSimulation(const Schedule& schedule, std::int64_t warps, double t_m, CorePackageWatcher& watcher,
                  double least_left_out)
      : PlainSimulation(schedule, warps, t_m, &watcher) {
    watcher_ = &watcher;
    least_left_out_ = least_left_out;
  }

  CorePackageTime run() {
    bool completed = warps_.empty();
    while (!completed) {
      completed = true;
      if (watcher_ != nullptr) look_between_rounds();
      for (std::size_t index = 0; index < warps_.size() && !ended_; ++index) {
        if (turn(warps_[index], static_cast<int>(index))) completed = false;
      }
      if (ended_) return so_far();
    }
    time_.total = std::max(now_, last_done_);
    time_.tail = time_.total - now_;
    if (time_.tail > 0 && listener_ != nullptr) listener_->idle(-1, now_, time_.total);
    return watcher_ == nullptr ? time_ : sum(time_, left_out_);
  }

 private:
  // Runs one warp until it has to wait for its loads. False: it was already at its end.
  bool turn(Warp& warp, int index) {
    wait(warp, index);
    if (warp.cursor.done()) return false;
    while (!warp.cursor.done()) {
      const Period& period = warp.cursor.period();
      const std::size_t level = warp.cursor.advance();
      if (period.kind == PeriodKind::calculation) {
        calculate(period, index);
      } else {
        access(period, warp, index);
        if (period.kind == PeriodKind::load && !warp.cursor.done() &&
            warp.cursor.period().kind != PeriodKind::load)
          break;
      }
      if (watcher_ != nullptr && watched(warp, level)) break;
    }
    marks_.clear();
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

  // Everything below is for watchers. Iterations of a repeat do the same as earlier ones in two cases: the
  // warp never yields in them, or after them every warp waits as long for its loads as before. (All warps
  // yield at the same places, so that between two rounds all cursors are the same.)

  // The state of a repeat, some iterations ago.
  struct Mark {
    std::vector<Cursor::Frame> frames;
    std::vector<double> waits;  // of each warp; empty if no warp yields
    double now = 0;
    CorePackageTime told;          // before it
    CorePackageTime left_out;      // since
    std::uint64_t iterations = 0;  // begun since
    std::uint64_t next_mark = 1;   // the number of iterations at which to set the next mark
  };

  CorePackageTime so_far() const {
    CorePackageTime time = sum(time_, left_out_);
    time.total = now_ + left_out_.total;
    return time;
  }

  // After a step that began another iteration of the repeat at `level`, or none. True: the watcher ends the
  // run.
  bool watched(Warp& warp, std::size_t level) {
    ended_ = watcher_->enough();
    if (ended_ || level == Cursor::kNone) return ended_;
    const auto& frames = warp.cursor.frames();
    if (marks_.size() > level && same_up_to(level, marks_[level].frames, frames)) {
      // This iteration and the last one are reported.
      const std::uint64_t left = frames[level].iterations_left;
      const std::uint64_t iterations = left - std::min<std::uint64_t>(left, 2);
      if (const double cycles = leave_out(marks_[level], iterations); cycles > 0) {
        warp.cursor.elide_iterations(level, iterations);
        for (Warp& other : warps_) other.loads_done -= cycles;
      }
    }
    marks_.resize(level + 1);
    marks_[level] = {frames, {}, now_, time_, {}};
    return false;
  }

  void look_between_rounds() {
    const auto& frames = warps_.front().cursor.frames();
    const std::size_t most = std::min(frames.size(), last_frames_.size());
    std::size_t level = 0;
    while (level < most && frames[level] == last_frames_[level]) ++level;
    if (round_marks_.size() > level + 1) round_marks_.resize(level + 1);
    if (level < most && frames[level].iterations_left != last_frames_[level].iterations_left)
      look_at_iteration(level);
    last_frames_ = frames;
  }

  void look_at_iteration(std::size_t level) {
    if (round_marks_.size() <= level) round_marks_.resize(level + 1);
    Mark& mark = round_marks_[level];
    const auto& frames = warps_.front().cursor.frames();
    ++mark.iterations;
    if (same_position(level, mark.frames, frames) && same_waits(mark)) {
      // At least one repetition is reported.
      const std::uint64_t iterations = mark.frames[level].iterations_left - frames[level].iterations_left;
      const std::uint64_t left = (frames[level].iterations_left - 1) / iterations;
      if (left > 1 && leave_out(mark, left - 1) > 0) {
        for (Warp& warp : warps_) warp.cursor.elide_iterations(level, (left - 1) * iterations);
        return;
      }
    }
    if (mark.iterations < mark.next_mark) return;
    mark = {frames, waits(), now_, time_, {}, 0, 2 * mark.next_mark};
  }

  static bool same_up_to(std::size_t level, const std::vector<Cursor::Frame>& a,
                         const std::vector<Cursor::Frame>& b) {
    if (a.size() <= level || b.size() <= level || a[level].steps != b[level].steps) return false;
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(level), b.begin());
  }
  // Equal except for the iterations of one repeat.
  static bool same_position(std::size_t level, const std::vector<Cursor::Frame>& a,
                            const std::vector<Cursor::Frame>& b) {
    const auto next = static_cast<std::ptrdiff_t>(level) + 1;
    return same_up_to(level, a, b) && a[level].index == b[level].index &&
           std::equal(a.begin() + next, a.end(), b.begin() + next, b.end());
  }

  std::vector<double> waits() const {
    std::vector<double> waits;
    for (const Warp& warp : warps_) waits.push_back(std::max(0.0, warp.loads_done - now_));
    return waits;
  }
  bool same_waits(const Mark& mark) const {
    const double tolerance = 1e-10 * since(mark).total;
    for (std::size_t i = 0; i < warps_.size(); ++i)
      if (!(std::abs(std::max(0.0, warps_[i].loads_done - now_) - mark.waits[i]) <= tolerance)) return false;
    return true;
  }

  // Not from totals: small times would be lost to rounding in the elided time before.
  CorePackageTime since(const Mark& mark) const {
    CorePackageTime time = sum(sum(time_, multiple(-1, mark.told)), mark.left_out);
    time.total = now_ - mark.now + mark.left_out.total;
    return time;
  }

  // Elides that many repetitions of what happened since `mark`. Returns their cycles; 0: not worth a gap.
  double leave_out(const Mark& mark, std::uint64_t times) {
    const CorePackageTime time = multiple(static_cast<double>(times), since(mark));
    if (times == 0 || !(time.total > 0 && time.total >= least_left_out_) || work_left_ < warps_.size())
      return 0;
    work_left_ -= warps_.size();
    const double begin = mark.now;
    left_out_ = sum(left_out_, time);
    for (Mark& one : marks_) one.left_out = sum(one.left_out, time);
    for (Mark& one : round_marks_) one.left_out = sum(one.left_out, time);
    last_done_ -= time.total;  // times of transactions issued before; the reported repetition comes later
    watcher_->left_out({begin, now_, times, time});
    return time.total;
  }

  std::vector<Warp> warps_;
  double t_m_;
  CorePackageListener* listener_;
  double now_ = 0;
  double last_done_ = 0;  // when every memory transaction issued so far is complete
  CorePackageTime time_;

  CorePackageWatcher* watcher_ = nullptr;
  double least_left_out_ = std::numeric_limits<double>::infinity();
  CorePackageTime left_out_;
  std::uint64_t work_left_ = std::uint64_t{1} << 28;  // budget: each gap costs a step per warp
  bool ended_ = false;
  std::vector<Mark> marks_;        // of the current iteration, one per frame
  std::vector<Mark> round_marks_;  // between rounds, one per frame
  std::vector<Cursor::Frame> last_frames_;
};

}  // namespace

Diagnostics check_core_package(std::int64_t warps, double t_m_cycles) {
  Diagnostics wrong;
  if (warps < 0 || warps > kMostWarps) {
    wrong.push_back(
        error(fmt::format("{} warps on one core package: the number must be 0 to {}", warps, kMostWarps)));
  }
  if (!(t_m_cycles >= 0) || t_m_cycles > std::numeric_limits<double>::max()) {
    wrong.push_back(error(fmt::format("t_m is {} cycles: it must be at least 0", t_m_cycles)));
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
  if (!std::isfinite(time.total)) return error("the time is too large for a number");
  return time;
}

Result<CorePackageTime> watch_core_package(const Schedule& schedule, std::int64_t warps, double t_m_cycles,
                                           double least_left_out, CorePackageWatcher& watcher) {
  if (auto wrong = check_core_package(warps, t_m_cycles); !wrong.empty()) return wrong;
  const CorePackageTime time = PlainSimulation(schedule, warps, t_m_cycles, watcher, least_left_out).run();
  if (!std::isfinite(time.total)) return error("the time is too large for a number");
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
