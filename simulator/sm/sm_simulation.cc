#include "simulator/sm/sm_simulation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "simulator/program/shared_conflicts.h"
#include "simulator/sm/drawn_lines.h"
#include "simulator/sm/line_table.h"
#include "simulator/sm/sector_cache.h"
#include "simulator/sm/slice_distance.h"
#include "simulator/sm/sm_listener.h"

namespace warptime {
namespace {

constexpr std::int64_t kKib = 1024;

// Places of arrays: far enough from each other, and from what stands for unknown addresses.
constexpr int kArrayShift = 36;  // in lines
// In an array, lines that are drawn, and those of one SM.
constexpr std::int64_t kDrawnBegin = std::int64_t{1} << 35;
constexpr int kDrawnShift = 26;
constexpr std::int64_t kStepsOfAccess = 20;  // items for each access of the budget
// Lines that are drawn at random which cost one more access of the budget: any part of them is like the rest.
constexpr std::int64_t kDrawnLines = 8;
constexpr std::int64_t kPatience = 160;  // the same with iterations, and with what has no effect
// Cycles that may be waited for in a queue until what is before it stops as well.
constexpr double kQueue = 500;
// L2 takes fewer sectors than it sends (`warptime measure --device`), and fewer yet of which less than half is written: so much for each
// sector, and for each line that the store has some of (data/hardware/h100_strided_stores.csv).
constexpr double kWriteSectors = 1.9, kPartialWrite = 1.15, kPartialWriteOfLine = 0.97;
// A store to part of a sector waits so many cycles for others of its warp, without those in which L1 is busy with loads or held up
// by L2 (the same measurement, and data/development), and so many for those of other warps, more with each line that it has
// (data/hardware/h100_shared_sectors.csv, and data/development); as long as no more lines wait.
constexpr double kStoreWait = 40, kOthersMeet = 5, kOthersMeetOfLine = 2.9;
constexpr std::int64_t kOpenLines = 28;
// A warp's access follows another at once that is able so few cycles later. Where loads are held up at L1's queue more often in a row,
// those of other warps go first that came before them; stores let others go first, of older blocks too (the order in which 64 warps of
// an SM issue their stores, by their clocks; data/hardware/h200_store_orders.csv).
constexpr double kAtOnce = 4;
constexpr int kPatientStores = 2, kPatientLoads = 6;
// Cycles that a request waits for those of other SMs, by the share of the bandwidth that is in use, u: u / (1 - u) times the first of
// these at the memory and the last at L2; at the memory also u times the second where it writes as much as it reads. The use is
// averaged over kUseSpan cycles (data/hardware/h100_loaded_latency.csv).
constexpr double kMemoryCrowd = 78, kMixedCrowd = 370, kL2Crowd = 27, kUseSpan = 8000, kMostUsed = 0.95;
// How much more of a line that L2 has makes room, by the part of what it keeps that came in between
// (data/hardware/h100_row_strides.csv); and a bit of LineAtL2::sectors: that it was stored to.
constexpr double kUsedAgain = 1.3;
constexpr std::uint8_t kStoredAtL2 = 1 << 4;
// A line of which this SM changes a part in place, before it has asked for the rest: others have that, and wait for memory while this
// part is stored, or the other way round. So many sectors of the memory's bandwidth are lost
// (data/hardware/h200_shared_lines.csv).
constexpr double kSharedLine = 4;
// Rows that threads go along, each its own, are lines apart. Of a sector that memory gave, and a store changed, and which is read at L2
// again, so many sectors of the memory's bandwidth are lost with so many rows under way, and fewer with more
// (data/hardware/h100_stored_rows.csv).
constexpr std::int64_t kRowLines = 2;
constexpr double kInPlace = 82, kInPlaceRows = 4'096;
// A sector that L2 has not, and one store has written a part of: what it takes longer for the second, in turns of a store; none so
// few cycles later (data/hardware/h100_row_copies.csv).
constexpr double kSecondPart = 4.3, kTogetherAtL2 = 1000;
// Of the bytes that L2 has not written back yet, the part for such sectors: each further one takes the place of any of them.
constexpr double kPartsAtL2 = 0.21;
// For which L1 is held by each line of a store to parts of sectors, of which no two are in one line (there, `store`).
constexpr double kLoneStoreCycles = 1.8;
// While this SM asks for less than its share, others take more, and it takes more later: cycles of the share of the memory's and of
// L2's bandwidth that it can have left over. SMs begin in step, and drift apart: no more than this part of the time so far.
constexpr double kMemoryLeft = 2000, kL2Left = 1000, kDrift = 1.0 / 8;
// Cycles from a block's end until another can begin in its place, and for each warp of it; from one of its warps to the next
// (data/hardware/h100_block_turns.csv: 411 to 613 from the last look at the clock to the next block's first, of which some 30 are
// the end of the kernel, and 2 for each warp).
constexpr double kPlaceIsFree = 375, kPlaceOfWarp = 4.5, kWarpStart = 2.2;
// Of L2's latency: half of the difference between its nearest and its farthest slice, and what the SM whose loads take longest
// takes longer than the mean of all, which a launch on all SMs ends with (data/hardware/h100_sm_latencies.csv).
constexpr double kSliceWay = 0.28, kFarthest = 0.07;
constexpr double kAfterStore = 50;  // cycles: a load from L2 of what the thread has just stored
constexpr int kReadModifyWrite =
    4;  // sectors of memory for one that was written in part: a pair is read and written
constexpr double kKept =
    0.5;  // of stored sectors that memory takes: where it is less, L2 puts parts together
// Sectors that L2 could send in the time that it takes for the atomics of a warp in one sector, whose results nothing uses, or
// which go back; and for each further thread in the sector (data/hardware/h100_atomic_rates.csv).
constexpr double kReductionSectors = 2.45, kAtomicSectors = 3.65, kThreadAtSector = 0.17;
// How much longer memory takes to give and take what atomics change than to copy as much.
constexpr double kChangedAtMemory = 1.3;
// Atomics on an H100: those of a warp that access different words of a sector are one turn of the slice of L2 that has
// it, those at one address one each. Sectors of one slice take turns of this part of a sector's own, in floating point of
// which a turn is longer. Lines that are neighbours share a slice.
constexpr double kSliceTurn = 0.83, kFloatTurn = 2.4, kAtomicSlices = 64;
// A sector without its neighbour takes L2 as long as this many do of pairs, and one of memory at random, likewise.
constexpr double kLoneSector = 1.6, kRandomSector = 1.5;
// Of gathers that were profiled (data/development/profiles; 31 kernels that load, each counted once), a request of 32
// threads has 8.2 sectors in the geometric and 12.9 in the arithmetic mean, 0.6 lines for each of these; a quarter are those
// of the request before, and as many again and half of them were asked for by the SM, mostly within the last 64 lines.
constexpr double kGatheredSectors = 12.0 / kLanes, kGatheredLines = 0.6, kGatheredAgain = 0.5;
constexpr std::size_t kRecentlyGathered = 64;
// The bytes of code that an SM keeps, those of an instruction, and the cycles in which L2 gives an instruction that it has not
// (data/hardware/h100_code_lengths.csv: code of 32 KiB is there at the next launch, of 64 KiB not).
// With empty caches, code of no more than kCodeAtStart comes with the start of the kernel.
constexpr double kCodeBytes = 40 << 10, kCodeAtStart = 8 << 10, kInstructionBytes = 16, kFetchCycles = 2.4;
// What data decide is seldom at random: of such accesses so many are taken to be far from what was accessed before.
constexpr double kFarAtRandom = 0.25;
// The cycles of L1 that a line takes once more if it is not there when it is asked for, as those on their way to
// other warps (products of matrices in data/development).
constexpr double kAgain = 0.5;
// What memory's latency is to those that all ask for a line at once: the nearest asks first (data/hardware/h200_cold_chains.csv:
// 0.91 with 132 SMs, 0.98 with eight).
constexpr double kAskedByAll = 0.9;
// Cycles that a partition issues nothing after a load of device memory (data/hardware/h100_l1_mixes.csv); none after one of shared
// memory (h100_issue_mixes.csv).
constexpr double kLoadIssue = 0.8;
constexpr double kPorts = 2;          // of a partition's registers: words of a warp that they read in a cycle
constexpr std::size_t kTagBanks = 4;  // of L1: lines that it looks up at once
// Cycles of L1 that may be waiting when a partition issues one more access.
constexpr double kL1Queue = 32;
// Of arrays of constants that the SM's cache does not hold: cycles more for an address that it does not find, until the
// result and of the cache (data/hardware/h100_memory_rates.csv).
constexpr double kConstantMissLatency = 70, kConstantMissCycles = 27, kConstantBytes = 2 * 1024;
constexpr std::int64_t kConstantLineBytes = 64;  // of that cache (Jia et al. 2018, table 3.1)
// Where the index of a constant is in a register that all threads share (ULDC), each partition has few lines of its own. It
// waits for others one after the other, and longer where more warps than lines take them from each other
// (data/hardware/h100_constant_indices.csv).
constexpr std::size_t kIndexedConstantLines = 5;
constexpr double kIndexedConstantCycles = 50, kPartitionConstantLines = 4, kSharedConstantLines = 8,
                 kLostConstantCycles = 260;
constexpr std::int64_t kUniformConstantBytes = 8;
// Of an addition of floating-point numbers in shared memory, which is a loop (data/hardware/h100_shared_exchanges.csv):
// cycles of a round with 4 and with 8 bytes; those of L1 for the exchange of a round, and how many times as many it takes
// with 8 bytes, and those of a round that fails. Warps that want one address succeed one after another, a part of a round apart:
// with up to 2 warps of the block in a partition, and with 4 or more.
constexpr double kExchangeRound = 95, kWideExchangeRound = 114, kExchangeCycles = 2.6,
                 kWideExchangeTimes = 1.6, kFailedExchange = 1;
constexpr double kFewExchange = 0.9, kManyExchange = 0.47;
constexpr std::int64_t kLocalLines = 1 << 17;  // of a warp: 512 KiB a thread

int sectors_in(std::uint8_t sectors) {  // of a line
  constexpr std::array<std::int8_t, 16> counts = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  return counts[sectors & 15];
}

// The addresses of these threads, in order. Returns how many there are.
std::size_t sort_addresses(const LaneValues& addresses, std::uint32_t threads, LaneValues& sorted) {
  std::size_t count = 0;
  for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1)
    sorted[count++] = addresses[static_cast<std::size_t>(std::countr_zero(rest))];
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

// The lines of constants that an SM or a partition has, or has asked for: those that were used last.
template <std::size_t lines>
class ConstantCache {
 public:
  struct Line {
    std::int64_t number = -1;
    double time = 0;  // from which it is there
  };
  // The line with this number, the latest used one from now on; one without a number before, where it is not there.
  Line& find(std::int64_t number) {
    auto at =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.number == number; });
    if (at == lines_.end()) *--at = Line{};
    std::rotate(lines_.begin(), at, at + 1);
    return lines_.front();
  }

 private:
  std::array<Line, lines> lines_;
};

using SmConstants = ConstantCache<static_cast<std::size_t>(kConstantBytes) / kConstantLineBytes>;

class SmRunner {
 public:
  SmRunner(const LaunchTrace& launch, const SmFigures& figures, const SmOptions& options)
      : launch_(launch),
        common_(launch),
        figures_(figures),
        options_(options),
        l1_(static_cast<std::size_t>(std::max<std::int64_t>(figures.l1_bytes / kLineBytes, 4)),
            static_cast<std::size_t>(figures.unified_l1_bytes / kLineBytes)),
        partitions_(static_cast<std::size_t>(std::max(figures.partitions, 1))) {
    const LaunchSize& size = launch.size();
    warps_per_block_ = size.warps_per_block();
    threads_per_block_ = size.threads_per_block();
    threads_ = threads_per_block_ * launch.blocks();
    place_arrays(launch.nodes());
    fetches_ = code_bytes_ > (options.code_in_cache ? kCodeBytes : kCodeAtStart);
  }

  SmRun run() {
    find_contention(launch_.nodes());
    simulate();
    count_local_left();
    run_.blocks = started_ / warps_per_block_;
    return std::move(run_);
  }

  // Of some of a block's warps: what they execute, with the lines that they access, counted from the first of each
  // array that was seen.
  void sign(std::int64_t block, LaunchSignature& signature) {
    constexpr int most_steps = 300;
    std::int64_t last = -1;
    for (const std::int64_t number : {std::int64_t{0}, warps_per_block_ / 2, warps_per_block_ - 1}) {
      if (number == last) continue;
      last = number;
      WarpTrace trace(common_, block, number);
      WarpTrace::Step step;
      std::int64_t patience = kPatience * most_steps;
      for (int i = 0; i < most_steps && trace.next(step, &patience); ++i) {
        const Item& item = *step.node->item;
        signature.add(reinterpret_cast<std::uintptr_t>(&item));
        signature.add(step.threads + (step.skipped ? std::uint64_t{1} << 32 : 0));
        if (std::holds_alternative<Instructions>(item.what))
          signature.add(static_cast<std::uint64_t>(trace.instructions(step)));
        if (step.node->access >= 0 && !step.skipped) sign(trace.lines(step), step, signature);
        if (item.detail && !step.skipped) sign_on_chip(trace, step, signature);
      }
    }
  }

 private:
  void sign(std::span<const LineSectors> lines, const WarpTrace::Step& step, LaunchSignature& signature) {
    const Region& region = regions_[static_cast<std::size_t>(step.node->access)];
    if (lines.empty()) {
      if (const AccessProfile* profile = profile_of(step))
        signature.add(reinterpret_cast<std::uintptr_t>(profile));
      signature.add(static_cast<std::uint64_t>(region.lines));
      signature.add(static_cast<std::uint64_t>(threads_));
    }
    for (const LineSectors& line : lines) {
      const std::int64_t at = line.line + region.base;
      const std::int64_t first = first_lines_.try_emplace(region.place, at).first->second;
      signature.add(static_cast<std::uint64_t>(at - first) << 4 | line.sectors);
    }
  }

  void sign_on_chip(const WarpTrace& trace, const WarpTrace::Step& step, LaunchSignature& signature) {
    LaneValues addresses;
    for (std::size_t i = 0; i < step.node->on_chip.size(); ++i) {
      if (!trace.chip_addresses(step, i, addresses)) continue;
      for (unsigned rest = step.threads; rest != 0; rest &= rest - 1)
        signature.add(
            static_cast<std::uint64_t>(addresses[static_cast<std::size_t>(std::countr_zero(rest))]));
    }
  }

