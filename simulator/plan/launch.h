// Algorithm 3 of Puchala et al. (2022): how many blocks of how many threads.
#pragma once

#include <cstdint>

#include "simulator/base/integer_math.h"
#include "simulator/gpu/gpu.h"

namespace warptime {

struct Launch {
  std::int64_t blocks = 0;
  std::int64_t threads_per_block = 0;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// What launches on a GPU are divided by.
struct GpuDivisors {
  explicit GpuDivisors(const Gpu& gpu)
      : sms(gpu.sms),
        even_sms(gpu.sms + gpu.sms % 2),
        core_packages_per_sm(gpu.core_packages_per_sm() > 0 ? gpu.core_packages_per_sm() : 1) {}
  Divisor sms, even_sms, core_packages_per_sm;
};

// Algorithm 3 itself. threads: at least 1.
Launch algorithm_3(const Gpu& gpu, const GpuDivisors& divisors, std::int64_t threads);
// Whether check_launch accepts it.
bool fits(const Gpu& gpu, const Launch& launch);

// Algorithm 3, read as tests/reference/plain_model.py does: if the even number of SMs does not divide the
// threads, threads per block (or the number of blocks) is rounded up. Errors: threads < 1.
Result<Launch> choose_launch(const Gpu& gpu, std::int64_t threads);

// Errors: fewer than one block or thread, a block larger than the GPU takes (threads or warps).
Result<Launch> check_launch(const Gpu& gpu, std::int64_t blocks, std::int64_t threads_per_block);

// ---- Inline, because sweeps call it a million times a second.

inline Launch algorithm_3(const Gpu& gpu, const GpuDivisors& divisors, std::int64_t threads) {
  const std::int64_t warp = gpu.warp_size, largest = gpu.max_threads_per_block;
  const std::int64_t even_sms = gpu.sms + gpu.sms % 2;
  if (threads < warp) return {1, threads};
  if (threads < warp * even_sms) return {divide_up(threads, warp), warp};
  if (threads <= largest * even_sms) return {even_sms, divisors.even_sms.up(threads)};
  return {divide_up(threads, largest), largest};
}

inline bool fits(const Gpu& gpu, const Launch& launch) {
  return launch.blocks >= 1 && launch.threads_per_block >= 1 &&
         launch.threads_per_block <= gpu.max_threads_per_block &&
         warps_of_threads(launch.threads_per_block) <= gpu.max_warps_per_sm;
}

}  // namespace warptime
