// Executes PTX on the CPU: the reference for everything that the rest of the analyzer derives without
// executing. Functional, not timed: the threads of a warp run in lockstep while their program counters are equal;
// sides of a branch run one after another (the fall-through side first) and meet again at immediate
// post-dominators. Threads that wait for others of their warp, at a barrier, at a .sync or in a loop that polls,
// let those go on, as with the independent thread scheduling of Volta and later GPUs. Blocks run one after
// another, the warps of a block in rotation between barriers; where all that can run poll in vain, later blocks
// begin, as many as a large GPU holds.
//
//   load → Code (decoded once);  Memory (buffers, the module's variables);  run → Execution (findings, counts)
//
// Not executed, and an error before anything runs: textures and surfaces, matrix instructions, clusters and
// bulk copies. Approximate instructions (sin.approx, …) give the correctly rounded double result as f32,
// which hardware need not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/module.h"
#include "simulator/base/diagnostic.h"
#include "simulator/program/kernel_program.h"
#include "simulator/program/schedule.h"

namespace warptime::execute {

// ---- code -------------------------------------------------------------------------------------------------

// A kernel and every function it may call, decoded. Points into the module, which must outlive it.
struct Program;
using Code = std::shared_ptr<const Program>;

// `kernel`: index into Module::functions. `file`: the PTX's name, for diagnostics. Errors, each with its PTX
// line: an instruction that is not supported, an operand that does not fit, a call of a function without a
// body, control flow that build_cfg rejects.
Result<Code> load(const ptx::Module& module, std::uint32_t kernel, const std::string& file);

// The kernel with this name in the source or in the PTX; with an empty name, the only kernel. Errors: no such
// kernel, or several.
Result<std::uint32_t> find_kernel(const ptx::Module& module, std::string_view name, const std::string& file);

// A parameter of a kernel.
struct ParameterInfo {
  std::string name;  // in the PTX
  std::string type;  // u32, f32, b8 (an array of bytes: a struct by value)
  std::uint64_t bytes = 0;
};
std::vector<ParameterInfo> parameters(const Program& program);
// The variables in constant memory, and whether PTX gives their values: the host fills the others.
struct ConstantVariable {
  std::string name;
  std::uint64_t bytes = 0;
  bool initialised = false;
};
std::vector<ConstantVariable> constant_variables(const Program& program);
// Static shared memory of one block in bytes, without the dynamic shared memory of the launch.
std::uint64_t static_shared_bytes(const Program& program);

// ---- memory -----------------------------------------------------------------------------------------------

// The device's global and constant memory: named buffers with bounds, far enough apart that an address past
// the end of one is in no other. Lives longer than a launch, as on a device.
class Memory {
 public:
  enum class Contents : std::uint8_t { zeros, uninitialised };
  struct Buffer;

  // With the module's .global and .const variables, initialised. Errors: an initialiser that is not
  // understood, too much memory.
  static Result<Memory> create(const Program& program, std::uint64_t limit_bytes = std::uint64_t{1} << 33);
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory&&) noexcept;
  ~Memory();

  // Errors: more than limit_bytes in all. Gives the buffer's number.
  Result<std::uint32_t> allocate(std::string name, std::uint64_t bytes, Contents contents = Contents::zeros);
  Result<std::uint32_t> allocate(std::string name, std::span<const std::byte> contents);
  // The number of a buffer or module variable.
  std::optional<std::uint32_t> find(std::string_view name) const;

  std::span<std::byte> bytes(std::uint32_t buffer);
  std::span<const std::byte> bytes(std::uint32_t buffer) const;
  std::uint64_t address(std::uint32_t buffer) const;  // in the device's global space
  const std::string& name(std::uint32_t buffer) const;
  // Whether every byte was initialised, or written since.
  bool initialised(std::uint32_t buffer) const;
  // From now on its bytes from `first` on count as never written.
  void forget(std::uint32_t buffer, std::uint64_t first = 0);

  template <class T>
  std::vector<T> values(std::uint32_t buffer) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto from = bytes(buffer);
    std::vector<T> result(from.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), from.data(), result.size() * sizeof(T));
    return result;
  }

  struct State;
  State& state() { return *state_; }

 private:
  explicit Memory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A kernel argument as the bytes of its parameter.
using Argument = std::vector<std::byte>;