  struct Completion {
    double time = 0;
    SmWait because = SmWait::latency;  // what took longest
    void later(const Completion& other) {
      if (other.time > time) *this = other;
    }
  };
  struct AtomicLine {
    std::int64_t block = -1;       // that accessed it last
    bool shared = false;           // by several
    std::array<double, 4> free{};  // of each sector: when the atomics of before are done
  };
  struct Block {
    std::int64_t number = 0;
    std::int64_t running = 0;  // warps
    // By address of shared memory: when the last thread that added a floating-point number to it succeeded. Addresses that data
    // choose are counted from the place of the access.
    std::unordered_map<const ChipAccess*, std::unordered_map<std::int64_t, double>> exchanged;
    std::vector<std::size_t> at_barrier;
    double barrier_time = 0;
  };
  // What a warp loaded last of the constants with an address for each thread, and when its item began; and the line and the item
  // of the last one with an index that all threads share.
  struct WarpConstants {
    LaneValues addresses{};
    std::uint32_t threads = 0;
    bool first_half = false;  // of 8 bytes
    double item = 0, there = 0;
    std::pair<std::int64_t, double> indexed{-1, 0};
  };
  struct Warp {
    Warp(TraceOfBlocks& common, std::int64_t of_block, std::int64_t number)
        : trace(common, of_block, number) {}
    WarpTrace trace;
    std::shared_ptr<Block> block;
    std::size_t partition = 0;
    std::vector<Completion> loads;  // of the last execution of each load, by its number
    Completion all_loads;           // of all of them
    Completion copies;              // of asynchronous copies
    SmWait waits_for = SmWait::issue;
    WarpTrace::Step step;  // the next one
    bool at_l1 = false;    // accesses L1 or shared memory
    WarpConstants constants;
    std::int64_t first_thread = 0;  // of the launch
    std::uint64_t random = 0;
    std::uint64_t age = 0;      // grows with each warp that starts
    bool stores = false;        // its next item is a store
    bool loads_memory = false;  // its next item is a load of device memory
    int held_up = 0;            // how many items in a row waited for room in L1's queue
    int loads_held_up = 0;      // how many loads in a row did
    std::uint64_t turn = 0;     // of those that yield, the one with the least goes first
    bool goes_on = false;       // keeps its turn
    // When its next item could begin, if no other warp had been in its way since it last waited for a result.
    double unhindered = 0;
    std::int64_t wave = 0;   // how many blocks its SM had started before its block
    std::int64_t local = 0;  // the first line of its local memory
    std::size_t place = 0;   // among the SM's warps
    // For listeners: what it executed last, and what it waits for.
    const Item* last = nullptr;
    int last_load = 0;   // the number of the load that all_loads waits for
    int waits_load = 0;  // the load that it waits for; 0: for what it executed last
    Pipe pipe = Pipe::none;
    double issued = 0, ready = 0;
    std::int64_t block_number = 0, warp_number = 0;
  };
  struct Ready {
    double time = 0;
    std::uint64_t order = 0;
    std::size_t warp = 0;
    bool operator<(const Ready& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  // A warp that could issue: of several the one that issued last goes on, or else the youngest does (Huerta et al. 2025).
  struct Able {
    std::uint64_t age = 0;
    double time = 0;
    std::size_t warp = 0;
    bool operator<(const Able& other) const { return age < other.age; }
  };

  // What a queue waits for: itself, or what it passes requests on to, which holds it up. Over about the last
  // cycles in which it was not empty.
  struct Backlog {
    SmWait own = SmWait::latency, other = SmWait::latency;
    double served = 0, stalled = 0;  // cycles
    void clear() { served = stalled = 0; }
    void serve(double cycles) {
      served += cycles;
      if (served + stalled > 2 * kQueue) served /= 2, stalled /= 2;
    }
    void stall(double cycles, SmWait by) {
      if (cycles <= 0) return;
      stalled += cycles;
      other = by;
    }
    SmWait because() const { return stalled > served ? other : own; }
  };

  // Where a block ran: since when the next one can, and what its last warp waited for then.
  struct BlockPlace {
    Completion free;
    const Item* item = nullptr;
    Pipe pipe = Pipe::none;
  };

  // Where an array lies, in lines of 128 bytes.
  struct Region {
    std::int64_t base = 0, lines = 0;  // 0: it is not known how many
    std::int64_t place = 0;            // the same for arrays of one allocation
    bool of_all_blocks = false;        // the access, whose places depend on no block
  };

  // What follows from an access' profile.
  struct DrawnAccess {
    double first = 0;            // of the sectors: those that the launch asks for the first time, …
    double asked_again = 0;      // … and those that L2 had, and has no more
    double sectors_of_line = 1;  // that the SM asks for in the end
  };

  // The code of an item: when the SM has it, and the bytes that it had fetched by then.
  struct Fetched {
    double time = 0, bytes = 0;
  };

  struct Partition {
    double free = 0;
    const Item* last = nullptr;          // that it issued
    std::array<double, kPipes> pipes{};  // when each is free
    double imad = 0;                     // likewise the half of the FMA pipe that makes integer products
    double ports = 0;                    // likewise the ports of the register file
    ConstantCache<kIndexedConstantLines> constants;
    double constants_free = 0;                 // when it asks for the next line of them
    int warps = 0;                             // that have begun and not ended
    std::priority_queue<Ready> ready;          // from a time on
    std::priority_queue<Able> able, accesses;  // now: accesses while L1's queue has room
    // When the next one issues; accesses do from `open` on. False: none will. This is asked for each item that is simulated,
    // and an std::optional would go through memory.
    bool earliest(double open, double& time) const {
      time = free;
      if (!able.empty()) return true;
      if (accesses.empty() && ready.empty()) return false;
      if (accesses.empty())
        time = ready.top().time;
      else
        time = ready.empty() ? std::max(free, open) : std::min(std::max(free, open), ready.top().time);
      time = std::max(free, time);
      return true;
    }
  };

  void simulate() {
    block_turn_ = 0;
    next_block_ = block_of_turn(0);
    end_block_ = launch_.blocks();
    if (options_.most_blocks > 0) end_block_ = std::min(end_block_, block_of_turn(options_.most_blocks));
    places_for_blocks_.assign(static_cast<std::size_t>(options_.active_blocks), BlockPlace{});
    for (std::size_t warp = next_warp(); warp != kNoWarp; warp = next_warp()) {
      ++steps_;
      if (run_.accesses >= options_.most_accesses || spent()) return finish_cut();
      if (options_.known_run && options_.listener->has_enough()) return finish_cut();
      execute(*warps_[warp], warp);
      if (half_cycles_ < 0 && (run_.accesses >= options_.most_accesses / 2 || steps_ >= most_steps_ / 2)) {
        half_ = run_.counts;
        half_waits_ = run_.waits;
        half_cycles_ = now_;
        if (options_.listener != nullptr) options_.listener->half();
      }
    }
    if (spent()) return finish_cut();
    run_.complete = true;
    executing_ = accessing_;
    ends({l1_free_, SmWait::on_chip});
    ends({std::max(l2_free_, l2_write_free_), SmWait::l2});
    ends({memory_free_, SmWait::memory});
    last_wait_ = end_.because;
    cause_ = {end_.because, end_item_, end_.because == SmWait::pipe ? end_pipe_ : Pipe::none};
    end_at(end_.time);
    run_.cycles = now_;
  }

  bool spent() const { return steps_ >= most_steps_ || patience_ <= 0; }

  // The youngest first. Loads that yield come after all others, in the order in which they could issue, and stores that yield after
  // these: of older blocks first, and of a block in that order.
  static std::uint64_t priority_of(const Warp& warp) {
    constexpr std::uint64_t by_age = std::uint64_t{1} << 62, of_block = std::uint64_t{1} << 40,
                            blocks = std::uint64_t{1} << 20;
    if (warp.stores && warp.held_up > kPatientStores)
      return (blocks - static_cast<std::uint64_t>(warp.wave) % blocks) * of_block - warp.turn % of_block;
    if (warp.loads_memory && warp.loads_held_up > kPatientLoads) return by_age - warp.turn;
    return by_age + warp.age;
  }
  static constexpr std::size_t kNoWarp = std::numeric_limits<std::size_t>::max();

  // The one that issues next, with now_ at that time.
  std::size_t next_warp() {
    while (!places_for_blocks_.empty() && !spent()) {
      const BlockPlace place = places_for_blocks_.back();
      places_for_blocks_.pop_back();
      start_block(place);
      ++steps_;
    }
    for (;;) {
      const double open = l1_free_ - kL1Queue;
      Partition* next = nullptr;
      double earliest = 0;
      for (std::size_t i = 0; i < partitions_.size(); ++i) {
        Partition& partition = partitions_[(turn_ + i) % partitions_.size()];
        double time = 0;
        if (!partition.earliest(open, time) || (next != nullptr && time >= earliest)) continue;
        next = &partition;
        earliest = time;
      }
      if (next == nullptr) return kNoWarp;
      for (; !next->ready.empty() && next->ready.top().time <= earliest; next->ready.pop()) {
        const Ready& ready = next->ready.top();
        Warp& warp = *warps_[ready.warp];
        if (!warp.goes_on) warp.turn = ++order_;
        (warp.at_l1 ? next->accesses : next->able).push({priority_of(warp), ready.time, ready.warp});
      }
      std::priority_queue<Able>* from = &next->able;
      if (open <= earliest && !next->accesses.empty() &&
          (from->empty() || from->top() < next->accesses.top()))
        from = &next->accesses;
      if (from->empty()) continue;
      turn_ = static_cast<std::size_t>(next - partitions_.data()) + 1;
      const Able first = from->top();
      from->pop();
      const bool full = from == &next->accesses && open > std::max(next->free, first.time);
      Warp& chosen = *warps_[first.warp];
      chosen.held_up = full ? chosen.held_up + 1 : 0;
      if (chosen.loads_memory) chosen.loads_held_up = full ? chosen.loads_held_up + 1 : 0;
      last_wait_ = full                       ? l1_backlog_.because()
                   : next->free >= first.time ? SmWait::issue
                                              : warps_[first.warp]->waits_for;
      if (options_.listener != nullptr) {
        const Warp& warp = *warps_[first.warp];
        cause_ = full                          ? SmCause{last_wait_, warp.step.node->item}
                 : last_wait_ == SmWait::issue ? SmCause{last_wait_, next->last}
                                               : cause_of(warp);
      }
      end_at(earliest);
      return first.warp;
    }
  }

  SmCause cause_of(const Warp& warp) const {
    const bool load = warp.waits_load > 0;
    return {warp.waits_for, load ? load_items_[static_cast<std::size_t>(warp.waits_load)] : warp.last,
            warp.waits_for == SmWait::pipe ? warp.pipe : Pipe::none};
  }

  // Nothing ends before.
  void ends(const Completion& last) {
    if (last.time > end_.time) end_item_ = executing_, end_pipe_ = executing_pipe_;
    end_.later(last);
  }
  void end_at(double time) {
    if (time > now_) {
      run_.waits[static_cast<std::size_t>(last_wait_)] += time - now_;
      if (options_.listener != nullptr) options_.listener->passed(now_, time, cause_, drains_);
    }
    now_ = std::max(now_, time);
  }

  // Accesses of one array are of one region, and those of arrays that are the same allocation; without a name
  // each access has its own.
  void place_arrays(const std::vector<TraceNode>& nodes) {
    const auto stores_to = [&](const std::string& array) {
      return std::count_if(nodes.begin(), nodes.end(), [&](const TraceNode& node) {
        const auto* access = std::get_if<MemoryAccess>(&node.item->what);
        return access != nullptr && access->kind == MemoryAccess::Kind::store && access->array == array;
      });
    };
    for (const TraceNode& node : nodes) {
      if (const auto* access = std::get_if<MemoryAccess>(&node.item->what)) {
        std::string name = access->array.empty() ? "#" + std::to_string(node.access) : "." + access->array;
        Region region;
        if (options_.places != nullptr)
          if (const auto known = options_.places->find(access->array); known != options_.places->end()) {
            name = "@" + std::to_string(known->second.allocation);
            region.base = known->second.offset / kLineBytes;
            region.lines = (known->second.bytes.value_or(0) + kLineBytes - 1) / kLineBytes;
          }
        const auto [place, fresh] = places_.try_emplace(name, static_cast<std::int64_t>(places_.size() + 1));
        regions_.resize(std::max(regions_.size(), static_cast<std::size_t>(node.access) + 1));
        region.place = place->second;
        region.of_all_blocks = is_of_all_blocks(*access);
        region.base += region.place << kArrayShift;
        regions_[static_cast<std::size_t>(node.access)] = region;
        stores_together_.resize(regions_.size(), 1);
        if (access->kind == MemoryAccess::Kind::store && !access->array.empty())
          stores_together_[static_cast<std::size_t>(node.access)] = stores_to(access->array);
      }
      if (options_.listener != nullptr && node.load > 0) {
        load_items_.resize(std::max(load_items_.size(), static_cast<std::size_t>(node.load) + 1));
        load_items_[static_cast<std::size_t>(node.load)] = node.item;
      }
      if (has_dependences(*node.item)) detailed_ = true;
      if (node.item->detail)
        for (const int needed : node.item->detail->needs) needed_.insert(needed);
      if (node.item->machine) code_bytes_ += node.item->machine->total() * kInstructionBytes;
      if (node.item->machine && node.item->machine->cycles > 0) cycles_known_ = true;
      most_loads_ = std::max(most_loads_, static_cast<std::size_t>(node.load) + 1);
      place_arrays(node.body);
      place_arrays(node.otherwise);
    }
  }

  void start_block(const BlockPlace& place) {
    if (next_block_ >= end_block_) return;
    const bool waits_for_place = place.free.time > block_free_;
    const double time = std::max(place.free.time, block_free_);
    block_free_ = time + std::max(figures_.block_start_cycles,
                                  static_cast<double>(warps_per_block_) * figures_.warp_start_cycles);
    auto block = std::make_shared<Block>();
    block->number = number_of_next();
    block->running = warps_per_block_;
    for (std::int64_t w = 0; w < warps_per_block_; ++w) {
      std::size_t index = warps_.size();
      if (!free_.empty()) {
        index = free_.back();
        free_.pop_back();
      } else {
        warps_.emplace_back();
      }
      if (warps_[index] == nullptr)
        warps_[index] = std::make_unique<Warp>(common_, block->number, w);
      else
        warps_[index]->trace.restart(block->number, w);
      Warp& warp = *warps_[index];
      if (started_ < options_.active_blocks * warps_per_block_) begin(warp.trace);
      if (w == 0 && block_of_turn(block_turn_ + 1) >= end_block_)
        warp.trace.begin_with_share(longest_share());
      warp.block = block;
      warp.wave = block_turn_;
      warp.age = static_cast<std::uint64_t>(started_);
      warp.place = index;
      warp.stores = false;
      warp.held_up = warp.loads_held_up = 0;
      warp.unhindered = time;
      drawn_.restart(index);
      warp.block_number = block->number;
      warp.warp_number = w;
      warp.issued = time;
      warp.partition = static_cast<std::size_t>(started_++) % partitions_.size();
      ++partitions_[warp.partition].warps;
      warp.first_thread = block->number * threads_per_block_ + w * static_cast<std::int64_t>(kLanes);
      warp.loads.assign(most_loads_, Completion{});
      warp.all_loads = warp.copies = Completion{};
      // The next block's warps take the places of those that have ended.
      warp.local = (std::int64_t{1} << 60) + static_cast<std::int64_t>(index) * kLocalLines;
      warp.random =
          static_cast<std::uint64_t>(block->number * warps_per_block_ + w) * 0x9e3779b97f4a7c15U + 1;
      if (w == 0 && waits_for_place) warp.last = place.item, warp.pipe = place.pipe;
      wait(index, {time + static_cast<double>(w) * figures_.warp_start_cycles,
                   w == 0 && waits_for_place ? place.free.because : SmWait::blocks});
      warp.goes_on = false;
    }
    next_block_ = block_of_turn(++block_turn_);
  }

  std::int64_t block_of_turn(std::int64_t turn) const {
    return options_.turns.block(options_.sm, options_.sms, turn);
  }

  std::int64_t number_of_next() const {
    if (!options_.shuffled || next_block_ < options_.active_blocks * options_.sms) return next_block_;
    const std::int64_t first = next_block_ - options_.sm;
    std::uint64_t state = (static_cast<std::uint64_t>(next_block_) + 1) * 0x9e3779b97f4a7c15U;
    RandomNumbers random(state);
    const auto other = first + static_cast<std::int64_t>(random.share() * static_cast<double>(options_.sms));
    return other < launch_.blocks() ? other : next_block_;
  }

  // Of a warp of the first blocks.
  void begin(WarpTrace& trace) const {
    const double place = static_cast<double>(started_ / warps_per_block_) + 0.5;
    const double behind =
        options_.in_the_middle ? 1 - place / static_cast<double>(options_.active_blocks) : options_.begin;
    if (behind > 0) trace.begin_at(behind);
  }

  // The launch ends with the longest of the warps that run last, on whatever SM: this SM's last block has one like it.
  double longest_share() const {
    const auto blocks =
        static_cast<double>(std::min(launch_.blocks(), options_.sms * options_.active_blocks));
    return 1 - 0.5 / (blocks * static_cast<double>(warps_per_block_));
  }

  // Waits from `time` on until its next item can begin.
  void wait(std::size_t index, Completion until) {
    Warp& warp = *warps_[index];
    if (!warp.trace.next(warp.step, &patience_)) return end_warp(warp, index, until);
    const Item& item = *warp.step.node->item;
    warp.waits_load = 0;
    const auto needs = [&](const Completion& result, int load) {
      warp.unhindered = std::max(warp.unhindered, result.time);
      if (!(result.time > until.time)) return;
      until = result;
      warp.waits_load = load;
    };
    if (detailed_) {
      if (item.detail)
        for (const int needed : item.detail->needs)
          if (static_cast<std::size_t>(needed) < warp.loads.size())
            needs(warp.loads[static_cast<std::size_t>(needed)], needed);
    } else if (warp.step.node->load == 0) {  // what it needs is not known: all
      needs(warp.all_loads, warp.last_load);
    }
    if (fetches_ && item.machine) until.later(fetched(item));
    warp.waits_for = until.because;
    warp.at_l1 = !warp.step.skipped && accesses_l1(item);
    Partition& partition = partitions_[warp.partition];
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    const bool stores = warp.at_l1 && access != nullptr && access->kind == MemoryAccess::Kind::store;
    const bool at_once = until.time < partition.free + kAtOnce;
    const bool stored = std::exchange(warp.stores, stores);
    warp.loads_memory = warp.at_l1 && is_load(item);
    warp.goes_on = at_once && !(stored && stores);
    if (stored && stores && at_once) until.time = std::min(until.time, partition.free);
    warp.ready = until.time;
    partition.ready.push({until.time, order_++, index});
  }

  // When the last of an item's instructions can be issued, less what issuing them takes. What comes next is fetched when the
  // item before it begins.
  Completion fetched(const Item& item) {
    const double instructions = item.machine->total();
    const auto [known, fresh] = code_.try_emplace(&item);
    Fetched& code = known->second;
    if (fresh || fetched_bytes_ - code.bytes > kCodeBytes) {
      code.time = fetch_free_ = std::max(fetch_free_, now_) + instructions * kFetchCycles;
      fetched_bytes_ += instructions * kInstructionBytes;
      code.bytes = fetched_bytes_;
    }
    return {code.time - instructions, SmWait::issue};
  }

  static bool accesses_l1(const Item& item) {
    return std::holds_alternative<MemoryAccess>(item.what) ||
           (item.detail && std::any_of(item.detail->on_chip.begin(), item.detail->on_chip.end(),
                                       [](const ChipAccess& access) {
                                         return access.space != ChipAccess::Space::constant;
                                       }));
  }

  void execute(Warp& warp, std::size_t index) {
    const WarpTrace::Step step = warp.step;
    const Item& item = *step.node->item;
    const ItemDetail* detail = item.detail.get();
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    const double start = now_;
    const auto* run = std::get_if<Instructions>(&item.what);
    const double instructions = run != nullptr ? static_cast<double>(warp.trace.instructions(step)) : 1;
    const bool issued = run != nullptr || access != nullptr;  // not so `calc`, which is cycles
    const bool loads = is_load(item) && !step.skipped;
    const double slots = (item.machine ? item.machine->total()
                          : issued     ? instructions
                                       : 0) +
                         (loads ? kLoadIssue : 0);
    Partition& partition = partitions_[warp.partition];
    const double contention = item.machine ? contention_.at(&item) : 1;
    partition.free = start + slots * contention;
    partition.last = executing_ = &item;
    if (options_.listener != nullptr) counts_before_ = run_.counts;
    Completion done{partition.free, SmWait::issue};
    if (item.machine) {
      const auto hold = [&](double& until, double cycles, Pipe pipe) {
        if (cycles <= 0) return;
        until = std::max(until, start) + cycles * contention;
        if (until > done.time) executing_pipe_ = warp.pipe = pipe;
        done.later({until, SmWait::pipe});
      };
      for (std::size_t pipe = 0; pipe < kPipes; ++pipe)
        hold(partition.pipes[pipe], item.machine->by_pipe[pipe] * figures_.pipe_cycles[pipe],
             static_cast<Pipe>(pipe));
      hold(partition.imad, item.machine->imad, Pipe::fma);
      hold(partition.pipes[static_cast<std::size_t>(Pipe::tensor)], item.machine->matrix, Pipe::tensor);
      hold(partition.ports, item.machine->reads / kPorts, busiest_reader(*item.machine));
    }
    if (item.machine && item.machine->cycles > 0)
      done.later({start + item.machine->cycles, SmWait::chain});
    else if (detail != nullptr && detail->chain && !(cycles_known_ && item.machine))
      done.later({start + *detail->chain, SmWait::chain});
    if (access == nullptr || !access->continues) run_.counts.instructions += instructions;
    if (access != nullptr && !step.skipped) memory_access(warp, step, *access, start);
    if (detail != nullptr && !step.skipped) {
      double loops_end = start;
      for (std::size_t i = 0; i < detail->on_chip.size(); ++i) {
        const double there = chip_access(warp, step, i, detail->on_chip[i], loops_end);
        done.later({there, SmWait::on_chip});
        if (is_exchange(detail->on_chip[i], item)) loops_end = std::max(loops_end, there);
      }
    }
    if (detail != nullptr && detail->shuffles > 0 &&
        !step.skipped) {  // L1 moves the words, those of a warp in a cycle
      const double cycles = static_cast<double>(detail->shuffles) * figures_.request_cycles;
      l1_free_ = std::max(start, l1_free_) + cycles;
      l1_backlog_.serve(cycles);
      done.later({l1_free_, SmWait::on_chip});
    }
    if (detail != nullptr && detail->matches > 0 && !step.skipped)
      done.later({divergent_constants(static_cast<double>(detail->matches), 0, start), SmWait::on_chip});
    warp.unhindered += done.time - start;
    done.later({l1_free_ - kQueue, l1_backlog_.because()});
    ends(done);
    if (options_.listener != nullptr) tell_executed(warp, step, start, start + slots);
    warp.last = &item;
    warp.issued = start + slots;
    if (detail != nullptr && detail->barrier) return wait_at_barrier(warp, index, done);
    wait(index, done);
  }

  // How much longer what holds a partition takes than its busiest part, since issue, pipes and the ports of the registers wait
  // for one another: the fifth root of the sum of the fifth powers, by their cycles. Mixtures of instructions
  // (data/hardware/h100_pipe_mixes.csv, h200_wide_products.csv) lie between the fourth and the eighth. A pipe that takes an
  // instruction each cycle, as the two halves of the FMA pipe do by turns, lets none wait.
  double contention_of(const MachineWork& work, double slots) const {
    constexpr int power = 5;
    double most = slots, sum = std::pow(slots, power);
    const auto add = [&](double cycles) {
      most = std::max(most, cycles);
      sum += std::pow(cycles, power);
    };
    for (std::size_t pipe = 0; pipe < kPipes; ++pipe)
      if (figures_.pipe_cycles[pipe] > 1) add(work.by_pipe[pipe] * figures_.pipe_cycles[pipe]);
    add(std::min(work.imad, 2 * std::max(work.imad - work[Pipe::fma], 0.0)));
    add(work.matrix);
    add(work.reads / kPorts);
    return most > 0 ? std::pow(sum, 1.0 / power) / most : 1;
  }

  // Contention of each item with machine instructions. The warps of a partition are at different items, so that it is the
  // mixture of them that waits: of a loop's body, or of what is in no loop, from one barrier to the next.
  void find_contention(const std::vector<TraceNode>& nodes) {
    Mixture mixture;
    std::vector<const TraceNode*> loops;
    add_to_mixture(nodes, mixture, loops);
    end_mixture(mixture);
    for (const TraceNode* loop : loops) find_contention(loop->body);
  }

  struct Mixture {
    std::vector<const Item*> items;
    MachineWork work;
    double slots = 0;
  };

  void add_to_mixture(const std::vector<TraceNode>& nodes, Mixture& mixture,
                      std::vector<const TraceNode*>& loops) {
    for (const TraceNode& node : nodes) {
      const Item& item = *node.item;
      if (item.machine) {
        mixture.items.push_back(&item);
        mixture.work.add(*item.machine);
        mixture.slots += item.machine->total() + (is_load(item) ? kLoadIssue : 0);
      }
      if (node.counter >= 0) {
        loops.push_back(&node);
        continue;
      }
      add_to_mixture(node.body, mixture, loops);
      add_to_mixture(node.otherwise, mixture, loops);
      if (item.detail && item.detail->barrier) end_mixture(mixture);
    }
  }

  void end_mixture(Mixture& mixture) {
    const double contention = contention_of(mixture.work, mixture.slots);
    for (const Item* item : mixture.items) contention_[item] = contention;
    mixture = {};
  }

  // Whose operands are most of what is read.
  static Pipe busiest_reader(const MachineWork& work) {
    const auto most = std::max_element(work.by_pipe.begin(), work.by_pipe.end());
    return static_cast<Pipe>(most - work.by_pipe.begin());
  }

  void tell_executed(const Warp& warp, const WarpTrace::Step& step, double begin, double end) const {
    options_.listener->executed({step.node->item, step.skipped ? 0 : step.threads, warp.block_number,
                                 warp.warp_number, warp.partition, warp.issued, warp.ready, begin, end,
                                 cause_of(warp), &counts_before_, &run_.counts});
  }

  void wait_at_barrier(Warp& warp, std::size_t index, const Completion& arrived) {
    Block& block = *warp.block;
    block.at_barrier.push_back(index);
    barrier_free_ = std::max(barrier_free_, arrived.time) + figures_.barrier_warp_cycles;
    block.barrier_time = std::max(block.barrier_time, barrier_free_ + figures_.barrier_latency);
    leave_barrier(block);
  }

  void leave_barrier(Block& block) {
    if (block.at_barrier.empty() || static_cast<std::int64_t>(block.at_barrier.size()) < block.running)
      return;
    const std::vector<std::size_t> warps = std::exchange(block.at_barrier, {});
    for (const std::size_t warp : warps) {
      warps_[warp]->unhindered = block.barrier_time;
      wait(warp, {block.barrier_time, SmWait::barrier});
    }
    block.barrier_time = 0;
  }

  void end_warp(const Warp& warp, std::size_t index, Completion at) {
    if (options_.listener != nullptr && warp.all_loads.time > at.time)
      executing_ = load_items_[static_cast<std::size_t>(warp.last_load)];
    at.later(warp.all_loads);
    const double time = at.time;
    --partitions_[warp.partition].warps;
    ends(at);
    const std::shared_ptr<Block> block = warp.block;
    --block->running;
    free_.push_back(index);
    if (block->running == 0) {
      drains_ = next_block_ >= end_block_;
      at.time += kPlaceIsFree + kPlaceOfWarp * static_cast<double>(warps_per_block_);
      places_for_blocks_.push_back({at, executing_, executing_pipe_});
      return;
    }
    if (!block->at_barrier.empty()) block->barrier_time = std::max(block->barrier_time, time);
    leave_barrier(*block);
  }

  void memory_access(Warp& warp, const WarpTrace::Step& step, const MemoryAccess& access, double start) {
    accessing_ = step.node->item;
    std::span<const LineSectors> lines = warp.trace.lines(step);
    const bool unknown = lines.empty();
    const AccessProfile* const profile = unknown ? profile_of(step) : nullptr;
    const std::int64_t base = regions_[static_cast<std::size_t>(step.node->access)].base;
    const bool atomic = is_atomic(access);
    random_ = atomic_memory_ = 0;
    drawn_now_ = unknown;
    of_all_now_ = regions_[static_cast<std::size_t>(step.node->access)].of_all_blocks;
    if (unknown) {
      turns_.clear();
      if (profile != nullptr)
        draw_lines(warp, step, *profile);
      else
        make_lines(warp, step, access);
      lines = made_;
      if (atomic && turns_.empty()) draw_turns(warp, profile);
    } else if (atomic) {
      LaneValues addresses;
      warp.trace.addresses(step, addresses);
      count_turns(addresses, step, lines);
    }
    ++run_.accesses;
    if (unknown) run_.accesses += static_cast<std::int64_t>(lines.size()) / kDrawnLines;
    std::int64_t sectors_of_all = 0;
    for (const LineSectors& line : lines) sectors_of_all += sectors_in(line.sectors);
    if (atomic) {
      const auto each =
          static_cast<double>(std::popcount(step.threads)) / static_cast<double>(sectors_of_all);
      const bool goes_back = step.node->load > 0 && (!detailed_ || needed_.contains(step.node->load));
      sectors_of_atomic_ = (goes_back ? kAtomicSectors : kReductionSectors) +
                           (profile != nullptr ? 0 : kThreadAtSector * std::max(each - 1, 0.0));
    }
    count_pattern(access, unknown ? sectors_of_pattern(access, step.threads) : sectors_of_all);
    const std::int64_t bytes_of_all = std::popcount(step.threads) * access.bytes.value_or(4);
    const bool fills_sectors = bytes_of_all >= sectors_of_all * kSectorBytes;
    const bool rows = !unknown && !atomic && are_rows(lines, step.threads);
    apart_at_memory_ = rows || random_ > 0 ? kRandomSector : 1;
    const std::int64_t together = stores_together_[static_cast<std::size_t>(step.node->access)];
    const bool in_part = (rows ? 1 : 2) * bytes_of_all * together < sectors_of_all * kSectorBytes;
    const bool side_by_side = bytes_of_all + 2 * kSectorBytes > sectors_of_all * kSectorBytes &&
                              static_cast<std::int64_t>(lines.size()) <= bytes_of_all / kLineBytes + 2;
    const StoreKind stored{static_cast<double>(lines.size()),
                           static_cast<double>(bytes_of_all) / static_cast<double>(sectors_of_all),
                           fills_sectors,
                           in_part,
                           rows,
                           side_by_side};
    Completion done{start, SmWait::on_chip};
    const bool loads = access.kind == MemoryAccess::Kind::load && !atomic;
    const double cycles_of_line =
        loads || is_asynchronous_copy(access)
            ? load_cycles(warp, step, access, lines, sectors_of_all, unknown) /
                  static_cast<double>(lines.size())
        : !atomic && !fills_sectors && lines.size() == static_cast<std::size_t>(sectors_of_all)
            ? kLoneStoreCycles
            : std::max(figures_.request_cycles / static_cast<double>(lines.size()), 1.0);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const LineSectors& line = lines[i];
      const double looked_up = look_up(start, cycles_of_line);
      const int sectors = sectors_in(line.sectors);
      if (unknown) count_unknown(access, sectors, profile != nullptr);
      if (atomic) {
        const std::array<int, 4>& turns = turns_[i];
        run_.counts.atomic_sectors += std::accumulate(turns.begin(), turns.end(), 0);
        const bool floating = step.node->item->detail && step.node->item->detail->floating;
        const LineSectors of{line.line + base, line.sectors};
        done.later(profile != nullptr && profile->turns > 0
                       ? at_profiled_atomic(*profile, of, turns, floating, looked_up)
                       : at_atomic(warp, step, of, turns, floating, looked_up));
      } else if (is_asynchronous_copy(access)) {
        run_.counts.load_sectors += sectors;
        if (options_.keep_reads) asked_.push_back({line.line + base, line.sectors});
        for (unsigned rest = line.sectors; rest != 0; rest &= rest - 1)
          warp.copies.later(read_from_l2(line.line + base, std::countr_zero(rest), looked_up, false, 1));
      } else if (access.kind == MemoryAccess::Kind::store) {
        store(warp, {line.line + base, line.sectors}, looked_up, stored);
      } else {
        l1_passed_over_ += cycles_of_line;
        done.later(load({line.line + base, line.sectors}, looked_up, cycles_of_line, i));
      }
    }
    if (options_.keep_reads)
      keep_read(warp, start, std::max(done.time, is_asynchronous_copy(access) ? warp.copies.time : 0.0));
    if (step.node->load > 0) {
      warp.loads[static_cast<std::size_t>(step.node->load)] = done;
      if (done.time > warp.all_loads.time) warp.last_load = step.node->load;
      warp.all_loads.later(done);
    }
  }

