// Threads of a warp: divergence, shuffles, votes and matches with member masks.
#include <cstdint>
using u32 = std::uint32_t;
constexpr u32 full = 0xffffffff;

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [min(i + 1, 31) for i in range(32)]
extern "C" __global__ void shuffle_down(u32* out) {
  const u32 lane = threadIdx.x;
  out[lane] = __shfl_down_sync(full, lane, 1);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [32 + 2 * (i + 16) if i < 16 else 2 * i + 32 for i in range(32)]
extern "C" __global__ void shuffles_at_two_places(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane < 16)
    out[lane] = __shfl_down_sync(full, lane, 16);
  else
    out[lane] = __shfl_down_sync(full, 2 * lane + 32, 16);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [0xaaaaaaaa + (i % 2) for i in range(32)]
extern "C" __global__ void ballots_at_two_places(u32* out) {
  const u32 lane = threadIdx.x;
  u32 ballot;
  if (lane % 2 == 0)
    ballot = __ballot_sync(full, 0);
  else
    ballot = __ballot_sync(full, 1) + 1;
  out[lane] = ballot;
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [i ^ 16 if i < 16 else (i ^ 16) + 100 for i in range(32)]
extern "C" __global__ void warp_barriers_at_two_places(u32* out) {
  __shared__ volatile u32 s[32];
  const u32 lane = threadIdx.x;
  s[lane] = lane;
  if (lane < 16) {
    __syncwarp();
    out[lane] = s[lane ^ 16];
  } else {
    __syncwarp();
    out[lane] = s[lane ^ 16] + 100;
  }
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [1010 if i < 10 else 1011 for i in range(32)]
extern "C" __global__ void reductions_at_two_places(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane < 10)
    out[lane] = __reduce_add_sync(full, 101) - 2222;
  else
    out[lane] = __reduce_add_sync(full, 101) - 2221;
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [0 if i >= 20 else (i + 1 if i < 19 else 19) for i in range(32)]
extern "C" __global__ void shuffle_after_return(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane >= 20) return;
  const u32 got = __shfl_down_sync(0xfffff, lane, 1);
  out[lane] = lane == 19 ? 19 : got;
}

// The mask names threads that have ended: nobody waits for them.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [(1 << 20) - 1 if i < 20 else 0 for i in range(32)]
extern "C" __global__ void ballot_of_all_after_return(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane >= 20) return;
  out[lane] = __ballot_sync(full, 1);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [20 if i < 20 else 0 for i in range(32)]
extern "C" __global__ void warp_barrier_after_return(u32* out) {
  __shared__ volatile u32 s[32];
  const u32 lane = threadIdx.x;
  if (lane >= 20) return;
  s[lane] = 1;
  __syncwarp();
  u32 sum = 0;
  for (u32 k = 0; k < 20; ++k) sum += s[k];
  out[lane] = sum;
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [sum(range(i // 8 * 8, i // 8 * 8 + 8)) for i in range(32)]
extern "C" __global__ void reduction_of_tiles(u32* out) {
  const u32 lane = threadIdx.x;
  const u32 tile = 0xffu << (lane & 24);
  out[lane] = __reduce_add_sync(tile, lane);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [0x55 << (i // 8 * 8) for i in range(32)]
extern "C" __global__ void ballot_of_tiles(u32* out) {
  const u32 lane = threadIdx.x;
  const u32 tile = 0xffu << (lane & 24);
  out[lane] = __ballot_sync(tile, lane % 2 == 0);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [0x11111111 << (i % 4) for i in range(32)]
extern "C" __global__ void match_any(u32* out) {
  out[threadIdx.x] = __match_any_sync(full, threadIdx.x % 4);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [0xffff if i < 16 else 0xffff0001 for i in range(32)]
extern "C" __global__ void match_all_of_halves(u32* out) {
  const u32 half = threadIdx.x < 16 ? 0xffff : 0xffff0000;
  int all = 0;
  const u32 mask = __match_all_sync(half, threadIdx.x / 16, &all);
  out[threadIdx.x] = mask + (all && threadIdx.x >= 16 ? 1 : 0);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [15 * 16 // 2 if i < 16 else 0 for i in range(32)]
extern "C" __global__ void reduction_by_half_a_warp(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane < 16) {
    u32 sum = lane;
    for (u32 by = 8; by > 0; by /= 2) sum += __shfl_xor_sync(0xffff, sum, by);
    out[lane] = sum;
  }
}

// Threads wait at a shuffle for others that wait at the block's barrier.
// run: <<<1, 32>>> out=zeros:u32:32
// finds: divergent_warp
// hangs
extern "C" __global__ void shuffle_that_others_do_not_reach(u32* out) {
  const u32 lane = threadIdx.x;
  u32 got = 0;
  if (lane < 16) got = __shfl_xor_sync(full, lane + 5, 1);
  __syncthreads();
  out[lane] = got;
}

// Members at instructions of different kinds.
// run: <<<1, 32>>> out=zeros:u32:32
// finds: divergent_warp
// hangs
extern "C" __global__ void shuffle_and_vote(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane < 16)
    out[lane] = __shfl_xor_sync(full, lane, 1);
  else
    out[lane] = __ballot_sync(full, 1);
}

// A thread is not in the mask that it gives: undefined.
// run: <<<1, 32>>> out=zeros:u32:32
// finds: divergent_warp
extern "C" __global__ void ballot_without_itself(u32* out) {
  out[threadIdx.x] = __ballot_sync(0xfffffffe, 1);
}

// Different masks at one instruction, each of which names threads with another: undefined.
// run: <<<1, 32>>> out=zeros:u32:32
// finds: divergent_warp
// hangs
extern "C" __global__ void masks_that_overlap(u32* out) {
  const u32 mask = threadIdx.x < 16 ? 0x1ffff : 0xffff8000;
  out[threadIdx.x] = __ballot_sync(mask, 1);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [sum(range(i + 1)) for i in range(32)]
extern "C" __global__ void loops_of_different_lengths(u32* out) {
  u32 sum = 0;
  for (u32 k = 0; k <= threadIdx.x; ++k) sum += k;
  out[threadIdx.x] = sum;
}

// The scan of a warp.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [i * (i + 1) // 2 for i in range(32)]
extern "C" __global__ void scan_of_a_warp(u32* out) {
  const u32 lane = threadIdx.x;
  u32 sum = lane;
  for (u32 by = 1; by < 32; by *= 2) {
    const u32 before = __shfl_up_sync(full, sum, by);
    if (lane >= by) sum += before;
  }
  out[lane] = sum;
}

// Threads leave a loop with a shuffle one after another, and return.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [i // 8 * 8 if i >= 8 else 0 for i in range(32)]
extern "C" __global__ void ballots_while_threads_return(u32* out) {
  const u32 lane = threadIdx.x;
  for (u32 k = 0; k < 4; ++k) {
    if (lane / 8 == k) return;
    out[lane] = 32 - __popc(__ballot_sync(full, 1));
  }
}

// Each thread of a group finds its leader by the mask of those that are here.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [16 if i % 2 == 0 else 0 for i in range(32)]
extern "C" __global__ void leader_of_the_even(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane % 2 == 0) {
    const u32 here = __ballot_sync(0x55555555, 1);
    const u32 leader = __ffs(here) - 1;
    out[lane] = __shfl_sync(0x55555555, __popc(here), leader);
  }
}

__device__ __noinline__ u32 half_of(u32 value, u32 lane) { return __shfl_xor_sync(full, value, 16) + lane; }

// The shuffle in a function, which two places call.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [(i ^ 16) * 3 + i if i < 16 else (i ^ 16) * 2 + i for i in range(32)]
extern "C" __global__ void shuffle_in_a_function(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane < 16)
    out[lane] = half_of(lane * 2, lane);
  else
    out[lane] = half_of(lane * 3, lane);
}

// A warp barrier orders what its threads wrote to shared memory.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i ^ 1 for i in range(64)]
extern "C" __global__ void warp_barrier_orders(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

// Threads that skip the shuffle end: nobody waits for them, and nobody reads theirs.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [i ^ 1 if i < 16 else 0 for i in range(32)]
extern "C" __global__ void shuffle_for_some_who_end(u32* out) {
  const u32 lane = threadIdx.x;
  if (lane < 16) out[lane] = __shfl_xor_sync(full, lane, 1);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [1 if i % 4 == 3 else 2 for i in range(32)]
extern "C" __global__ void votes(u32* out) {
  const u32 lane = threadIdx.x;
  const bool any = __any_sync(full, lane == 5), all = __all_sync(full, lane == 5);
  const bool tile_all = __all_sync(0xfu << (lane & 28), lane < 32);
  out[lane] = any && !all && tile_all ? (lane % 4 == 3 ? 1 : 2) : 0;
}
