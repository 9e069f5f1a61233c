// Barriers of blocks: early exits, conditions, named barriers. README.md says how the cases are written.
#include <cstdint>
using u32 = std::uint32_t;

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [63 - i for i in range(64)]
extern "C" __global__ void barrier_orders(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i + 2 if i < 40 else 0 for i in range(64)]
extern "C" __global__ void barrier_after_return_of_part_of_a_warp(u32* out) {
  __shared__ u32 s[64];
  if (threadIdx.x >= 40) return;
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[threadIdx.x] = s[(threadIdx.x + 1) % 40] + (threadIdx.x == 39 ? 40 : 0);
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i + 33 if i < 32 else 0 for i in range(64)]
extern "C" __global__ void barrier_after_return_of_a_warp(u32* out) {
  __shared__ u32 s[32];
  if (threadIdx.x >= 32) return;
  s[threadIdx.x] = threadIdx.x + 33;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [99 if i == 0 else 0 for i in range(64)]
extern "C" __global__ void barrier_after_return_of_all_but_one(u32* out) {
  if (threadIdx.x != 0) return;
  __syncthreads();
  out[threadIdx.x] = 99;
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [6 if i < 20 else 1 for i in range(64)]
extern "C" __global__ void barriers_in_a_loop_after_return(u32* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x >= 20) return;
  for (u32 k = 0; k < 5; ++k) {
    __syncthreads();
    out[threadIdx.x] += 1;
  }
}

// Each thread leaves the loop with its barrier at an iteration of its own, and returns.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i // 8 for i in range(64)]
extern "C" __global__ void threads_return_one_after_another(u32* out) {
  for (u32 k = 0; k < 8; ++k) {
    if (threadIdx.x / 8 == k) return;
    __syncthreads();
    out[threadIdx.x] = k + 1;
  }
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [40] * 40 + [0] * 24
extern "C" __global__ void count_after_return(u32* out) {
  if (threadIdx.x >= 40) return;
  out[threadIdx.x] = __syncthreads_count(1);
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [2 + 32 * (i % 2 == 0) for i in range(64)]
extern "C" __global__ void count_and_or(u32* out) {
  const u32 odd = threadIdx.x % 2;
  const u32 count = __syncthreads_count(odd == 0);
  const u32 all = __syncthreads_and(odd);
  const u32 any = __syncthreads_or(odd);
  out[threadIdx.x] = (odd == 0 ? count : 0) + 2 * any + all;
}

// Threads that skip a barrier end without another: the barrier waits for nobody who has ended.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [5 if i < 16 else 0 for i in range(64)]
extern "C" __global__ void barrier_for_some_who_end(u32* out) {
  if (threadIdx.x < 16) {
    __syncthreads();
    out[threadIdx.x] = 5;
  }
}

// __syncthreads() in both branches, for parts of a warp: undefined by PTX (bar.sync is .aligned).
// run: <<<1, 32>>> out=zeros:u32:32
// finds: divergent_barrier
extern "C" __global__ void barrier_in_both_branches_of_a_warp(u32* out) {
  __shared__ volatile u32 s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + 16];
  } else {
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x - 16] + 100;
  }
}

// The same for whole warps is fine.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i + 32 if i < 32 else i - 32 + 100 for i in range(64)]
extern "C" __global__ void barrier_in_both_branches_of_a_block(u32* out) {
  __shared__ volatile u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) {
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + 32];
  } else {
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x - 32] + 100;
  }
}

// Not aligned: parts of a warp may be at instructions of their own.
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [i + 16 if i < 16 else i - 16 + 100 for i in range(32)]
extern "C" __global__ void unaligned_barrier_in_both_branches(u32* out) {
  __shared__ volatile u32 s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    asm volatile("barrier.sync 0;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x + 16];
  } else {
    asm volatile("barrier.sync 0;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x - 16] + 100;
  }
}

// Some threads wait once more than the others, who do not end: they poll for what is written behind it.
// run: <<<1, 64>>> out=zeros:u32:64
// finds: budget
// hangs
extern "C" __global__ void barrier_that_others_wait_for(u32* out) {
  __shared__ volatile u32 flag;
  flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    __syncthreads();
    flag = 1;
  } else {
    while (flag == 0) {
    }
  }
  out[threadIdx.x] = 1;
}

// run: <<<1, 64>>> out=zeros:u32:64
// finds: deadlock
// hangs
extern "C" __global__ void named_barriers_that_differ(u32* out) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

