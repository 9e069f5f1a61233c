// What the analyzer produces and the simulator consumes. A kernel program is the sequence of calculation and
// memory access periods of one warp (Puchala et al. 2022, section 5.2: "kernel_program"), with repeats and
// conditions whose counts are expressions over parameters. Nothing here knows PTX.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/program/expression/expression.h"
#include "simulator/program/instruction_classes.h"
#include "simulator/program/item_detail.h"
#include "simulator/program/iteration_spread.h"
#include "simulator/program/machine_work.h"

namespace warptime {

// Closed ranges of 1-based line numbers, sorted and disjoint: "5-7,12".
class LineSet {
 public:
  using Range = std::pair<int, int>;  // first, last
  LineSet() = default;
  LineSet(const LineSet& other) : only_(other.only_), several_(copy_of(other.several_)) {}
  LineSet(LineSet&& other) noexcept = default;
  LineSet& operator=(const LineSet& other) {
    only_ = other.only_;
    several_ = copy_of(other.several_);
    return *this;
  }
  LineSet& operator=(LineSet&& other) noexcept = default;
  ~LineSet() = default;

  void add(int line) { add(line, line); }
  void add(int first, int last);
  void add(const LineSet& other);
  bool empty() const { return ranges().empty(); }
  bool contains(int line) const;
  std::span<const Range> ranges() const {
    if (several_) return *several_;
    return {&only_, only_.first == 0 ? std::size_t{0} : std::size_t{1}};
  }
  friend bool operator==(const LineSet& a, const LineSet& b);

 private:
  using Several = std::unique_ptr<std::vector<Range>>;
  static Several copy_of(const Several& from) {
    return from ? std::make_unique<std::vector<Range>>(*from) : nullptr;
  }

