// Cooperative groups and asynchronous copies.
#include <cooperative_groups.h>
#include <cstdint>
using u32 = std::uint32_t;
namespace cg = cooperative_groups;

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [63 - i for i in range(64)]
extern "C" __global__ void group_of_the_block(u32* out) {
  __shared__ u32 s[64];
  const auto block = cg::this_thread_block();
  s[block.thread_rank()] = block.thread_rank();
  block.sync();
  out[block.thread_rank()] = s[63 - block.thread_rank()];
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i ^ 1 for i in range(64)]
extern "C" __global__ void tile_of_eight(u32* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[threadIdx.x] = tile.shfl_xor(threadIdx.x, 1);
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [sum(range(i // 4 * 4, i // 4 * 4 + 4)) for i in range(64)]
extern "C" __global__ void reduction_of_tiles_of_four(u32* out) {
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  u32 sum = threadIdx.x;
  for (u32 by = 2; by > 0; by /= 2) sum += tile.shfl_xor(sum, by);
  out[threadIdx.x] = sum;
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [0xf0 if i // 8 % 2 == 0 else 0x0f for i in range(32)]
extern "C" __global__ void ballots_of_tiles(u32* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[threadIdx.x] = tile.ballot(tile.meta_group_rank() % 2 == 0 ? tile.thread_rank() >= 4 : tile.thread_rank() < 4);
}

// Some tiles return before the others meet.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i ^ 1 if i // 8 % 2 == 1 else 0 for i in range(64)]
extern "C" __global__ void tiles_that_return(u32* out) {
  __shared__ u32 s[64];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  if (tile.meta_group_rank() % 2 == 0) return;
  s[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [16 if i % 2 == 0 else 0 for i in range(32)]
extern "C" __global__ void coalesced_threads(u32* out) {
  if (threadIdx.x % 2 == 0) {
    const auto here = cg::coalesced_threads();
    here.sync();
    out[threadIdx.x] = here.size();
  }
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [(i // 2 + 1) % 16 * 2 if i % 2 == 0 else 0 for i in range(32)]
extern "C" __global__ void shuffle_of_coalesced_threads(u32* out) {
  if (threadIdx.x % 2 == 0) {
    const auto here = cg::coalesced_threads();
    out[threadIdx.x] = here.shfl(threadIdx.x, (here.thread_rank() + 1) % here.size());
  }
}

// Tiles of a warp take different ways.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [16 * 15 // 2 if i < 16 else 1 for i in range(32)]
extern "C" __global__ void tiles_that_part(u32* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  if (tile.meta_group_rank() == 0) {
    u32 sum = tile.thread_rank();
    for (u32 by = 8; by > 0; by /= 2) sum += tile.shfl_xor(sum, by);
    out[threadIdx.x] = sum;
  } else {
    out[threadIdx.x] = tile.any(tile.thread_rank() == 3);
  }
}

// run: <<<1, 64>>> in=iota:u32:64 out=zeros:u32:64
// gives out: [63 - i for i in range(64)]
extern "C" __global__ void asynchronous_copy(const u32* in, u32* out) {
  __shared__ __align__(16) u32 s[64];
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(&s[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// run: <<<1, 16>>> in=iota:u32:64 out=zeros:u32:64
// gives out: list(range(64))
extern "C" __global__ void asynchronous_copy_of_16_bytes(const u32* in, u32* out) {
  __shared__ __align__(16) u32 s[64];
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(&s[4 * threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (u32 k = 0; k < 4; ++k) out[16 * k + threadIdx.x] = s[16 * k + threadIdx.x];
}

// Bytes behind the size are zero.
// run: <<<1, 16>>> in=iota:u32:64 out=zeros:u32:64
// gives out: [i if i % 4 < 2 else 0 for i in range(64)]
extern "C" __global__ void asynchronous_copy_with_zeros(const u32* in, u32* out) {
  __shared__ __align__(16) u32 s[64];
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(&s[4 * threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, 8;" ::"r"(to), "l"(in + 4 * threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (u32 k = 0; k < 4; ++k) out[16 * k + threadIdx.x] = s[16 * k + threadIdx.x];
}

// Two stages: the copy of the next tile goes on while this one is used.
// run: <<<1, 32>>> in=iota:u32:128 out=zeros:u32:32
// gives out: [4 * (31 - i) + 32 * 6 for i in range(32)]
extern "C" __global__ void asynchronous_copies_in_stages(const u32* in, u32* out) {
  __shared__ __align__(16) u32 s[2][32];
  const u32 t = threadIdx.x;
  u32 sum = 0;
  auto start = [&](u32 k) {
    const u32 to = static_cast<u32>(__cvta_generic_to_shared(&s[k % 2][t]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + 32 * k + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  start(0);
  for (u32 k = 0; k < 4; ++k) {
    if (k + 1 < 4) {
      start(k + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    sum += s[k % 2][31 - t];
    __syncthreads();
  }
  out[t] = sum;
}

// Nobody waits for the copy: the read may find what was there before.
// run: <<<1, 32>>> in=iota:u32:32 out=zeros:u32:32
// finds: unwaited_copy
extern "C" __global__ void asynchronous_copy_without_wait(const u32* in, u32* out) {
  __shared__ __align__(16) u32 s[32];
  s[threadIdx.x] = 0;
  __syncthreads();
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(&s[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  out[threadIdx.x] = s[threadIdx.x];
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// It is waited for, but other threads read it without a barrier.
// run: <<<1, 64>>> in=iota:u32:64 out=zeros:u32:64
// finds: shared_race uninitialised_memory
extern "C" __global__ void asynchronous_copy_without_barrier(const u32* in, u32* out) {
  __shared__ __align__(16) u32 s[64];
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(&s[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// run: <<<1, 32>>> in=iota:u32:31 out=zeros:u32:32
// finds: out_of_bounds
extern "C" __global__ void asynchronous_copy_past_the_end(const u32* in, u32* out) {
  __shared__ __align__(16) u32 s[32];
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(&s[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

// A group's barrier that one tile skips while it waits elsewhere.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [1 if i < 16 else 2 for i in range(32)]
extern "C" __global__ void tiles_with_barriers_of_their_own(u32* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  if (tile.meta_group_rank() == 0) {
    for (u32 k = 0; k < 3; ++k) tile.sync();
    out[threadIdx.x] = 1;
  } else {
    tile.sync();
    out[threadIdx.x] = 2;
  }
  cg::this_thread_block().sync();
}
