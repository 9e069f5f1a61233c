#include "simulator/sm/sm_simulation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "simulator/program/shared_conflicts.h"
#include "simulator/sm/sector_cache.h"

namespace warptime {
namespace {

constexpr std::int64_t kKib = 1024;

// Places of arrays: far enough from each other, and from what stands for unknown addresses.
constexpr int kArrayShift = 36;                // in lines
constexpr std::int64_t kStepsOfAccess = 20;    // items for each access of the budget
constexpr std::int64_t kPatience = 5'000'000;  // items and iterations in all, those without effect too
constexpr std::int64_t kLocalLines = 1 << 17;  // of a warp: 512 KiB a thread

class SmRunner {
 public:
  SmRunner(const LaunchTrace& launch, const SmFigures& figures, const SmOptions& options)
      : launch_(launch),
        figures_(figures),
        options_(options),
        l1_(static_cast<std::size_t>(std::max<std::int64_t>(figures.l1_bytes / kLineBytes, 4))),
        partitions_(static_cast<std::size_t>(std::max(figures.partitions, 1))) {
    const LaunchSize& size = launch.size();
    warps_per_block_ = size.warps_per_block();
    threads_ = size.block[0] * size.block[1] * size.block[2] * launch.blocks();
    place_arrays(launch.nodes());
  }

  SmRun run() {
    next_block_ = options_.sm;
    places_for_blocks_.assign(static_cast<std::size_t>(options_.active_blocks), 0.0);
    while (Partition* partition = next_partition()) {
      ++steps_;
      if (run_.accesses >= options_.most_accesses || spent()) {
        finish_cut();
        return run_;
      }
      const std::size_t warp = partition->ready.top().warp;
      partition->ready.pop();
      execute(*warps_[warp], warp);
      if (half_cycles_ < 0 && (run_.accesses >= options_.most_accesses / 2 || steps_ >= most_steps_ / 2)) {
        half_ = run_.counts;
        half_cycles_ = now_;
      }
    }
    if (spent()) {
      finish_cut();
      return run_;
    }
    run_.complete = true;
    run_.cycles = end_;
    return run_;
  }