  // Whether each thread goes to a line of its own, with others between.
  static bool are_rows(std::span<const LineSectors> lines, std::uint32_t threads) {
    if (lines.size() < 2 || lines.size() < static_cast<std::size_t>(std::popcount(threads))) return false;
    for (std::size_t i = 1; i < lines.size(); ++i)
      if (std::abs(lines[i].line - lines[i - 1].line) < kRowLines) return false;
    return true;
  }

  // Sectors whose addresses are not known, or drawn with a profile.
  void count_unknown(const MemoryAccess& access, int sectors, bool profiled) {
    SmCounts& counts = run_.counts;
    const bool store = access.kind == MemoryAccess::Kind::store;
    (profiled ? counts.profiled_sectors : counts.unknown_sectors) += sectors;
    if (profiled)
      (store ? counts.again_store_pieces : counts.again_load_pieces) += random_ * sectors;
    else
      (store ? counts.random_store_sectors : counts.random_load_sectors) += random_ * sectors;
  }

  // What the access has asked L2 for. Blocks that start in the same wave on all SMs keep step.
  void keep_read(const Warp& warp, double start, double done) {
    if (asked_.empty()) return;
    const auto mix = [](std::uint64_t hash, std::uint64_t value) {
      hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
      return hash ^ hash >> 29;
    };
    L2Read read{mix(0, static_cast<std::uint64_t>(warp.wave)), start, done - start};
    for (const LineSectors& line : asked_) {
      read.key = mix(mix(read.key, static_cast<std::uint64_t>(line.line)), line.sectors);
      ++read.lines;
      read.sectors += sectors_in(line.sectors);
    }
    asked_.clear();
    run_.reads.push_back(read);
  }

