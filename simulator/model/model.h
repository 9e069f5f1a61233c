// The seam between predictions and models: a model takes a launch (a program's schedule, a GPU, the launch's
// shape, the constants) and gives a TimeBreakdown. Rows, views, CSV, JSON, --explain, compare and
// calibrate know models through this header alone.
//
// A model that is not in a hurry overrides name(), title(), parts() and time(). One that predicts a million
// rows a second overrides session() too, and remembers what launches have in common.
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
#include "simulator/model/time_breakdown.h"
#include "simulator/model/timed_program.h"
#include "simulator/plan/launch.h"
#include "simulator/plan/plan.h"
#include "simulator/program/schedule.h"

namespace warptime {

// The constants that are fitted to kernels (Puchala et al. 2022, section 5.3).
struct ModelConstants {
  double t_p_us = 0;      // launch overhead
  double t_m_cycles = 0;  // for which one memory access holds a core package
};

// A GPU with the constants that hold on it, and what rows need of it again and again.
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
  // At least 1, and another one whenever the values change: equal revisions of one launch of a session have equal
  // values.
  std::uint64_t revision = 0;
  Launch shape;
  // That registers and shared memory allow; nothing: unknown. Depends on the program and
  // shape.threads_per_block; otherwise it changes only with another start() of the session.
  std::optional<std::int64_t> active_blocks_per_sm;
  // A place under which a session may remember what it knows of the shape. Several shapes may share one.
  static constexpr std::size_t kShapeSlots = 16;
  std::size_t shape_slot = 0;
};

struct ModelOptions {
  // The most steps of one simulation; a model refuses what takes more.
  std::uint64_t step_limit = 1'000'000'000;
};

// A model at work, in one thread. It may remember what it computed, in memory of a bounded size.
class ModelSession {
 public:
  virtual ~ModelSession() = default;
  // Another GPU, or other constants. Launches are numbered from 0; those of one number have the same program
  // until the next call.
  virtual void start(const ModelGpu& gpu, std::size_t launches) = 0;
  // The time of the launch with this number, valid until the next call. Null: there is none, and `why` says the
  // reason: what the model does not take (the GPU, the launch), a program that cannot be flattened, a time beyond
  // the range of numbers. (Not a Result: sweeps call this ten million times a second.)
  virtual const TimeBreakdown* time(std::size_t number, const ModelLaunch& launch, Diagnostics& why) = 0;
};

// A row's launch as explanations need it.
struct ExplainedLaunch {
  std::string kernel;  // the program's kernel, or the file that the plan names
  const PlanLaunch* of = nullptr;
  const TimedProgram* program = nullptr;
  std::vector<std::int64_t> values;  // of program->names
  Launch shape;
  std::optional<std::int64_t> active_blocks_per_sm;
  double times = 0;    // how often the row has it
  TimeBreakdown time;  // of one
  // Dynamic shared memory of each block that the launch asks for; nothing: as the program says.
  std::optional<std::int64_t> shared_bytes = {};
};

struct ExplainedRow {
  const ModelGpu* gpu = nullptr;
  double total_us = 0;
  std::span<const ExplainedLaunch> launches;
};

// Microseconds of a row that one place of a kernel takes, over all launches.
struct LineShare {
  std::string kernel;  // ExplainedLaunch::kernel
  std::string where;   // "line 11", "lines 5-7", "PTX lines 20-31", "load: 120" where a program has no lines
  LineSet lines;       // of the source; may be empty
  std::array<double, TimeBreakdown::kMostParts> us{};  // by Model::parts()
  double accesses = 0;                                 // loads and stores of one warp, over all launches
  double total_us() const;
};

// A statement about a row. Where it speaks of a gain it says how the row would be changed, so that anybody
// can run the model again.
struct Claim {
  enum class Kind : std::uint8_t { bound, occupancy, more_warps, partial_run, best_launch, fewer_loads };
  Kind kind = Kind::bound;
  std::string text;
  std::optional<double> time_us;  // what the row would take
  // The change: one of these, or none.
  std::optional<std::int64_t> warps;             // on each core package, …
  double waiting_share = 0;                      // … and what part of its cycles then is waiting for loads
  std::shared_ptr<const KernelProgram> program;  // in place of that of …
  const PlanLaunch* launch = nullptr;            // … this launch
};
std::string_view to_string(Claim::Kind kind);  // "bound", "more warps", …

// A GPU of which a model lacks figures, with those of another.
struct BorrowedFigures {
  Gpu gpu;
  std::string note;  // for all rows of the GPU
};

class Model {
 public:
  virtual ~Model() = default;

  virtual std::string_view name() const = 0;   // as --model takes it: "puchala"
  virtual std::string_view title() const = 0;  // of a table's column: "Puchala"
  // What its times are the sum of, in the order of every view; at most TimeBreakdown::kMostParts.
  virtual std::span<const TimePart> parts() const = 0;
  // Whether its times are t_p for each launch and a rest that depends on t_m, so that both can be fitted.
  virtual bool has_constants() const { return false; }

  // Why it has no prediction for this GPU; empty: it has.
  virtual Diagnostics check(const Gpu& gpu) const;
  // The GPU with what it lacks, from others of the catalogue; nothing: it lacks nothing, or there is no such GPU.
  virtual std::optional<BorrowedFigures> borrow(const Gpu& gpu, const GpuCatalogue& catalogue) const;

  // The time of one launch whose program was flattened to `schedule`. Errors: ModelSession::time's.
  virtual Result<TimeBreakdown> time(const Schedule& schedule, const ModelGpu& gpu,
                                     const ModelLaunch& launch) const = 0;
  // Calls time(), and flattens a program again only where its values changed.
  virtual std::unique_ptr<ModelSession> session(const ModelOptions& options) const;

  // Where a row's time goes, by place, the longest first; all together they are the row's time less its
  // parts of Kind::launch. Empty: the model does not say. Errors: a program that takes too many steps.
  virtual Result<std::vector<LineShare>> line_shares(const ExplainedRow& row) const;
  // What it has to say of a row beyond its largest part, the occupancy, the best launch and fewer loads.
  virtual std::vector<Claim> claims(const ExplainedRow& row) const;
  // More about the part that bounds a row: "each load and store holds a core package for 1.1 cycles".
  virtual std::string about_bound(const TimePart& part, const ExplainedRow& row) const;
};

// The part of a model with that key; nothing: it has none.
std::optional<std::size_t> find_part(const Model& model, std::string_view key);

}  // namespace warptime
