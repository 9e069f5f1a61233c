#include "simulator/predict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "simulator/base/did_you_mean.h"
#include "simulator/base/parallel.h"
#include "simulator/plan/known_part.h"
#include "simulator/predict/counters.h"
#include "simulator/predict/explanation.h"
#include "simulator/predict/row_model.h"
#include "simulator/predict/sm_timeline.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBatchTime = std::chrono::milliseconds(10);  // target duration of a batch
constexpr auto kAloneTime = std::chrono::milliseconds(3);   // a sweep that ends within it needs no threads
constexpr std::uint64_t kLargestBatch = 1 << 13;            // rows
constexpr std::size_t kBatchesAhead = 4;                    // per thread, waiting for delivery
// Of rows that remember the runs of those beside them, so that threads do not look for the same run at the same time.
constexpr std::uint64_t kNeighbours = 64;

// The values of the parameters of `part`, in the order in which it has them. Errors: see predict.
Result<std::vector<const ParameterValues*>> in_plan_order(const Plan& plan, const Plan& part,
                                                          const std::vector<NamedValues>& parameters) {
  std::vector<std::string> known;
  for (const Parameter& parameter : plan.parameters) known.push_back(parameter.name);
  Diagnostics wrong;
  std::map<std::string, const ParameterValues*> by_name;
  for (const NamedValues& named : parameters) {
    if (std::find(known.begin(), known.end(), named.name) == known.end()) {
      const std::string near = nearest(named.name, known);
      std::string hint = near.empty() ? fmt::format("it has {}", yaml::list_of(known))
                                      : fmt::format("did you mean `{}`?", near);
      if (known.empty()) hint = "it has none";
      wrong.push_back(error(fmt::format("{} has no parameter `{}`", plan.name, named.name), hint));
    } else if (!by_name.emplace(named.name, &named.values).second) {
      wrong.push_back(error(fmt::format("the parameter `{}` is given twice", named.name),
                            fmt::format("give several values as a list: `{}=8,10`", named.name)));
    }
  }
  std::vector<const ParameterValues*> values;
  for (const Parameter& parameter : part.parameters) {
    const auto found = by_name.find(parameter.name);
    if (found == by_name.end()) {
      const std::string description =
          parameter.description.empty() ? "" : fmt::format(" ({})", parameter.description);
      wrong.push_back(error(fmt::format("the parameter `{}`{} has no value", parameter.name, description),
                            fmt::format("`--param {}=VALUES`", parameter.name)));
    } else {
      values.push_back(found->second);
    }
  }
  if (!wrong.empty()) return wrong;
  return values;
}

// The rows of a sweep by their number.
class Rows {
 public:
  Rows(std::size_t gpus, std::vector<const ParameterValues*> values, bool gpus_innermost)
      : gpus_(gpus), values_(std::move(values)), gpus_innermost_(gpus_innermost) {
    for (const ParameterValues* one : values_) {
      sizes_.push_back(one->size());
      combinations_ *= sizes_.back();
    }
  }

  std::uint64_t size() const { return combinations_ * gpus_; }

  // Iterates over rows.
  class Cursor {
   public:
    Cursor(const Rows& rows, std::uint64_t first) : rows_(rows), values(rows.values_.size()) {
      indices_.resize(values.size());
      std::uint64_t combination = rows.gpus_innermost_ ? first / rows.gpus_ : first % rows.combinations_;
      gpu = static_cast<std::size_t>(rows.gpus_innermost_ ? first % rows.gpus_ : first / rows.combinations_);
      for (std::size_t i = values.size(); i-- > 0;) {
        indices_[i] = combination % rows.sizes_[i];
        combination /= rows.sizes_[i];
        values[i] = rows.values_[i]->at(indices_[i]);
      }
    }

    void next() {
      if (rows_.gpus_innermost_) {
        if (++gpu < rows_.gpus_) return;
        gpu = 0;
        next_combination();
      } else if (next_combination()) {
        ++gpu;
      }
    }