  // As WarpTotals has it.
  static std::int64_t sectors_of_pattern(const MemoryAccess& access, std::uint32_t threads) {
    const std::int64_t all = std::popcount(threads) *
                             ((std::max<std::int64_t>(access.bytes.value_or(4), 1) - 1) / kSectorBytes + 1);
    return std::min(access.sectors.value_or(all), all);
  }

  void count_pattern(const MemoryAccess& access, std::int64_t sectors) {
    SmCounts& counts = run_.counts;
    const bool load = access.kind == MemoryAccess::Kind::load || is_asynchronous_copy(access);
    (is_atomic(access) ? counts.atomic_pattern_sectors
     : load            ? counts.load_pattern_sectors
                       : counts.store_pattern_sectors) += static_cast<double>(sectors);
  }

  // When L1 looks a line up that is asked for at `time`. What it passes on must not wait too long in L2's queue.
  double look_up(double time, double cycles = 1) {
    if (time >= l1_free_) l1_backlog_.clear();
    // L1 passes reads and stores on in order.
    const double l2 = std::max(l2_free_, l2_write_free_) - kQueue;
    l1_backlog_.stall(l2 - std::max(time, l1_free_), l2_backlog_.because());
    l1_backlog_.serve(cycles);
    const double looked_up = std::max({time, l1_free_, l2});
    l1_passed_over_ += std::max(0.0, l2 - std::max(time, l1_free_));
    l1_free_ = looked_up + cycles;
    return looked_up;
  }

  // For which a warp's load holds L1: it looks up four lines a cycle, of which no two have the same last bits, and gives a word of
  // each bank, as shared memory does; 128 bytes a cycle, whether threads share them or not (data/hardware/h100_l1_strides.csv).
  double load_cycles(Warp& warp, const WarpTrace::Step& step, const MemoryAccess& access,
                     std::span<const LineSectors> lines, std::int64_t sectors, bool unknown) const {
    std::array<int, kTagBanks> looked_up{};
    for (const LineSectors& line : lines) ++looked_up[static_cast<std::size_t>(line.line) % kTagBanks];
    const std::int64_t bytes = access.bytes.value_or(4);
    const double least = static_cast<double>(std::popcount(step.threads) * bytes) / kLineBytes;
    double cycles = std::max<double>(*std::max_element(looked_up.begin(), looked_up.end()),
                                     std::max(least, figures_.request_cycles));
    // Elements side by side are of different banks.
    const bool together = static_cast<double>(lines.size()) <= least + 1 &&
                          static_cast<double>(sectors * kSectorBytes) <= least * kLineBytes + kSectorBytes;
    if (unknown || together) return cycles;
    LaneValues addresses;
    warp.trace.addresses(step, addresses);
    return std::max<double>(cycles, shared_ways(addresses, step.threads, bytes, ChipAccess::Kind::load));
  }

  // The turns that the atomics of each line take: for a sector as many as threads access one address.
  void count_turns(const LaneValues& addresses, const WarpTrace::Step& step,
                   std::span<const LineSectors> lines) {
    LaneValues sorted;
    const std::size_t threads = sort_addresses(addresses, step.threads, sorted);
    turns_.assign(lines.size(), {});
    // Compilers let one thread do the work of all where they know that all have the same address.
    const auto* access = std::get_if<MemoryAccess>(&step.node->item->what);
    const bool together = access != nullptr && access->access == Access::uniform;
    for (std::size_t i = 0, line = 0; i < threads;) {
      const std::int64_t sector = sorted[i] >> 5;
      std::size_t most = 1;
      while (i < threads && sorted[i] >> 5 == sector) {
        const std::size_t first = i;
        while (i < threads && sorted[i] == sorted[first]) ++i;
        if (!together) most = std::max(most, i - first);
      }
      while (line + 1 < lines.size() && lines[line].line < sector >> 2) ++line;
      turns_[line][static_cast<std::size_t>(sector & 3)] = static_cast<int>(most);
    }
  }

  // A slice of L2 takes one turn after the other, of the SMs whose blocks share the line, and so does each sector. All slices
  // take those of all SMs.
  Completion at_atomic(const Warp& warp, const WarpTrace::Step& step, const LineSectors& line,
                       const std::array<int, 4>& turns, bool floating, double time) {
    AtomicLine& known = atomics_[line.line];
    if (known.block >= 0 && known.block != warp.block->number) known.shared = true;
    known.block = warp.block->number;
    Completion there = at_l2_for_atomic(line, std::popcount(line.sectors), time);
    if (!drawn_now_) atomic_from_memory(line, there);
    const double sms = regions_[static_cast<std::size_t>(step.node->access)].of_all_blocks
                           ? options_.active_sms
                       : known.shared || options_.atomics_shared ? options_.atomic_sms
                                                                 : 1;
    const double turn = figures_.atomic_thread_cycles * sms;
    const double slice_turn = turn * kSliceTurn;
    double& slice = slices_[line.line >> kAtomicSliceShift];
    const double slices =
        std::min(std::max(options_.atomic_slices, static_cast<double>(slices_.size())), kAtomicSlices);
    const double turn_of_all = options_.atomic_slices > 0
                                   ? figures_.atomic_thread_cycles * options_.active_sms * kSliceTurn / slices
                                   : 0;
    const double left = std::min(kMemoryLeft, time * kDrift);  // as of other bandwidth
    Completion done{0, SmWait::atomic};
    for (std::size_t sector = 0; sector < turns.size(); ++sector) {
      if (turns[sector] == 0) continue;
      double& free = known.free[sector];
      slice = std::max(slice, there.time - left) + turns[sector] * slice_turn;
      slices_free_ = std::max(slices_free_, there.time - left) + turns[sector] * turn_of_all;
      free = std::max(free, there.time) + turns[sector] * turn * (floating ? kFloatTurn : 1);
      done.time = std::max({done.time, slice, slices_free_, free});
    }
    return after_atomic(there, done);
  }

  // When the slice has the line, which takes L2 so many turns.
  Completion at_l2_for_atomic(const LineSectors& line, int turns, double time) {
    Completion there = from_l2(time, turns * sectors_of_atomic_, figures_.l2_sector_cycles);
    if (atomic_memory_ > 0) {  // L2 reads a pair that it has not, and writes it back
      at_memory(there.time, atomic_memory_ * std::popcount(line.sectors) * 4 * kRandomSector);
      there.later({memory_free_, SmWait::memory});
    }
    return there;
  }

  // Sectors that nothing on this SM has asked for yet.
  void atomic_from_memory(const LineSectors& of, Completion& there) {
    LineAtL2& line = read_[of.line];
    use_at_l2(line);
    double given = 0, taken = 0;
    for (unsigned rest = of.sectors; rest != 0; rest &= rest - 1) {
      const int sector = std::countr_zero(rest);
      if (is_whole(line, sector)) continue;
      ++run_.counts.atomic_first_sectors;
      ++taken;
      if (comes_from_memory(line, sector) && memory_now_) given += 2;
    }
    if (taken == 0) return;
    at_memory(there.time, kChangedAtMemory * (given + options_.to_memory * taken));
    if (given > 0)
      there.later({memory_free_ + figures_.memory_latency - figures_.l2_latency, SmWait::memory});
  }

  // When the result is back, of what is `done` after its turns.
  Completion after_atomic(Completion there, const Completion& done) {
    ends(done);
    l2_backlog_.stall(done.time - kQueue - l2_free_, SmWait::atomic);
    l2_free_ = std::max(l2_free_, done.time - kQueue);
    there.later(done);
    there.time += figures_.l2_latency;
    return there;
  }

  // Where the profile says how many of the launch's atomics go to one address and to the lines of one slice, those slow all.
  Completion at_profiled_atomic(const AccessProfile& profile, const LineSectors& line,
                                const std::array<int, 4>& turns, bool floating, double time) {
    const int all_turns = std::accumulate(turns.begin(), turns.end(), 0);
    Completion there = at_l2_for_atomic(line, all_turns, time);
    const double known = std::max(profile.launch.lines / (1 << kAtomicSliceShift), 1.0);
    const double of_slice =
        std::max({profile.hottest_lines > 0 ? profile.hottest_lines : 1 / known, profile.hottest});
    const double turn = figures_.atomic_thread_cycles * options_.active_sms *
                        std::max(of_slice * kSliceTurn, profile.hottest * (floating ? kFloatTurn : 1));
    double& free = hottest_slices_[&profile];
    const double left = std::min(kMemoryLeft, time * kDrift);
    free = std::max(free, there.time - left) + all_turns * turn;
    return after_atomic(there, {free, SmWait::atomic});
  }

  // The addresses of an access on the chip; where data choose them, some of those that they choose from. False: not known.
  static bool chip_addresses(Warp& warp, const WarpTrace::Step& step, std::size_t index,
                             const ChipAccess& access, LaneValues& addresses) {
    if (warp.trace.chip_addresses(step, index, addresses)) return true;
    if (!access.scattered) return false;
    RandomNumbers random(warp.random);
    const auto elements =
        static_cast<std::uint64_t>(std::max<std::int64_t>(*access.scattered / access.bytes, 1));
    for (std::int64_t& address : addresses)
      address = static_cast<std::int64_t>(random.next() % elements) * access.bytes;
    return true;
  }