  // Items of programs have one range most often, which needs no list.
  Range only_ = {0, 0};  // first 0: none
  Several several_;
};
std::string to_string(const LineSet& lines);
Result<LineSet> parse_line_set(std::string_view text);

// How the 32 threads of a warp spread over memory in one access.
enum class Access : std::uint8_t { uniform, coalesced, strided, scattered };
inline constexpr std::size_t kAccesses = 4;
std::string_view to_string(Access access);
std::span<const std::string_view> access_names();  // in the order of Access
std::optional<Access> find_access(std::string_view name);

struct Calculation {  // `calc: 33`: a calculation period of exactly that many cycles
  Expression cycles;
  friend bool operator==(const Calculation&, const Calculation&) = default;
};
struct Instructions {  // `instructions: 24`: executed instructions of calculation; runs that meet are one
                       // period of n - 1 + 10
  Expression count;
  // Of a count that is a number: what they are. Only the model of Luo and Suda reads it. Null: not known.
  std::shared_ptr<const InstructionClasses> classes = {};
  friend bool operator==(const Instructions& a, const Instructions& b) {
    const bool same_classes = a.classes == b.classes || (a.classes && b.classes && *a.classes == *b.classes);
    return a.count == b.count && same_classes;
  }
};
struct MemoryAccess {  // `load: …`, `store: …`: a memory access period
  enum class Kind : std::uint8_t { load, store } kind = Kind::load;
  std::optional<Expression> cycles;     // absent: from the GPU's file or a calibration, by `access`
  std::optional<Access> access;         // at least one of `cycles` and `access` is given
  std::optional<std::int64_t> bytes;    // per thread
  std::optional<std::int64_t> sectors;  // 32-byte sectors of one warp's request
  std::string stride;                   // bytes between neighbouring threads, as an expression; empty: none
  // The footprint: bytes that the whole launch accesses here, each counted once. Over parameters and launch
  // dimensions, which are not among parameter_names because no time depends on them. Absent: unknown.
  std::optional<Expression> footprint = {};
  // The bytes from the beginning of an array at which a thread accesses it: over parameters, launch
  // dimensions, the counters of the repeats around it, and the thread (see Item::threads). Absent: unknown.
  std::optional<Expression> address = {};
  // The array, one of KernelProgram::arrays; empty: not known.
  std::string array = {};
  // A further request of the instruction whose first one is the access before it: of wmma.load and wmma.store. Models of
  // single instructions look at it; to the others both are one access.
  bool continues = false;
  std::string note;  // "atomic", "cp.async", "generic address, taken as global", …; empty: none
  // Its place among the loads, or among the stores, of the program as written, from 1; 0 but in programs with_places()
  // (memory_durations.h). Not in the file.
  int place = 0;
  friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
};

// Whether it is an atomic, or a reduction: its note says so.
bool is_atomic(const MemoryAccess& access);
// Whether all blocks of a launch access the same places: the address is known, and does not depend on the block.
bool is_of_all_blocks(const MemoryAccess& access);
// Whether it is an asynchronous copy to shared memory: a store in the program, a load of device memory to the hardware.
bool is_asynchronous_copy(const MemoryAccess& access);

struct Item;
using Items = std::vector<Item>;

struct Repeat {  // `repeat: K` with `body`; `counter: i` names a variable that counts 0, 1, … for expressions
                 // in the body
  Expression count;
  std::string counter;  // may be empty
  Items body;
  // The iterations of one thread, where threads have different ones: a warp makes as many as its thread with
  // most.
  std::optional<Expression> per_thread = {};
  // The pieces in which the machine code executes the iterations, the longest first; empty: one by one.
  std::vector<UnrolledPiece> unrolled = {};
  // Where data decide the iterations, and a profile says how warps differ (profiled_program.h). Not in the file.
  std::optional<IterationSpread> spread = {};
  friend bool operator==(const Repeat& a, const Repeat& b);
};
struct When {  // `when: k < L - 1` with `then`, `else`
  Expression condition;
  Items then_items;
  Items else_items;
  // Where blocks differ: the threads that take `then`; the others take `else`. `condition` then is what a
  // program without a launch takes.
  std::optional<Expression> then_threads = {};
  friend bool operator==(const When& a, const When& b);
};

struct Item {
  std::variant<Calculation, Instructions, MemoryAccess, Repeat, When> what;
  LineSet lines = {};  // of the source (.cu), `lines`; may be empty
  LineSet ptx = {};    // of the PTX, `ptx`; may be empty
  // The threads that execute it, of those that execute what is around it: a condition over threadIdx,
  // blockIdx and what counts may use. A warp executes it where one of its threads does. Absent: all. A
  // program that is flattened without a launch executes every item.
  std::optional<Expression> threads = {};
  // Whether warps without such threads execute one instruction in its place: a predicated instruction.
  bool predicated = false;
  // The share of the warps that execute it, a parameter with a share (see Parameter); empty: all.
  std::vector<std::string> shares = {};
  // The machine instructions of one execution, those of what is nested in it apart: an estimate, which no
  // model of the paper's reads. Null: not known.
  std::shared_ptr<const MachineWork> machine = {};
  // Nor do they read this. Null: not known.
  std::shared_ptr<const ItemDetail> detail = {};
  friend bool operator==(const Item& a, const Item& b);
};

// Whether it loads from device memory; an atomic that returns what was there does, too.
inline bool is_load(const Item& item) {
  const auto* access = std::get_if<MemoryAccess>(&item.what);
  return access != nullptr && access->kind == MemoryAccess::Kind::load;
}

// Whether it says what it needs, be it nothing: what `--machine` and `--estimate-machine` write does.
inline bool has_dependences(const Item& item) {
  return item.detail != nullptr || (item.machine != nullptr && item.machine->cycles > 0);
}

struct Parameter {
  std::string name;
  std::string description;  // "argument 0 (int K)", "blockDim.x", "trips of the loop at mtx.cu:12", …
  // Where loaded data decide a branch: the share of the warps, 0 to 1, that take it if nobody says better.
  std::optional<double> share = {};
  int ptx_line = 0;  // of that branch or access, in the PTX; 0: unknown
  // Of the threads of such a warp: how many take it. Only programs of which with_profile() was asked for what is typical say so.
  // Not in the file.
  double threads = 1;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// An array in device memory that the kernel accesses.
struct Array {
  std::string name;                        // of the argument or module variable
  std::string description;                 // "argument 0 (const float* in)", "module variable"
  std::optional<std::int64_t> bytes = {};  // of a module variable
  friend bool operator==(const Array&, const Array&) = default;
};

struct Assumption {
  int line = 0;      // of the source; 0: unknown
  int ptx_line = 0;  // of the PTX; 0: unknown
  std::string text;  // "`id >= N` does not return: the guard is taken to pass"
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

// What the analyzer assumes of a loop whose count is known: at its item, and at a branch in its body.
inline constexpr std::string_view kMayBeLeftEarly =
    "the loop may be left early, which data decide: taken to run to its end";
inline constexpr std::string_view kMayBeLeftEarlyHere =
    "the loop may be left early here, which data or threads decide: taken to run to its end";
inline constexpr std::string_view kDataMayLeaveHere =
    "the loop may be left early here, which data decide: taken to run to its end";
inline constexpr std::string_view kDifferentDataLeaveHere =
    "the loop may be left early here, where data differ: taken to run to its end";

// Where a program that `analyze` wrote came from; all empty for one written by hand.
struct Provenance {
  std::string kernel;    // the source's name: mtx
  std::string symbol;    // the PTX's name: _Z3mtxiiPfS_S_
  std::string source;    // mtx.cu
  std::string compiler;  // "clang 19.1.7", "nvcc 13.0.88"
  std::string target;    // sm_75
  std::string flags;     // as given: "-O3 --rolled"
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// The resources of an SM that a thread and a block of the kernel take, and the block sizes that it was
// compiled for: see occupancy.h.
struct KernelResources {
  std::optional<int> registers_per_thread;  // absent: not known
  std::int64_t shared_bytes_static = 0;     // of a block, declared in the kernel
  std::int64_t shared_bytes_dynamic = 0;    // of a block, requested at the launch
  bool dynamic_shared_unknown = false;      // it uses dynamic shared memory of unknown size
  std::optional<int> max_threads;           // .maxntid: the maximum number of threads of a block
  std::optional<int> required_threads;      // .reqntid: the threads of a block
  std::optional<int>
      min_blocks_per_sm;  // .minnctapersm: the occupancy that the compiler limited registers for
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

struct KernelProgram {
  static constexpr int format_version = 3;
  Provenance provenance;
  std::string description;
  std::vector<Parameter> parameters;  // declared; optional in a hand-written program
  std::vector<Array> arrays;          // that accesses name; optional
  std::vector<Assumption> assumptions;
  std::vector<std::string> not_modelled;              // what the kernel uses and the model ignores, in words
  std::optional<std::int64_t> instructions_modelled;  // of the kernel's static instructions, …
  std::optional<std::int64_t> instructions_total;     // … of how many
  std::optional<KernelResources> resources;           // absent: none that is known
  // Registers of a thread that ptxas may give it, where `resources` has none. No model of time reads them. In the file they
  // are `resources: {registers: 34, registers_estimated: true}`.
  std::optional<int> estimated_registers;
  // The block (x, y, z) that its patterns and counts are computed for; absent: they hold for every block.
  std::optional<std::array<std::int64_t, 3>> block_shape;
  Items program;
  friend bool operator==(const KernelProgram& a, const KernelProgram& b);
};

// The declared parameters, then the other names that its expressions use (without counters), in order of
// appearance.
std::vector<std::string> parameter_names(const KernelProgram& program);
// Only the names that its expressions use (without counters), in order of appearance: make_schedule needs a
// value for each. Names of shares are not among them.
std::vector<std::string> used_names(const KernelProgram& program);

// Reads one YAML (or JSON) stream of one or more kernel programs. `file` is for the diagnostics, which carry
// line and column. Errors: not YAML, an unknown item or key, a negative constant duration or count, an
// expression that does not parse, a newer format version, nesting deeper than 200.
Result<std::vector<KernelProgram>> read_kernel_programs(std::string_view text, const std::string& file);

// What read_kernel_programs reads back to an equal value; several programs are several YAML documents.
std::string to_yaml(const KernelProgram& program);
std::string to_yaml(const std::vector<KernelProgram>& programs);
void append_yaml(const KernelProgram& program, std::string& out);
std::string to_json(const std::vector<KernelProgram>& programs);  // an object for one, an array for several

}  // namespace warptime
