// Spin locks, flags and fences.
#include <cstdint>
using u32 = std::uint32_t;

__device__ __forceinline__ void take(u32* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ __forceinline__ void give(u32* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// run: <<<1, 32>>> lock=zeros:u32:1 out=zeros:u32:1
// gives out: [32]
extern "C" __global__ void lock_within_a_warp(u32* lock, volatile u32* out) {
  take(lock);
  out[0] = out[0] + 1;
  give(lock);
}

// run: <<<4, 64>>> lock=zeros:u32:1 out=zeros:u32:1
// gives out: [256]
extern "C" __global__ void lock_of_a_grid(u32* lock, volatile u32* out) {
  take(lock);
  out[0] = out[0] + 1;
  give(lock);
}

// run: <<<1, 64>>> lock=zeros:u32:1 out=zeros:u32:1
// gives out: [64]
extern "C" __global__ void lock_with_exchange(u32* lock, volatile u32* out) {
  bool done = false;
  while (!done) {
    if (atomicExch(lock, 1) == 0) {
      out[0] = out[0] + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// run: <<<1, 64>>> lock=zeros:u32:1 out=zeros:u32:1
// gives out: [64]
extern "C" __global__ void lock_with_a_pause(u32* lock, volatile u32* out) {
  u32 pause = 8;
  while (atomicCAS(lock, 0, 1) != 0) {
    __nanosleep(pause);
    if (pause < 256) pause *= 2;
  }
  out[0] = out[0] + 1;
  give(lock);
}

// ticket[0] is the next ticket, ticket[1] the one that is served.
// run: <<<1, 64>>> ticket=zeros:u32:2 out=zeros:u32:1
// gives out: [64]
extern "C" __global__ void ticket_lock(u32* ticket, volatile u32* out) {
  const u32 mine = atomicAdd(&ticket[0], 1);
  while (*reinterpret_cast<volatile u32*>(&ticket[1]) != mine) {
  }
  __threadfence();
  out[0] = out[0] + 1;
  __threadfence();
  atomicAdd(&ticket[1], 1);
}

// run: <<<1, 64>>> out=zeros:u32:1
// gives out: [64]
extern "C" __global__ void lock_in_shared_memory(u32* out) {
  __shared__ u32 lock;
  __shared__ volatile u32 sum;
  if (threadIdx.x == 0) lock = 0, sum = 0;
  __syncthreads();
  take(&lock);
  sum = sum + 1;
  give(&lock);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}

// What the lock guards is not volatile: the fences hand it over.
// run: <<<1, 64>>> out=zeros:u32:1
// gives out: [64]
extern "C" __global__ void lock_guards_plain_data(u32* out) {
  __shared__ u32 lock, sum;
  if (threadIdx.x == 0) lock = 0, sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    take(&lock);
    sum = sum + 32;
    give(&lock);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}

__device__ __noinline__ void take_in_a_call(u32* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}

// run: <<<1, 32>>> lock=zeros:u32:1 out=zeros:u32:1
// gives out: [32]
extern "C" __global__ void lock_in_a_function(u32* lock, volatile u32* out) {
  take_in_a_call(lock);
  __threadfence();
  out[0] = out[0] + 1;
  give(lock);
}

// Eight locks, by the thread's number.
// run: <<<1, 64>>> lock=zeros:u32:8 out=zeros:u32:8
// gives out: [8] * 8
extern "C" __global__ void locks_by_lane(u32* lock, volatile u32* out) {
  const u32 which = threadIdx.x % 8;
  take(&lock[which]);
  out[which] = out[which] + 1;
  give(&lock[which]);
}

// A lock that nobody gives back.
// run: <<<1, 32>>> lock=zeros:u32:1 out=zeros:u32:1
// finds: budget
// hangs
extern "C" __global__ void lock_that_is_kept(u32* lock, volatile u32* out) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  out[0] = out[0] + 1;
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [0] * 32 + [100 + i for i in range(32)]
extern "C" __global__ void flag_and_fence_in_shared_memory(u32* out) {
  __shared__ u32 data[32];
  __shared__ volatile u32 flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[threadIdx.x] = 100 + threadIdx.x;
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x == 0) flag = 1;
  } else {
    while (flag == 0) {
    }
    __threadfence_block();
    out[threadIdx.x] = data[threadIdx.x - 32];
  }
}

// The fence of the writer is missing.
// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race
extern "C" __global__ void flag_without_fence(u32* out) {
  __shared__ u32 data[32];
  __shared__ volatile u32 flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[threadIdx.x] = 100 + threadIdx.x;
    __syncwarp();
    if (threadIdx.x == 0) flag = 1;
  } else {
    while (flag == 0) {
    }
    out[threadIdx.x] = data[threadIdx.x - 32];
  }
}

// Release and acquire.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [0] * 32 + [7] * 32
extern "C" __global__ void release_and_acquire(u32* out) {
  __shared__ u32 data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 7;
    asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(&flag))) : "memory");
  } else if (threadIdx.x >= 32) {
    u32 seen = 0;
    while (seen == 0)
      asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(static_cast<u32>(__cvta_generic_to_shared(&flag))) : "memory");
    out[threadIdx.x] = data;
  }
}

