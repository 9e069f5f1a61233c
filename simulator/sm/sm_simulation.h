// One SM as it runs its blocks of a launch: what its L1 finds, what it asks L2 for, and how long its warps take. Four
// partitions issue a warp's instruction a cycle each; a warp waits where it uses what a load has not brought yet. The
// other SMs are taken to do the same at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/gpu/gpu.h"
#include "simulator/gpu/occupancy.h"
#include "simulator/program/machine_work.h"
#include "simulator/program/warp_trace.h"
#include "simulator/sm/array_places.h"

namespace warptime {

struct SmFigures {
  int partitions = 4;
  std::int64_t l1_bytes = 0;          // beside the shared memory
  std::int64_t unified_l1_bytes = 0;  // with it; 0: l1_bytes
  // Cycles from the issue of a load to its use: where L1 has it, L2, memory, and where a thread has just stored it.
  double shared_latency = 0;  // of a load from shared memory without conflicts
  double l1_latency = 0, l2_latency = 0, memory_latency = 0, stored_latency = 0;
  // Cycles that the farthest slice of L2 takes longer than the mean of all, and the nearest less; and that loads of this SM
  // take longer than those of others.
  double slice_way = 0, sm_way = 0;
  // Cycles that a store to part of a sector waits for others of its warp to the same sector.
  double store_wait = 0;
  // Cycles that one sector takes of this SM's share of L2's and of memory's bandwidth.
  double l2_sector_cycles = 0, memory_sector_cycles = 0;
  double l2_sector_cycles_alone = 0;  // the least of L2's, with no other SM at work
  // The least cycles for which an access of a warp to L1 or shared memory, or a shuffle, holds them: two where an SM has
  // 16 units for loads and stores.
  double request_cycles = 1;
  // Cycles for which an instruction of a warp holds its pipe, of a partition.
  std::array<double, kPipes> pipe_cycles{};
  // Of a barrier: from the last arrival until its warps go on, and for which each arrival holds the SM's barrier unit.
  double barrier_latency = 0, barrier_warp_cycles = 0;
  // Between the starts of two blocks on this SM, and of two warps of a block.
  double block_start_cycles = 0, warp_start_cycles = 0;
  double atomic_thread_cycles = 0;  // for which an atomic of one thread holds its address, in L2
  // Of loads of constants whose addresses differ by thread: until the result for one address, for each further one, and
  // for which each address holds the SM's constant cache.
  double constant_latency = 0, constant_way_latency = 0, constant_way_cycles = 0;
};

// What the SM waits for, when no partition issues.
enum class SmWait : std::uint8_t {
  issue,    // nothing: a partition issues
  pipe,     // a pipe that takes more than a cycle for an instruction of a warp
  chain,    // a result of an instruction before
  on_chip,  // L1, shared memory, constants
  l2,       // L2's bandwidth
  memory,   // the memory's bandwidth
  latency,  // of L2 and memory: too few loads are under way
  atomic,   // atomics on one address
  barrier,  // the last warp of the block
  blocks,   // the start of a block
};
inline constexpr std::size_t kSmWaits = 10;

// L1 and shared memory together, by compute capability (CUDA C++ Programming Guide, 20.4 to 20.10).
std::int64_t unified_l1_bytes(ComputeCapability compute_capability);
// The part of them that is shared memory while blocks of a kernel run. The driver chooses it, and does not say how: on an
// H100 it is the smallest configuration that holds twice as many blocks as registers and warps allow (as many, of blocks
// of 1,024 threads), but no more than 132 of 256 KiB unless the blocks that can run need more (data/development).
std::int64_t shared_configuration(ComputeCapability compute_capability, const Occupancy& occupancy,
                                  std::int64_t threads_per_block);

// Warp schedulers of an SM.
int sm_partitions(ComputeCapability compute_capability);

// Of a GPU with `active_sms` at work, for a kernel with this occupancy.
SmFigures sm_figures(const Gpu& gpu, const Occupancy& occupancy, std::int64_t threads_per_block,
                     std::int64_t active_sms);

class SmListener;

// Of an address in lines, to the number of the lines that share a slice of L2's atomics.
inline constexpr int kAtomicSliceShift = 2;

// Which blocks SMs get that start before others end: in turns, in each of which an SM gets one. On an H200 some have as many more as
// make the others' next block one that is eight later, each third turn (data/hardware/h200_block_places.csv). Where blocks differ by
// their number that matters: with turns of 132, and rows of 16, an SM would have a block in each part of the row.
struct BlockTurns {
  std::int64_t every = 0, later = 0;  // 0: never

