// Atomics on global and shared memory: what they give in any order.
#include <cstdint>
using u32 = std::uint32_t;

// run: <<<4, 64>>> out=zeros:u32:1
// gives out: [256]
extern "C" __global__ void atomic_add(u32* out) { atomicAdd(out, 1); }

// run: <<<4, 64>>> out=zeros:u32:4
// gives out: [255, 0, 255, 0]
extern "C" __global__ void atomic_max_min(u32* out) {
  const u32 i = blockIdx.x * 64 + threadIdx.x;
  atomicMax(&out[0], i);
  atomicMin(&out[1], i);
  atomicOr(&out[2], i);
  atomicAnd(&out[3], i);
}

// run: <<<1, 64>>> out=zeros:u32:2
// gives out: [0, 0xffffffff]
extern "C" __global__ void atomic_xor(u32* out) {
  atomicXor(&out[0], threadIdx.x);
  if (threadIdx.x < 32) atomicXor(&out[1], 1u << threadIdx.x);
}

// run: <<<1, 64>>> out=zeros:u32:2
// gives out: [4, 0]
extern "C" __global__ void atomic_inc_dec(u32* out) {
  atomicInc(&out[0], 9);
  if (threadIdx.x < 60) atomicDec(&out[1], 11);
}

// run: <<<1, 64>>> out=zeros:u64:1
// gives out: [64 * 0x100000000]
extern "C" __global__ void atomic_add_of_64_bits(unsigned long long* out) { atomicAdd(out, 0x100000000ull); }

// run: <<<1, 64>>> out=zeros:f32:1
// gives out: [32.0]
extern "C" __global__ void atomic_add_of_floats(float* out) { atomicAdd(out, 0.5f); }

// run: <<<1, 64>>> out=zeros:f64:1
// gives out: [16.0]
extern "C" __global__ void atomic_add_of_doubles(double* out) { atomicAdd(out, 0.25); }

// Each thread gets a number of its own.
// run: <<<2, 64>>> next=zeros:u32:1 out=zeros:u32:128
// gives out: [1] * 128
extern "C" __global__ void numbers_from_a_counter(u32* next, u32* out) { out[atomicAdd(next, 1)] += 1; }

// One atomic for the warp.
// run: <<<2, 64>>> next=zeros:u32:1 out=zeros:u32:64
// gives out: [1] * 64
extern "C" __global__ void numbers_for_the_warp(u32* next, u32* out) {
  const u32 lane = threadIdx.x % 32;
  if (lane % 2 == 0) {
    const u32 here = __activemask(), leader = __ffs(here) - 1;
    u32 first = 0;
    if (lane == leader) first = atomicAdd(next, __popc(here));
    first = __shfl_sync(here, first, leader);
    out[first + __popc(here & ((1u << lane) - 1))] += 1;
  }
}

// run: <<<2, 64>>> out=zeros:u32:1
// gives out: [sum(range(128))]
extern "C" __global__ void loop_of_compare_and_swap(u32* out) {
  const u32 add = blockIdx.x * 64 + threadIdx.x;
  u32 old = *reinterpret_cast<volatile u32*>(out), seen;
  do {
    seen = old;
    old = atomicCAS(out, seen, seen + add);
  } while (old != seen);
}

// run: <<<1, 64>>> out=zeros:f32:1
// gives out: [63.0]
extern "C" __global__ void maximum_of_floats(float* out) {
  const float mine = static_cast<float>(threadIdx.x);
  int* bits = reinterpret_cast<int*>(out);
  int old = *reinterpret_cast<volatile int*>(bits);
  while (__int_as_float(old) < mine) {
    const int seen = old;
    old = atomicCAS(bits, seen, __float_as_int(mine));
    if (old == seen) break;
  }
}

// run: <<<4, 64>>> out=zeros:u32:16
// gives out: [16] * 16
extern "C" __global__ void histogram(u32* out) {
  __shared__ u32 bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[(threadIdx.x * 7 + blockIdx.x) % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// run: <<<1, 64>>> out=zeros:u32:1
// gives out: [2016]
extern "C" __global__ void exchange_keeps_every_value(u32* out) {
  __shared__ u32 slot, sum;
  if (threadIdx.x == 0) slot = 0, sum = 0;
  __syncthreads();
  const u32 got = atomicExch(&slot, threadIdx.x);
  atomicAdd(&sum, got);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum + slot;
}

// Different widths on one place, all of them atomic.
// run: <<<1, 64>>> out=zeros:u64:1
// gives out: [64 + (64 << 32)]
extern "C" __global__ void atomics_of_two_widths(unsigned long long* out) {
  atomicAdd(reinterpret_cast<u32*>(out), 1);
  atomicAdd(out, 0x100000000ull);
}

// A list: each thread puts itself in front.
// run: <<<1, 64>>> head=zeros:u32:1 next=zeros:u32:65 out=zeros:u32:1
// gives out: [64]
extern "C" __global__ void list_of_threads(u32* head, volatile u32* next, u32* out) {
  const u32 mine = threadIdx.x + 1;
  u32 old = *reinterpret_cast<volatile u32*>(head), seen;
  do {
    seen = old;
    next[mine] = seen;
    __threadfence();
    old = atomicCAS(head, seen, mine);
  } while (old != seen);
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 count = 0;
    for (u32 at = *reinterpret_cast<volatile u32*>(head); at != 0 && count < 100; at = next[at]) ++count;
    out[0] = count;
  }
}

// run: <<<1, 64>>> out=zeros:u32:2
// finds: misaligned
extern "C" __global__ void misaligned_atomic(u32* out) {
  atomicAdd(reinterpret_cast<u32*>(reinterpret_cast<char*>(out) + 1), 1);
}

// run: <<<1, 64>>> out=zeros:u32:32
// finds: out_of_bounds
extern "C" __global__ void atomic_past_the_end(u32* out) { atomicAdd(&out[threadIdx.x], 1); }

// run: <<<1, 64>>> out=uninit:u32:1
// finds: uninitialised_memory
extern "C" __global__ void atomic_on_nothing_written(u32* out) { atomicAdd(out, 1); }

// Two kernels' worth: a work queue that each warp takes from until it is empty.
// run: <<<2, 64>>> next=zeros:u32:1 out=zeros:u32:40
// gives out: [k * k for k in range(40)]
extern "C" __global__ void queue_of_work(u32* next, u32* out) {
  const u32 lane = threadIdx.x % 32;
  while (true) {
    u32 k = 0;
    if (lane == 0) k = atomicAdd(next, 1);
    k = __shfl_sync(0xffffffff, k, 0);
    if (k >= 40) return;
    if (lane == 0) out[k] = k * k;
  }
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [1 if i == 3 else 0 for i in range(32)]
extern "C" __global__ void one_wins(u32* out) {
  __shared__ u32 owner;
  if (threadIdx.x == 0) owner = 0;
  __syncthreads();
  if (atomicCAS(&owner, 0, threadIdx.x + 1) == 0) atomicAdd(&out[3], 1);
}
