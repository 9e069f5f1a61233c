// A plan: what is launched, in which order, how often. Equations 17 and 18 of Puchala et al. (2022) are two
// of these.
//
//   warptime: 1                        # optional: the version of the format
//   name: lattice
//   description: …                     # optional
//   # Or a list of names. They are shown in this order.
//   parameters: {N: length of the transform, K: length of the filter}
//   launches:
//     - kernel: listing_9.yaml         # .cu, .ptx or a kernel program, relative to this file
//       entry: ltt                     # where the file has several kernels
//       # The rest is bound by name to the plan's parameters and counters. Expressions here may use
//       # blockDim.x, …, gridDim.z of the launch.
//       arguments: {L: K / 2}
//       threads: N / 2                 # or grid and block, as below
//       repeat: K / 2 + 1              # optional
//       counter: k                     # optional: counts 0, 1, …
//     - kernel: transpose.cu
//       grid: [ceil_div(N, 32), ceil_div(N, 32)]   # or `blocks`: x, y and z; one expression is x alone
//       block: [32, 8]                             # or `threads_per_block`
//       shared: 4 * 32 * blockDim.x    # optional: bytes of dynamic shared memory of each block
//     - repeat: K                      # a group of launches
//       counter: i
//       streams: 4                     # optional: its iterations are dealt to so many streams in turn
//       launches: […]
//     - copy: {bytes: 4 * N, to: host} # or to: device; like a launch, it may have repeat and counter
//   arrays: {idata: N, odata: N, coefs: 2 * K}   # optional, to run it: what pointers point to (arrays.h)
//   input: [{from: idata, elements: N}]    # optional, with `output`: what a whole transform reads and gives
//   output: [{from: odata, elements: N}]
//   transfers:                         # optional: copies between host and device; predictions do not count them but with
//                                      # --transfers
//     - {direction: host_to_device, bytes: 4 * N}
//     - repeat: K                      # a group of transfers
//       transfers: […]
//   flags: [-I, include, -DWIDTH=4]    # optional: of the compiler, for all kernels of the plan
//   typical: {N: 2^20, K: 8}           # optional: representative sizes, for reports of a single time
//   calibrations:                      # optional, by GPU
//     gtx-1070: {t_p: 5.8, t_m: 19, source: "…"}     # microseconds, cycles
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/plan/arrays.h"
#include "simulator/plan/calibration.h"
#include "simulator/program/expression/expression.h"
#include "simulator/program/kernel_program.h"

namespace warptime {

struct PlanStep;

// The size of a grid or a block in x, y and z, as many dimensions as the launch gives; the others are 1.
using Dim3Expressions = std::vector<Expression>;

// An argument that has no value, since a parameter of the plan has none.
struct UnknownArgument {
  std::string name;
  std::string parameter, description;
};

struct PlanLaunch {
  std::string kernel;  // file of the kernel (.cu, .ptx or a kernel program), relative to the plan's file
  std::string entry;   // the kernel's name in that file; empty: the only one
  std::vector<std::pair<std::string, Expression>>
      arguments;  // the program's parameters; unnamed ones are the plan's own
  // Arguments that no count of a model depends on: over the names of arrays, or with a decimal. For running
  // the plan.
  std::vector<std::pair<std::string, Expression>> data;
  std::vector<UnknownArgument> unknown = {};  // of a known_part
  std::optional<Expression> threads;  // either this (Algorithm 3 chooses blocks and threads per block), …
  Dim3Expressions grid, block;        // … or both of these; empty: not given
  // Bytes of dynamic shared memory of each block; may use the launch's dimensions. Nothing: as the program
  // says.
  std::optional<Expression> shared;

