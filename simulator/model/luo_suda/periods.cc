// From a schedule to the calculation periods of the model of Luo and Suda, without walking through a loop's
// iterations. A period's time depends on the previous period, so a stretch of the program leaves open the
// periods at its ends; the periods between them are counted once, however often the stretch runs.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "simulator/model/luo_suda/luo_suda.h"

namespace warptime {
namespace {

using Task = LuoSudaTask;

// Equal periods are merged, with a count.
class PeriodCounts {
 public:
  // The period of `computation` and `memory`, which follows the period of the first two arguments.
  void add(const Task& previous_computation, const Task& previous_memory, const Task& computation,
           const Task& memory, double times) {
    LuoSudaPeriod period{computation.cycles, memory.cycles, 0, 0, times};
    if (previous_computation.cycles < previous_memory.cycles) {
      period.previous_memory_cycles = previous_memory.cycles;
      period.previous_warp_bytes_per_cycle = previous_memory.bytes / previous_memory.cycles;
    }
    const auto [entry, fresh] = places_.try_emplace(key_of(period), periods_.size());
    if (fresh) {
      periods_.push_back(period);
    } else {
      periods_[entry->second].count += times;
    }
  }
  std::vector<LuoSudaPeriod> take() { return std::move(periods_); }

 private:
  using Key = std::array<double, 4>;
  static Key key_of(const LuoSudaPeriod& period) {
    return {period.computation_cycles, period.memory_cycles, period.previous_memory_cycles,
            period.previous_warp_bytes_per_cycle};
  }
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = 0;
      for (const double part : key)
        hash = (hash ^ std::bit_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15u + (hash >> 29);
      return hash;
    }
  };
  std::unordered_map<Key, std::size_t, Hash> places_;
  std::vector<LuoSudaPeriod> periods_;
};

// A sequence of tasks, with those in the middle already counted. A period can be counted when it and the
// previous one are complete: no neighbour of the stretch can add to a task of either.
class Stretch {
 public:
  // `times`: the weight of the periods that become complete.
  void push(const Task& task, double times, PeriodCounts& counts) {
    if (tail_size_ > 0 && tail_[tail_size_ - 1].memory == task.memory) {
      tail_[tail_size_ - 1].cycles += task.cycles;
      tail_[tail_size_ - 1].bytes += task.bytes;
      return;
    }
    if (!task.memory) begin_computation(times, counts);
    tail_[tail_size_++] = task;
  }

  void push(const Stretch& next, double times, PeriodCounts& counts) {
    if (tail_size_ == 0) {
      *this = next;
    } else if (!next.has_middle()) {
      for (std::size_t i = 0; i < next.tail_size_; ++i) push(next.tail_[i], times, counts);
    } else {
      for (std::size_t i = 0; i < next.head_size_; ++i) push(next.head_[i], times, counts);
      begin_computation(times, counts);  // that of next's middle
      assert(has_middle());
      tail_ = next.tail_;
      tail_size_ = next.tail_size_;
    }
  }

  // This stretch repeated `iterations` times, with weight `times`.
  Stretch repeated(std::uint64_t iterations, double times, PeriodCounts& counts) const {
    Stretch result = *this;
    if (!has_middle() && tail_size_ <= 1) {  // one task
      result.tail_[0].cycles *= static_cast<double>(iterations);
      result.tail_[0].bytes *= static_cast<double>(iterations);
      return result;
    }
    for (std::uint64_t iteration = 1; iteration < iterations; ++iteration) {
      const Stretch before = result;
      result.push(*this, times, counts);
      if (!before.has_middle() || !result.same_tail(before)) continue;
      // From here on every iteration begins and ends like this one. This takes at most four or five
      // iterations.
      if (iteration + 1 < iterations)
        result.push(*this, times * static_cast<double>(iterations - iteration - 1), counts);
      break;
    }
    return result;
  }

  // The periods at the ends, if this is the whole program.
  void finish(PeriodCounts& counts) const {
    const auto& tasks = has_middle() ? head_ : tail_;
    const std::size_t size = has_middle() ? head_size_ : tail_size_;
    Task previous_computation, previous_memory;
    std::size_t at = 0;
    while (at < size) {
      const Task computation = tasks[at].memory ? Task{} : tasks[at++];
      const Task memory = at < size ? tasks[at++] : Task{true};
      counts.add(previous_computation, previous_memory, computation, memory, 1);
      previous_computation = computation;
      previous_memory = memory;
    }
    if (has_middle()) counts.add(tail_[0], tail_[1], tail_[2], tail_size_ == 4 ? tail_[3] : Task{true}, 1);
  }

