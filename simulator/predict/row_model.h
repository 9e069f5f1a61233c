// Rows of a sweep: the launches of a plan with given parameters, summed. Launches of equal times are computed once.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/model/stream_timeline.h"
#include "simulator/predict/prepare.h"

namespace warptime {

// A launch of a row with all its warps.
struct WholeLaunch {
  LaunchOnGpu on_gpu;  // points into this
  LaunchWarps warps;   // with sectors and machine instructions
  KernelResources resources;
  bool registers_estimated = false;
};

// One launch of a row, and how often the row contains it.
struct LaunchTerm {
  const PreparedLaunch* launch = nullptr;
  const TimedProgram* program =
      nullptr;  // what its warps execute: the launch's, or, where warps differ, one of several
  Launch shape;
  std::vector<std::int64_t> values;  // of the program's names
  double times = 0;
  TimeBreakdown time;                         // of one launch
  std::optional<std::int64_t> active_blocks;  // per SM, that the kernel's resources allow
  std::optional<std::int64_t> shared_bytes;   // that the launch asks for
  std::shared_ptr<const WholeLaunch> whole;   // for models that take whole launches
};

// What the warps of one launch of a row execute, and how often the row contains it.
struct LaunchWork {
  const PreparedLaunch* launch = nullptr;
  GridAndBlock size;
  std::vector<std::int64_t> values;  // of the program's names
  double times = 0;
  std::optional<std::int64_t> shared_bytes;  // that the launch asks for
  std::shared_ptr<const WholeLaunch> whole;
};

// Computes rows. Not thread-safe; several may share a plan.
class RowModel {
 public:
  RowModel(const PreparedPlan& plan, const PredictionOptions& options);

  // Fills in what depends on the parameters (values in the plan's order). The rest of `row` is set if the
  // previous row is of another GPU. Errors: see predict(), with the row's parameters.
  Diagnostics row(std::size_t gpu, const std::vector<std::int64_t>& values, PredictionRow& row);
  // row(), and its launches, equal ones merged; row.time is their sum.
  // by_warps: a launch whose warps differ is a term for each kind of them, with its part of `times`.
  Result<std::vector<LaunchTerm>> terms(std::size_t gpu, const std::vector<std::int64_t>& values,
                                        bool by_warps, PredictionRow& row);
  // row(), and its launches, equal ones merged. The plan must be prepared with PredictionOptions::all_warps.
  Result<std::vector<LaunchWork>> work(std::size_t gpu, const std::vector<std::int64_t>& values,
                                       PredictionRow& row);

