// The interface of models: a model takes a launch (a program's schedule, a GPU, the launch's shape, the
// constants) and returns a TimeBreakdown. Rows, views, CSV, JSON, --explain, compare and calibrate know
// models through this header alone.
//
// A simple model overrides name(), title(), parts() and time(). A model that predicts a million rows a second
// also overrides session(), which caches what launches have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/gpu/gpu.h"
#include "simulator/model/launch_queue.h"
#include "simulator/model/time_breakdown.h"
#include "simulator/model/timed_program.h"
#include "simulator/plan/launch.h"
#include "simulator/plan/plan.h"
#include "simulator/program/schedule.h"
#include "simulator/sm/launch_on_gpu.h"

namespace warptime {

// The constants that are fitted to kernels (Puchala et al. 2022, section 5.3).
struct ModelConstants {
  double t_p_us = 0;            // launch overhead
  double t_m_cycles = 0;        // for which one memory access holds a core package
  std::optional<double> scale;  // of the time without launch overhead; nothing: it was not fitted
};

// Which constants of a model are fitted to measurements. In both, the launch overhead enters once per launch:
// time = t_p * launches + rest.
enum class FittedConstants : std::uint8_t {
  none,
  t_p_and_t_m,    // the rest depends on t_m
  t_p_and_scale,  // the rest is `scale` times what the model predicts without launch overhead
};

// A GPU with its constants, and what every row needs of it.
struct ModelGpu {
  explicit ModelGpu(const Gpu& of) : gpu(&of), divisors(of), cycle_us(1 / of.clock_mhz) {}
  const Gpu* gpu;
  GpuDivisors divisors;
  double cycle_us;
  ModelConstants constants;
};

// One launch of one kernel.
struct ModelLaunch {
  const TimedProgram* program = nullptr;
  const std::vector<std::int64_t>* values = nullptr;  // of program->names
  // At least 1. Changes whenever the values change: equal revisions of one launch of a session have
  // equal values.
  std::uint64_t revision = 0;
  Launch shape;
  // What registers and shared memory allow; nothing if unknown. Depends on the program and
  // shape.threads_per_block; otherwise it changes only with another start() of the session.
  std::optional<std::int64_t> active_blocks_per_sm;
  // A cache slot for what a session knows of the shape. Several shapes may share a slot.
  static constexpr std::size_t kShapeSlots = 16;
  std::size_t shape_slot = 0;
  const LaunchOnGpu* whole = nullptr;  // for models that take whole launches
};

struct ModelOptions {
  // The maximum number of steps of one simulation; a model rejects a launch that takes more.
  std::uint64_t step_limit = 1'000'000'000;
  CacheState caches = CacheState::warm;
};

// A row's time is not the sum of its launches' times, but what a LaunchQueue of their kernels finds.
struct LaunchRun {
  LaunchOverheads overheads;
  std::size_t kernel_part = 0;  // TimeBreakdown::us of a launch: its kernel's own time
  std::size_t launch_part = 0;  // the part that what is beside the kernels' times belongs to
};

// The state of a model in one thread. It may cache what it computed, in bounded memory.
class ModelSession {
 public:
  virtual ~ModelSession() = default;
  // Sets the GPU and the constants. Launches are numbered from 0; until the next call, launches of the same
  // number have the same program.
  virtual void start(const ModelGpu& gpu, std::size_t launches) = 0;
  // The time of the launch with this number, valid until the next call. Null on an error, with the reason in
  // `why`: a GPU or launch that the model rejects, a program that cannot be flattened, a time that overflows.
  // (Not a Result: sweeps call this ten million times a second.)
  virtual const TimeBreakdown* time(std::size_t number, const ModelLaunch& launch, Diagnostics& why) = 0;
  // Adds `times` times time() to a row's time, or sets it to that for its first launch. False on an error. A model of
  // many rows a second overrides it: what goes from registers into the sum need not be written and read again.
  virtual bool add_time(std::size_t number, const ModelLaunch& launch, double times, bool first,
                        TimeBreakdown& sum, Diagnostics& why) {
    const TimeBreakdown* one = time(number, launch, why);
    if (one != nullptr) sum.take(*one, times, first);
    return one != nullptr;
  }
  // What to say of the last time(), with its row.
  virtual std::span<const std::string> notes() const { return {}; }
  // How launches follow each other. Nothing: a row's time is the sum of its launches' times.
  virtual std::optional<LaunchRun> launch_run() const { return std::nullopt; }
};

// A row's launch as explanations need it.
struct ExplainedLaunch {
  std::string kernel;  // as the program names it, or the plan
  const PlanLaunch* of = nullptr;
  const TimedProgram* program = nullptr;
  std::vector<std::int64_t> values;  // of program->names
  Launch shape;
  std::optional<std::int64_t> active_blocks_per_sm;
  double times = 0;    // how often the row contains it
  TimeBreakdown time;  // of one launch
  // Dynamic shared memory of each block that the launch asks for; nothing: as the program says.
  std::optional<std::int64_t> shared_bytes = {};
  const LaunchOnGpu* whole = nullptr;  // for models that take whole launches
};

struct ExplainedRow {
  const ModelGpu* gpu = nullptr;
  double total_us = 0;
  std::span<const ExplainedLaunch> launches;
  ModelOptions options = {};
};

// What a row's time is spent on, in finer terms than the model's parts: "the FP64 pipe".
struct Limit {
  std::string_view key;    // in JSON: "fp64_pipe"
  std::string_view title;  // of a table's row
  double us = 0;
};
// Adds to the limit with that key, or a new one; nothing if it takes no time.
void add_limit(std::vector<Limit>& limits, const Limit& more);
void sort_longest_first(std::vector<Limit>& limits);

// What one place of a kernel asks the levels of memory for, of all launches of the row.
struct LineTraffic {
  double requests = 0;       // loads, stores and atomics of warps
  double sectors = 0;        // of L1, for them; 32 bytes each
  double least_sectors = 0;  // if the threads of each warp accessed one piece of memory without gaps
  double load_sectors = 0, load_hits = 0;
  double local_sectors = 0, local_hits = 0;  // of local memory
  double l2_bytes = 0, memory_bytes = 0;     // read and written
  // Of accesses to shared memory: ways, and how many there would be without conflicts.
  double shared_ways = 0, shared_least_ways = 0;
};

// Microseconds of a row that one place of a kernel takes, over all launches.
struct LineShare {
  std::string kernel;  // ExplainedLaunch::kernel
  std::string where;   // "line 11", "lines 5-7", "PTX lines 20-31"; "load: 120" in a program without lines
  LineSet lines;       // of the source; may be empty
  std::array<double, TimeBreakdown::kMostParts> us{};  // by Model::parts()
  double accesses = 0;                                 // loads and stores of one warp, over all launches
  std::vector<Limit> limits = {};                      // they sum to the time; longest first
  std::optional<LineTraffic> traffic = {};
  double total_us() const;
};

// A statement about a row. A statement about a gain includes the change, so that the model can be run again
// with it.
struct Claim {
  enum class Kind : std::uint8_t {
    bound,
    occupancy,
    more_warps,
    partial_run,
    best_launch,
    fewer_loads,
    coalesced,         // neighbouring threads access neighbouring elements
    no_conflicts,      // of shared memory's banks
    no_local_memory,   // arrays and spills in registers
    no_divergence,     // the threads of a warp take the same branches
    fewer_registers,   // for more blocks on an SM
    less_shared,       // shared memory, for the same
    single_precision,  // in place of double precision
    traffic,           // what a line asks L1 for
    model_terms,       // the quantities of the model's own equations
  };
  // A quantity of the model: its name in JSON, and its value.
  struct Term {
    std::string key;
    double value = 0;
  };
  Kind kind = Kind::bound;
  std::string text;
  // Of a claim about a place: the kernel, and its lines of the source.
  std::string kernel = {};
  LineSet lines = {};
  std::optional<double> time_us;  // the row's time with the change
  // The change: one of these, or none.
  std::optional<std::int64_t> warps;  // on each core package, …
  double waiting_share = 0;           // … and the share of its cycles that it then waits for loads
  std::shared_ptr<const KernelProgram> program;  // in place of that of …
  const PlanLaunch* launch = nullptr;            // … this launch
  std::vector<Term> terms = {};                  // of model_terms
};
std::string_view to_string(Claim::Kind kind);  // "bound", "more warps", …

// A GPU with figures that a model borrows from another GPU.
struct BorrowedFigures {
  Gpu gpu;
  std::string note;  // for all rows of the GPU
};

class Model {
 public:
  virtual ~Model() = default;