 private:
  bool has_middle() const { return head_size_ > 0; }
  bool same_tail(const Stretch& other) const {
    return tail_size_ == other.tail_size_ &&
           std::equal(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(tail_size_),
                      other.tail_.begin());
  }

  // The last period is complete: a computation task begins after it.
  void begin_computation(double times, PeriodCounts& counts) {
    if (has_middle()) {
      assert(tail_size_ == 4);
      counts.add(tail_[0], tail_[1], tail_[2], tail_[3], times);
    } else if (tail_size_ > 0 && tail_size_ == (tail_[0].memory ? 3 : 4)) {
      head_ = tail_;
      head_size_ = tail_size_;
    } else {
      return;
    }
    tail_[0] = tail_[tail_size_ - 2];
    tail_[1] = tail_[tail_size_ - 1];
    tail_size_ = 2;
  }

  // With a middle, head_ is the tasks before it, to the end of the first period that no neighbour can add to
  // (three or four), and tail_ the last complete period and the one that is open (three or four). Without a
  // middle, tail_ is everything.
  std::array<Task, 4> head_;
  std::array<Task, 4> tail_;
  std::size_t head_size_ = 0, tail_size_ = 0;
};

class TaskReader {
 public:
  TaskReader(const Schedule& schedule, const LuoSudaFigures& figures)
      : schedule_(schedule), figures_(figures) {}

  std::vector<LuoSudaPeriod> run() {
    collect(schedule_.steps);
    count_runs();
    for (Entry& entry : loops_) {
      const double iterations = entry.runs * static_cast<double>(entry.loop->count);
      entry.stretch =
          stretch_of(entry.loop->body, iterations).repeated(entry.loop->count, entry.runs, counts_);
    }
    stretch_of(schedule_.steps, 1).finish(counts_);
    return counts_.take();
  }

 private:
  struct Entry {
    const Schedule::Loop* loop = nullptr;
    double runs = 0;  // how often the whole loop runs
    Stretch stretch;
  };

  // Every loop once, after those in its body. (The schedule shares loops, so that its tree may be large.)
  void collect(const std::vector<Schedule::Step>& steps) {
    for (const Schedule::Step& step : steps) {
      if (!step.loop || places_.contains(step.loop.get())) continue;
      collect(step.loop->body);
      places_.emplace(step.loop.get(), loops_.size());
      loops_.push_back({step.loop.get(), 0, {}});
    }
  }

  void count_runs() {
    add_runs(schedule_.steps, 1);
    for (auto entry = loops_.rbegin(); entry != loops_.rend(); ++entry)
      add_runs(entry->loop->body, entry->runs * static_cast<double>(entry->loop->count));
  }

  void add_runs(const std::vector<Schedule::Step>& steps, double times) {
    for (const Schedule::Step& step : steps) {
      if (step.loop) loops_[places_.at(step.loop.get())].runs += times;
    }
  }

  Stretch stretch_of(const std::vector<Schedule::Step>& steps, double times) {
    Stretch stretch;
    for (const Schedule::Step& step : steps) {
      if (step.loop) {
        stretch.push(loops_[places_.at(step.loop.get())].stretch, times, counts_);
      } else {
        stretch.push(task_of(step.period), times, counts_);
      }
    }
    return stretch;
  }

  Task task_of(const Period& period) const {
    static const std::vector<Schedule::Share> kNone;
    const auto& shares = period.origin < schedule_.origins.size() ? schedule_.origins[period.origin] : kNone;
    if (period.kind == PeriodKind::calculation) {
      bool counted = false;
      double unknown = 0, known_cycles = 0;
      for (const Schedule::Share& share : shares) {
        counted = counted || share.instructions > 0;
        add_instructions(share, unknown, known_cycles);
      }
      return {false, counted ? unknown * figures_.instruction_cycles + known_cycles : period.cycles, 0};
    }
    const Item* item = shares.empty() ? nullptr : shares.front().item;
    const MemoryAccess* access = item == nullptr ? nullptr : std::get_if<MemoryAccess>(&item->what);
    MemoryAccess unknown;  // of a schedule that is not from a program
    unknown.cycles = Expression(0);
    return luo_suda_memory_task(access == nullptr ? unknown : *access, period.cycles, figures_);
  }

