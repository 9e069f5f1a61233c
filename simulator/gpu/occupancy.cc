#include "simulator/gpu/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "simulator/base/integer_math.h"

namespace warptime {
namespace {

using Limits = ComputeLimits;
using Granularity = ComputeLimits::Granularity;

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMost = std::int64_t{1} << 40;  // of a resource: no product below can overflow

// Sources. Threads, warps, blocks, registers and shared memory per SM, per block and per thread: CUDA C
// Programming Guide, technical specifications per compute capability (1.x, 2.x: edition 4.2; 3.x: 7.5;
// others: 13.0). Units and granularities: 1.x, 2.x: CUDA Occupancy Calculator and section 5.2.3 of the guide,
// edition 4.2; 3.x and later: the rules of cuda_occupancy.h (CUDA 13.0). Reserved shared memory, 8.0 and
// later: the guide, 1 KiB per block.
//
// Columns: compute capability, threads per block, warps and blocks per SM, registers per SM, block and
// thread, their granularity and unit, warp partitions, warps checked by, shared memory per SM and block, its
// unit, what is reserved of it.
// clang-format off
constexpr std::array kLimits = {
    Limits{{1, 0}, 512, 24, 8, 8192, 8192, 128, Granularity::block, 256, 2, 2, 16 * kKiB, 16 * kKiB, 512, 0},
    Limits{{1, 1}, 512, 24, 8, 8192, 8192, 128, Granularity::block, 256, 2, 2, 16 * kKiB, 16 * kKiB, 512, 0},
    Limits{{1, 2}, 512, 32, 8, 16384, 16384, 128, Granularity::block, 512, 2, 2, 16 * kKiB, 16 * kKiB, 512, 0},
    Limits{{1, 3}, 512, 32, 8, 16384, 16384, 128, Granularity::block, 512, 2, 2, 16 * kKiB, 16 * kKiB, 512, 0},
    Limits{{2, 0}, 1024, 48, 8, 32768, 32768, 63, Granularity::warp, 64, 2, 2, 48 * kKiB, 48 * kKiB, 128, 0},
    Limits{{2, 1}, 1024, 48, 8, 32768, 32768, 63, Granularity::warp, 64, 2, 2, 48 * kKiB, 48 * kKiB, 128, 0},
    Limits{{3, 0}, 1024, 64, 16, 65536, 65536, 63, Granularity::warp, 256, 4, 4, 48 * kKiB, 48 * kKiB, 256, 0},
    Limits{{3, 5}, 1024, 64, 16, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 48 * kKiB, 48 * kKiB, 256, 0},
    Limits{{3, 7}, 1024, 64, 16, 131072, 65536, 255, Granularity::warp, 256, 4, 4, 112 * kKiB, 48 * kKiB, 256, 0},
    Limits{{5, 0}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 64 * kKiB, 48 * kKiB, 256, 0},
    Limits{{5, 2}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 96 * kKiB, 48 * kKiB, 256, 0},
    Limits{{6, 0}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 2, 4, 64 * kKiB, 48 * kKiB, 256, 0},
    Limits{{6, 1}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 96 * kKiB, 48 * kKiB, 256, 0},
    Limits{{7, 0}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 96 * kKiB, 96 * kKiB, 256, 0},
    Limits{{7, 5}, 1024, 32, 16, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 64 * kKiB, 64 * kKiB, 256, 0},
    Limits{{8, 0}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 164 * kKiB, 163 * kKiB, 128, 1024},
    Limits{{8, 6}, 1024, 48, 16, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 100 * kKiB, 99 * kKiB, 128, 1024},
    Limits{{8, 9}, 1024, 48, 24, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 100 * kKiB, 99 * kKiB, 128, 1024},
    Limits{{9, 0}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 228 * kKiB, 227 * kKiB, 128, 1024},
    Limits{{10, 0}, 1024, 64, 32, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 228 * kKiB, 227 * kKiB, 128, 1024},
    Limits{{12, 0}, 1024, 48, 24, 65536, 65536, 255, Granularity::warp, 256, 4, 4, 100 * kKiB, 99 * kKiB, 128, 1024}};
// clang-format on

std::int64_t round_up(std::int64_t a, std::int64_t unit) {
  return divide_up(a, unit) * unit;
}

// Fermi gives these counts 128 registers at a time (CUDA Occupancy Calculator, "warp register allocation
// granularities").
std::int64_t register_unit(const ComputeLimits& limits, std::int64_t registers_per_thread) {
  if (limits.compute_capability.major != 2) return limits.register_unit;
  for (const int odd_one : {21, 22, 29, 30, 37, 38, 45, 46})
    if (registers_per_thread == odd_one) return 128;
  return limits.register_unit;
}

class Blocks {
 public:
  Blocks(const Gpu& gpu, std::int64_t threads_per_block, const KernelResources& resources)
      : gpu_(gpu), threads_(threads_per_block), resources_(resources) {
    assert(threads_per_block >= 1);
    const ComputeLimits* found = find_compute_limits(gpu.compute_capability);
    limits_ = found != nullptr ? *found : kLimits.front();
    if (limits_.compute_capability != gpu.compute_capability) {
      note(fmt::format("the rules of compute capability {}.{} are used for {}.{}",
                       limits_.compute_capability.major, limits_.compute_capability.minor,
                       gpu.compute_capability.major, gpu.compute_capability.minor));
    }
    take_from_file();
    warps_ = divide_up(std::min(threads_, kMost), gpu.warp_size);
  }