 private:
  // The shape of a launch by its number of threads, cached: sweeps repeat the same shapes.
  struct Sized {
    std::int64_t threads = 0;  // 0: none yet
    Launch shape;
  };
  struct Last {                // of one launch: the input of its last computation
    ModelLaunch model_launch;  // revision 0: there are no values
    std::vector<std::int64_t> values;
    bool limited = false;                               // active blocks are: by registers or shared memory
    GridAndBlock dimensions;                            // where the launch has several
    const TimedProgram* variant = nullptr;              // the only one, of model_launch.revision
    std::int64_t threads_per_block = 0;                 // that active_blocks_per_sm is for, …
    std::int64_t shared_bytes = 0;                      // … with that much dynamic shared memory
    std::array<Sized, ModelLaunch::kShapeSlots> sized;  // by a hash of their threads; the newest stay
    void forget() {
      model_launch.revision = 0;
      variant = nullptr;
      threads_per_block = 0;
      model_launch.active_blocks_per_sm.reset();
      for (Sized& known : sized) known.threads = known.shape.blocks = 0;
    }
  };
  struct Failed {
    Diagnostics diagnostics;
  };
  [[gnu::noinline]] void start_gpu(const PreparedGpu& gpu);
  void start_sessions();
  [[gnu::noinline]] void start_gpu_or_row(const PreparedGpu& gpu, PredictionRow& row);
  void start_row(PredictionRow& row);  // what does not depend on parameters
  [[gnu::noinline]] void start_more();
  [[gnu::noinline]] void take_more(const std::vector<std::int64_t>& values);
  // The row's operations with its copies, into row.with_copies.
  [[gnu::noinline, gnu::cold]] Diagnostics add_copies();
  void walk(const PreparedStep& step);
  void walk(const PlanTransfer& transfer, const Bindings& bindings);
  void add_copy(const PlanStep& step, double times);
  void add_operation(StreamEngine engine, double us);
  [[gnu::noinline]] void add_kernel(const PreparedLaunch& launch, std::size_t index, std::int64_t times);
  void end_kernels();
  void count_iteration(const PlanStep* step);
  std::int64_t count_of(const Expression& expression, const PlanStep& step, const char* what) const;
  double transfer_us(PlanTransferDirection direction, double bytes) const;
  void start_queues();
  void take_queues();  // the row's time is what they found
  [[gnu::noinline, gnu::cold]] Diagnostics with_row(Diagnostics wrong) const;
  [[gnu::noinline, gnu::cold]] Diagnostics out_of_range() const;
  [[noreturn, gnu::noinline, gnu::cold]] void fail_time(const PlanStep& step);
  [[noreturn, gnu::noinline, gnu::cold]] void fail_negative(const PlanStep& step, std::int64_t count) const;
  void run(const PreparedStep& step, std::int64_t times);
  [[gnu::always_inline]] void once(const PreparedStep& step, std::int64_t times);
  [[gnu::noinline]] void counted(const PreparedStep& step, std::int64_t count, std::int64_t times);
  [[gnu::always_inline]] void launch(const PreparedLaunch& launch, std::size_t index, std::int64_t times);
  [[gnu::noinline]] void launch_and_more(const PreparedLaunch& launch, std::size_t index, std::int64_t times);
  [[gnu::always_inline]] void count_launches(const PreparedLaunch& launch, const Launch& shape,
                                             std::int64_t times);
  [[gnu::always_inline]] Launch shape_of(const PreparedLaunch& launch, std::size_t index);
  [[gnu::noinline]] void find_dimensions(const PreparedLaunch& launch, Last& last);
  [[gnu::noinline]] void set_first_dimensions(const PreparedLaunch& launch, std::size_t index,
                                              const Launch& shape);
  [[gnu::noinline]] void set_dimensions(const PreparedLaunch& launch, const Last& last, const Launch& shape);
  [[gnu::noinline]] void take_shared(const PreparedLaunch& launch, Last& last);
  // The launch that --best-launch takes in place of `chosen`; it may be the same.
  [[gnu::noinline]] Launch best_of(const PreparedLaunch& launch, std::size_t index, const Launch& chosen,
                                   double chosen_us);
  [[gnu::noinline]] Launch best_shape(const PreparedLaunch& launch, std::size_t index, std::int64_t threads,
                                      const Launch& chosen, double chosen_us);
  [[gnu::noinline]] Launch best_block(const PreparedLaunch& launch, std::size_t index, double chosen_us);
  [[gnu::noinline]] void note_other_shape(const PreparedLaunch& launch, std::size_t index,
                                          const Launch& shape);
  // Warps that execute the same, of a launch whose warps differ.
  struct Timed {
    const TimedProgram* like = nullptr;     // whose durations it has
    std::unique_ptr<TimedProgram> program;  // with the names of `like`, …
    std::vector<char> uses;                 // … of which it uses these
  };
  struct WarpVariant {
    const Timed* timed = nullptr;  // in timed_
    double weight = 0;             // of the launch's warps
  };
  struct WarpVariants {
    std::vector<WarpVariant> all;
    bool sampled = false, threads_unknown = false;
  };
  // By a model that takes whole launches, too.
  [[gnu::noinline]] const TimeBreakdown& time_of_any(ModelSession& session, const Model& model,
                                                     const PreparedLaunch& launch, std::size_t index,
                                                     const Launch& shape);
  std::optional<double> footprint_of(const PreparedLaunch& launch, std::size_t index, const Launch& shape);
  bool same_work(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                 const std::optional<double>& bytes);
  std::shared_ptr<const WholeLaunch> whole_launch(const PreparedLaunch& launch, std::size_t index,
                                                  const Launch& shape) const;
  [[gnu::noinline]] const TimeBreakdown& time_of_variants(ModelSession& session, const PreparedLaunch& launch,
                                                          std::size_t index, const Launch& shape);
  const WarpVariants& variants_of(const PreparedLaunch& launch, std::size_t index, const Launch& shape);
  std::shared_ptr<const KnownWarps::Launch> make_variants(const PreparedLaunch& launch, std::size_t index,
                                                          const LaunchSize& size, const KnownWarps::Key& key);
  KnownWarps& known_warps() {
    return plan_.known_warps->worth_sharing() ? *plan_.known_warps : own_known_warps_;
  }
  void forget_variants();
  const Timed* timed(const TimedProgram& of, const std::shared_ptr<const KernelProgram>& program);
  double share_of(const PreparedLaunch& launch, const Parameter& parameter) const;  // of one with a share
  void add_row_note(std::string note);
  bool assumes_shares() const;
  [[gnu::noinline]] void note_shares(const std::vector<std::int64_t>& values);
  GridAndBlock shape_with_dimensions(const PreparedLaunch& launch, std::size_t index,
                                     const Launch& shape) const;
  void add_work(const PreparedLaunch& launch, std::size_t index, const Launch& shape, double times);
  Bindings bindings_of(const PreparedLaunch& launch, std::size_t index) const;
  Shares shares_of(const PreparedLaunch& launch) const;
  [[gnu::noinline]] void add_term(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                                  const TimeBreakdown& time, double times);
  void add_term(const PreparedLaunch& launch, const TimedProgram& program, std::size_t index,
                const Launch& shape, const TimeBreakdown& time, double times);
  // A shape that is not the one known in that slot.
  [[gnu::noinline]] Launch new_shape(const PreparedLaunch& launch, std::int64_t threads, Sized& known);
  [[gnu::noinline]] Launch given_shape(const PreparedLaunch& launch, Last& last);
  // Valid until the session's next time.
  [[gnu::always_inline]] const TimeBreakdown& time_of(ModelSession& session, const PreparedLaunch& launch,
                                                      std::size_t index, const Launch& shape);
  [[gnu::noinline]] void times_beside(const PreparedLaunch& launch, std::size_t index, const Launch& shape,
                                      double times);
  [[gnu::noinline]] void find_active_blocks(const PreparedLaunch& launch, Last& last,
                                            const Launch& shape) const;
  [[gnu::always_inline]] void prepare(const PreparedLaunch& launch, Last& last, const Launch& shape);
  [[gnu::always_inline]] std::int64_t evaluate(const CompiledExpression& compiled,
                                               const Expression& expression, const PlanStep& step,
                                               const char* what) const {
    std::int64_t value = 0;
    if (!compiled.evaluate(slots_.data(), value)) fail_expression(expression, step, what);
    return value;
  }
  [[noreturn, gnu::noinline, gnu::cold]] void fail_expression(const Expression& expression,
                                                              const PlanStep& step, const char* what) const;
  [[noreturn, gnu::noinline, gnu::cold]] void fail_argument(const PreparedLaunch& launch,
                                                            std::size_t index) const;
  [[gnu::noinline]] Bindings bindings() const;
  void add_dimensions(Bindings& to) const;
  [[noreturn, gnu::noinline, gnu::cold]] void fail(const PlanStep& step, Diagnostics wrong) const;
  [[noreturn, gnu::noinline, gnu::cold]] void too_many_launches(const PlanStep& step) const;

