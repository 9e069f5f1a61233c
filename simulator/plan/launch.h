// The shape of a launch, and Algorithm 3 of Puchala et al. (2022): how many blocks of how many threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/base/integer_math.h"
#include "simulator/gpu/gpu.h"
#include "simulator/program/expression/expression.h"

namespace warptime {

struct Launch {
  std::int64_t blocks = 0;
  std::int64_t threads_per_block = 0;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// CUDA's dim3.
struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  std::int64_t& at(std::size_t dimension) { return dimension == 0 ? x : dimension == 1 ? y : z; }
  // Of what check_launch() lets pass, this fits 64 bits.
  std::int64_t product() const { return x * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};
std::string to_string(const Dim3& size);  // "128x512x1"
// Reads what to_string() writes; nothing: it is no such text, or a dimension is below 1 or above CUDA's largest.
std::optional<Dim3> parse_dim3(std::string_view text);

// A launch as CUDA has it. Models take its products: Launch.
struct GridAndBlock {
  Dim3 grid, block;
  Launch launch() const { return {grid.product(), block.product()}; }
  friend bool operator==(const GridAndBlock&, const GridAndBlock&) = default;
};
inline GridAndBlock one_dimensional(const Launch& launch) {
  return {{launch.blocks, 1, 1}, {launch.threads_per_block, 1, 1}};
}

// Binds blockDim.x, …, gridDim.z.
void add_dimensions(const GridAndBlock& launch, Bindings& to);

// The limits of CUDA's dimensions, which are those of every GPU since compute capability 3.0 (CUDA C
// Programming Guide, technical specifications per compute capability).
inline constexpr Dim3 kLargestGrid = {0x7fffffff, 0xffff, 0xffff};
inline constexpr Dim3 kLargestBlock = {1024, 1024, 64};

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
// Errors: also a dimension below 1, or larger than CUDA takes.
Result<Launch> check_launch(const Gpu& gpu, const GridAndBlock& launch);

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