template <class T>
Argument scalar(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  Argument argument(sizeof(T));
  std::memcpy(argument.data(), &value, sizeof(T));
  return argument;
}
// 8, or 4 of a module with 32-bit addresses.
std::uint64_t pointer_bytes(const Program& program);
// A pointer to byte `offset` of a buffer; as wide as the module's addresses.
Argument pointer(const Program& program, const Memory& memory, std::uint32_t buffer,
                 std::uint64_t offset = 0);

// ---- launch -----------------------------------------------------------------------------------------------

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchConfig {
  Dimensions grid, block;
  std::uint64_t dynamic_shared_bytes = 0;
};

struct Checks {
  bool uninitialised_memory =
      true;  // reads of bytes that were never written (buffers declared uninitialised, shared, local)
  bool uninitialised_registers =
      false;  // for hand-written PTX; compilers read registers without a value on purpose
  bool shared_races =
      true;  // accesses that nothing orders: by warps, and by lanes of one store with different values
  bool same_value_races = true;  // warps that store what is there already
  bool warp_races = true;        // threads of one warp, without __syncwarp()
  bool unwaited_copies = true;   // cp.async
  bool other_buffers = true;     // accesses outside of what the address was computed from

  // Only what cannot be executed.
  static Checks none() { return {false, false, false, false, false, false, false}; }
  bool shared_accesses() const { return shared_races || same_value_races || warp_races || unwaited_copies; }
};

struct Options {
  Checks checks;
  std::uint64_t instruction_budget = 10'000'000'000;  // warp instructions, all warps together
  bool stop =
      true;  // at the first finding after which the result is meaningless; otherwise such reads give zeros
  std::size_t most_findings = 100;              // different ones
  std::uint32_t most_frames = 256;              // nested calls
  std::uint64_t sample_blocks = 0;              // executed ones (BlockSample); 0: all
  std::function<void(std::string_view)> print;  // what vprintf writes; empty: to Execution::printed
};

struct Finding {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    read_only,  // a write to constant or parameter memory
    uninitialised_memory,
    uninitialised_register,
    shared_race,
    same_value_race,    // of warps that store the same value: a warning
    warp_race,          // between threads of a warp, whom hardware need not execute in lockstep
    unwaited_copy,      // an access to what a cp.async writes, before its thread waited for it
    other_buffer,       // an address computed from one buffer or shared array that lies in another
    divergent_barrier,  // threads of a warp at different instructions of a barrier that is for whole warps
    divergent_warp,     // a warp-wide instruction whose member mask names threads that are elsewhere
    deadlock,
    assertion,    // __assertfail, trap
    bad_operand,  // a call or branch through a register without a target, too many frames, an unknown barrier
    budget,       // the instruction budget is spent
  };
  Kind kind = Kind::out_of_bounds;
  std::string message;
  std::uint32_t function = 0, instruction = 0;  // indices into Module::functions, Function::instructions
  std::uint32_t ptx_line = 0;
  std::uint32_t source_file = 0, source_line = 0;  // .file number and line; 0: unknown
  std::array<std::uint32_t, 3> block{}, thread{};  // of the first occurrence
  std::uint64_t count = 1;                         // occurrences at this instruction
};

// Whether execution cannot continue after it.
bool fatal(Finding::Kind kind);
// Whether the kernel's results may be right in spite of it: a warning of lower kind, that is no failure.
bool minor(Finding::Kind kind);
// `file`: the PTX's name. The .cu line, if there is one, is in the message.
Diagnostic to_diagnostic(const Finding& finding, const ptx::Module& module, const std::string& file);

struct Counts {
  std::uint64_t instructions = 0;       // executed by warps
  std::uint64_t lane_instructions = 0;  // performed by threads
  std::uint64_t loads = 0, stores = 0;  // memory access periods of all warps
  std::uint64_t blocks = 0, warps = 0;
};

struct Execution {
  bool completed = false;  // every thread ran to its end
  std::vector<Finding> findings;
  std::uint64_t findings_left_out = 0;
  Counts counts;
  std::string printed;  // by vprintf
};

// ---- the executed instruction stream ----------------------------------------------------------------------

// The kind of an executed instruction in a kernel program, by the addresses that it really accessed.
enum class Role : std::uint8_t {
  none,         // the kernel's unguarded ret or exit
  calculation,  // everything else; also a memory instruction whose guard was false in all active lanes
  load,         // global loads; atomics that return a value
  store,        // global stores, reductions, asynchronous copies
};