// run: <<<1, 64>>> out=zeros:u32:64
// finds: deadlock
// hangs
extern "C" __global__ void named_barrier_for_too_many(u32* out) {
  asm volatile("bar.sync 1, 96;" ::: "memory");
  out[threadIdx.x] = 1;
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [i + 100 if i < 32 else 31 - (i - 32) + 100 for i in range(64)]
extern "C" __global__ void producer_and_consumer(u32* out) {
  __shared__ u32 s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x + 100;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    out[threadIdx.x] = threadIdx.x + 100;
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[31 - (threadIdx.x - 32)];
  }
}

// The consumer says that the buffer is free again.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [0] * 32 + [sum(k * 100 + i for k in range(4)) for i in range(32)]
extern "C" __global__ void producer_and_consumer_in_turns(u32* out) {
  __shared__ u32 s[32];
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) {
    if (threadIdx.x < 32) {
      if (k > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      s[threadIdx.x] = k * 100 + threadIdx.x;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += s[threadIdx.x - 32];
      if (k < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
  out[threadIdx.x] = sum;
}

// The producer does not wait for the consumer: its second arrival may complete the barrier in the consumer's place. On
// an H100 the consumer came in time; under synccheck it waited for ever.
// run: <<<1, 64>>> out=zeros:u32:64
// finds: deadlock
extern "C" __global__ void producer_runs_ahead(u32* out) {
  __shared__ u32 s[32];
  u32 sum = 0;
  for (u32 k = 0; k < 2; ++k) {
    if (threadIdx.x < 32) {
      s[threadIdx.x] = k * 100 + threadIdx.x;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += s[threadIdx.x - 32];
    }
  }
  out[threadIdx.x] = sum;
}

// Two of three warps meet at a named barrier; the third reads what they wrote without it.
// run: <<<1, 96>>> out=zeros:u32:96
// finds: shared_race
extern "C" __global__ void named_barrier_does_not_order_the_third_warp(u32* out) {
  __shared__ volatile u32 s[96];
  if (threadIdx.x < 64) {
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
  } else {
    u32* plain = const_cast<u32*>(s);
    out[threadIdx.x] = plain[threadIdx.x - 64];
  }
}

// Pairs of warps, each with a barrier of its own; then one pair reads what the other wrote.
// run: <<<1, 128>>> out=zeros:u32:128
// finds: shared_race uninitialised_memory
extern "C" __global__ void named_barriers_of_two_pairs(u32* out) {
  __shared__ u32 s[128];
  const u32 pair = threadIdx.x / 64;
  s[threadIdx.x] = threadIdx.x;
  if (pair == 0)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = s[127 - threadIdx.x];
}

// The same, reading within the pair.
// run: <<<1, 128>>> out=zeros:u32:128
// gives out: [i // 64 * 64 + 63 - i % 64 for i in range(128)]
extern "C" __global__ void named_barriers_within_pairs(u32* out) {
  __shared__ u32 s[128];
  const u32 pair = threadIdx.x / 64;
  s[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
  out[threadIdx.x] = s[pair * 64 + 63 - threadIdx.x % 64];
}

// A warp whose first threads have returned counts as 32 at a barrier with a number.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [0] * 8 + [1] * 56
extern "C" __global__ void named_barrier_after_return(u32* out) {
  if (threadIdx.x < 8) return;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

// run: <<<1, 40>>> out=zeros:u32:40
// gives out: [39 - i for i in range(40)]
extern "C" __global__ void barrier_of_a_partial_warp(u32* out) {
  __shared__ u32 s[40];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[39 - threadIdx.x];
}

// The sides of each warp meet the same sides of the other warp. But a thread at a barrier waits for all of its warp, and
// the arrival is the warp's (PTX ISA, barrier): an H100 takes it for an illegal instruction.
// run: <<<1, 64>>> out=zeros:u32:64
// finds: divergent_barrier
extern "C" __global__ void unaligned_barriers_of_half_warps(u32* out) {
  __shared__ volatile u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 32 < 16)
    asm volatile("barrier.sync 1, 32;" ::: "memory");
  else
    asm volatile("barrier.sync 2, 32;" ::: "memory");
  out[threadIdx.x] = s[(threadIdx.x + 32) % 64];
}

// run: <<<3, 64>>> out=zeros:u32:192
// gives out: [i // 64 * 1000 + 63 - i % 64 for i in range(192)]
extern "C" __global__ void barrier_of_each_block(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
