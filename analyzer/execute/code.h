// The decoded form of PTX that the executor runs. Registers are slots of 32 lanes, 64 bits each; constants
// and special registers are slots of other banks, so that an instruction reads its operands all alike.
// Predicates are masks of 32 lanes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/execute/execute.h"
#include "analyzer/execute/types.h"

namespace warptime::execute {

// In lists of registers that an instruction reads and writes: a predicate.
inline constexpr std::uint32_t predicate_mark = 0x80000000;

constexpr std::uint32_t lanes_of_warp = 32;
constexpr std::uint32_t full_mask = 0xffffffff;

struct Warp;
struct DecodedInstruction;
// Does an instruction for the lanes of `mask`, which is not empty.
using Handler = void (*)(Warp& warp, const DecodedInstruction& op, std::uint32_t mask);

enum class Bank : std::uint8_t { registers, constants, specials };

// A slot of some bank.
struct Ref {
  std::uint32_t bits = 0;
  Ref() = default;
  Ref(Bank bank, std::uint32_t slot) : bits(static_cast<std::uint32_t>(bank) << 30 | slot) {}
  std::uint32_t bank() const { return bits >> 30; }
  std::uint32_t slot() const { return bits & 0x3fffffff; }
};

// A predicate as a source; `index` 0 is always false, so that !0 is true.
struct PredicateRef {
  std::uint32_t index = 0;
  bool negated = false;
};

// Where an address leads before it is looked at.
enum class Space : std::uint8_t { global, constant, shared, local, param, generic };

// What the base of an address is relative to.
enum class Base : std::uint8_t { none, frame_local, frame_param };

enum class Control : std::uint8_t {
  none,
  branch,           // extra: target op
  indirect_branch,  // a: index; extra: into FunctionCode::target_lists
  call,             // extra: into FunctionCode::calls
  ret,
  exit,
  trap,
  barrier,  // extra: into FunctionCode::barriers
};

struct DecodedInstruction {
  Handler run = nullptr;
  Control control = Control::none;
  Space space = Space::global;
  Base base = Base::none;
  bool guard_negated = false;
  bool memory_role = false;       // a load or store period where it points to global memory
  bool strong = false;            // .volatile, .relaxed, .acquire, …: no race with others of its kind
  bool has_members = false;       // e: the member mask of a .sync
  bool polls = false;             // reads what other threads write: loops of it may wait for them
  bool acquires = false;          // .acquire, .acq_rel
  bool releases = false;          // .release, .acq_rel
  bool accesses = false;          // memory: not done a second time to see what depends on a value
  bool moves = false;             // bytes within registers: shifts, masks, conversions
  bool copies = false;            // what it reads may be undefined, and is known to be so where it goes
  Role role = Role::calculation;  // then
  std::uint8_t count = 1;         // of vector elements
  std::uint8_t detail = 0;        // what the handler likes: rounding, a table, …
  std::uint16_t bytes = 0;        // per element
  std::uint32_t guard = 0;        // predicate; 0: none
  Ref d, d2, a, b, c, e;
  PredicateRef p, q;             // source predicates
  std::uint32_t pd = 0, pq = 0;  // destination predicates; 0: none
  std::uint32_t extra = 0;       // into a side table
  std::uint64_t immediate = 0;   // offset in bytes
  // Where its address may point to, a bit for each: of global memory the kernel's pointer parameters, of shared
  // memory FunctionCode::shared_arrays. All bits: unknown.
  std::uint32_t owners = 0xffffffff;
  std::uint32_t reconverge = 0;                    // of branches: where the sides meet
  std::uint32_t reads_first = 0, reads_count = 0;  // into FunctionCode::touched: register slots
  std::uint32_t writes_first = 0, writes_count = 0;
};

// The place of a variable in the frame of a function, or in a block's shared memory.
struct Placed {
  Space space = Space::global;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct CallSite {
  struct Passed {
    bool is_register = false;  // of the caller
    bool predicate = false;
    Ref source;
    std::uint32_t predicate_index = 0;
    std::uint64_t offset = 0;  // of a .param variable, within the caller's frame
    std::uint64_t bytes = 0;
  };
  std::vector<Passed> arguments, results;
  bool indirect = false;
  std::uint32_t target = 0;  // Module::functions
  std::string external;      // vprintf, __assertfail; empty: a function with a body
};

struct BarrierSite {
  enum class Kind : std::uint8_t { sync, arrive, reduce_popc, reduce_and, reduce_or } kind = Kind::sync;
  bool aligned = true;
  bool has_count = false;
  Ref id, count;
};

struct FunctionCode {
  std::uint32_t index = 0;  // Module::functions
  bool entry = false;
  std::vector<DecodedInstruction> ops;   // one per instruction
  std::vector<Ref> refs;                 // operands of vectors
  std::vector<std::uint32_t> touched;    // register slots, and predicates with their top bit set
  std::vector<std::uint64_t> constants;  // slot s at [32 s], all lanes alike
  std::vector<std::vector<std::uint32_t>> target_lists;
  std::vector<CallSite> calls;
  std::vector<BarrierSite> barriers;
  std::uint32_t register_slots = 0;
  std::uint32_t predicates = 1;  // 0 is false
  std::uint64_t local_bytes = 0;
  std::uint64_t param_bytes = 0;  // parameters, results, and .param variables of calls
  std::vector<CallSite::Passed> parameters, results;
  std::vector<Placed> variables;  // of Function::variables
  struct SharedArray {
    std::string name;
    std::uint64_t address = 0, bytes = 0;
  };
  struct Choice {  // an address that a selp chose: by lanes, which array it is of
    PredicateRef by;
    std::uint32_t yes = 0, no = 0;  // as DecodedInstruction::owners
  };
  std::map<std::uint32_t, Choice> choices;  // by instruction
  std::vector<SharedArray> shared_arrays;   // that addresses are computed from; at most 31
};

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  clock,
  zero,
  one,
};

struct GlobalVariable {
  std::uint32_t index = 0;  // Module::variables, or of a function
  const ptx::Variable* variable = nullptr;
  std::string name;
  std::uint64_t offset = 0;  // from the start of the module's variables
  std::uint64_t bytes = 0;
  bool constant = false;
};

struct Program {
  const ptx::Module* module = nullptr;
  std::string file;
  std::uint32_t kernel = 0;
  std::map<std::uint32_t, FunctionCode> functions;  // by index in the module
  std::vector<Placed> module_variables;             // by Module::variables
  std::vector<GlobalVariable> globals;
  std::map<std::string_view, std::uint64_t>
      symbols;                    // global and shared variables, functions: addresses for initialisers
  std::vector<Special> specials;  // slots of that bank
  std::uint64_t globals_bytes = 0;
  std::uint64_t shared_bytes = 0;  // static; dynamic shared memory begins here, aligned to 16
  std::vector<Placed> parameters;  // of the kernel
  std::uint64_t parameter_bytes = 0;
  bool wide = true;  // 64-bit addresses
};

// Addresses. Generic windows of shared, local and parameter memory; global memory is its own window.
struct AddressMap {
  std::uint64_t shared, local, param, functions, global, globals_end;
  static constexpr std::uint64_t window_bytes = std::uint64_t{1} << 24;
};
constexpr AddressMap wide_map = {0x7e0000000000, 0x7d0000000000, 0x7c0000000000,
                                 0x7b0000000000, 0x100000000000, 0x7a0000000000};
constexpr AddressMap narrow_map = {0x01000000, 0x02000000, 0x03000000, 0x04000000, 0x10000000, 0xffff0000};
inline const AddressMap& address_map(bool wide) {
  return wide ? wide_map : narrow_map;
}

// Of a constant whose address may be without the upper half: code with 64-bit addresses can have 32-bit ones in constant memory.
inline std::uint64_t constant_address(const AddressMap& map, std::uint64_t address) {
  constexpr std::uint64_t narrow = std::uint64_t{1} << 32;
  return map.global >= narrow && address < narrow ? map.global + address : address;
}

// Parameter space: the kernel's parameters from 0, those of calls from here.
constexpr std::uint64_t call_parameters = 0x100000;

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

}  // namespace warptime::execute
