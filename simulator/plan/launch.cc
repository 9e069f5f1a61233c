#include "simulator/plan/launch.h"

#include <fmt/format.h>

#include "simulator/base/integer_math.h"

namespace warptime {

Result<Launch> choose_launch(const Gpu& gpu, std::int64_t threads) {
  if (threads < 1)
    return error(fmt::format("a launch of {} threads: the number must be at least 1", threads));
  const Launch launch = algorithm_3(gpu, GpuDivisors(gpu), threads);
  return check_launch(gpu, launch.blocks, launch.threads_per_block);
}

Result<Launch> check_launch(const Gpu& gpu, std::int64_t blocks, std::int64_t threads_per_block) {
  if (blocks < 1) return error(fmt::format("a launch of {} blocks: the number must be at least 1", blocks));
  if (threads_per_block < 1) {
    return error(fmt::format("blocks of {} threads: the number must be at least 1", threads_per_block));
  }
  if (threads_per_block > gpu.max_threads_per_block) {
    return error(fmt::format("blocks of {} threads: {} takes at most {}", threads_per_block, gpu.name,
                             gpu.max_threads_per_block));
  }
  const std::int64_t warps = divide_up(threads_per_block, gpu.warp_size);
  if (warps > gpu.max_warps_per_sm) {
    return error(fmt::format("blocks of {} threads are {} warps: an SM of {} takes at most {}",
                             threads_per_block, warps, gpu.name, gpu.max_warps_per_sm));
  }
  return Launch{blocks, threads_per_block};
}

}  // namespace warptime
