// The state of one launch while it runs: machine, block, warp; and how handlers reach operands and memory.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/execute/code.h"
#include "analyzer/execute/memory.h"

namespace warptime::execute {

// The last accesses to one byte of shared memory, to find races. A clock is that of the warp (Order::clock); 0:
// none. Of reads, only those that are not strong are kept, and of those in no order the first two warps'.
struct SharedRecord {
  struct Read {
    std::uint32_t clock = 0;
    std::uint16_t thread = 0;  // in the block
    bool several = false;      // threads of its warp
  };
  std::uint32_t write_clock = 0;
  std::uint32_t stamp = 0;  // of the write's instruction; of a cp.async, its group in its thread
  Read reads[2];
  std::uint16_t write_thread = 0;
  bool write_strong = false, copied = false;  // copied: by a cp.async
};

// A clock for each warp of the block: what that warp did up to then comes before.
using Clocks = std::vector<std::uint32_t>;

// What comes before what the threads of a warp do next (races.cc).
struct Order {
  std::uint32_t clock = 1;           // counts what may tell others what came before
  std::uint32_t meeting = 1;         // of all lanes: what they did at earlier clocks is known to all of them
  std::uint32_t settled = 0;         // what any warp did up to this clock comes before
  std::vector<std::uint32_t> lanes;  // [a][b]: a knows what b did before this clock; empty: `meeting` for all
  Clocks known;                      // of the other warps
  Clocks fenced;                     // what came before the last fence; empty: no fence
  Clocks seen;                       // what strong reads since the last fence saw being released
  std::uint32_t copies[32] = {}, copies_done[32] = {};  // groups of cp.async, by lane
};

constexpr std::uint32_t none_index = 0xffffffff;

// A barrier of a block: who has come to it since it last let threads go on.
struct BarrierState {
  std::uint32_t expected_threads = 0;  // 0: every thread that has not ended
  std::uint32_t waiting_threads = 0;   // without those that only arrived
  std::vector<std::uint32_t> lanes;    // by warp: those that came
  std::uint32_t earlier_threads = 0;   // of warps that came again
  std::uint32_t predicate_count = 0;   // of bar.red
  bool used = false, all = true, any = false;
  Clocks known;  // what those that came did before
};

// Threads of a warp that execute together: in the same call, at the same instruction.
struct Group {
  std::uint32_t pc = 0, mask = 0;
  std::uint32_t reconverge = 0;  // where it waits for the others of `meeting`; the end of a function's text
  std::uint32_t meeting = none_index;  // into Warp::meetings; none: the end of the kernel
  std::uint32_t frame = 0;             // into Warp::frames
};

// Where the sides of a branch meet again, or a call returns: threads wait here for those that may still come.
struct Meeting {
  std::uint32_t pc = 0, frame = 0;    // where they go on
  std::uint32_t expected = 0;         // lanes: those that wait, and those that may come
  std::uint32_t arrived = 0;          // those that wait
  std::uint32_t outer = none_index;   // the meeting that they go to next
  std::uint32_t callee = none_index;  // of a call: the frame that they leave
};

// A group that waits for others: at a barrier, or at an instruction of a warp's members (.sync).
struct Waiting {
  Group group;                         // at the instruction
  std::uint32_t members = 0;           // of a .sync
  std::uint32_t barrier = none_index;  // none: a .sync
};

// Registers that hold bytes of memory that nothing has written (undefined.cc): a copy of such bytes is no error, but
// what depends on them is.
struct Undefined {
  struct Value {
    std::uint8_t bytes = 0;    // a bit each
    bool computed = false;     // not a copy: depends on them
    std::uint32_t origin = 0;  // the load
  };
  std::unordered_map<std::uint32_t, Value> values;      // by 32 * slot + lane
  std::unordered_map<std::uint32_t, Value> predicates;  // by 32 * predicate + lane
  bool any() const { return !values.empty() || !predicates.empty(); }
};

// One function that threads of a warp are in.
struct Frame {
  const FunctionCode* code = nullptr;
  std::vector<std::uint64_t> registers;
  std::vector<std::uint32_t> predicates;
  std::vector<std::uint32_t> known;  // lanes whose register, then predicate, has a value
  std::uint32_t mask = 0;            // lanes that called it
  Undefined undefined;
  std::uint32_t depth = 1;  // the kernel's is 1
  std::uint64_t local_base = 0, local_end = 0, param_base = 0, param_end = 0;
};

// The last values that a thread's polling read: a loop that reads the same again and again waits for others.
struct Poll {
  std::uint64_t seen = 0;
  std::uint32_t times = 0;
};

struct Machine;
struct Block;

struct LaneMemory {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> valid;
};

enum class AccessKind : std::uint8_t { read, write, atomic };

struct Warp {
  // What handlers read and write.
  const std::uint64_t* banks[3] = {};
  std::uint64_t* registers = nullptr;
  std::uint32_t* predicates = nullptr;
  std::uint32_t carry = 0;  // CC.CF by lane
  std::uint64_t addresses[lanes_of_warp] = {};
  std::uint32_t global_lanes = 0;     // of the last memory instruction: lanes that pointed to global memory
  std::uint32_t shared_lanes = 0;     // of the instruction being done: lanes that pointed to shared memory
  std::uint32_t undefined_bytes = 0;  // of the access that was resolved last: bytes that nothing has written
  const std::byte* stored = nullptr;  // what the store is about to write
  Order order;