   private:
    // True when it wraps around.
    bool next_combination() {
      for (std::size_t i = values.size(); i-- > 0;) {
        const bool again = ++indices_[i] == rows_.sizes_[i];
        if (again) indices_[i] = 0;
        values[i] = rows_.values_[i]->at(indices_[i]);
        if (!again) return false;
      }
      return true;
    }

    const Rows& rows_;
    std::vector<std::uint64_t> indices_;

   public:
    std::size_t gpu = 0;
    std::vector<std::int64_t> values;
  };

 private:
  std::size_t gpus_;
  std::vector<const ParameterValues*> values_;
  std::vector<std::uint64_t> sizes_;  // of values_
  bool gpus_innermost_;
  std::uint64_t combinations_ = 1;
};

// A range of computed rows.
struct Batch {
  std::unique_ptr<RowBatch> rows;
  std::uint64_t count = 0;
  bool cut = false;   // it was stopped early
  Diagnostics wrong;  // after these rows
};

class Sweep {
 public:
  Sweep(const PreparedPlan& plan, const Rows& rows, const PredictionOptions& options, const SweepOptions& how,
        const std::function<std::unique_ptr<RowBatch>()>& make_batch,
        const std::function<bool(RowBatch&, std::uint64_t)>& on_batch)
      : plan_(plan),
        rows_(rows),
        options_(options),
        how_(how),
        make_batch_(make_batch),
        on_batch_(on_batch),
        end_(how.first + std::min(how.rows, rows.size() - std::min(how.first, rows.size()))),
        next_(how.first) {}

  Result<std::uint64_t> run() {
    const auto begin = Clock::now();
    plan_.known_warps->expect(rows_.size() / std::max<std::size_t>(plan_.gpus.size(), 1));
    Worker worker(plan_, options_);
    while (going() && Clock::now() - begin < kAloneTime) {
      const std::uint64_t first = next_;
      next_ += std::min(worker.batch, end_ - first);
      deliver(compute(worker, first, next_));
    }
    if (going()) run_threads();
    if (!wrong_.empty()) return std::move(wrong_);
    return delivered_;
  }

 private:
  struct Worker {
    Worker(const PreparedPlan& plan, const PredictionOptions& options) : model(plan, options) {}
    RowModel model;
    PredictionRow row;
    std::uint64_t batch = 16;
  };

  bool stopped() const { return how_.stop != nullptr && how_.stop->load(std::memory_order_relaxed); }
  bool going() const { return !done_ && next_ < end_ && !stopped(); }

  Batch compute(Worker& worker, std::uint64_t first, std::uint64_t end) const {
    const auto begin = Clock::now();
    Batch batch{make_batch_(), 0, false, {}};
    Rows::Cursor cursor(rows_, first);
    for (std::uint64_t at = first; at < end; ++at, cursor.next()) {
      batch.wrong = worker.model.row(cursor.gpu, cursor.values, worker.row);
      if (!batch.wrong.empty()) break;
      batch.rows->add(worker.row);
      ++batch.count;
      if (stopped()) {
        batch.cut = at + 1 < end;
        break;
      }
    }
    const auto took = Clock::now() - begin;
    if (took < kBatchTime / 2) worker.batch = std::min(worker.batch * 2, kLargestBatch);
    if (took > kBatchTime * 2) worker.batch = std::max<std::uint64_t>(worker.batch / 2, 1);
    return batch;
  }

  void deliver(Batch batch) {
    if (batch.count > 0 && !on_batch_(*batch.rows, batch.count)) done_ = true;
    delivered_ += batch.count;
    if (batch.cut) done_ = true;
    if (batch.wrong.empty() || done_) return;
    wrong_ = std::move(batch.wrong);
    done_ = true;
  }

