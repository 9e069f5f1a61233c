// Races on shared memory, and what looks like one.
#include <cstdint>
using u32 = std::uint32_t;

// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race uninitialised_memory
extern "C" __global__ void read_without_barrier(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race
extern "C" __global__ void write_without_barrier(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const u32 got = s[63 - threadIdx.x];
  s[threadIdx.x] = got + 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race
extern "C" __global__ void two_warps_write_one_word(u32* out) {
  __shared__ u32 s;
  if (threadIdx.x % 32 == 0) s = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s;
}

// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [7] * 64
// finds: same_value_race
extern "C" __global__ void two_warps_write_the_same_value(u32* out) {
  __shared__ u32 s;
  if (threadIdx.x % 32 == 0) s = 7;
  __syncthreads();
  out[threadIdx.x] = s;
}

// All threads of all warps clear an array.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [0] * 64
// finds: same_value_race
extern "C" __global__ void all_warps_clear_an_array(u32* out) {
  __shared__ u32 s[16];
  s[threadIdx.x % 16] = 0;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 16];
}

// run: <<<1, 32>>> out=zeros:u32:32
// finds: shared_race
extern "C" __global__ void lanes_write_one_word(u32* out) {
  __shared__ u32 s;
  s = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s;
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [3] * 32
extern "C" __global__ void lanes_write_the_same_value(u32* out) {
  __shared__ u32 s;
  s = 3;
  __syncwarp();
  out[threadIdx.x] = s;
}

// Lockstep is not promised: the threads of one warp need a __syncwarp() here.
// run: <<<1, 32>>> out=zeros:u32:32
// finds: warp_race
extern "C" __global__ void warp_without_barrier(u32* out) {
  __shared__ volatile u32 s[32];
  u32* plain = const_cast<u32*>(s);
  plain[threadIdx.x] = threadIdx.x;
  asm volatile("" ::: "memory");
  out[threadIdx.x] = plain[threadIdx.x ^ 1];
}

// The reduction of a warp as it was written before Volta.
// run: <<<1, 32>>> out=zeros:u32:32
// finds: warp_race
extern "C" __global__ void reduction_without_warp_barrier(u32* out) {
  __shared__ u32 s[64];
  u32* v = s;
  const u32 lane = threadIdx.x;
  v[lane] = lane;
  v[lane + 32] = 0;
  for (u32 by = 16; by > 0; by /= 2) {
    asm volatile("" ::: "memory");
    v[lane] = v[lane] + v[lane + by];
  }
  if (lane == 0) out[0] = v[0];
}

// run: <<<1, 32>>> out=zeros:u32:1
// gives out: [496]
extern "C" __global__ void reduction_with_warp_barriers(u32* out) {
  __shared__ u32 s[64];
  const u32 lane = threadIdx.x;
  u32 mine = lane;
  s[lane] = mine;
  s[lane + 32] = 0;
  __syncwarp();
  for (u32 by = 16; by > 0; by /= 2) {
    mine += s[lane + by];
    __syncwarp();
    s[lane] = mine;
    __syncwarp();
  }
  if (lane == 0) out[0] = mine;
}

// run: <<<1, 64>>> out=zeros:u32:1
// gives out: [64]
extern "C" __global__ void shared_atomics(u32* out) {
  __shared__ u32 s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s;
}

// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race
extern "C" __global__ void atomic_and_plain_read(u32* out) {
  __shared__ u32 s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  if (threadIdx.x < 32)
    atomicAdd(&s, 1);
  else
    out[threadIdx.x] = s;
}

// With the atomics of the other warp, and of its own: threads of a warp are in no order either (PTX ISA).
// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race uninitialised_memory warp_race
extern "C" __global__ void initialisation_races_with_atomics(u32* out) {
  __shared__ u32 s;
  if (threadIdx.x == 63) s = 0;
  atomicAdd(&s, 1);
  __syncthreads();
  out[threadIdx.x] = s;
}

// The halves of a word belong to a warp each.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [0x00020001] * 64
extern "C" __global__ void halves_of_a_word(u32* out) {
  __shared__ u32 s;
  auto* halves = reinterpret_cast<std::uint16_t*>(&s);
  if (threadIdx.x % 32 == 0) halves[threadIdx.x / 32] = static_cast<std::uint16_t>(threadIdx.x / 32 + 1);
  __syncthreads();
  out[threadIdx.x] = s;
}

// A word and one of its bytes.
// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race
extern "C" __global__ void word_and_its_byte(u32* out) {
  __shared__ u32 s;
  if (threadIdx.x == 0) s = 0x01010101;
  if (threadIdx.x == 32) reinterpret_cast<volatile unsigned char*>(&s)[2] = 9;
  __syncthreads();
  out[threadIdx.x] = s;
}

// The barrier is missing at the end of the loop.
// run: <<<1, 64>>> out=zeros:u32:64
// finds: shared_race
extern "C" __global__ void loop_with_one_barrier(u32* out) {
  __shared__ u32 s[64];
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) {
    s[threadIdx.x] = threadIdx.x + k;
    __syncthreads();
    sum += s[63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

// Two buffers in turn: one barrier for each iteration is enough.
// run: <<<1, 64>>> out=zeros:u32:64
// gives out: [4 * (63 - i) + 6 for i in range(64)]
extern "C" __global__ void two_buffers_in_turn(u32* out) {
  __shared__ u32 s[2][64];
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) {
    s[k % 2][threadIdx.x] = threadIdx.x + k;
    __syncthreads();
    sum += s[k % 2][63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

// run: <<<1, 128>>> out=zeros:u32:1
// gives out: [8128]
extern "C" __global__ void reduction_of_a_block(u32* out) {
  __shared__ u32 s[128];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (u32 by = 64; by > 0; by /= 2) {
    if (threadIdx.x < by) s[threadIdx.x] += s[threadIdx.x + by];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = s[0];
}

// The barrier of the reduction is left out for the last steps between warps.
// run: <<<1, 128>>> out=zeros:u32:1
// finds: shared_race
extern "C" __global__ void reduction_that_lacks_a_barrier(u32* out) {
  __shared__ u32 s[128];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (u32 by = 64; by > 0; by /= 2) {
    if (threadIdx.x < by) s[threadIdx.x] += s[threadIdx.x + by];
    if (by < 64) __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = s[0];
}

// Dynamic shared memory.
// run: <<<1, 64, 256>>> out=zeros:u32:64
// gives out: [63 - i for i in range(64)]
extern "C" __global__ void dynamic_shared_memory(u32* out) {
  extern __shared__ u32 d[];
  d[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = d[63 - threadIdx.x];
}