  // Threads with different addresses take turns.
  double constant_access(Warp& warp, const WarpTrace::Step& step, std::size_t index, const ChipAccess& access,
                         double start) {
    LaneValues addresses;
    double different = 0, missed = 0;
    if (access.ways) {
      different = static_cast<double>(RandomNumbers(warp.random).near(*access.ways));
    } else {
      if (!chip_addresses(warp, step, index, access, addresses)) return start;
      for (unsigned rest = step.threads; rest != 0; ++different) {
        const std::int64_t address = addresses[static_cast<std::size_t>(std::countr_zero(rest))];
        for (unsigned others = rest; others != 0; others &= others - 1) {
          const int lane = std::countr_zero(others);
          if (addresses[static_cast<std::size_t>(lane)] == address) rest &= ~(1U << lane);
        }
      }
    }
    if (different < 1) return start;
    // Where data decide the address by thread, the load is an instruction; others are operands.
    if (different <= 1 && access.ways && !access.scattered) return start;
    if (different <= 1 && !access.ways) {
      const std::int64_t address = addresses[static_cast<std::size_t>(std::countr_zero(step.threads))];
      const double there = uniform_constant(address, start);
      if (access.index == ChipAccess::Index::none) return there;
      return indexed_constant(warp, access, address, start, there);
    }
    if (!access.ways && is_second_half(warp, step.threads, access, addresses)) return warp.constants.there;
    if (access.scattered)
      missed = different * std::max(0.0, 1 - kConstantBytes / static_cast<double>(*access.scattered));
    return warp.constants.there = divergent_constants(different, missed, start);
  }

  // So many different constants for the threads of a warp, of which some are not in the cache; returns when the last is there. The
  // unit for divergent addresses compares the values of match.any, too, at the same pace (data/hardware/h200_match_costs.csv).
  double divergent_constants(double different, double missed, double start) {
    const double served = std::max(start, constant_free_);
    constant_free_ = served + different * figures_.constant_way_cycles + missed * kConstantMissCycles;
    return std::max(constant_free_, served + figures_.constant_latency +
                                        (different - 1) * figures_.constant_way_latency +
                                        missed * kConstantMissLatency);
  }

  // ptxas makes one load of 8 bytes of two constants side by side that an item asks for one after the other.
  bool is_second_half(Warp& warp, std::uint32_t threads, const ChipAccess& access,
                      const LaneValues& addresses) const {
    constexpr std::int64_t word = 4;
    WarpConstants& last = warp.constants;
    bool second = access.bytes == word && access.address && last.first_half && last.item == now_ &&
                  last.threads == threads;
    bool aligned = access.bytes == word && access.address && access.align >= 2 * word;
    for (unsigned rest = threads; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      second = second && addresses[lane] == last.addresses[lane] + word;
      aligned = aligned && addresses[lane] % (2 * word) == 0;
    }
    if (!second) last.addresses = addresses;
    last.first_half = aligned && !second;
    last.item = now_;
    last.threads = threads;
    return second;
  }

  // All threads load the same constant, which costs nothing where the SM's cache has its line. A launch begins without any:
  // the first one of a line comes from L2.
  double uniform_constant(std::int64_t address, double start) {
    const std::int64_t number = address / kConstantLineBytes;
    SmConstants::Line& line = constants_.find(number);
    if (line.number != number) {
      const double served = std::max(start, constant_free_);
      constant_free_ = served + kConstantMissCycles;
      const bool first = first_constants_.insert(number).second;
      line = {number, served + (first ? figures_.l2_latency : kConstantMissLatency)};
    }
    return std::max(start, line.time);
  }

  // The SM has its line at `there`. What ULDC does not load in one piece, LDC does.
  double indexed_constant(Warp& warp, const ChipAccess& access, std::int64_t address, double start,
                          double there) {
    if (access.index == ChipAccess::Index::own || access.bytes > kUniformConstantBytes) {
      const double served = std::max(start, constant_free_);
      constant_free_ = served + figures_.constant_way_cycles * static_cast<double>(std::max<std::int64_t>(
                                                                   access.bytes / kUniformConstantBytes, 1));
      return std::max({there, constant_free_, served + figures_.constant_latency});
    }
    Partition& partition = partitions_[warp.partition];
    const std::int64_t number = address / kConstantLineBytes;
    auto& line = partition.constants.find(number);
    if (line.number != number) {
      partition.constants_free = std::max(start, partition.constants_free) + kIndexedConstantCycles;
      line = {number, partition.constants_free};
    }
    // An item that asks for several constants of a line asks for them one after the other, before other warps come between.
    const std::pair asked{number, now_};
    const double lost =
        std::exchange(warp.constants.indexed, asked) == asked ? 0 : lost_constants(partition.warps);
    if (lost > 0)
      partition.constants_free = std::max(start, partition.constants_free) + lost * kLostConstantCycles;
    return std::max({there, line.time, lost > 0 ? partition.constants_free : start});
  }

  // The share of a partition's accesses to constants whose line other warps have taken the place of. Warps are taken to be
  // anywhere in what the launch has used of its constants: those on one line share it. Of few lines they take none from each
  // other (loops over 8 lines in data/development, over 12 they do).
  double lost_constants(int warps) const {
    if (warps <= kPartitionConstantLines) return 0;
    const auto lines = static_cast<double>(first_constants_.size());
    const auto all = static_cast<double>(warps);
    const double different = lines * (1 - std::pow(1 - 1 / lines, all));
    const double over =
        std::min(different - kPartitionConstantLines, lines - kSharedConstantLines) / kPartitionConstantLines;
    return different / all * std::clamp(over, 0.0, 1.0);
  }

  // Returns when its result is there.
  double chip_access(Warp& warp, const WarpTrace::Step& step, std::size_t index, const ChipAccess& access,
                     double start) {
    if (access.space == ChipAccess::Space::constant) return constant_access(warp, step, index, access, start);
    ++run_.accesses;
    return access.space == ChipAccess::Space::shared ? shared_access(warp, step, index, access, start)
                                                     : local_access(warp, step, index, access, start);
  }

  static bool is_exchange(const ChipAccess& access, const Item& item) {
    return access.space == ChipAccess::Space::shared && access.kind == ChipAccess::Kind::atomic &&
           item.detail->floating;
  }

  // Shared memory adds no floating-point numbers: in rounds, threads load, add, and exchange if nobody came between. In a round
  // one thread of each bank succeeds, of half a warp with 8 bytes. Threads of other warps with the same address come between.
  // Returns when the last thread has succeeded.
  double exchange(Warp& warp, const LaneValues& addresses, std::uint32_t threads, const ChipAccess& access,
                  double start) {
    const bool wide = access.bytes > 4;
    auto& exchanged = warp.block->exchanged[access.address ? nullptr : &access];
    constexpr std::size_t half = kLanes / 2;
    std::array<int, kSharedBanks> of_bank{};
    int rounds = 0;
    for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      const auto word = static_cast<std::size_t>(addresses[lane] >> kSharedWordShift);
      const std::size_t bank = wide ? word / 2 % half + (lane < half ? 0 : half) : word % kSharedBanks;
      rounds = std::max(rounds, ++of_bank[bank]);
    }
    // Of the loads, by the first word of each thread.
    const int ways =
        shared_ways(addresses, threads, std::int64_t{1} << kSharedWordShift, ChipAccess::Kind::load);
    const double round = (wide ? kWideExchangeRound : kExchangeRound) + ways - 1;
    const double of_partition =
        static_cast<double>(warps_per_block_) / static_cast<double>(partitions_.size());
    const double apart =
        round * std::lerp(kFewExchange, kManyExchange, std::clamp((of_partition - 2) / 2, 0.0, 1.0));
    // What L1 and an address still have to do counts from now on, though `start` may be ahead, behind other loops of the item.
    LaneValues sorted;
    const std::size_t count = sort_addresses(addresses, threads, sorted);
    double done = 0;
    for (std::size_t i = 0, next = 0; i < count; i = next) {
      while (next < count && sorted[next] == sorted[i]) ++next;
      rounds = std::max(rounds, static_cast<int>(next - i));
      double& free = exchanged[sorted[i]];
      free = std::max(free, now_) + static_cast<double>(next - i) * apart;
      done = std::max(done, free);
    }
    const double alone = start + rounds * round;
    done = std::max(done, alone);
    const double failed = (done - alone) / round;
    const double cycles = (rounds * ((ways + 1) / 2.0 + kExchangeCycles) + failed * kFailedExchange) *
                          (wide ? kWideExchangeTimes : 1);
    l1_free_ = std::max(now_, l1_free_) + cycles;
    l1_backlog_.serve(cycles);
    done = std::max(done, l1_free_);
    run_.counts.exchange_rounds += rounds - 1 + failed;
    return done;
  }

  double shared_access(Warp& warp, const WarpTrace::Step& step, std::size_t index, const ChipAccess& access,
                       double start) {
    LaneValues addresses;
    const bool exchanges = is_exchange(access, *step.node->item);
    const bool drawn = (!access.ways || exchanges) && chip_addresses(warp, step, index, access, addresses);
    const bool known = drawn && !access.ways;
    if (!known && !access.ways) {  // taken to have no conflicts
      const double served = std::max(start, l1_free_);
      l1_free_ = served + figures_.request_cycles;
      return access.kind == ChipAccess::Kind::store ? start : served + figures_.shared_latency;
    }
    const bool load = access.kind == ChipAccess::Kind::load;
    const int ways = known ? shared_ways(addresses, step.threads, access.bytes, access.kind)
                           : static_cast<int>(RandomNumbers(warp.random).near(*access.ways));
    const auto least =
        known ? static_cast<int>(kLanes / lanes_at_once(addresses, step.threads, access.bytes, access.kind))
        : access.bytes > 8 ? 4
        : access.bytes > 4 ? 2
                           : 1;
    const int conflicts = std::max(ways - least, 0);
    (load ? run_.counts.shared_load_conflicts : run_.counts.shared_store_conflicts) += conflicts;
    if (options_.listener != nullptr) options_.listener->shared_access(ways, std::min(ways, least));
    if (exchanges && drawn) return exchange(warp, addresses, step.threads, access, start);
    const double served = std::max(start, l1_free_);
    if (exchanges) {  // a profile says how many rounds, but nothing says where
      l1_free_ = served + ways * (1 + kExchangeCycles);
      l1_backlog_.serve(ways * (1 + kExchangeCycles));
      return served + ways * kExchangeRound;
    }
    const double cycles = std::max<double>(ways, figures_.request_cycles);
    l1_free_ = served + cycles;
    l1_backlog_.serve(cycles);
    // MachineWork::cycles have the latency.
    const double latency = cycles_known_ && step.node->item->machine ? 0 : figures_.shared_latency;
    return load ? served + latency + 2 * conflicts : start;
  }

  // Local memory lies word by word side by side, a word of a warp's threads in one line; the block's and the warp's are
  // apart.
  double local_access(Warp& warp, const WarpTrace::Step& step, std::size_t index, const ChipAccess& access,
                      double start) {
    constexpr std::int64_t word = 4;
    LaneValues addresses;
    made_.clear();
    const bool known = chip_addresses(warp, step, index, access, addresses);
    for (unsigned rest = step.threads; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      const std::int64_t first = known ? addresses[lane] / word : 0;
      const auto sector = static_cast<std::uint8_t>(1U << (lane / 8));
      const auto same = std::find_if(made_.begin(), made_.end(),
                                     [&](const LineSectors& line) { return line.line == first; });
      if (same != made_.end())
        same->sectors |= sector;
      else
        made_.push_back({first, sector});
    }
    run_.accesses += static_cast<std::int64_t>(made_.size() - 1) / kDrawnLines;
    double done = start;
    for (const LineSectors& line : made_)
      for (std::int64_t more = 0; more < (access.bytes + word - 1) / word; ++more)
        done = std::max(
            done, local_line(warp.local + (line.line + more) % kLocalLines, line.sectors, access, start));
    return done;
  }

  double local_line(std::int64_t address, std::uint8_t sectors, const ChipAccess& access, double start) {
    const double looked_up = look_up(start);
    SectorCache::Line& line = l1_.find_or_add(address);
    const int count = sectors_in(sectors), hits = sectors_in(sectors & line.loaded);
    double done = looked_up + figures_.l1_latency;
    if (access.kind == ChipAccess::Kind::store) {
      run_.counts.local_store_sectors += count;
      run_.counts.local_store_hits += hits;
      // Written through; of several words that a warp's threads choose, sectors are written in part.
      to_l2(looked_up, kWriteSectors * (access.scattered ? partial_writes(count) : count),
            l2_sector_cycles());
      done = start;
      local_at_l2(address, sectors, true);
      if (options_.local_to_memory > 0) at_memory(looked_up, count * options_.local_to_memory);
    } else {
      run_.counts.local_load_sectors += count;
      run_.counts.local_load_hits += hits;
      if (hits < count) {
        const double there = from_l2(looked_up, count - hits, l2_sector_cycles()).time;
        done = std::max(done, there + figures_.l2_latency);
        const auto missed = static_cast<std::uint8_t>(sectors & ~line.loaded);
        if (const int gone = local_at_l2(address, missed, false); gone > 0) {
          const double crowd = at_memory(there, gone);
          done = std::max(
              {done, there + figures_.memory_latency + crowd, memory_free_ + figures_.memory_latency});
          run_.counts.local_read_sectors += gone;
        }
      }
    }
    line.loaded |= sectors;
    return done;
  }

  // Some sectors of a line of local memory are stored, or loaded and not in L1. L2 keeps lines in the order in which they were used
  // last: one is gone, and was written back if it was stored to, once as much as this SM's part of L2 has come in since then. Returns
  // how many of the sectors it had and has no more.
  int local_at_l2(std::int64_t address, std::uint8_t sectors, bool store) {
    if (options_.local_bytes_at_l2 <= 0) return 0;
    LocalLine& line = local_lines_[address];
    const double since = through_ - line.seen;
    const auto missing = static_cast<std::uint8_t>(sectors & ~line.there);
    const double comes = kSectorBytes * (sectors_in(missing) +
                                         sectors_in(sectors & line.there) *
                                             std::min(kUsedAgain * since / options_.local_bytes_at_l2, 1.0));
    through_ += comes;
    passed_ += comes;
    line.there |= sectors;
    if (store) line.stored |= sectors;
    line.seen = through_;
    local_uses_.emplace_back(address, through_);
    const int gone = store ? 0 : sectors_in(missing & line.gone);
    make_room_at_l2();
    return gone;
  }