  Occupancy take() {
    result_.blocks_by_warps = limits_.max_warps_per_sm / warps_;
    result_.blocks_by_blocks = limits_.max_blocks_per_sm;
    find_registers();
    find_shared_memory();
    const bool launches = check_threads();
    tighten(Occupancy::Limit::warps, result_.blocks_by_warps);
    tighten(Occupancy::Limit::blocks, result_.blocks_by_blocks);
    tighten(Occupancy::Limit::registers, result_.blocks_by_registers.value_or(kNoLimit));
    tighten(Occupancy::Limit::shared_memory, result_.blocks_by_shared_memory.value_or(kNoLimit));
    if (!launches) tighten(Occupancy::Limit::threads, 0, true);
    for (const std::string& why :
         {none_for_shared_memory_, none_for_registers_, none_for_warps_, none_for_threads_})
      if (!why.empty()) note(why);
    result_.active_blocks = tightest_;
    result_.active_warps = tightest_ * warps_;
    result_.fraction = static_cast<double>(result_.active_warps) / limits_.max_warps_per_sm;
    return std::move(result_);
  }

 private:
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  void take_from_file() {
    limits_.max_threads_per_block = gpu_.max_threads_per_block;
    limits_.max_warps_per_sm = gpu_.max_warps_per_sm;
    limits_.max_blocks_per_sm = gpu_.max_blocks_per_sm;
    if (gpu_.registers_per_sm) {
      // A block of a GPU that is not 3.7 can have them all.
      if (limits_.registers_per_block == limits_.registers_per_sm)
        limits_.registers_per_block = *gpu_.registers_per_sm;
      limits_.registers_per_sm = *gpu_.registers_per_sm;
    }
    if (gpu_.shared_bytes_per_sm) limits_.shared_bytes_per_sm = *gpu_.shared_bytes_per_sm;
    if (gpu_.shared_bytes_per_block) limits_.shared_bytes_per_block = *gpu_.shared_bytes_per_block;
  }

  void tighten(Occupancy::Limit limit, std::int64_t blocks, bool even_if_equal = false) {
    if (blocks > tightest_ || (blocks == tightest_ && !even_if_equal)) return;
    tightest_ = blocks;
    result_.limit = limit;
  }

  // Whether blocks of that many threads can be launched at all.
  bool check_threads() {
    if (threads_ > limits_.max_threads_per_block) {
      none_for_threads_ = fmt::format("blocks of {} threads: {} takes at most {}", threads_, gpu_.name,
                                      limits_.max_threads_per_block);
    } else if (resources_.max_threads && threads_ > *resources_.max_threads) {
      none_for_threads_ = fmt::format("blocks of {} threads: the kernel was compiled for at most {}",
                                      threads_, *resources_.max_threads);
    } else if (resources_.required_threads && threads_ != *resources_.required_threads) {
      none_for_threads_ = fmt::format("blocks of {} threads: the kernel was compiled for exactly {}",
                                      threads_, *resources_.required_threads);
    }
    if (result_.blocks_by_warps == 0)
      none_for_warps_ = fmt::format("blocks of {} threads are {} warps: an SM of {} takes at most {}",
                                    threads_, warps_, gpu_.name, limits_.max_warps_per_sm);
    return none_for_threads_.empty();
  }

  void find_registers() {
    if (!resources_.registers_per_thread) {
      note("the kernel's registers are not known: they may allow fewer blocks");
      return;
    }
    result_.registers_known = true;
    const std::int64_t per_thread = *resources_.registers_per_thread;
    if (per_thread > limits_.registers_per_thread) {
      none_for_registers_ = fmt::format("{} registers per thread: {} has at most {}", per_thread, gpu_.name,
                                        limits_.registers_per_thread);
      result_.blocks_by_registers = 0;
      return;
    }
    if (per_thread <= 0) return;
    result_.blocks_by_registers = limits_.register_granularity == Granularity::block
                                      ? blocks_by_block_registers(per_thread)
                                      : blocks_by_warp_registers(per_thread);
    if (*result_.blocks_by_registers == 0)
      none_for_registers_ =
          fmt::format("{} registers per thread are too many for a block of {} threads", per_thread, threads_);
  }