 private:
  struct Block {
    std::int64_t running = 0;  // warps
    std::vector<std::size_t> at_barrier;
    double barrier_time = 0;
  };
  struct Warp {
    Warp(const LaunchTrace& launch, std::int64_t of_block, std::int64_t number)
        : trace(launch, of_block, number) {}
    WarpTrace trace;
    std::shared_ptr<Block> block;
    std::size_t partition = 0;
    std::vector<double> loads;  // when the last execution of each load completes, by its number
    double all_loads = 0;       // when all have
    WarpTrace::Step step;       // the next one
    std::uint64_t random = 0;
    std::int64_t local = 0;  // the first line of its local memory
  };
  struct Ready {
    double time = 0;
    std::uint64_t order = 0;
    std::size_t warp = 0;
    bool operator<(const Ready& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  struct Partition {
    double free = 0;
    std::priority_queue<Ready> ready;
  };

  bool spent() const { return steps_ >= most_steps_ || patience_ <= 0; }

  // The one that issues next, with now_ at that time.
  Partition* next_partition() {
    while (!places_for_blocks_.empty() && !spent()) {
      const double time = places_for_blocks_.back();
      places_for_blocks_.pop_back();
      start_block(time);
      ++steps_;
    }
    Partition* next = nullptr;
    for (Partition& partition : partitions_) {
      if (partition.ready.empty()) continue;
      const double time = std::max(partition.free, partition.ready.top().time);
      if (next != nullptr && time >= now_) continue;
      next = &partition;
      now_ = time;
    }
    return next;
  }

  // Accesses of one array are of one region; without a name each access has its own.
  void place_arrays(const std::vector<TraceNode>& nodes) {
    for (const TraceNode& node : nodes) {
      if (const auto* access = std::get_if<MemoryAccess>(&node.item->what)) {
        const std::string name =
            access->array.empty() ? "#" + std::to_string(node.access) : "." + access->array;
        const auto [place, fresh] = places_.try_emplace(name, static_cast<std::int64_t>(places_.size() + 1));
        bases_.resize(std::max(bases_.size(), static_cast<std::size_t>(node.access) + 1));
        bases_[static_cast<std::size_t>(node.access)] = place->second << kArrayShift;
      }
      if (node.item->detail) detailed_ = true;
      most_loads_ = std::max(most_loads_, static_cast<std::size_t>(node.load) + 1);
      place_arrays(node.body);
      place_arrays(node.otherwise);
    }
  }

  void start_block(double time) {
    if (next_block_ >= launch_.blocks()) return;
    auto block = std::make_shared<Block>();
    block->running = warps_per_block_;
    for (std::int64_t w = 0; w < warps_per_block_; ++w) {
      std::size_t index = warps_.size();
      if (!free_.empty()) {
        index = free_.back();
        free_.pop_back();
      } else {
        warps_.emplace_back();
      }
      warps_[index] = std::make_unique<Warp>(launch_, next_block_, w);
      Warp& warp = *warps_[index];
      warp.block = block;
      warp.partition = static_cast<std::size_t>(started_++) % partitions_.size();
      warp.loads.assign(most_loads_, 0);
      // The next block's warps take the places of those that have ended.
      warp.local = (std::int64_t{1} << 60) + static_cast<std::int64_t>(index) * kLocalLines;
      warp.random = static_cast<std::uint64_t>(next_block_ * warps_per_block_ + w) * 0x9e3779b97f4a7c15U + 1;
      wait(index, time);
    }
    next_block_ += options_.sms;
  }

  // Waits from `time` on until its next item can begin.
  void wait(std::size_t index, double time) {
    Warp& warp = *warps_[index];
    if (!warp.trace.next(warp.step, &patience_)) return end_warp(warp, index, time);
    const Item& item = *warp.step.node->item;
    if (detailed_) {
      if (item.detail)
        for (const int needed : item.detail->needs)
          if (static_cast<std::size_t>(needed) < warp.loads.size())
            time = std::max(time, warp.loads[static_cast<std::size_t>(needed)]);
    } else if (warp.step.node->load == 0) {  // what it needs is not known: all
      time = std::max(time, warp.all_loads);
    }
    partitions_[warp.partition].ready.push({time, order_++, index});
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
    const double slots = item.machine ? item.machine->total() : issued ? instructions : 0;
    partitions_[warp.partition].free = start + slots;
    double done = start + slots;
    if (detail != nullptr && detail->chain) done = std::max(done, start + *detail->chain);
    run_.counts.instructions += instructions;
    if (access != nullptr && !step.skipped) memory_access(warp, step, *access, start);
    if (detail != nullptr && !step.skipped)
      for (std::size_t i = 0; i < detail->on_chip.size(); ++i)
        done = std::max(done, chip_access(warp, step, i, detail->on_chip[i], start));
    end_ = std::max(end_, done);
    if (detail != nullptr && detail->barrier) return wait_at_barrier(warp, index, done);
    wait(index, done);
  }

  void wait_at_barrier(Warp& warp, std::size_t index, double time) {
    Block& block = *warp.block;
    block.at_barrier.push_back(index);
    block.barrier_time = std::max(block.barrier_time, time);
    leave_barrier(block);
  }

  void leave_barrier(Block& block) {
    if (block.at_barrier.empty() || static_cast<std::int64_t>(block.at_barrier.size()) < block.running)
      return;
    const std::vector<std::size_t> warps = std::exchange(block.at_barrier, {});
    for (const std::size_t warp : warps) wait(warp, block.barrier_time);
    block.barrier_time = 0;
  }

  void end_warp(const Warp& warp, std::size_t index, double time) {
    time = std::max(time, warp.all_loads);
    end_ = std::max(end_, time);
    const std::shared_ptr<Block> block = warp.block;
    --block->running;
    warps_[index].reset();
    free_.push_back(index);
    if (block->running == 0) {
      places_for_blocks_.push_back(time);
      return;
    }
    if (!block->at_barrier.empty()) block->barrier_time = std::max(block->barrier_time, time);
    leave_barrier(*block);
  }

  void memory_access(Warp& warp, const WarpTrace::Step& step, const MemoryAccess& access, double start) {
    ++run_.accesses;
    std::span<const LineSectors> lines = warp.trace.lines(step);
    const bool unknown = lines.empty();
    const std::int64_t base = bases_[static_cast<std::size_t>(step.node->access)];
    if (unknown) {
      make_lines(warp, step, access);
      lines = made_;
    }
    const bool atomic = is_atomic(access);
    double done = start;
    for (const LineSectors& line : lines) {
      const double looked_up = std::max(start, l1_free_);
      l1_free_ = looked_up + 1;
      const int sectors = std::popcount(line.sectors);
      if (unknown) run_.counts.unknown_sectors += sectors;
      if (atomic) {
        run_.counts.atomic_sectors += sectors;
        done = std::max(done, from_l2(looked_up, sectors) + figures_.l2_latency);
      } else if (is_asynchronous_copy(access)) {
        run_.counts.load_sectors += sectors;
        for (unsigned rest = line.sectors; rest != 0; rest &= rest - 1)
          read_from_l2(line.line + base, std::countr_zero(rest), looked_up, false);
      } else if (access.kind == MemoryAccess::Kind::store) {
        store(line.line + base, line.sectors, looked_up);
      } else {
        done = std::max(done, load(line.line + base, line.sectors, looked_up));
      }
    }
    if (step.node->load > 0) {
      warp.loads[static_cast<std::size_t>(step.node->load)] = done;
      warp.all_loads = std::max(warp.all_loads, done);
    }
  }

  // Returns when its result is there. Local memory lies word by word side by side; the block's and the warp's are apart.
  double chip_access(Warp& warp, const WarpTrace::Step& step, std::size_t index, const ChipAccess& access,
                     double start) {
    if (access.space == ChipAccess::Space::constant) return start;
    ++run_.accesses;
    LaneValues addresses;
    if (access.space == ChipAccess::Space::shared) {
      if (!warp.trace.chip_addresses(step, index, addresses)) {  // taken to have no conflicts
        l1_free_ = std::max(start, l1_free_) + 1;
        return start;
      }
      const bool load = access.kind == ChipAccess::Kind::load;
      const int ways = shared_ways(addresses, step.threads, access.bytes, access.kind);
      const auto least =
          static_cast<int>(kLanes / lanes_at_once(addresses, step.threads, access.bytes, access.kind));
      const int conflicts = std::max(ways - least, 0);
      (load ? run_.counts.shared_load_conflicts : run_.counts.shared_store_conflicts) += conflicts;
      const double served = std::max(start, l1_free_);
      l1_free_ = served + ways;
      return load ? served + figures_.shared_latency + 2 * conflicts : start;
    }
    std::int64_t offset = 0;
    if (warp.trace.chip_addresses(step, index, addresses))
      offset = addresses[static_cast<std::size_t>(std::countr_zero(step.threads))];
    const std::int64_t words = (access.bytes + 3) / 4;
    double done = start;
    for (std::int64_t word = 0; word < words; ++word) {
      const std::int64_t line = warp.local + (offset / 4 + word) % kLocalLines;
      const double looked_up = std::max(start, l1_free_);
      l1_free_ = looked_up + 1;
      SectorCache::Line& found = l1_.find_or_add(line);
      const bool hit = found.loaded == 15;
      if (access.kind == ChipAccess::Kind::store) {
        run_.counts.local_store_sectors += 4;
        run_.counts.local_store_hits += hit ? 4 : 0;
        from_l2(looked_up, 4);  // written through
      } else {
        run_.counts.local_load_sectors += 4;
        run_.counts.local_load_hits += hit ? 4 : 0;
        if (!hit) done = std::max(done, from_l2(looked_up, 4) + figures_.l2_latency);
        done = std::max(done, looked_up + figures_.l1_latency);
      }
      found.loaded = 15;
    }
    return done;
  }

  // When L2 can begin to send sectors that are asked for at `time`.
  double from_l2(double time, int sectors) {
    const double start = std::max(time, l2_free_);
    l2_free_ = start + sectors * figures_.l2_sector_cycles;
    return start;
  }

  void store(std::int64_t address, std::uint8_t sectors, double time) {
    SectorCache::Line& line = l1_.find_or_add(address);
    const int count = std::popcount(sectors);
    run_.counts.store_sectors += count;
    run_.counts.store_hits += std::popcount(static_cast<unsigned>(sectors & (line.loaded | line.stored)));
    line.loaded &= static_cast<std::uint8_t>(~sectors);  // the next load goes to L2
    line.stored |= sectors;
    from_l2(time, count);
  }

  double load(std::int64_t address, std::uint8_t sectors, double time) {
    SectorCache::Line& line = l1_.find_or_add(address);
    const std::uint8_t hits = sectors & line.loaded, misses = sectors & ~line.loaded;
    run_.counts.load_sectors += std::popcount(sectors);
    run_.counts.load_hits += std::popcount(hits);
    double done = time + figures_.l1_latency;
    for (unsigned rest = hits; rest != 0; rest &= rest - 1)
      done = std::max(done, line.ready[std::countr_zero(rest)]);
    if (misses == 0) return done;
    for (unsigned rest = misses; rest != 0; rest &= rest - 1) {
      const int sector = std::countr_zero(rest);
      const double there = read_from_l2(address, sector, time, (line.stored >> sector & 1) != 0);
      line.loaded |= static_cast<std::uint8_t>(1 << sector);
      line.ready[sector] = there;
      done = std::max(done, there);
    }
    return done;
  }

  // When a sector is there that L1 does not have.
  double read_from_l2(std::int64_t address, int sector, double time, bool stored) {
    double there = from_l2(time, 1);
    std::uint8_t& read = read_[address];
    const auto bit = static_cast<std::uint8_t>(1 << sector);
    if ((read & bit) != 0) return there + (stored ? figures_.stored_latency : figures_.l2_latency);
    if ((read & (3 << (sector & 2))) == 0) run_.counts.first_bytes += 2 * kSectorBytes;
    read |= bit;
    memory_debt_ += options_.from_memory;
    if (memory_debt_ < 1) return there + figures_.l2_latency;
    memory_debt_ -= 1;
    memory_free_ = std::max(memory_free_, there) + figures_.memory_sector_cycles;
    return memory_free_ + figures_.memory_latency;
  }

  // Lines in place of those that are not known, spread as the pattern says over a region with an element for each
  // thread of the launch.
  void make_lines(Warp& warp, const WarpTrace::Step& step, const MemoryAccess& access) {
    made_.clear();
    const std::int64_t bytes = std::max<std::int64_t>(1, access.bytes.value_or(4));
    const std::int64_t region = std::max<std::int64_t>(1, threads_ * bytes / kLineBytes);  // in lines
    const auto random = [&]() -> std::uint64_t {
      warp.random ^= warp.random << 13;  // Marsaglia's xorshift64 (2003)
      warp.random ^= warp.random >> 7;
      warp.random ^= warp.random << 17;
      return warp.random;
    };
    const int threads = std::popcount(step.threads);
    const Access pattern = access.access.value_or(Access::coalesced);
    if (pattern == Access::scattered) {
      for (int i = 0; i < threads; ++i)
        made_.push_back({static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(region)),
                         static_cast<std::uint8_t>(1U << (random() >> 40 & 3))});
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
      return;
    }
    const std::int64_t spread =
        pattern == Access::uniform ? 1 : (threads * bytes + kSectorBytes - 1) / kSectorBytes;
    const std::int64_t sectors = std::clamp<std::int64_t>(access.sectors.value_or(spread), 1, 32 * 16);
    const auto line = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(region));
    if (pattern == Access::strided) {
      for (std::int64_t i = 0; i < sectors; ++i) made_.push_back({line + i, 1});
      return;
    }
    for (std::int64_t left = sectors; left > 0; left -= 4)
      made_.push_back({line + static_cast<std::int64_t>(made_.size()),
                       static_cast<std::uint8_t>(left >= 4 ? 15 : (1 << left) - 1)});
  }