  // Takes the lines of local memory away that L2 has no more.
  void make_room_at_l2() {
    for (; !local_uses_.empty() && through_ - local_uses_.front().second > options_.local_bytes_at_l2;
         local_uses_.pop_front()) {
      LocalLine& line = local_lines_[local_uses_.front().first];
      if (line.seen != local_uses_.front().second) continue;  // used again since
      run_.counts.local_written_sectors += sectors_in(line.stored);
      line.gone |= line.there;
      line.there = line.stored = 0;
    }
  }

  void count_local_left() {
    for (const auto& [address, line] : local_lines_) run_.local_left_sectors += sectors_in(line.stored);
  }

  // SMs share the bandwidth alike, until those with fewer blocks have ended.
  double left_sms() const {
    const bool ended =
        options_.even_instructions > 0 && run_.counts.instructions >= options_.even_instructions;
    return ended ? options_.left_sms : 1;
  }
  double memory_sector_cycles() const { return figures_.memory_sector_cycles * left_sms(); }
  double l2_sector_cycles() const {
    return std::max(figures_.l2_sector_cycles * left_sms(), figures_.l2_sector_cycles_alone);
  }

  // When L2 can begin to send sectors that are asked for at `time`, and what that waits for, if anything.
  Completion from_l2(double time, double sectors, double cycles) {
    Completion begin{time, SmWait::latency};
    begin.later({memory_free_ - kQueue, SmWait::memory});
    begin.later({written_back_, SmWait::memory});
    begin.later({l2_free_, l2_backlog_.because()});
    if (time >= l2_free_) l2_backlog_.clear();
    l2_backlog_.stall(std::max(memory_free_ - kQueue, written_back_) - std::max(time, l2_free_),
                      SmWait::memory);
    const double held = sectors * cycles;
    l2_backlog_.serve(held);
    l2_busy_ = left_of(l2_busy_, time - l2_seen_) + held;
    l2_seen_ = std::max(l2_seen_, time);
    l2_free_ = std::max(l2_free_, begin.time - std::min(kL2Left, time * kDrift)) + held;
    return begin;
  }

  // What is left of a use so many cycles later. Most requests come together.
  static double left_of(double busy, double cycles) {
    return cycles > 0 ? busy * std::exp(-cycles / kUseSpan) : busy;
  }

  // Cycles that a request waits for those of other SMs.
  double l2_crowd() const {
    const double used = std::min(l2_busy_ / kUseSpan, kMostUsed);
    return kL2Crowd * used / (1 - used);
  }

  // The same for stores, which wait for reads, but do not hold them up.
  Completion to_l2(double time, double sectors, double cycles) {
    Completion begin{time, SmWait::latency};
    begin.later({memory_free_ - kQueue, SmWait::memory});
    begin.later({l2_write_free_, SmWait::l2});
    const double held = sectors * cycles;
    l2_write_free_ = std::max(l2_write_free_, begin.time - std::min(kL2Left, time * kDrift)) + held;
    return begin;
  }

  // Returns for how long it waits for others, beside its turn.
  double at_memory(double time, double sectors) {
    const double held = sectors * memory_sector_cycles();
    memory_busy_ = left_of(memory_busy_, time - memory_seen_) + held;
    memory_seen_ = std::max(memory_seen_, time);
    memory_free_ = std::max(memory_free_, time - std::min(kMemoryLeft, time * kDrift)) + held;
    const double used = std::min(memory_busy_ / kUseSpan, kMostUsed);
    return kMemoryCrowd * used / (1 - used) + kMixedCrowd * options_.mixed * used;
  }

  // Of a warp's store: the lines that it has, the bytes that it has for a sector, whether these are all of it, and whether memory
  // sees less than half of the sector, with the stores behind it.
  struct StoreKind {
    double lines, bytes;
    bool fills, partial_at_memory;
    bool of_rows;       // each thread goes to a row of its own
    bool side_by_side;  // as its bytes lie
  };

  // Of so many sectors of one line, of each of which less than half is written: in sectors that are written whole.
  static double partial_writes(int sectors) { return kPartialWrite * sectors + kPartialWriteOfLine; }

