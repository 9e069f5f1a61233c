#include "simulator/sm/memory_levels.h"

#include <algorithm>
#include <cmath>

#include "simulator/sm/launch_footprint.h"
#include "simulator/sm/sm_simulation.h"

namespace warptime {
namespace {

// The part of L2 that lines stay in before they are written back, and that repeated reads find them in: on an H100
// launches that only stream keep 32 of its 50 MB (data/development).
constexpr double kL2InUse = 0.64;
constexpr double kUnknownL2Bytes = 4 << 20;
constexpr int kMostWindows = 64;

// What memory reads: the footprints of the stretches of blocks whose data L2 holds at once.
struct Traffic {
  double read = 0, all = 0;
};

class MemoryTraffic {
 public:
  MemoryTraffic(const LaunchFootprint& footprint, std::int64_t blocks, std::int64_t wave, double l2)
      : footprint_(footprint), blocks_(blocks), wave_(wave), l2_(l2) {}

  Traffic find(const Footprint& whole) const {
    if (whole.all_bytes <= l2_ || blocks_ <= wave_) return {whole.read_bytes, whole.all_bytes};
    // The longest stretch of blocks that L2 has room for: at least those that run at the same time.
    std::int64_t low = std::min(wave_, blocks_), high = blocks_;
    while (high - low > std::max<std::int64_t>(low / 8, 1)) {
      const std::int64_t middle = low + (high - low) / 2;
      (footprint_.of_blocks((blocks_ - middle) / 2, middle).all_bytes <= l2_ ? low : high) = middle;
    }
    const std::int64_t windows = (blocks_ + low - 1) / low;
    const std::int64_t step = std::max<std::int64_t>(windows / kMostWindows, 1);
    Traffic sum;
    double seen = 0;
    for (std::int64_t window = 0; window < windows; window += step) {
      const std::int64_t first = window * low, count = std::min(low, blocks_ - first);
      const Footprint part = footprint_.of_blocks(first, count);
      sum.read += part.read_bytes;
      sum.all += part.all_bytes;
      seen += static_cast<double>(count);
    }
    const double scale = static_cast<double>(blocks_) / seen;
    return {std::max(sum.read * scale, whole.read_bytes), std::max(sum.all * scale, whole.all_bytes)};
  }

 private:
  const LaunchFootprint& footprint_;
  std::int64_t blocks_, wave_;
  double l2_;
};

// Of an SM's whole part in the launch: what was simulated, and the rest as its second half.
SmCounts whole_of(const SmRun& run, double load_sectors) {
  SmCounts counts = run.counts;
  const double left = load_sectors - counts.load_sectors;
  if (!run.complete && left > 0 && run.second_half.load_sectors > 0)
    counts.add(run.second_half, left / run.second_half.load_sectors);
  return counts;
}

double ratio(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

}  // namespace

Result<MemoryLevels> memory_levels(const LaunchOnGpu& launch, CacheState caches) {
  auto trace = LaunchTrace::make(*launch.program, launch.values, launch.size, launch.shares);
  if (!trace) return trace.diagnostics();
  const Gpu& gpu = *launch.gpu;
  const std::int64_t blocks = trace->blocks(), sms = std::max(gpu.sms, 1), active_sms = std::min(blocks, sms);
  const std::int64_t active_blocks = std::max<std::int64_t>(launch.occupancy.active_blocks, 1);
  const std::int64_t threads = launch.size.block[0] * launch.size.block[1] * launch.size.block[2];
  const SmFigures figures = sm_figures(gpu, launch.occupancy, threads, active_sms);
  const double l2 =
      kL2InUse * static_cast<double>(gpu.l2_bytes.value_or(static_cast<std::int64_t>(kUnknownL2Bytes)));

  const LaunchFootprint footprint(*launch.program, launch.values, launch.size);
  const Footprint whole = footprint.of_blocks(0, blocks);
  const bool stays = caches == CacheState::warm && whole.all_bytes <= l2;

  SmOptions options;
  options.active_blocks = active_blocks;
  options.sms = sms;
  options.sm = active_sms / 3;  // not the one with the first block, which often has a border
  options.from_memory = stays ? 0 : 1;
  const SmRun run = run_sm(*trace, figures, options);

  const WarpTotals& total = launch.warps->total;
  const double loads = std::max(total.load_sectors - total.atomic_sectors, 0.0);
  const double stores = std::max(total.store_sectors - total.reduction_sectors, 0.0);
  const SmCounts counts = whole_of(run, loads / static_cast<double>(active_sms));
  MemoryLevels levels;
  levels.cycles = run.cycles;
  levels.l2_atomics = total.atomic_sectors + total.reduction_sectors;
  levels.l1_load_hits = loads * ratio(counts.load_hits, counts.load_sectors);
  levels.l1_store_hits = stores * ratio(counts.store_hits, counts.store_sectors);
  levels.l2_reads = loads - levels.l1_load_hits;
  levels.l2_writes = stores;
  const double simulated = counts.load_sectors + counts.store_sectors + counts.atomic_sectors;
  levels.unknown_share =
      ratio(run.counts.unknown_sectors,
            run.counts.load_sectors + run.counts.store_sectors + run.counts.atomic_sectors);
  levels.simulated_share =
      run.complete
          ? 1
          : ratio(run.counts.load_sectors + run.counts.store_sectors + run.counts.atomic_sectors, simulated);
  levels.footprint_estimated = whole.estimated;

  const Traffic traffic = MemoryTraffic(footprint, blocks, active_blocks * sms, l2).find(whole);
  // No more than L2 is asked for.
  const double most_read = static_cast<double>(kSectorBytes) * 2 * (levels.l2_reads + levels.l2_atomics);
  levels.memory_read_bytes = stays ? 0 : std::min(traffic.read, most_read);
  const double written = std::min(whole.written_bytes,
                                  static_cast<double>(kSectorBytes) * (levels.l2_writes + levels.l2_atomics));
  const double flow = std::max(whole.all_bytes, 1.0);
  levels.memory_written_bytes = written * std::max(0.0, 1 - l2 / std::max(flow, traffic.read + written));
  return levels;
}

}  // namespace warptime