  Machine* machine = nullptr;
  Block* block = nullptr;
  std::uint32_t index = 0;  // in the block
  std::uint32_t live = 0;   // lanes that have not ended

  std::deque<Frame> frames;
  std::vector<std::uint32_t> free_frames;
  Frame* current = nullptr;  // of the running group
  std::uint32_t frame_index = 0;
  std::vector<Group> groups;  // those that can run; the last one does
  std::vector<Waiting> waiting;
  std::vector<Meeting> meetings;
  std::vector<std::uint32_t> free_meetings;
  std::array<Poll, 8> polls;
  std::uint32_t long_turns = 0;  // turns that the running group used up since lanes last met
  bool polled_in_vain = false;   // its turn ended so
  std::vector<std::uint64_t> specials;
  LaneMemory local[lanes_of_warp], params[lanes_of_warp];
  enum class State : std::uint8_t { ready, waiting, ended } state = State::ready;
  bool observed = false;
  // The op that is being done, for findings.
  std::uint32_t pc = 0;
  // The buffer that was used last.
  Memory::Buffer* cached = nullptr;

  const std::uint64_t* at(Ref ref) const {
    return banks[ref.bank()] + std::size_t{ref.slot()} * lanes_of_warp;
  }
  std::uint64_t* out(Ref ref) { return registers + std::size_t{ref.slot()} * lanes_of_warp; }
  std::uint32_t predicate(PredicateRef p) const { return predicates[p.index] ^ (p.negated ? full_mask : 0); }
  void set_predicate(std::uint32_t which, std::uint32_t mask, std::uint32_t value) {
    if (which != 0) predicates[which] = (predicates[which] & ~mask) | (value & mask);
  }
  Frame& frame() { return *current; }
  const Frame& frame() const { return *current; }
  const FunctionCode& code() const { return *current->code; }

  // Whether there is a finding of this kind at the current op; it is counted once more. Asked before a
  // message is made.
  bool found_before(Finding::Kind kind);
  // A finding at the current op. Gives whether execution goes on.
  bool fault(Finding::Kind kind, std::uint32_t lane, const std::string& message);
};

struct Block {
  std::uint64_t number = 0;
  Dimensions index;
  std::vector<std::byte> shared;
  std::vector<std::uint8_t> shared_valid;
  std::vector<SharedRecord> records;  // by byte; empty: races are not looked for
  std::vector<std::uint8_t>
      split;                     // by word: each byte has a record of its own, else the first stands for all
  std::uint32_t stamp = 0;       // of the last memory instruction
  std::uint32_t last_clock = 0;  // of the block before
  bool fenced = false;           // any fence or release yet
  std::unordered_map<std::uint64_t, Clocks>
      released;  // by address: what comes before who reads it and fences
  BarrierState barriers[16];
  std::uint32_t live_threads = 0;  // that have not ended
  std::vector<Warp> warps;
};

struct Machine {
  const Program* program = nullptr;
  Memory::State* memory = nullptr;
  const Options* options = nullptr;
  const AddressMap* map = nullptr;
  ExecutionListener* listener = nullptr;
  LaunchConfig launch;
  std::vector<std::byte> parameters;
  Execution result;
  bool stopped = false;
  std::uint64_t budget = 0;  // warp instructions left
  std::size_t frame_bytes = 0;
  std::unordered_map<std::uint64_t, std::string>
      undefined_reads;  // by function and instruction: what to say of it
};

// Calls f(lane) for the lanes of `mask`.
template <class F>
inline void each(std::uint32_t mask, F&& f) {
  if (mask == full_mask) {
    for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) f(lane);
  } else {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
      f(static_cast<std::uint32_t>(std::countr_zero(rest)));
  }
}

// A value as a slot holds it: sign-extended where it is signed. Slots are read by truncation.
template <class T>
constexpr std::uint64_t widen(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  else
    return value;
}
template <class T>
constexpr T narrow(std::uint64_t slot) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(slot));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(slot);
  else
    return static_cast<T>(slot);
}

// The bytes in the host's memory of `bytes` bytes at `address` for `lane`, checked: bounds, alignment,
// initialised where read. Null: a finding was made. Keeps note of the lanes that point to global memory.
std::byte* resolve(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, std::uint64_t address,
                   std::uint32_t bytes, AccessKind access, std::uint32_t element_bytes, Space space);
// Fills warp.addresses from base and offset of `op`, and clears warp.global_lanes.
void find_addresses(Warp& warp, const DecodedInstruction& op, std::uint32_t mask);

}  // namespace warptime::execute