  virtual std::string_view name() const = 0;   // the value of --model: "puchala"
  virtual std::string_view title() const = 0;  // a table column's title: "Puchala"
  // The parts that its times are the sum of, in the order of every view; at most TimeBreakdown::kMostParts.
  virtual std::span<const TimePart> parts() const = 0;
  virtual FittedConstants fitted_constants() const { return FittedConstants::none; }
  bool has_constants() const { return fitted_constants() != FittedConstants::none; }
  bool has_scale() const { return fitted_constants() == FittedConstants::t_p_and_scale; }

  // Whether times need ModelLaunch::whole. Otherwise a launch whose warps differ is the mean of the times that it would
  // take with warps that are all like these or those.
  virtual bool takes_whole_launches() const { return false; }
  // Whether times depend on the classes of instructions (InstructionClasses).
  virtual bool reads_instruction_classes() const { return false; }

  // Why the model rejects this GPU; empty if it does not.
  virtual Diagnostics check(const Gpu& gpu) const;
  // The GPU with the figures that it lacks, borrowed from others of the catalogue; nothing if it lacks none,
  // or if no GPU has them.
  virtual std::optional<BorrowedFigures> borrow(const Gpu& gpu, const GpuCatalogue& catalogue) const;

  // The time of one launch whose program was flattened to `schedule`. Errors: ModelSession::time's.
  virtual Result<TimeBreakdown> time(const Schedule& schedule, const ModelGpu& gpu,
                                     const ModelLaunch& launch) const = 0;
  // By default: calls time(), and flattens a program again only if its values changed.
  virtual std::unique_ptr<ModelSession> session(const ModelOptions& options) const;

  // Where a row's time goes, by place, longest first. The places sum to the row's time without its parts of
  // Kind::launch. Empty if the model does not tell. Errors: a program that takes too many steps.
  virtual Result<std::vector<LineShare>> line_shares(const ExplainedRow& row) const;
  // The model's own claims about a row with these line_shares(), beside those on its largest part, occupancy and best
  // launch; of a model that takes whole launches, those on fewer loads are among them.
  virtual std::vector<Claim> claims(const ExplainedRow& row, std::span<const LineShare> lines) const;
  // More about the part that bounds a row: "each load and store holds a core package for 1.1 cycles".
  virtual std::string about_bound(const TimePart& part, const ExplainedRow& row) const;
};

// The part of a model with that key; nothing if it has none.
std::optional<std::size_t> find_part(const Model& model, std::string_view key);

}  // namespace warptime