  // A store to part of a sector waits for others that fill more of it, each time as long; L2 sees them as one.
  void store(const Warp& warp, const LineSectors& to, double time, const StoreKind& kind) {
    SectorCache::Line& line = l1_.find_or_add(to.line);
    const std::uint8_t sectors = to.sectors;
    const int count = sectors_in(sectors);
    run_.counts.store_sectors += count;
    // They are hits wherever L1 has the line, whichever sectors of it (data/development: `copy<char>`).
    if (line.stored != 0 || line.loaded != 0) run_.counts.store_hits += count;
    // What a line waits for when it is stored to does not stay, nor what it has.
    for (unsigned rest = line.loaded; rest != 0; rest &= rest - 1)
      if (line.ready[std::countr_zero(rest)] > warp.unhindered) line.loaded = 0;
    fill(line, sectors, kind.bytes, time);
    line.stored |= sectors;
    meet(line, warp, time, kind.lines);
    int merged = 0;
    double turns = 0;
    const double of_part = partial_writes(count) / count;
    for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
      const int sector = std::countr_zero(rest);
      const bool lone = (sectors >> (sector ^ 1) & 1) == 0;
      // Bytes from which on it takes no longer than a whole sector.
      const double enough = lone && kind.of_rows ? kSectorBytes : kSectorBytes / 2.0;
      double& waiting = line.waiting[sector];
      const double before = std::exchange(waiting, waiting + kind.bytes);
      if (kind.fills || before == 0) {
        turns += kind.bytes < enough ? of_part : 1;
      } else {
        ++merged;
        if (before < enough && waiting >= enough) turns -= of_part - 1;
      }
    }
    run_.counts.merged_sectors += merged;
    const int written = count - merged;
    const bool parts_of_rows = kind.of_rows && !kind.fills;
    double rest = 0;
    if (written > 0 && (kind.partial_at_memory || options_.bytes_at_l2 > 0 || options_.new_at_l2 > 0)) {
      LineAtL2& at_l2 = read_[to.line];
      if ((at_l2.sectors & (sectors | kStoredAtL2)) == 0) through_ += kSectorBytes * written;
      const bool now = use_at_l2(at_l2);
      // Of rows, a part of a line.
      if (options_.bytes_at_l2 > 0)
        run_.counts.rewritten_sectors +=
            kind.of_rows && now
                ? written
                : static_cast<double>(written) * sectors_in(sectors & at_l2.written_back) / count;
      at_l2.written_back = static_cast<std::uint8_t>(at_l2.written_back & ~sectors);
      at_l2.stored |= sectors;
      at_l2.sectors |= kStoredAtL2;
      const unsigned all = 0xf;
      if ((at_l2.fresh & sectors) != 0 && kind.side_by_side && (at_l2.sectors & all) != all) {
        at_l2.fresh = static_cast<std::uint8_t>(at_l2.fresh & ~all);
        // The other's part has the whole line, as sectors, if that is the rest of a sector of which this has little.
        const bool twice = !kind.fills && sectors_in(at_l2.sectors & all) == 1;
        at_memory(time, twice ? 2 * kSharedLine : kSharedLine);
      }
      if (parts_of_rows && options_.new_at_l2 > kKept) turns += second_parts(at_l2, sectors, time);
      rest = needs_rest(at_l2, sectors, kind) * written / count;
      if (parts_of_rows && options_.from_memory > kKept) change(at_l2, sectors);
    }
    const double cycles = parts_of_rows ? figures_.l2_sector_cycles : l2_sector_cycles();
    const double there = to_l2(time, turns * kWriteSectors, cycles).time;
    // Memory reads a sector that was written in part, with its neighbour, and takes both back. Those in rows lie apart there; of
    // others, L2 puts parts together where memory takes few.
    const double apart = kind.of_rows ? kRandomSector : 1;
    if (!kind.of_rows && options_.to_memory <= kKept) rest = 0;
    at_memory(there, apart * options_.to_memory * (written + rest * (kReadModifyWrite - 1)));
  }

  // Sectors that are stored to now, of which memory must give the rest: of those that are not whole, as many as are left so.
  double needs_rest(LineAtL2& line, std::uint8_t sectors, const StoreKind& kind) {
    SmCounts& counts = run_.counts;
    int in_part = 0;
    for (unsigned of = sectors; of != 0; of &= of - 1) {
      const int sector = std::countr_zero(of);
      std::uint8_t& filled = line.filled[sector];
      const bool whole = is_whole(line, sector), first = filled == 0;
      filled = static_cast<std::uint8_t>(std::min<double>(filled + kind.bytes, kSectorBytes));
      if (first) ++counts.first_store_sectors;
      if (whole || !kind.partial_at_memory) continue;
      ++in_part;
      if (first)
        ++counts.partial_store_sectors;
      else if (filled == kSectorBytes)
        --counts.partial_store_sectors;
    }
    return in_part *
           std::clamp(counts.partial_store_sectors / std::max(counts.first_store_sectors, 1.0), 0.0, 1.0);
  }

  // L2's turns more for sectors that it had a part of.
  double second_parts(LineAtL2& line, std::uint8_t sectors, double time) {
    double turns = 0;
    const double gone = 1 - std::exp((line.parts_seen - parts_) / (kPartsAtL2 * options_.written_back_bytes));
    for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
      const int sector = std::countr_zero(rest);
      const auto bit = static_cast<std::uint8_t>(1 << sector);
      if ((line.sectors & bit) != 0) continue;
      const bool first = line.filled[sector] == 0;
      if ((line.parts & bit) != 0) {
        line.parts = static_cast<std::uint8_t>(line.parts & ~bit);
        if (time - line.first_part > kTogetherAtL2) turns += kSecondPart;
      }
      if (!first) {
        parts_gone_ += gone;
        if (parts_gone_ < 1) continue;
        parts_gone_ -= 1;
        line.filled[sector] = kSectorBytes;
        ++run_.counts.rewritten_sectors;
        ++run_.counts.first_store_sectors;
      }
      parts_ += kSectorBytes;
      line.parts |= bit;
      line.first_part = static_cast<float>(time);
    }
    line.parts_seen = static_cast<float>(parts_);
    return turns;
  }

  // The next load finds what stores have filled.
  static void fill(SectorCache::Line& line, std::uint8_t sectors, double bytes, double time) {
    for (unsigned rest = sectors & ~line.loaded; rest != 0; rest &= rest - 1) {
      const int sector = std::countr_zero(rest);
      line.filled[sector] += bytes;
      if (line.filled[sector] < kSectorBytes) continue;
      line.ready[sector] = time;
      line.loaded |= static_cast<std::uint8_t>(1 << sector);
    }
  }

  // L2 has it: memory was asked for it, or stores have filled it.
  static bool is_whole(const LineAtL2& line, int sector) {
    return (line.sectors >> sector & 1) != 0 || line.filled[sector] == kSectorBytes;
  }

  // A store to what memory gave.
  static void change(LineAtL2& line, std::uint8_t sectors) {
    line.changed |= static_cast<std::uint8_t>(sectors & line.fresh);
    line.fresh = static_cast<std::uint8_t>(line.fresh & ~sectors);
  }

  // L2 seems to write a sector back that is read again after one store, and what comes to it meanwhile waits.
  void read_changed(LineAtL2& line, std::uint8_t sector, double time) {
    if ((line.changed & sector) == 0) return;
    line.changed = static_cast<std::uint8_t>(line.changed & ~sector);
    int warps = 0;
    for (const Partition& partition : partitions_) warps += partition.warps;
    const double rows = static_cast<double>(warps) * kLanes * options_.active_sms;
    written_back_ =
        std::max(written_back_, time) + kInPlace * std::cbrt(kInPlaceRows / rows) * memory_sector_cycles();
  }

  // What waits in a line, when one more store of so many lines comes to it at that time: nothing any more, or what this store
  // meets.
  void meet(SectorCache::Line& line, const Warp& warp, double time, double lines) {
    const auto storer = static_cast<std::int64_t>(warp.age);
    const double own_time = time - l1_passed_over_;
    const bool own = std::exchange(line.storer, storer) == storer;
    if (line.opened == 0 || opened_ - line.opened >= kOpenLines ||
        (own ? own_time >= line.leaves : time >= line.leaves_others)) {
      ++opened_;
      for (double& bytes : line.waiting) bytes = 0;
    }
    line.opened = opened_;
    line.leaves = own_time + figures_.store_wait;
    line.leaves_others = time + kOthersMeet + lines * kOthersMeetOfLine;
  }

  // The `before`-th line of a warp's load, each of which takes L1 so many cycles, and once more when they are read.
  Completion load(const LineSectors& of, double time, double cycles, std::size_t before) {
    const std::int64_t address = of.line;
    const std::uint8_t sectors = of.sectors;
    const double behind = static_cast<double>(before) * cycles;
    SectorCache::Line& line = l1_.find_or_add(address);
    const std::uint8_t hits = sectors & line.loaded, misses = sectors & ~line.loaded;
    run_.counts.load_sectors += sectors_in(sectors);
    run_.counts.load_hits += sectors_in(hits);
    Completion done{time + figures_.l1_latency + behind,
                    time - now_ > figures_.l1_latency ? l1_backlog_.because() : SmWait::on_chip};
    bool waits = misses != 0;
    for (unsigned rest = hits; rest != 0; rest &= rest - 1) {
      const double ready = line.ready[std::countr_zero(rest)];
      waits = waits || ready > time;
      done.later({ready, SmWait::latency});
    }
    if (waits) l1_free_ += kAgain * std::min(cycles, 1.0);
    if (misses == 0) return done;
    if (options_.keep_reads) asked_.push_back({address, misses});
    for (unsigned rest = misses; rest != 0; rest &= rest - 1) {
      const int sector = std::countr_zero(rest);
      const bool lone = (misses >> (sector ^ 1) & 1) == 0;
      const Completion there =
          read_from_l2(address, sector, time, (line.stored >> sector & 1) != 0, lone ? kLoneSector : 1);
      line.loaded |= static_cast<std::uint8_t>(1 << sector);
      line.ready[sector] = there.time;
      done.later(there);
    }
    return done;
  }

  // Cycles by which the way to the slice of L2 that has a line is longer than the mean of all SMs and slices.
  double way_to_slice(std::int64_t line) {
    const auto [array, place] = place_of(line);
    return figures_.sm_way + figures_.slice_way * slice_distance(array, place);
  }

  // The same for a line that memory gives.
  double way_to_memory(std::int64_t line) {
    const auto [array, place] = place_of(line);
    return figures_.sm_way + figures_.memory_latency * memory_distance(array, place);
  }

  // The array of a line, and how many lines it is behind the first one that was read of it.
  std::pair<std::int64_t, std::int64_t> place_of(std::int64_t line) {
    const std::int64_t place = line >> kArrayShift;
    if (place != last_read_.first)
      last_read_ = *first_read_.try_emplace(place, std::ssize(first_read_), line).first;
    const auto [array, first] = last_read_.second;
    return {array, line - first};
  }

  // Of what the access asks for and nobody on this SM did before, the share that memory gives.
  double from_memory() const { return of_all_now_ ? options_.from_memory_of_all : options_.from_memory; }

  // L2 keeps whole lines, in the order in which they were used last: it has one no more if as much as it holds has come since
  // then.
  // Returns whether it has been written back since.
  bool use_at_l2(LineAtL2& line) {
    if (options_.bytes_at_l2 <= 0) return false;
    const double since = passed_ - line.seen;
    const bool back = line.stored != 0 && since > options_.written_back_bytes;
    if (back) line.written_back |= std::exchange(line.stored, std::uint8_t{0});
    if (!drawn_now_ && since > options_.bytes_at_l2) {
      run_.counts.reread_bytes += 2 * kSectorBytes * (((line.sectors & 3) != 0) + ((line.sectors & 12) != 0));
      line.sectors = line.fresh = line.changed = line.parts = 0;
      std::fill(std::begin(line.filled), std::end(line.filled), std::uint8_t{0});
    }
    // One that it has counts as more the longer it was not used.
    passed_ += from_memory() * kLineBytes *
               (line.sectors == 0 ? 1 : std::clamp(kUsedAgain * since / options_.bytes_at_l2, 0.0, 1.0));
    line.seen = static_cast<float>(passed_);
    return back;
  }

  // Whether a sector that the SM asks for the first time is the first of its pair; memory_now_: whether memory gives that.
  bool comes_from_memory(LineAtL2& line, int sector) {
    const bool first_of_pair = (line.sectors & (3 << (sector & 2))) == 0;
    line.sectors |= static_cast<std::uint8_t>(1 << sector);
    if (!first_of_pair) return false;
    run_.counts.first_bytes += 2 * kSectorBytes;
    if (of_all_now_) run_.counts.first_of_all_bytes += 2 * kSectorBytes;
    through_ += 2 * kSectorBytes * (of_all_now_ ? 1 / options_.active_sms : from_memory());
    double& debt = of_all_now_ ? memory_debt_of_all_ : memory_debt_;
    debt += from_memory();
    memory_now_ = debt >= 1;
    if (memory_now_) debt -= 1;
    return true;
  }

  // When a sector is there that L1 does not have.
  Completion read_from_l2(std::int64_t address, int sector, double time, bool stored, double turns) {
    Completion there = from_l2(time, options_.reads_at_l2 * turns, l2_sector_cycles());
    l2_write_free_ += options_.reads_at_l2 * turns * l2_sector_cycles();
    // What took longer: to get its turn, or the way.
    const auto after = [&](double way) {
      const SmWait turn = there.because == SmWait::latency ? l1_backlog_.because() : there.because;
      return Completion{there.time + way, there.time - now_ > way ? turn : SmWait::latency};
    };
    LineAtL2& line = read_[address];
    use_at_l2(line);
    const auto from_slice = [&](double latency) {
      return after(latency + way_to_slice(address) + l2_crowd());
    };
    const auto bit = static_cast<std::uint8_t>(1 << sector);
    if (is_whole(line, sector)) {
      read_changed(line, bit, there.time);
      return from_slice(stored ? figures_.stored_latency : figures_.l2_latency);
    }
    const bool first_of_pair = comes_from_memory(line, sector);
    if (!memory_now_) {
      if (!options_.leads || drawn_now_) return from_slice(figures_.l2_latency);
      return after(kAskedByAll * figures_.memory_latency + way_to_memory(address));
    }
    line.fresh |= bit;
    const double crowd = at_memory(there.time, first_of_pair ? 2 * apart_at_memory_ : 0);
    there.later({memory_free_, SmWait::memory});
    return after(figures_.memory_latency + way_to_memory(address) + crowd);
  }

  static const AccessProfile* profile_of(const WarpTrace::Step& step) {
    return step.node->item->detail ? step.node->item->detail->profile.get() : nullptr;
  }

  // Lines as the profile has seen them.
  void draw_lines(Warp& warp, const WarpTrace::Step& step, const AccessProfile& profile) {
    const Region& region = regions_[static_cast<std::size_t>(step.node->access)];
    const std::int64_t begin = (region.place << kArrayShift) + kDrawnBegin + (options_.sm << kDrawnShift);
    RandomNumbers random(warp.random);
    const DrawnAccess& drawn = drawn_access(profile);
    drawn_.draw(profile, {region.place, begin, drawn.sectors_of_line}, warp.place, random, made_);
    for (LineSectors& line : made_) line.line -= region.base;
    // Memory gives two sectors for one that lies alone.
    const double pieces = 1 / std::clamp(profile.sectors / profile.lines, 1.0, 2.0);
    random_ = pieces * drawn.asked_again;
    atomic_memory_ = pieces * (drawn.asked_again + drawn.first * options_.from_memory);
  }

  // The turns of the atomics of lines that were drawn: with a profile, as many as it says.
  void draw_turns(Warp& warp, const AccessProfile* profile) {
    turns_.assign(made_.size(), {});
    RandomNumbers random(warp.random);
    const double each = profile != nullptr && profile->turns > 0 ? profile->turns / profile->sectors : 1;
    for (std::size_t i = 0; i < made_.size(); ++i)
      for (unsigned rest = made_[i].sectors; rest != 0; rest &= rest - 1)
        turns_[i][static_cast<std::size_t>(std::countr_zero(rest))] =
            std::max(static_cast<int>(random.near(each)), 1);
  }

  const DrawnAccess& drawn_access(const AccessProfile& profile) {
    const auto [known, fresh] = drawn_accesses_.try_emplace(&profile);
    if (!fresh) return known->second;
    double seen = 0;
    for (const double share : profile.all) seen += share;
    const double missed = share_missed(profile.all, options_.random_bytes_at_l2 / kLineBytes);
    known->second.first = std::clamp(1 - seen, 0.0, 1.0);
    known->second.asked_again = std::clamp(missed - known->second.first, 0.0, 1.0);
    const double blocks = static_cast<double>(launch_.blocks()) / static_cast<double>(options_.sms);
    const TouchedMemory touched =
        touched_by(profile, std::max(blocks, 1.0), static_cast<double>(threads_per_block_));
    if (touched.lines > 0) known->second.sectors_of_line = touched.sectors / touched.lines;
    return known->second;
  }

  // Lines in place of those that are not known, spread as the pattern says over the array; over a region with
  // an element for each thread of the launch where the array's size is not known.
  void make_lines(Warp& warp, const WarpTrace::Step& step, const MemoryAccess& access) {
    made_.clear();
    const std::int64_t bytes = std::max<std::int64_t>(1, access.bytes.value_or(4));
    std::int64_t region = regions_[static_cast<std::size_t>(step.node->access)].lines;
    if (region == 0) region = std::max<std::int64_t>(1, threads_ * bytes / kLineBytes);
    RandomNumbers random(warp.random);
    const int threads = std::popcount(step.threads);
    if (make_rows(warp, step, bytes, region)) {
      if (is_atomic(access)) count_turns(rows_, step, made_);
      return;
    }
    if (step.node->item->detail && step.node->item->detail->near)
      return make_near(warp, threads, bytes, region);
    const Access pattern = access.access.value_or(Access::coalesced);
    const bool at_random = step.node->item->detail && step.node->item->detail->random;
    if (at_random) random_ = far_share(region);
    if (pattern == Access::scattered && (at_random || is_atomic(access))) {
      const auto elements =
          static_cast<std::uint64_t>(std::max<std::int64_t>(region * kLineBytes / bytes, 1));
      make_atomics(threads, bytes, [&] { return static_cast<std::int64_t>(random.next() % elements); });
      if (!is_atomic(access)) join_lines();
      return;
    }
    if (pattern == Access::scattered) {
      random_ = kFarAtRandom * far_share(region);
      gather(step, threads, bytes, region, random);
      return join_lines();
    }
    const std::int64_t spread =
        pattern == Access::uniform ? 1 : (threads * bytes + kSectorBytes - 1) / kSectorBytes;
    const std::int64_t sectors = std::clamp<std::int64_t>(access.sectors.value_or(spread), 1, 32 * 16);
    const auto line = static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(region));
    if (pattern == Access::strided) {
      for (std::int64_t i = 0; i < sectors; ++i) made_.push_back({line + i, 1});
      return;
    }
    for (std::int64_t left = sectors; left > 0; left -= 4)
      made_.push_back({line + static_cast<std::int64_t>(made_.size()),
                       static_cast<std::uint8_t>(left >= 4 ? 15 : (1 << left) - 1)});
  }

  // Of what is accessed at random in so many lines: what L2 does not find again.
  double far_share(std::int64_t region) const {
    return std::max(0.0, 1 - options_.random_bytes_at_l2 / static_cast<double>(region * kLineBytes));
  }

  // In their order, each line once.
  void join_lines() {
    std::sort(made_.begin(), made_.end(),
              [](const LineSectors& a, const LineSectors& b) { return a.line < b.line; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < made_.size(); ++i) {
      if (made_[i].line == made_[kept].line)
        made_[kept].sectors |= made_[i].sectors;
      else
        made_[++kept] = made_[i];
    }
    made_.resize(std::min(made_.size(), kept + 1));
  }

  // Rows that data choose: at random, but the same one for the same index. False: each thread has a row of its own, as where it
  // gathers.
  bool make_rows(const Warp& warp, const WarpTrace::Step& step, std::int64_t bytes, std::int64_t region) {
    LaneValues rows, sorted;
    if (!warp.trace.places_in_rows(step, rows, rows_)) return false;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(sort_addresses(rows, step.threads, sorted));
    if (end - sorted.begin() > 1 && std::adjacent_find(sorted.begin(), end) == end) return false;
    const std::int64_t all = std::max<std::int64_t>(region * kLineBytes / step.node->row_bytes, 1);
    for (std::size_t i = 0; i < kLanes; ++i)  // any place may be asked for: sums wrap
      rows_[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(rows_[i]) +
                                           static_cast<std::uint64_t>(rows[i] % all * step.node->row_bytes));
    WarpTrace::lines_of(rows_, step.threads, bytes, made_);
    random_ = kFarAtRandom * far_share(region);
    return true;
  }

  // A gather of which nobody knows the addresses is like the most of those that were profiled.
  void gather(const WarpTrace::Step& step, int threads, std::int64_t bytes, std::int64_t region,
              RandomNumbers& random) {
    std::vector<LineSectors>& recent = gathered_[regions_[static_cast<std::size_t>(step.node->access)].place];
    const std::int64_t dense = (threads * bytes + kSectorBytes - 1) / kSectorBytes;
    const std::int64_t sectors = std::max(random.near(threads * kGatheredSectors), dense);
    const std::int64_t lines =
        std::max((sectors + 3) / 4, random.near(static_cast<double>(sectors) * kGatheredLines));
    for (std::int64_t i = 0; i < lines; ++i) {
      if (random.share() < kGatheredAgain && !recent.empty()) {
        made_.push_back(recent[random.next() % recent.size()]);
        continue;
      }
      const auto size = static_cast<int>(sectors / lines + (i < sectors % lines ? 1 : 0));
      const auto first = static_cast<int>(random.next() % static_cast<std::uint64_t>(5 - size));
      made_.push_back({static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(region)),
                       static_cast<std::uint8_t>(((1 << size) - 1) << first)});
      if (recent.size() < kRecentlyGathered)
        recent.push_back(made_.back());
      else
        recent[random.next() % kRecentlyGathered] = made_.back();
    }
  }

  // An element for each thread, in the order of the threads of the launch.
  void make_near(const Warp& warp, int threads, std::int64_t bytes, std::int64_t region) {
    const std::int64_t begin = warp.first_thread * bytes, end = begin + threads * bytes;
    for (std::int64_t sector = begin / kSectorBytes; sector * kSectorBytes < end; ++sector) {
      const std::int64_t line = sector / 4 % region;
      if (made_.empty() || made_.back().line != line) made_.push_back({line, 0});
      made_.back().sectors |= static_cast<std::uint8_t>(1 << (sector & 3));
    }
  }

  // Whose threads access the elements that `draw` gives. Those of one sector are one access, but for threads with the same
  // element: they take turns.
  template <class Draw>
  void make_atomics(int threads, std::int64_t bytes, Draw draw) {
    std::array<std::int64_t, kLanes> elements{};
    const auto end = elements.begin() + threads;
    std::generate(elements.begin(), end, draw);
    std::sort(elements.begin(), end);
    std::int64_t last = -1;
    for (auto at = elements.begin(); at != end;) {
      const auto next = std::upper_bound(at, end, *at);
      const std::int64_t sector = *at * bytes / kSectorBytes;
      if (sector != last) {
        made_.push_back({sector / 4, static_cast<std::uint8_t>(1U << (sector & 3))});
        turns_.emplace_back();
      }
      last = sector;
      int& turns = turns_.back()[static_cast<std::size_t>(sector & 3)];
      turns = std::max(turns, static_cast<int>(next - at));
      at = next;
    }
  }

  void finish_cut() {
    run_.cycles = now_;
    run_.second_half = run_.counts;
    run_.second_half.add(half_, -1);
    run_.second_half_cycles = now_ - half_cycles_;
    for (std::size_t i = 0; i < kSmWaits; ++i) run_.second_half_waits[i] = run_.waits[i] - half_waits_[i];
  }

  const LaunchTrace& launch_;
  TraceOfBlocks common_;
  const SmFigures& figures_;
  const SmOptions& options_;
  SectorCache l1_;
  std::vector<Partition> partitions_;
  LineTable<AtomicLine> atomics_;
  LineTable<double> slices_;                                         // of L2: when atomics of before are done
  double slices_free_ = 0;                                           // of all of them, likewise
  std::unordered_map<const AccessProfile*, double> hottest_slices_;  // of each such access, likewise
  std::vector<std::array<int, 4>> turns_;  // of the lines of one atomic access, by sector
  double code_bytes_ = 0;
  bool fetches_ = false;  // the SM has not all code when the launch begins, or cannot keep it
  std::unordered_map<const Item*, Fetched> code_;
  double fetch_free_ = 0, fetched_bytes_ = 0;
  std::unordered_map<std::int64_t, std::vector<LineSectors>> gathered_;  // lately, of each array
  LaneValues rows_{};           // the addresses of an access to rows that data choose
  double random_ = 0;           // the share of what is accessed at random that L2 has not
  double apart_at_memory_ = 1;  // what memory takes for a sector of the access
  double atomic_memory_ = 0;    // pieces of 64 bytes of memory for a sector of an atomic with a profile
  bool drawn_now_ = false;      // the addresses of what is executed are not known
  bool of_all_now_ = false;     // they depend on no block
  bool memory_now_ = false;     // memory has the pair of sectors that was asked for last
  double memory_busy_ = 0, memory_seen_ = 0, l2_busy_ = 0, l2_seen_ = 0;
  double constant_free_ = 0, barrier_free_ = 0, block_free_ = 0;
  SmConstants constants_;
  struct LocalLine {
    double seen = 0;  // through_ at its last use
    std::uint8_t there = 0, stored = 0,
                 gone = 0;  // sectors in L2, those not written back, and those that it had before
  };
  std::unordered_map<std::int64_t, LocalLine> local_lines_;  // of local memory, that were accessed
  std::deque<std::pair<std::int64_t, double>> local_uses_;   // lines and through_, in their order
  double through_ = 0;                                       // bytes that came into L2 for this SM
  std::unordered_set<std::int64_t> first_constants_;         // what the launch has asked L2 for
  SmWait last_wait_ = SmWait::blocks;
  Backlog l1_backlog_{SmWait::on_chip}, l2_backlog_{SmWait::l2};
  std::array<double, kSmWaits> half_waits_{};
  double l1_free_ = 0, l2_free_ = 0, l2_write_free_ = 0, memory_free_ = 0, memory_debt_ = 0,
         memory_debt_of_all_ = 0;
  double sectors_of_atomic_ = 0;  // that L2 could send meanwhile
  double written_back_ = 0;       // when memory has what was changed in place
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<std::size_t> free_;
  std::uint64_t order_ = 0;
  std::int64_t opened_ = 0;    // lines that were stored to, but for those that wait for more
  double l1_passed_over_ = 0;  // cycles of L1 for loads, or in which L2 held it up
  std::size_t turn_ = 0;       // the partition that is first where several could issue
  std::int64_t warps_per_block_ = 1, threads_per_block_ = 1, threads_ = 1, block_turn_ = 0, next_block_ = 0,
               end_block_ = 0, started_ = 0;
  std::unordered_map<std::string, std::int64_t> places_;
  std::vector<Region> regions_;                // by access
  std::vector<std::int64_t> stores_together_;  // by access: stores of the same list to the same array
  std::size_t most_loads_ = 1;
  bool detailed_ = false;      // items say what they need
  std::set<int> needed_;       // the numbers of the loads that items need
  bool cycles_known_ = false;  // of a warp for its instructions: MachineWork::cycles
  LineTable<LineAtL2> read_;   // what this SM has read, and how many bytes had passed then
  double parts_ = 0;           // bytes of sectors of which L2 got a part
  double parts_gone_ = 0;      // sectors of these that it has written back, less than one
  double passed_ = 0;          // bytes that L2 has read from memory for this SM
  std::unordered_map<std::int64_t, std::int64_t> first_lines_;  // by place, for signatures
  // By place: which array L2 was asked for, in the order of first reads, and for which line first; and the last one.
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>> first_read_;
  std::pair<std::int64_t, std::pair<std::int64_t, std::int64_t>> last_read_{-1, {}};
  std::vector<LineSectors> made_, asked_;
  DrawnLines drawn_;
  std::unordered_map<const AccessProfile*, DrawnAccess> drawn_accesses_;
  std::vector<BlockPlace> places_for_blocks_;
  std::int64_t steps_ = 0, most_steps_ = kStepsOfAccess * options_.most_accesses;
  std::int64_t patience_ = kPatience * options_.most_accesses;
  double now_ = 0, half_cycles_ = -1;
  Completion end_;
  SmCounts half_;
  // For listeners: what now_ waits for, the items of loads by their numbers, what is executed, what accessed
  // memory last, what ends last.
  SmCause cause_;
  bool drains_ = false;  // no block starts where one has ended
  std::vector<const Item*> load_items_;
  const Item *executing_ = nullptr, *accessing_ = nullptr, *end_item_ = nullptr;
  std::unordered_map<const Item*, double> contention_;  // of those with machine instructions
  Pipe executing_pipe_ = Pipe::none, end_pipe_ = Pipe::none;
  SmCounts counts_before_;
  SmRun run_;
};

}  // namespace