// Relaxed accesses order nothing.
// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race
extern "C" __global__ void relaxed_flag(u32* out) {
  __shared__ u32 data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 7;
    asm volatile("st.relaxed.cta.shared.u32 [%0], 1;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(&flag))) : "memory");
  } else if (threadIdx.x >= 32) {
    u32 seen = 0;
    while (seen == 0)
      asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(static_cast<u32>(__cvta_generic_to_shared(&flag))) : "memory");
    out[threadIdx.x] = data;
  }
}

// A counter of warps that are ready, by atomics and fences.
// run: <<<1, 128>>> out=zeros:u32:1
// gives out: [10]
extern "C" __global__ void last_warp_sums(u32* out) {
  __shared__ u32 parts[4], count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = threadIdx.x / 32 + 1;
    __threadfence_block();
    const u32 before = atomicAdd(&count, 1);
    __threadfence_block();
    if (before == 3) out[0] = parts[0] + parts[1] + parts[2] + parts[3];
  }
}

// The last block sums what the others left in global memory.
// run: <<<8, 32>>> parts=uninit:u32:8 count=zeros:u32:1 out=zeros:u32:1
// gives out: [sum(32 * b for b in range(8))]
extern "C" __global__ void last_block_sums(volatile u32* parts, u32* count, u32* out) {
  const u32 sum = __reduce_add_sync(0xffffffff, blockIdx.x);
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(count, 1) != gridDim.x - 1) return;
  __threadfence();
  u32 all = 0;
  for (u32 b = 0; b < gridDim.x; ++b) all += parts[b];
  out[0] = all;
}

// Each block waits for the one before it.
// run: <<<8, 32>>> flag=zeros:u32:9 out=zeros:u32:8
// gives out: [b + 1 for b in range(8)]
extern "C" __global__ void blocks_in_a_chain(volatile u32* flag, u32* out) {
  if (threadIdx.x != 0) return;
  u32 before = 0;
  if (blockIdx.x > 0)
    while ((before = flag[blockIdx.x]) == 0) {
    }
  flag[blockIdx.x + 1] = before + 1;
  out[blockIdx.x] = before + 1;
}

// Each block waits for the one behind it: all of them must run at a time.
// run: <<<8, 32>>> flag=zeros:u32:9 out=zeros:u32:8
// gives out: [8 - b for b in range(8)]
extern "C" __global__ void blocks_in_a_chain_backward(volatile u32* flag, u32* out) {
  if (threadIdx.x != 0) return;
  u32 behind = 0;
  if (blockIdx.x + 1 < gridDim.x)
    while ((behind = flag[blockIdx.x + 1]) == 0) {
    }
  flag[blockIdx.x] = behind + 1;
  out[blockIdx.x] = behind + 1;
}

// A barrier of all blocks, made of atomics.
// run: <<<4, 64>>> count=zeros:u32:1 work=zeros:u32:256 out=zeros:u32:256
// gives out: [255 - i for i in range(256)]
extern "C" __global__ void barrier_of_the_grid(u32* count, volatile u32* work, u32* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  work[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (*reinterpret_cast<volatile u32*>(count) != gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  out[i] = work[255 - i];
}

// One side of a branch waits for the other's flag.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [5 if i < 16 else 6 for i in range(32)]
extern "C" __global__ void side_waits_for_side(u32* out) {
  __shared__ volatile u32 flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 16) {
    while (flag == 0) {
    }
    out[threadIdx.x] = 5;
  } else {
    out[threadIdx.x] = 6;
    flag = 1;
  }
}

// The same, the other side first.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [6 if i < 16 else 5 for i in range(32)]
extern "C" __global__ void other_side_waits_for_side(u32* out) {
  __shared__ volatile u32 flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 16) {
    out[threadIdx.x] = 6;
    flag = 1;
  } else {
    while (flag == 0) {
    }
    out[threadIdx.x] = 5;
  }
}

// Threads hand a token on from lane to lane.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [i for i in range(32)]
extern "C" __global__ void token_from_lane_to_lane(u32* out) {
  __shared__ volatile u32 turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  while (turn != threadIdx.x) {
  }
  out[threadIdx.x] = turn;
  turn = threadIdx.x + 1;
}

// A warp waits for another's flag.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [9] * 64
extern "C" __global__ void warp_waits_for_warp(u32* out) {
  __shared__ volatile u32 flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32)
    while (flag == 0) {
    }
  else
    flag = 1;
  out[threadIdx.x] = 9;
}

// Nobody sets the flag.
// run: <<<1, 32>>> flag=zeros:u32:1 out=zeros:u32:32
// finds: budget
// hangs
extern "C" __global__ void flag_that_nobody_sets(volatile u32* flag, u32* out) {
  while (flag[0] == 0) {
  }
  out[threadIdx.x] = 1;
}