  // CUDA C Programming Guide 4.2, section 5.2.3, 1.x: ceil(ceil(W, G_W) * 32 * R, G_T)
  std::int64_t blocks_by_block_registers(std::int64_t per_thread) {
    const std::int64_t warps = round_up(warps_, limits_.warp_partitions);
    result_.registers_per_block =
        round_up(warps * gpu_.warp_size * per_thread, register_unit(limits_, per_thread));
    return limits_.registers_per_sm / result_.registers_per_block;
  }

  // 2.0 and later: ceil(32 * R, G_T) for a warp, each of which lives in one partition of the SM.
  std::int64_t blocks_by_warp_registers(std::int64_t per_thread) {
    const std::int64_t per_warp = round_up(per_thread * gpu_.warp_size, register_unit(limits_, per_thread));
    result_.registers_per_block = per_warp * warps_;
    if (per_warp * round_up(warps_, limits_.warps_checked_by) > limits_.registers_per_block) return 0;
    const std::int64_t warps_per_partition = limits_.registers_per_sm / limits_.warp_partitions / per_warp;
    return warps_per_partition * limits_.warp_partitions / warps_;
  }

  void find_shared_memory() {
    if (resources_.dynamic_shared_unknown)
      note("how much shared memory the launch asks for is not known: it may allow fewer blocks");
    const std::int64_t used = std::min(kMost, std::max<std::int64_t>(0, resources_.shared_bytes_static)) +
                              std::min(kMost, std::max<std::int64_t>(0, resources_.shared_bytes_dynamic));
    const std::int64_t allocated = round_up(used + limits_.shared_reserved_per_block, limits_.shared_unit);
    if (allocated == 0) return;
    result_.shared_bytes_per_block = allocated;
    if (allocated > limits_.shared_bytes_per_block + limits_.shared_reserved_per_block) {
      none_for_shared_memory_ = fmt::format("{} bytes of shared memory: a block on {} can have at most {}",
                                            used, gpu_.name, limits_.shared_bytes_per_block);
      result_.blocks_by_shared_memory = 0;
    } else if (used > 0 || limits_.shared_reserved_per_block > 0) {
      result_.blocks_by_shared_memory = limits_.shared_bytes_per_sm / allocated;
    }
  }

  const Gpu& gpu_;
  std::int64_t threads_;
  const KernelResources& resources_;
  ComputeLimits limits_;
  std::int64_t warps_ = 1;
  std::int64_t tightest_ = kNoLimit;
  // Why a limit allows not one block; empty: it allows some.
  std::string none_for_threads_, none_for_warps_, none_for_registers_, none_for_shared_memory_;
  Occupancy result_;
};

}  // namespace

std::span<const ComputeLimits> all_compute_limits() {
  return kLimits;
}

const ComputeLimits* find_compute_limits(ComputeCapability compute_capability) {
  const ComputeLimits* newest = nullptr;
  for (const ComputeLimits& limits : kLimits)
    if (limits.compute_capability <= compute_capability) newest = &limits;
  return newest;
}

std::string_view to_string(Occupancy::Limit limit) {
  switch (limit) {
    case Occupancy::Limit::threads:
      return "threads";
    case Occupancy::Limit::warps:
      return "warps";
    case Occupancy::Limit::blocks:
      return "blocks";
    case Occupancy::Limit::registers:
      return "registers";
    case Occupancy::Limit::shared_memory:
      return "shared memory";
  }
  return "";
}

KernelResources with_shared_bytes(const std::optional<KernelResources>& resources,
                                  std::optional<std::int64_t> shared_bytes) {
  KernelResources with = resources.value_or(KernelResources{});
  if (!shared_bytes) return with;
  with.shared_bytes_dynamic = *shared_bytes;
  with.dynamic_shared_unknown = false;
  return with;
}

Occupancy occupancy(const Gpu& gpu, std::int64_t threads_per_block, const KernelResources& resources) {
  return Blocks(gpu, threads_per_block, resources).take();
}

std::string to_text(const Gpu& gpu, const Occupancy& occupancy) {
  if (occupancy.active_blocks == 0)
    return fmt::format("no block can be active on an SM, because of its {}", to_string(occupancy.limit));
  const std::int64_t warps = occupancy.active_warps / occupancy.active_blocks;
  return fmt::format("{} {} of {} {} {} active on an SM: {} of {} warps ({:.0f} %), limited by {}",
                     occupancy.active_blocks, occupancy.active_blocks == 1 ? "block" : "blocks", warps,
                     warps == 1 ? "warp" : "warps", occupancy.active_blocks == 1 ? "is" : "are",
                     occupancy.active_warps, gpu.max_warps_per_sm, 100 * occupancy.fraction,
                     to_string(occupancy.limit));
}

}  // namespace warptime