void SmCounts::add(const SmCounts& other, double times) {
  instructions += times * other.instructions;
  load_sectors += times * other.load_sectors;
  load_hits += times * other.load_hits;
  store_sectors += times * other.store_sectors;
  store_hits += times * other.store_hits;
  merged_sectors += times * other.merged_sectors;
  atomic_sectors += times * other.atomic_sectors;
  local_load_sectors += times * other.local_load_sectors;
  local_load_hits += times * other.local_load_hits;
  local_store_sectors += times * other.local_store_sectors;
  local_store_hits += times * other.local_store_hits;
  local_read_sectors += times * other.local_read_sectors;
  local_written_sectors += times * other.local_written_sectors;
  shared_load_conflicts += times * other.shared_load_conflicts;
  shared_store_conflicts += times * other.shared_store_conflicts;
  exchange_rounds += times * other.exchange_rounds;
  load_pattern_sectors += times * other.load_pattern_sectors;
  store_pattern_sectors += times * other.store_pattern_sectors;
  atomic_pattern_sectors += times * other.atomic_pattern_sectors;
  unknown_sectors += times * other.unknown_sectors;
  profiled_sectors += times * other.profiled_sectors;
  again_load_pieces += times * other.again_load_pieces;
  again_store_pieces += times * other.again_store_pieces;
  random_load_sectors += times * other.random_load_sectors;
  random_store_sectors += times * other.random_store_sectors;
  partial_store_sectors += times * other.partial_store_sectors;
  first_store_sectors += times * other.first_store_sectors;
  first_bytes += times * other.first_bytes;
  first_of_all_bytes += times * other.first_of_all_bytes;
  reread_bytes += times * other.reread_bytes;
  rewritten_sectors += times * other.rewritten_sectors;
  atomic_first_sectors += times * other.atomic_first_sectors;
}

std::int64_t unified_l1_bytes(ComputeCapability of) {
  if (of.major >= 12) return 128 * kKib;
  if (of.major >= 9) return 256 * kKib;
  if (of.major == 8) return of.minor == 0 || of.minor == 7 ? 192 * kKib : 128 * kKib;
  if (of.major == 7) return of.minor >= 5 ? 96 * kKib : 128 * kKib;
  return 24 * kKib;  // L1 apart from the shared memory: Maxwell and Pascal
}

std::int64_t shared_configuration(ComputeCapability of, const Occupancy& occupancy,
                                  std::int64_t threads_per_block) {
  if (of.major < 7) return 0;
  // In KiB, ascending.
  static constexpr std::array<std::int64_t, 10> sizes = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  static constexpr std::array<std::int64_t, 6> volta = {0, 8, 16, 32, 64, 96};
  static constexpr std::array<std::int64_t, 2> turing = {32, 64};
  const std::span<const std::int64_t> kinds =
      of.major == 7
          ? of.minor >= 5 ? std::span<const std::int64_t>(turing) : std::span<const std::int64_t>(volta)
          : std::span<const std::int64_t>(sizes);
  const std::int64_t unified = unified_l1_bytes(of);
  const auto smallest = [&](std::int64_t bytes, std::int64_t most) {
    std::int64_t found = 0;
    for (const std::int64_t kib : kinds) {
      if (kib * kKib > most) break;
      found = kib * kKib;
      if (found >= bytes) break;
    }
    return found;
  };
  constexpr std::int64_t reserve = 28 * kKib, large_block = 1024, most_blocks = 32;
  const std::int64_t needed = occupancy.shared_bytes_per_block * occupancy.active_blocks;
  const std::int64_t wanted_blocks =
      std::min(most_blocks, occupancy.active_blocks * (threads_per_block >= large_block ? 1 : 2));
  const std::int64_t enough = smallest(needed, unified - reserve);
  return std::max(enough, smallest(occupancy.shared_bytes_per_block * wanted_blocks, unified * 132 / 256));
}

namespace {

// Results a cycle of an SM: CUDA C++ Programming Guide, throughput of native arithmetic instructions; of compute
// capability 10.0 and 12.0 as of the architecture before them with as many cores.
struct PipeRates {
  ComputeCapability from;
  int partitions;
  double fma, alu, fp64, xu;
};
constexpr std::array<PipeRates, 12> kPipeRates = {{
    {{12, 0}, 4, 128, 128, 2, 16},
    {{10, 0}, 4, 128, 64, 64, 16},
    {{9, 0}, 4, 128, 64, 64, 16},
    {{8, 6}, 4, 128, 64, 2, 16},
    {{8, 0}, 4, 64, 64, 32, 16},
    {{7, 5}, 4, 64, 64, 2, 16},
    {{7, 0}, 4, 64, 64, 32, 16},
    {{6, 1}, 4, 128, 128, 4, 32},
    {{6, 0}, 2, 64, 64, 32, 16},
    {{5, 0}, 4, 128, 128, 4, 32},
    {{3, 5}, 4, 128, 128, 64, 32},
    {{0, 0}, 4, 128, 128, 8, 32},
}};

const PipeRates& pipe_rates(const ComputeCapability& of) {
  return *std::find_if(kPipeRates.begin(), kPipeRates.end(),
                       [&](const PipeRates& one) { return one.from <= of; });
}

void set_pipes(const PipeRates& rates, SmFigures& figures) {
  const auto set = [&](Pipe pipe, double results) {
    figures.pipe_cycles[static_cast<std::size_t>(pipe)] = kLanes * rates.partitions / results;
  };
  set(Pipe::fma, rates.fma);
  set(Pipe::fp16, rates.fma);
  set(Pipe::alu, rates.alu);
  set(Pipe::fp64, rates.fp64);
  set(Pipe::xu, rates.xu);
  set(Pipe::uniform, 64);
}

}  // namespace

std::int64_t BlockTurns::count(std::int64_t sm, std::int64_t sms, std::int64_t blocks) const {
  std::int64_t turns = std::max<std::int64_t>((blocks - sm + sms - 1) / sms, 0);
  while (turns > 0 && block(sm, sms, turns - 1) >= blocks) --turns;
  return turns;
}

std::int64_t BlockTurns::sm_of(std::int64_t block_number, std::int64_t sms) const {
  std::int64_t turn = block_number / sms;
  while (turn > 0 && block(0, sms, turn) > block_number) --turn;
  return (block_number - block(0, sms, turn)) % sms;
}

BlockTurns block_turns(ComputeCapability of) {
  constexpr int measured = 9;
  return of.major >= measured ? BlockTurns{3, 8} : BlockTurns{};
}

int sm_partitions(ComputeCapability of) {
  return pipe_rates(of).partitions;
}

SmFigures sm_figures(const Gpu& gpu, const Occupancy& occupancy, std::int64_t threads_per_block,
                     std::int64_t active_sms) {
  SmFigures figures;
  figures.unified_l1_bytes = unified_l1_bytes(gpu.compute_capability);
  figures.l1_bytes =
      figures.unified_l1_bytes - shared_configuration(gpu.compute_capability, occupancy, threads_per_block);
  // Where the GPU's file has no timing figures: those of an H100.
  const TimingFigures& timing = gpu.timing;
  figures.l1_latency = timing.l1_indexed_latency_cycles.value_or(40);
  // Measured, it is a little more than what it is.
  figures.request_cycles = std::max(std::round(timing.l1_coalesced_load_cycles.value_or(1)), 1.0);
  figures.shared_latency = timing.shared_indexed_latency_cycles.value_or(29);
  figures.l2_latency = timing.l2_latency_cycles.value_or(280);
  figures.memory_latency = timing.memory_cold_latency_cycles.value_or(690);
  figures.stored_latency = figures.l2_latency + kAfterStore;
  figures.store_wait = kStoreWait;
  const auto sms = static_cast<double>(std::max<std::int64_t>(active_sms, 1));
  const double clock_mhz = std::max(gpu.clock_mhz, 1.0), all_sms = std::max(gpu.sms, 1);
  figures.slice_way = kSliceWay * figures.l2_latency;
  figures.sm_way = kFarthest * figures.l2_latency * std::min(1.0, sms / all_sms);
  // In bytes a cycle.
  const double l2_of_sm =
      timing.l2_read_1_sm_bytes_per_us ? *timing.l2_read_1_sm_bytes_per_us / clock_mhz : 64;
  const double l2_of_gpu =
      timing.l2_read_bytes_per_us ? *timing.l2_read_bytes_per_us / clock_mhz : 30 * all_sms;
  figures.l2_sector_cycles_alone = kSectorBytes / l2_of_sm;
  figures.l2_sector_cycles = std::max(figures.l2_sector_cycles_alone, kSectorBytes * sms / l2_of_gpu);
  constexpr double of_peak = 0.93, unknown_gb_s = 500;
  const double memory_bytes_per_us = timing.memory_read_bytes_per_us.value_or(
      of_peak * gpu.memory_bandwidth_gb_s.value_or(unknown_gb_s) * 1e3);
  figures.memory_sector_cycles = kSectorBytes * clock_mhz / memory_bytes_per_us * sms;
  figures.partitions = sm_partitions(gpu.compute_capability);
  set_pipes(pipe_rates(gpu.compute_capability), figures);
  const double barrier_32 = timing.barrier_32_cycles.value_or(15.8);
  figures.barrier_warp_cycles = (timing.barrier_1024_cycles.value_or(77.4) - barrier_32) / 31;
  figures.barrier_latency = barrier_32 - figures.barrier_warp_cycles;
  figures.block_start_cycles = clock_mhz * sms / timing.block_starts_128_per_us.value_or(12.6 * all_sms);
  figures.warp_start_cycles = kWarpStart;
  figures.atomic_thread_cycles = clock_mhz / timing.atomic_one_address_per_us.value_or(1365);
  // data/hardware/h100_memory_rates.csv: `constant_ways`.
  figures.constant_latency = 44;
  figures.constant_way_latency = 11;
  figures.constant_way_cycles = 2;
  return figures;
}

void sign_blocks(const LaunchTrace& launch, const SmOptions& options, std::span<const std::int64_t> blocks,
                 LaunchSignature& signature) {
  const SmFigures figures;
  SmRunner runner(launch, figures, options);
  for (const std::int64_t block : blocks) runner.sign(block, signature);
}

SmRun run_sm(const LaunchTrace& launch, const SmFigures& figures, const SmOptions& options) {
  return SmRunner(launch, figures, options).run();
}

}  // namespace warptime