  void finish_cut() {
    run_.cycles = now_;
    run_.second_half = run_.counts;
    run_.second_half.add(half_, -1);
    run_.second_half_cycles = now_ - half_cycles_;
  }

  const LaunchTrace& launch_;
  const SmFigures& figures_;
  const SmOptions& options_;
  SectorCache l1_;
  std::vector<Partition> partitions_;
  double l1_free_ = 0, l2_free_ = 0, memory_free_ = 0, memory_debt_ = 0;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<std::size_t> free_;
  std::uint64_t order_ = 0;
  std::int64_t warps_per_block_ = 1, threads_ = 1, next_block_ = 0, started_ = 0;
  std::unordered_map<std::string, std::int64_t> places_;
  std::vector<std::int64_t> bases_;  // by access
  std::size_t most_loads_ = 1;
  bool detailed_ = false;                                // items say what they need
  std::unordered_map<std::int64_t, std::uint8_t> read_;  // sectors of lines that this SM has read
  std::vector<LineSectors> made_;
  std::vector<double> places_for_blocks_;  // when places for blocks became free
  std::int64_t steps_ = 0, most_steps_ = kStepsOfAccess * options_.most_accesses;
  std::int64_t patience_ = kPatience;
  double now_ = 0, end_ = 0, half_cycles_ = -1;
  SmCounts half_;
  SmRun run_;
};

}  // namespace

void SmCounts::add(const SmCounts& other, double times) {
  instructions += times * other.instructions;
  load_sectors += times * other.load_sectors;
  load_hits += times * other.load_hits;
  store_sectors += times * other.store_sectors;
  store_hits += times * other.store_hits;
  atomic_sectors += times * other.atomic_sectors;
  local_load_sectors += times * other.local_load_sectors;
  local_load_hits += times * other.local_load_hits;
  local_store_sectors += times * other.local_store_sectors;
  local_store_hits += times * other.local_store_hits;
  shared_load_conflicts += times * other.shared_load_conflicts;
  shared_store_conflicts += times * other.shared_store_conflicts;
  unknown_sectors += times * other.unknown_sectors;
  first_bytes += times * other.first_bytes;
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

SmFigures sm_figures(const Gpu& gpu, const Occupancy& occupancy, std::int64_t threads_per_block,
                     std::int64_t active_sms) {
  SmFigures figures;
  figures.l1_bytes = unified_l1_bytes(gpu.compute_capability) -
                     shared_configuration(gpu.compute_capability, occupancy, threads_per_block);
  // Cycles of an H100, by pointer chases; those of other GPUs differ, and are not known here.
  figures.l1_latency = 40;
  figures.shared_latency = 34;
  figures.l2_latency = 280;
  figures.memory_latency = 690;
  figures.stored_latency = 330;
  constexpr double l2_bytes_per_cycle_of_sm = 64;
  figures.l2_sector_cycles = kSectorBytes / l2_bytes_per_cycle_of_sm;
  const double bytes_per_cycle = gpu.memory_bandwidth_gb_s.value_or(500) * 1e3 / std::max(gpu.clock_mhz, 1.0);
  figures.memory_sector_cycles =
      kSectorBytes / (0.9 * bytes_per_cycle) * static_cast<double>(std::max<std::int64_t>(active_sms, 1));
  return figures;
}

SmRun run_sm(const LaunchTrace& launch, const SmFigures& figures, const SmOptions& options) {
  return SmRunner(launch, figures, options).run();
}

}  // namespace warptime
