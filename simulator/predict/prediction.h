// Predictions: a plan, GPUs and parameters in, a time with its breakdown out.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/gpu/gpu.h"
#include "simulator/plan/parameter_values.h"
#include "simulator/plan/plan.h"
#include "simulator/predict/constants.h"
#include "simulator/predict/models.h"
#include "simulator/program/profile.h"

namespace warptime {

// A row's time with its copies between host and device, in microseconds.
struct CopyTimes {
  double copies_us = 0;  // the sum of the copies' times, each as if nothing ran beside it
  double total_us = 0;   // from the begin of the first operation to the end of the last one
};

struct PredictionRow {
  std::string plan;
  std::string gpu;
  std::vector<std::pair<std::string, std::int64_t>> parameters;  // in the plan's order
  Launch first_launch;
  std::optional<GridAndBlock> first_dimensions;  // of the first launch; nothing: the plan is one-dimensional
  GridAndBlock first_shape() const { return first_dimensions.value_or(one_dimensional(first_launch)); }
  std::int64_t launches = 0;
  const Model* model = nullptr;  // whose time it is
  TimeBreakdown time;            // summed over the launches
  double t_p_us = 0;
  double t_m_cycles = 0;
  ConstantSource t_p_source = ConstantSource::gpu_default;
  ConstantSource t_m_source = ConstantSource::gpu_default;
  std::vector<std::string> notes;  // "analysed for sm_75, the oldest target of nvcc 13.0", …
  // Where the best launches were looked for: the time with those of Algorithm 3, or with the given block in
  // two dimensions.
  std::optional<double> algorithm_3_us;
  std::vector<double> beside_us;         // times of the models in PredictionOptions::beside, in their order
  std::optional<CopyTimes> with_copies;  // with PredictionOptions::transfers
  std::uint64_t rank = 0;                // among the GPUs for these parameters; 1: the fastest, 0: not ranked
};

// Returns the kernel program of a launch's kernel: reads it, or compiles and analyses it (outside the
// simulator). The notes are shown with every row that uses the program.
struct LoadedProgram {
  LoadedProgram(KernelProgram of, std::vector<std::string> with_notes)
      : program(std::make_shared<const KernelProgram>(std::move(of))), notes(std::move(with_notes)) {}
  LoadedProgram(std::shared_ptr<const KernelProgram> of, std::vector<std::string> with_notes)
      : program(std::move(of)), notes(std::move(with_notes)) {}
  std::shared_ptr<const KernelProgram> program;  // not null
  std::vector<std::string> notes;
};
using ProgramLoader =
    std::function<Result<LoadedProgram>(const Plan& plan, const PlanLaunch& launch, const Gpu& gpu)>;

// A launch and its program must agree on names: what the program's expressions use is, in this order, an
// argument of the launch, a counter or parameter of the plan with the same name, or a dimension of the launch
// (blockDim.x, …, gridDim.z).

struct RememberedWork;  // remembered_work.h

struct PredictionOptions {
  const Model* model = &default_model();
  std::vector<const Model*> beside;  // other models, whose times are also in the rows
  GivenConstants constants;
  // Of each launch of so many threads, take the quickest blocks of whole warps instead of Algorithm 3's; of a
  // launch in two dimensions, the quickest block in two dimensions.
  bool best_launch = false;
  // With best_launch: of a launch with a grid and a block in one dimension, too, if its kernel uses blockDim.x; only
  // blocks of powers of two are tried.
  bool best_of_given_blocks = false;
  // Explanations look for quicker blocks, and say what they would gain.
  bool claim_best_launch = true;
  std::map<std::string, std::vector<std::string>> gpu_notes;  // by GPU name: for all its rows
  // What data decide, by the names of programs' parameters: shares of warps (0 to 1) and iterations. A launch's own
  // argument of that name counts more.
  std::map<std::string, double, std::less<>> assumed;
  std::map<std::string, std::pair<double, double>, std::less<>>
      assumed_ranges;  // of some of them: for the notes
  Profile profile;     // what counts where `assumed` says nothing
  ModelOptions model_options;
  // Rows have CopyTimes: of the plan's copies and streams, or, where it has no copy among its launches, of its
  // `transfers`, one after the other around the launches.
  bool transfers = false;
  bool places = false;  // programs are those with_places(), whose durations single accesses may change
  bool all_warps =
      false;  // prepare to look at the warps of every launch, not only of those whose warps differ
  // Launches whose kernels need a name that has no value are left out where others have all: PreparedPlan::left_out.
  bool leave_out_launches = false;
  // Of predictions with these or other options; null: each plan remembers its own.
  std::shared_ptr<RememberedWork> remembered;
};

// Whether its model, or one beside it, needs the warps of launches.
bool takes_whole_launches(const PredictionOptions& options);
// Whether one of them needs the classes of instructions.
bool reads_instruction_classes(const PredictionOptions& options);

// The number of rows of a sweep. Errors: a number that does not fit 64 bits.
Result<std::uint64_t> sweep_size(const std::vector<const Gpu*>& gpus,
                                 const std::vector<NamedValues>& parameters);

// One row per GPU and combination of parameters: GPUs outermost, the plan's last parameter innermost.
// `on_row` is called in that order as rows are ready and returns false to stop; the row is valid during the
// call. All programs are loaded first, each once per GPU; T_c is computed once for equal (program, bindings,
// warps, t_m). Errors: a parameter that has no values and that the launches need (says which; needed_parameters and
// known_part), one that the plan does not have, a name without a value that a kernel program needs, a launch that the GPU cannot run, launches that
// depend on a counter for more than 2^22 iterations, with `transfers` a GPU without the figures of the plan's copies, and the errors of the loader and the simulation, with
// the row's parameters. Returns the number of calls of on_row.
Result<std::uint64_t> predict(const Plan& plan, const std::vector<const Gpu*>& gpus,
                              const std::vector<NamedValues>& parameters, const PredictionOptions& options,
                              const ProgramLoader& loader,
                              const std::function<bool(const PredictionRow&)>& on_row);

// Consecutive rows, computed by one thread.
class RowBatch {
 public:
  virtual ~RowBatch() = default;
  virtual void add(const PredictionRow& row) = 0;
};

struct SweepOptions {
  unsigned threads = 0;                     // 0: as many as there are cores
  bool gpus_innermost = false;              // rows of equal parameters follow each other
  const std::atomic<bool>* stop = nullptr;  // checked now and then; true ends the sweep with the rows so far
  // Only these of its rows, in their order: from number `first`, at most `rows`. Each is the same as in the whole sweep.
  std::uint64_t first = 0, rows = std::numeric_limits<std::uint64_t>::max();
};

// predict() on all cores, in constant memory. make_batch is called in any thread, add() in the thread that
// computed the rows, on_batch in the calling thread: with the batches in the order of the rows, as they are
// ready. A failing row ends its batch, which is delivered without that row, followed by the error.
Result<std::uint64_t> sweep(const Plan& plan, const std::vector<const Gpu*>& gpus,
                            const std::vector<NamedValues>& parameters, const PredictionOptions& options,
                            const ProgramLoader& loader, const SweepOptions& how,
                            const std::function<std::unique_ptr<RowBatch>()>& make_batch,
                            const std::function<bool(RowBatch& batch, std::uint64_t rows)>& on_batch);

}  // namespace warptime