  // Of the SM with that first block, by turn.
  std::int64_t block(std::int64_t sm, std::int64_t sms, std::int64_t turn) const {
    return sm + turn * sms + (every > 0 ? turn / every * later : 0);
  }
  // How many blocks of a launch an SM has.
  std::int64_t count(std::int64_t sm, std::int64_t sms, std::int64_t blocks) const;
  // The SM of a block, by its first one; of those that are nobody's, an SM with the blocks around it.
  std::int64_t sm_of(std::int64_t block_number, std::int64_t sms) const;
  bool operator==(const BlockTurns&) const = default;
};

BlockTurns block_turns(ComputeCapability compute_capability);

struct SmOptions {
  std::int64_t active_blocks = 1;  // at once
  std::int64_t sms = 1;            // of the GPU
  std::int64_t sm = 0;             // this one: its first block
  std::int64_t most_blocks = 0;    // that this one has; 0: all those
  BlockTurns turns;                // which blocks
  // Blocks of later waves, which start where others end, are any of their wave.
  bool shuffled = false;
  bool keep_reads = false;              // for SmRun::reads
  const ArrayPlaces* places = nullptr;  // none: each array is an allocation of its own
  // The share of the sectors that miss L1 and that nobody on this SM has asked for before, which memory must give.
  double from_memory = 1;
  double from_memory_of_all =
      1;                        // the same of accesses whose places depend on no block: all SMs ask for these
  double new_at_l2 = 1;         // the share of what the launch accesses that L2 has not when it begins
  bool atomics_shared = false;  // blocks share lines of atomics, also those of which this SM has only one
  double atomic_sms = 1;        // on average, that access a line whose atomics blocks share
  double atomic_slices = 0;     // of L2, in which the launch's atomics are; 0: not known
  double active_sms = 1;        // that have blocks
  // Of an SM with a block more than others: what it has executed when those end, in instructions as SmCounts has them (0: none has
  // less), and the part of the active SMs that then is left to share the bandwidth.
  double even_instructions = 0, left_sms = 1;
  // The bytes of L2 that accesses at random find again: of what goes over more, the others are memory's each time.
  double random_bytes_at_l2 = 0;
  // The bytes that L2 can read for this SM until it has no more of what the SM read before; 0: all of the launch stays there.
  double bytes_at_l2 = 0;
  // The same, after which L2 has written a line back that was stored to.
  double written_back_bytes = 0;
  // The bytes of L2 that this SM has a part in, in which its local memory and what else it accesses take turns; 0: there is room for all.
  double local_bytes_at_l2 = 0;
  double local_to_memory =
      0;                   // the share of the sectors of local memory that are stored that memory must take
  double reads_at_l2 = 1;  // the share of the reads that reaches L2: those of neighbours are joined
  double mixed = 0;        // writes of memory for a read, or the other way round, whichever is less
  double to_memory = 0;    // the share of the sectors that are stored that memory must take
  std::int64_t most_accesses =
      30'000;  // of warps that are simulated; what is left is taken to go on as before
  // The first blocks are found at work, each at another place, as those of later waves are: they start where others end.
  bool in_the_middle = false;
  // Other SMs ask for what this one asks for at the same time: what is new to it is on its way from memory, whoever asked first.
  bool leads = false;
  double begin =
      0;  // without in_the_middle: the part of their work that the first blocks have behind them, 0 to 1
  bool code_in_cache =
      true;  // the SM has the code when the launch begins, as far as its instruction cache holds it
  SmListener* listener = nullptr;  // sm_listener.h
  // The run is known, and simulated for the listener alone: until that has enough.
  bool known_run = false;
};

struct SmCounts {
  double instructions = 0;                 // of the program, as WarpTotals::instructions
  double load_sectors = 0, load_hits = 0;  // of L1; hits are found there, or are on their way
  double store_sectors = 0, store_hits = 0, merged_sectors = 0;  // merged: with others, before they leave L1
  double atomic_sectors = 0;
  double local_load_sectors = 0, local_load_hits = 0, local_store_sectors = 0, local_store_hits = 0;
  double local_read_sectors = 0,
         local_written_sectors = 0;  // of local memory, by memory: L2 has not room for all
  double shared_load_conflicts = 0, shared_store_conflicts = 0;
  double exchange_rounds =
      0;  // of additions of floating-point numbers in shared memory, beyond the first of each warp
  // The same as if each address that is not known lay in a sector of its own, as far as the pattern says.
  double load_pattern_sectors = 0, store_pattern_sectors = 0, atomic_pattern_sectors = 0;
  double unknown_sectors = 0;   // of accesses whose addresses are not known
  double profiled_sectors = 0;  // of those whose addresses a profile stands for
  // Of these: what L2 has not, since they go over more bytes than it holds.
  double random_load_sectors = 0, random_store_sectors = 0;
  // Sectors that are stored to for the first time, and those that stores leave in part.
  double first_store_sectors = 0, partial_store_sectors = 0;
  // Of accesses with a profile, the pieces that L2 had before, and has no more.
  double again_load_pieces = 0, again_store_pieces = 0;
  // That this SM has not read before, in the pieces of 64 bytes that memory gives.
  double first_bytes = 0;
  double first_of_all_bytes = 0;    // of these, by accesses whose places depend on no block
  double reread_bytes = 0;          // of these, what it had read before, and L2 has no more
  double atomic_first_sectors = 0;  // of atomics, that this SM has not asked for before
  double rewritten_sectors = 0;     // that it had stored to before, and L2 has written back since
  void add(const SmCounts& other, double times);
};

// What one instruction of a warp asks L2 for.
struct L2Read {
  std::uint64_t key = 0;  // the same for what asks for the same, by blocks that start in the same wave
  double time = 0, latency = 0;
  int lines = 0, sectors = 0;
};

struct SmRun {
  SmCounts counts;       // of what was simulated
  SmCounts second_half;  // of the second half of it, where it is cut
  double cycles = 0, second_half_cycles = 0;
  std::array<double, kSmWaits> waits{}, second_half_waits{};  // the cycles, by what the SM waited for
  std::int64_t accesses = 0;
  std::int64_t blocks = 0;  // that were started
  bool complete = false;    // all blocks of this SM ran to their ends
  double local_left_sectors =
      0;  // of local memory, that were stored, and that L2 has not written back at the end
  std::vector<L2Read> reads;
};

SmRun run_sm(const LaunchTrace& launch, const SmFigures& figures, const SmOptions& options);

// A hash of what warps execute.
class LaunchSignature {
 public:
  void add(std::uint64_t word) {
    for (std::uint64_t& half : value) {
      half = (half ^ word) * 0x9e3779b97f4a7c15U;
      half ^= half >> 29;
      word = ~word;
    }
  }
  std::array<std::uint64_t, 2> value{0, 1};
};
// Adds what some warps of these blocks execute, with the lines that they access from the first line of each array on:
// blocks of another launch with the same signature are taken to do the same.
void sign_blocks(const LaunchTrace& launch, const SmOptions& options, std::span<const std::int64_t> blocks,
                 LaunchSignature& signature);

}  // namespace warptime
