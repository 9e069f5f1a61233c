#include "simulator/plan/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "simulator/base/csv.h"
#include "simulator/base/integer_math.h"
#include "simulator/plan/plan.h"

namespace warptime {
namespace {

constexpr std::size_t kDim3 = 3;
// Blocks are counted in doubles, too, which then tell one from the next.
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 52;

// what: "grid", "block".
Diagnostics check_dimensions(const char* what, const Dim3& size, const Dim3& largest) {
  struct Dimension {
    char name;
    std::int64_t size, largest;
  };
  for (const Dimension& one : {Dimension{'x', size.x, largest.x}, Dimension{'y', size.y, largest.y},
                               Dimension{'z', size.z, largest.z}}) {
    if (one.size < 1)
      return {error(fmt::format("the {} has {} in {}: it must be at least 1", what, one.size, one.name))};
    if (one.size > one.largest)
      return {error(
          fmt::format("the {} has {} in {}: CUDA takes {} at most", what, one.size, one.name, one.largest))};
  }
  return {};
}

}  // namespace

std::string to_string(const Dim3& size) {
  return fmt::format("{}x{}x{}", size.x, size.y, size.z);
}

std::optional<Dim3> parse_dim3(std::string_view text) {
  Dim3 size;
  for (std::size_t i = 0; i < kDim3; ++i) {
    const auto end = i + 1 < kDim3 ? text.find('x') : text.size();
    if (end == std::string_view::npos || !read_whole(text.substr(0, end), size.at(i)) || size.at(i) < 1 ||
        size.at(i) > kLargestGrid.x)
      return std::nullopt;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return size;
}

void add_dimensions(const GridAndBlock& launch, Bindings& to) {
  const auto& [grid, block] = launch;
  const std::array values = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
  for (std::size_t i = 0; i < values.size(); ++i)
    to.insert_or_assign(std::string(launch_dimensions()[i]), values[i]);
}

Result<Launch> choose_launch(const Gpu& gpu, std::int64_t threads) {
  if (threads < 1)
    return error(fmt::format("a launch of {} threads: the number must be at least 1", threads));
  const Launch launch = algorithm_3(gpu, GpuDivisors(gpu), threads);
  return check_launch(gpu, launch.blocks, launch.threads_per_block);
}

Result<Launch> check_launch(const Gpu& gpu, std::int64_t blocks, std::int64_t threads_per_block) {
  if (blocks < 1) return error(fmt::format("a launch of {} blocks: the number must be at least 1", blocks));
  if (blocks > kMostBlocks)
    return error(fmt::format("a launch of {} blocks: at most 2^52 can be modelled", blocks));
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

Result<Launch> check_launch(const Gpu& gpu, const GridAndBlock& launch) {
  // In one dimension the limits of the GPU itself say more.
  if (launch == one_dimensional({launch.grid.x, launch.block.x})) {
    const auto checked = check_launch(gpu, launch.grid.x, launch.block.x);
    if (!checked) return checked;
  }
  if (auto wrong = check_dimensions("grid", launch.grid, kLargestGrid); !wrong.empty()) return wrong;
  if (auto wrong = check_dimensions("block", launch.block, kLargestBlock); !wrong.empty()) return wrong;
  return check_launch(gpu, launch.grid.product(), launch.block.product());
}

}  // namespace warptime