  // Adds the instructions of unknown class, and the cycles of the others.
  void add_instructions(const Schedule::Share& share, double& unknown, double& known_cycles) const {
    const auto executed = static_cast<double>(share.instructions);
    const auto* item = share.item == nullptr ? nullptr : std::get_if<Instructions>(&share.item->what);
    if (item == nullptr || item->classes == nullptr) {
      unknown += executed;
      return;
    }
    const auto of_item = static_cast<double>(item->count.integer_value());
    const double times = executed / of_item;
    unknown += times * (of_item - static_cast<double>(item->classes->total()));
    known_cycles += times * luo_suda_cycles(figures_, *item->classes);
  }

  const Schedule& schedule_;
  const LuoSudaFigures& figures_;
  std::unordered_map<const Schedule::Loop*, std::size_t> places_;
  std::vector<Entry> loops_;
  PeriodCounts counts_;
};

Result<LuoSudaProgram> program_of(std::vector<LuoSudaPeriod> periods) {
  LuoSudaProgram program;
  for (const LuoSudaPeriod& period : periods) {
    program.computation_cycles += period.count * period.computation_cycles;
    program.memory_cycles += period.count * period.memory_cycles;
  }
  if (!(program.computation_cycles + program.memory_cycles <= std::numeric_limits<double>::max()))
    return error("the program's time is too large for a number");
  program.periods = std::move(periods);
  return program;
}

// The bytes between neighbouring threads, if they are a number.
std::optional<double> stride_of(const MemoryAccess& access) {
  if (access.stride.empty()) return std::nullopt;
  const auto stride = Expression::parse(access.stride);
  if (!stride) return std::nullopt;
  const auto bytes = evaluate_number(*stride, {});
  if (!bytes) return std::nullopt;
  return std::abs(*bytes);
}

// N_trans: memory transactions of one request.
double transactions_of(const MemoryAccess& access, double bytes, const LuoSudaFigures& figures) {
  const double threads = figures.request_threads;
  const auto covering = [&](double distance) {
    const double segments = std::ceil(threads * std::max(distance, bytes) / figures.transaction_bytes);
    return std::clamp(segments, 1.0,
                      std::max(threads, std::ceil(threads * bytes / figures.transaction_bytes)));
  };
  const Access pattern = access.access.value_or(Access::coalesced);
  if (pattern == Access::uniform) return 1;
  if (pattern == Access::coalesced) return covering(bytes);
  if (const auto stride = stride_of(access); pattern == Access::strided && stride) return covering(*stride);
  const double each = covering(figures.transaction_bytes);  // one for each thread
  if (!access.sectors) return each;
  const double sectors = std::max(1.0, static_cast<double>(*access.sectors) * threads / 32);  // of a request
  if (pattern == Access::scattered) return std::min(std::ceil(sectors), each);
  // Strided: adjacent sectors; if each thread has its own sector, they may be anywhere.
  return sectors < threads ? std::ceil(sectors * 32 / std::max(32.0, figures.transaction_bytes)) : each;
}

}  // namespace

LuoSudaTask luo_suda_memory_task(const MemoryAccess& access, double period_cycles,
                                 const LuoSudaFigures& figures) {
  const double bytes = std::max<double>(1, static_cast<double>(access.bytes.value_or(4)));
  const double cycles =
      access.cycles ? period_cycles : transactions_of(access, bytes, figures) * figures.memory_latency_cycles;
  return {true, cycles, 32 * bytes};
}

Result<LuoSudaProgram> make_luo_suda_program(const Schedule& schedule, const LuoSudaFigures& figures) {
  return program_of(TaskReader(schedule, figures).run());
}

Result<LuoSudaProgram> make_luo_suda_program(std::span<const LuoSudaTask> tasks) {
  PeriodCounts counts;
  Stretch stretch;
  for (const LuoSudaTask& task : tasks) stretch.push(task, 1, counts);
  stretch.finish(counts);
  return program_of(counts.take());
}

}  // namespace warptime