  const PreparedPlan& plan_;
  const PredictionOptions& options_;
  std::unique_ptr<ModelSession> session_;
  std::vector<std::unique_ptr<ModelSession>> beside_;  // of options_.beside
  // Of the model, and of those beside it, whose rows are not the sum of their launches.
  struct Queue {
    LaunchRun run;
    LaunchQueue queue{run.overheads};
  };
  std::optional<Queue> queue_, algorithm_3_queue_;
  // What add_copies() has walked of the plan. The kernels that follow each other are not in the timeline yet.
  struct Walk {
    explicit Walk(double both_ways) : timeline(both_ways) {}
    StreamTimeline timeline;
    std::size_t stream = 0;
    bool in_streams = false;
    double copies_us = 0;
    bool has_run = false;  // of the model: `queue` counts, not kernels_us
    LaunchRun run;
    bool kernels = false;  // whether there are such kernels
    LaunchQueue queue{LaunchOverheads()};
    double kernels_us = 0;
    struct Kernel {
      Launch shape;
      std::optional<GridAndBlock> dimensions;
      std::vector<std::int64_t> values;
      std::int64_t shared_bytes = 0;
      double us = 0;  // or of the part that the run names
    };
    std::vector<Kernel> known;  // by the number of the launch: the last one
  };
  std::optional<Walk> walk_;
  std::vector<std::optional<Queue>> queues_beside_;
  const PreparedGpu* gpu_ = nullptr;
  std::vector<std::int64_t> slots_;
  std::vector<char> bound_;  // counters that are counting: 1
  std::uint64_t iterations_ = 0;
  std::uint64_t revisions_ = 0;  // number of revisions so far
  std::vector<Last> last_;
  std::unordered_map<KnownWarps::Key, WarpVariants, KnownWarps::Key::Hash> variants_;
  KnownWarps own_known_warps_;   // where the plan's are not worth sharing
  KnownWarps::Key variant_key_;  // of the launch that is looked for
  // What warps execute: launches of many sizes have warps that execute the same.
  std::unordered_map<const KernelProgram*, std::vector<std::unique_ptr<Timed>>> timed_;
  std::vector<std::int64_t> variant_values_;               // of the names of the variant that is timed
  TimeBreakdown mixed_, mixed_beside_;                     // of variants: by the model, by those beside it
  std::optional<std::pair<std::string, double>> instead_;  // of that share's value
  bool noting_ = true;
  bool more_than_times_ = false;  // launch_and_more
  bool more_per_row_ = false;     // start_more, take_more
  bool terms_by_warps_ = false;
  std::vector<LaunchTerm>* terms_ = nullptr;
  std::vector<LaunchWork>* work_ = nullptr;
  PredictionRow* row_ = nullptr;           // that is being computed
  Diagnostics why_;                        // there is no time
  double algorithm_3_us_ = 0;              // with Algorithm 3's launches
  const PredictionRow* filled_ = nullptr;  // what does not depend on parameters is filled in for gpu_
};

}  // namespace warptime
