// Kernels that store to a[index], with random index expressions of a thread's coordinates.
#pragma once

#include <cstdint>
#include <string>

namespace warptime::execute::testing {

// Elements that an index can reach, and the block of the launch: a warp of it has one y.
constexpr std::int64_t index_elements = 1 << 14;
constexpr std::uint32_t index_block_x = 64, index_block_y = 4;

// `__global__ void NAME(TYPE* a) { … a[…] = …; }` in one line; the same for the same seed. `any_block`: the index uses
// all three of threadIdx, of any block of up to 64 x 16 x 4 threads.
std::string random_index_kernel(const std::string& name, std::uint64_t seed, bool any_block = false);

}  // namespace warptime::execute::testing