struct WarpId {
  std::uint64_t block = 0;  // x + nctaid.x * (y + nctaid.y * z)
  std::uint32_t warp = 0;   // within the block
  friend bool operator==(const WarpId&, const WarpId&) = default;
};

struct ExecutedInstruction {
  std::uint32_t function = 0, instruction = 0;  // indices into Module::functions, Function::instructions
  std::uint32_t active = 0;                     // lanes that executed it
  std::uint32_t performed = 0;                  // those whose guard was true
  Role role = Role::calculation;
  std::uint32_t bytes = 0;  // per lane, of an access whose addresses follow
  // Of a load or store: the global addresses of the performing lanes that point to global memory, by lane,
  // and which lanes those are. Of calculation that accesses shared memory: the same for it, addresses as the
  // instruction has them, which may be generic. Of one that loads from constant memory: the same for that.
  const std::uint64_t* addresses = nullptr;
  std::uint32_t global_lanes = 0;
  std::uint32_t shared_lanes = 0;
  std::uint32_t constant_lanes = 0;
};

class ExecutionListener {
 public:
  virtual ~ExecutionListener() = default;
  virtual bool wants(const WarpId& warp) = 0;  // asked once per warp
  virtual void executed(const WarpId& warp, const ExecutedInstruction& instruction) = 0;
};

// Executes a launch. Errors: arguments that do not fit the parameters, dimensions that no device takes or
// that the kernel forbids (.reqntid, .maxntid), too much shared memory. Errors of the kernel itself are
// findings.
Result<Execution> run(const Program& program, Memory& memory, const LaunchConfig& launch,
                      const std::vector<Argument>& arguments, const Options& options,
                      ExecutionListener* listener = nullptr);

struct Stream {
  struct Entry {
    std::uint32_t function = 0, instruction = 0;
    std::uint32_t active = 0, performed = 0;
    Role role = Role::calculation;
    std::uint32_t bytes = 0;
    std::uint64_t first_address = 0;  // into addresses
    std::uint32_t address_count = 0;
  };
  std::vector<Entry> entries;
  std::vector<std::uint64_t> addresses;  // in lane order
  bool truncated = false;
};

// Keeps the streams of chosen warps, up to `limit` instructions each.
class StreamRecorder : public ExecutionListener {
 public:
  explicit StreamRecorder(std::vector<WarpId> warps, std::uint64_t limit = std::uint64_t{1} << 22);
  bool wants(const WarpId& warp) override;
  void executed(const WarpId& warp, const ExecutedInstruction& instruction) override;
  const Stream& stream(std::size_t which = 0) const { return streams_[which]; }

 private:
  std::vector<WarpId> warps_;
  std::uint64_t limit_;
  std::vector<Stream> streams_;
  std::size_t current_ = 0;
};

// The bytes of global memory that a whole launch accessed: a bit for each byte of each accessed page.
class FootprintRecorder : public ExecutionListener {
 public:
  bool wants(const WarpId&) override { return true; }
  void executed(const WarpId& warp, const ExecutedInstruction& instruction) override;
  std::uint64_t bytes_at(std::uint32_t function, std::uint32_t instruction) const;  // distinct ones
  std::uint64_t bytes_in_all() const;

 private:
  struct Pages;
  std::unordered_map<std::uint64_t, std::shared_ptr<Pages>> accesses_;  // by function and instruction
};

// One period of a warp: `instructions` of calculation (n - 1 + 10 cycles; Puchala et al. 2022, section 5.3),
// or a memory access.
struct StreamPeriod {
  PeriodKind kind = PeriodKind::calculation;
  std::uint64_t instructions = 0;  // of calculation; 1 of an access
  friend bool operator==(const StreamPeriod&, const StreamPeriod&) = default;
};

// The segmentation of a warp's stream: calculation periods are maximal runs, every global access is a period.
std::vector<StreamPeriod> segment(const Stream& stream);

// The stream as a kernel program: the executed instructions with their lines, and the access patterns of the
// actual addresses.
KernelProgram to_program(const Stream& stream, const ptx::Module& module);

// Number of 32-byte sectors of a request with these addresses.
std::uint32_t sectors(std::span<const std::uint64_t> addresses, std::uint32_t bytes);

}  // namespace warptime::execute