  void run_threads() {
    const unsigned count = threads_for(how_.threads);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) threads.emplace_back([this, count] { work(count); });
    std::unique_lock lock(mutex_);
    while (true) {
      ready_.wait(lock, [&] {
        return (!waiting_.empty() && waiting_.begin()->first == to_deliver_) || ended_ == count;
      });
      if (waiting_.empty() || waiting_.begin()->first != to_deliver_) break;
      Batch batch = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++to_deliver_;
      lock.unlock();
      if (!done_) deliver(std::move(batch));
      lock.lock();
      room_.notify_all();
    }
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
  }

  // Towards the end smaller ones, so that all threads end at about the same time.
  std::uint64_t least_batch(unsigned count) const {
    if (!takes_whole_launches(options_)) return 1;
    return std::clamp<std::uint64_t>((end_ - next_) / (4 * count), 1, kNeighbours);
  }

  void work(unsigned count) {
    Worker worker(plan_, options_);
    worker.batch = 256;
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [&] { return !going() || taken_ - to_deliver_ < kBatchesAhead * count; });
      if (!going()) break;
      const std::uint64_t first = next_, number = taken_++;
      next_ += std::min(std::max(worker.batch, least_batch(count)), end_ - first);
      const std::uint64_t end = next_;
      lock.unlock();
      Batch batch = compute(worker, first, end);
      lock.lock();
      if (!batch.wrong.empty()) next_ = end_;  // later rows are not needed
      waiting_.emplace(number, std::move(batch));
      ready_.notify_one();
    }
    ++ended_;
    ready_.notify_one();
    room_.notify_all();
  }

  const PreparedPlan& plan_;
  const Rows& rows_;
  const PredictionOptions& options_;
  const SweepOptions& how_;
  const std::function<std::unique_ptr<RowBatch>()>& make_batch_;
  const std::function<bool(RowBatch&, std::uint64_t)>& on_batch_;
  const std::uint64_t end_;  // behind the last row
  std::uint64_t next_;       // the first row that no thread has taken
  std::mutex mutex_;
  std::condition_variable ready_, room_;
  std::atomic<bool> done_ = false;  // no more rows are needed
  std::uint64_t taken_ = 0, to_deliver_ = 0;
  std::map<std::uint64_t, Batch> waiting_;  // by number
  unsigned ended_ = 0;
  std::uint64_t delivered_ = 0;
  Diagnostics wrong_;
};

// What `make` gives for each row that predict() would give, in its order; it may be called in several threads.
template <class Made, class Make>
Result<std::vector<Made>> for_each_row(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                       const std::vector<NamedValues>& parameters,
                                       const PredictionOptions& options, const ProgramLoader& loader,
                                       const Make& make, unsigned threads = 1) {
  const KnownPart part = known_part(plan, parameters, options.transfers, options.leave_out_launches);
  auto values = in_plan_order(plan, part.plan, parameters);
  if (!values) return values.diagnostics();
  if (const auto size = sweep_size(gpus, parameters); !size) return size.diagnostics();
  const auto prepared = PreparedPlan::make(part.plan, gpus, options, loader, part.left_out);
  if (!prepared) return prepared.diagnostics();
  const Rows rows(gpus.size(), std::move(*values), false);
  std::vector<std::optional<Result<Made>>> made(rows.size());
  std::atomic<std::size_t> first_failed = made.size();  // that is known of
  for_each_index(made.size(), threads, [&](std::size_t at) {
    if (at > first_failed) return;
    const Rows::Cursor cursor(rows, at);
    made[at].emplace(make(*prepared, cursor.gpu, cursor.values, options));
    if (*made[at]) return;
    std::size_t known = first_failed;
    while (at < known && !first_failed.compare_exchange_weak(known, at)) continue;
  });
  std::vector<Made> all;
  all.reserve(made.size());
  for (auto& one : made) {
    if (!*one) return one->diagnostics();
    all.push_back(std::move(**one));
  }
  return all;
}

}  // namespace

bool takes_whole_launches(const PredictionOptions& options) {
  return options.model->takes_whole_launches() ||
         std::any_of(options.beside.begin(), options.beside.end(),
                     [](const Model* model) { return model->takes_whole_launches(); });
}

bool reads_instruction_classes(const PredictionOptions& options) {
  return options.model->reads_instruction_classes() ||
         std::any_of(options.beside.begin(), options.beside.end(),
                     [](const Model* model) { return model->reads_instruction_classes(); });
}