  // Calls fn(expression) for `threads` and each dimension of the grid and the block.
  template <class Fn>
  void for_each_size(Fn fn) const {
    if (threads) fn(*threads);
    for (const Dim3Expressions* sizes : {&grid, &block}) {
      for (const Expression& size : *sizes) fn(size);
    }
  }
};

enum class PlanTransferDirection : std::uint8_t { host_to_device, device_to_host, device_to_device, set };
std::string_view to_string(PlanTransferDirection direction);  // "host_to_device"

// A copy between host and device in the order of the launches.
struct PlanCopy {
  PlanTransferDirection direction = PlanTransferDirection::host_to_device;  // or device_to_host
  Expression bytes;
};

// One launch, one copy, or several steps, repeated. `counter` names a variable that counts 0, 1, …, for the
// expressions inside.
struct PlanStep {
  Expression repeat = 1;
  std::string counter;  // may be empty
  std::optional<PlanLaunch> launch;
  std::vector<PlanStep> steps;  // where there is neither a launch nor a copy
  int line = 0;                 // in the plan's file
  std::string origin;           // "main.cu:45", of a launch that was found in host code: written as a comment
  std::optional<PlanCopy> copy = {};
  // Of a group: its iterations are dealt to so many streams in turn. Within an iteration the steps follow each
  // other; what comes after the group waits for all of it. Nothing: one stream, that of the group around.
  std::optional<Expression> streams = {};
};

// A copy between host and device (`set`: cudaMemset), or several, repeated.
struct PlanTransfer {
  Expression repeat = 1;
  std::string counter;  // may be empty
  PlanTransferDirection direction = PlanTransferDirection::host_to_device;
  Expression bytes;
  std::vector<PlanTransfer> transfers;  // not empty: a group, without direction and bytes
  std::string origin;                   // as of a step
};

// Calls fn(step) for each step that launches, in order, those in groups too.
template <class Fn>
void for_each_launch(const std::vector<PlanStep>& steps, Fn fn) {
  for (const PlanStep& step : steps) {
    if (step.launch) fn(step);
    for_each_launch<Fn&>(step.steps, fn);
  }
}

// A run of elements in an array: of a transform's input or output.
struct PlanPart {
  Expression from;  // over the arrays' names, as pointer arguments
  Expression elements;
};

// Whether one of the steps, or of those inside, is a copy.
bool has_copies(const std::vector<PlanStep>& steps);

struct Plan {
  static constexpr int format_version = 1;
  std::string name;
  std::string description;
  std::string file;  // where it was read from; empty: made on the command line
  std::vector<Parameter> parameters;
  std::vector<std::string> flags;  // for plan_flag(), in pairs where a value follows
  std::vector<std::pair<std::string, std::int64_t>> typical;  // of some of the parameters
  std::vector<PlanStep> steps;
  std::vector<PlanArray> arrays;  // for running the plan
  // What is transformed and what comes out, each the parts one behind the other. Empty: not given.
  std::vector<PlanPart> input, output;
  std::vector<PlanTransfer> transfers;
  Calibrations calibrations;
};

// What a plan knows of a word among a compiler's flags.
struct PlanFlag {
  bool kept = false;           // -I, -iquote, -isystem, -include, -D, -U, -std, -x
  std::string name;            // "-I" of "-I" and of "-Iinclude"
  bool is_path = false;        // its value is a file or a folder
  bool value_follows = false;  // in the next word
};
PlanFlag plan_flag(const std::string& word);

// Whether a launch leaves its blocks to Algorithm 3 (`threads`).
bool leaves_blocks(const Plan& plan);

// The names that a launch itself gives to its arguments and to kernel programs, in the order in which they
// stand in slots: blockDim.x, .y, .z, gridDim.x, .y, .z.
std::span<const std::string_view> launch_dimensions();
bool is_launch_dimension(std::string_view name);

// Errors carry line and column: not YAML, unknown keys, both or neither of threads and grid, an expression
// that does not parse or uses a name that is no parameter, counter or launch constant, a copy to neither device
// nor host, streams inside streams, a typical value that is not a whole number or of no parameter.
Result<Plan> read_plan(std::string_view text, const std::string& file);
// True where the YAML's top level says that it is a plan (it has `launches`), not a kernel program
// (`program`).
bool looks_like_plan(std::string_view text);

}  // namespace warptime
