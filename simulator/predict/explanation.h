// Why a prediction is what it is: where its time goes, by line of the source, and what would shorten it.
// Every gain that is claimed is what the model itself says of the changed kernel or launch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/predict/plan_model.h"

namespace warptime {

// Microseconds of a row that one place of a kernel takes, over all launches.
struct LineShare {
  std::string kernel;  // the program's kernel, or the file that the plan names
  std::string where;   // "line 11", "lines 5-7", "PTX lines 20-31", "load: 120" where a program has no lines
  LineSet lines;       // of the source; may be empty
  double calculation_us = 0;
  double issue_us = 0;
  double waiting_us = 0;  // of its loads, for them
  double tail_us = 0;     // where its access is the last to complete
  double accesses = 0;    // loads and stores of one warp, over all launches
  double total_us() const { return calculation_us + issue_us + waiting_us + tail_us; }
};

// The longest first; all together they are the row's time less its preparation (to rounding).
Result<std::vector<LineShare>> shares_of_lines(RowModel& model, const std::vector<LaunchTerm>& terms,
                                               const PreparedGpu& gpu);

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

struct Explanation {
  PredictionRow row;
  std::vector<LineShare> lines;
  std::vector<Claim> claims;
};

// Of the row with these values of the plan's parameters. Errors: the row's own; a program whose breakdown
// takes too many steps.
Result<Explanation> explain(const PreparedPlan& plan, std::size_t gpu,
                            const std::vector<std::int64_t>& values, const PredictionOptions& options);

// Of every row that predict() would give, in its order. Errors: predict()'s.
Result<std::vector<Explanation>> explain_all(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                             const std::vector<NamedValues>& parameters,
                                             const PredictionOptions& options, const ProgramLoader& loader);

// What a breakdown calls an item that is no repeat or condition: "line 11", …, see LineShare::where.
std::string place_of(const Item& item);

// The program with every second of the loads at `where` (as place_of has it) left out: of those in a row
// every second one, of those that a repeat has once in each turn that of every second turn. Nothing where
// there is no second one.
std::optional<KernelProgram> with_half_the_loads(const KernelProgram& program, const std::string& where);

}  // namespace warptime
