// Algorithm 3 of Puchala et al. (2022): how many blocks of how many threads.
#pragma once

#include <cstdint>

#include "simulator/gpu.h"

namespace warptime {

struct Launch {
  std::int64_t blocks = 0;
  std::int64_t threads_per_block = 0;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Algorithm 3, read as reference/plain_model.py does: where the even number of SMs does not divide the
// threads, threads per block (or the number of blocks) is rounded up. Errors: threads < 1.
Result<Launch> choose_launch(const Gpu& gpu, std::int64_t threads);

// Errors: fewer than one block or thread, a block larger than the GPU takes (threads or warps).
Result<Launch> check_launch(const Gpu& gpu, std::int64_t blocks, std::int64_t threads_per_block);

}  // namespace warptime