Result<std::uint64_t> sweep_size(const std::vector<const Gpu*>& gpus,
                                 const std::vector<NamedValues>& parameters) {
  std::uint64_t size = gpus.size();
  for (const NamedValues& named : parameters) {
    if (__builtin_mul_overflow(size, named.values.size(), &size)) {
      return error("the number of rows of the sweep does not fit 64 bits");
    }
  }
  return size;
}

Result<std::uint64_t> predict(const Plan& plan, const std::vector<const Gpu*>& gpus,
                              const std::vector<NamedValues>& parameters, const PredictionOptions& options,
                              const ProgramLoader& loader,
                              const std::function<bool(const PredictionRow&)>& on_row) {
  const KnownPart part = known_part(plan, parameters, options.transfers, options.leave_out_launches);
  auto values = in_plan_order(plan, part.plan, parameters);
  if (!values) return values.diagnostics();
  if (const auto size = sweep_size(gpus, parameters); !size) return size.diagnostics();
  const auto prepared = PreparedPlan::make(part.plan, gpus, options, loader, part.left_out);
  if (!prepared) return prepared.diagnostics();
  const Rows rows(gpus.size(), std::move(*values), false);
  RowModel model(*prepared, options);
  PredictionRow row;
  Rows::Cursor cursor(rows, 0);
  for (std::uint64_t at = 0; at < rows.size(); ++at, cursor.next()) {
    if (auto wrong = model.row(cursor.gpu, cursor.values, row); !wrong.empty()) return wrong;
    if (!on_row(row)) return at + 1;
  }
  return rows.size();
}

Result<std::vector<Explanation>> explain_all(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                             const std::vector<NamedValues>& parameters,
                                             const PredictionOptions& options, const ProgramLoader& loader,
                                             unsigned threads) {
  return for_each_row<Explanation>(plan, gpus, parameters, options, loader, explain, threads);
}

Result<std::vector<Explanation>> explain_lines_of_all(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                                      const std::vector<NamedValues>& parameters,
                                                      const PredictionOptions& options,
                                                      const ProgramLoader& loader) {
  return for_each_row<Explanation>(plan, gpus, parameters, options, loader, explain_lines);
}

Result<std::vector<SmTimeline>> sm_timelines(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                             const std::vector<NamedValues>& parameters,
                                             const PredictionOptions& options, const ProgramLoader& loader,
                                             std::size_t most) {
  return for_each_row<SmTimeline>(
      plan, gpus, parameters, options, loader,
      [&](const PreparedPlan& prepared, std::size_t gpu, const std::vector<std::int64_t>& values,
          const PredictionOptions& with) { return sm_timeline(prepared, gpu, values, with, most); });
}

Result<std::vector<CounterRow>> count_all(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                          const std::vector<NamedValues>& parameters,
                                          PredictionOptions options, const ProgramLoader& loader,
                                          unsigned threads) {
  options.all_warps = options.leave_out_launches = true;
  return for_each_row<CounterRow>(plan, gpus, parameters, options, loader, count, threads);
}

Result<std::uint64_t> sweep(const Plan& plan, const std::vector<const Gpu*>& gpus,
                            const std::vector<NamedValues>& parameters, const PredictionOptions& options,
                            const ProgramLoader& loader, const SweepOptions& how,
                            const std::function<std::unique_ptr<RowBatch>()>& make_batch,
                            const std::function<bool(RowBatch& batch, std::uint64_t rows)>& on_batch) {
  const KnownPart part = known_part(plan, parameters, options.transfers, options.leave_out_launches);
  auto values = in_plan_order(plan, part.plan, parameters);
  if (!values) return values.diagnostics();
  if (const auto size = sweep_size(gpus, parameters); !size) return size.diagnostics();
  const auto prepared = PreparedPlan::make(part.plan, gpus, options, loader, part.left_out);
  if (!prepared) return prepared.diagnostics();
  const Rows rows(gpus.size(), std::move(*values), how.gpus_innermost);
  return Sweep(*prepared, rows, options, how, make_batch, on_batch).run();
}

}  // namespace warptime
