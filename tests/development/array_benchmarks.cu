// Memory and arithmetic benchmarks on arrays of n elements: streams, strides, chases, chains and atomics.
#include "device.h"

constexpr int kSharedFloats = 2048;

// Copy, one element for each thread.
template <class T>
__global__ void copy_elements(const T* __restrict__ in, T* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__device__ double scaled_sum(double a, double b, double scale) {
  return a + scale * b;
}

__device__ float4 scaled_sum(float4 a, float4 b, double scale) {
  const float s = (float)scale;
  return make_float4(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z, a.w + s * b.w);
}

// Triad with a grid-stride loop. All threads read the same scale from memory.
template <class T>
__global__ void triad(const T* a, const T* b, T* c, const double* scale, int n) {
  const double s = scale[1];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = scaled_sum(a[i], b[i], s);
}

// Each thread adds `count` elements: `outer` is the step between threads, `inner` the step in a thread.
__global__ void strided_reads(const float* __restrict__ in, float* out, int outer, int inner, int count,
                              int threads) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  const float* mine = in + t * outer;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < count; ++k) sum += mine[k * inner];
  out[t] = sum;
}

// A warp for each row: how many of its elements are above the limit, counted by ballots.
__global__ void count_in_rows(const int* in, int* counts, int limit, int width, int rows) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  int count = 0;
  for (int start = 0; start < width; start += 32) {
    const int column = start + lane;
    const bool above = column < width && in[row * width + column] > limit;
    count += __popc(__ballot_sync(0xffffffffu, above));
  }
  if (lane == 0) counts[row] = count;
}

// Eight reads for each thread at places from a linear congruential generator.
__global__ void random_gather(const float* __restrict__ table, float* __restrict__ out, unsigned mask,
                              int threads) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  unsigned state = t * 2891336453u + 12345u;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    state = state * 1664525u + 1013904223u;
    sum += table[(state >> 5) & mask];
  }
  out[t] = sum;
}

// A chain of dependent loads through a permutation with a single cycle.
__global__ void chase_pointers(const int* next, int* out, int steps, int size, int threads) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  int at = (int)((unsigned)t * 97u % (unsigned)size);
  while (steps-- > 0) at = next[at];
  out[t] = at;
}

// Chains of integer and of floating-point operations, in a ratio that the template gives.
template <int kInts, int kFloats>
__global__ void mixed_chains(float* out, float factor, unsigned step, int rounds) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0.001f * threadIdx.x;
  unsigned k = t;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int f = 0; f < kFloats; ++f) x = fmaf(x, factor, 0.5f);
#pragma unroll
    for (int j = 0; j < kInts; ++j) k = (k ^ (k << 5)) + step;
  }
  out[t] = x + (float)(k & 255u);
}

// Reads of shared memory with a stride between the threads.
__global__ void shared_strides(const float* in, float* out, int stride, int rounds) {
  __shared__ float tile[kSharedFloats];
  for (int k = threadIdx.x; k < kSharedFloats; k += blockDim.x)
    tile[k] = in[blockIdx.x * kSharedFloats + k];
  __syncthreads();
  int at = threadIdx.x * stride;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    sum += tile[at & (kSharedFloats - 1)];
    at += 7;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// One atomic addition for each thread. The fewer the targets, the more threads meet at each.
template <class T>
__global__ void conflicting_atomics(T* counters, int targets, int threads) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < threads) atomicAdd(&counters[t % targets], T(1));
}

// Sum of pairs of doubles: shuffles in warps, shared memory between them, an atomic for each block.
__global__ void __launch_bounds__(1024) reduce_sum(const double2* __restrict__ in, double* total, int pairs) {
  __shared__ double partial[32];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    const double2 pair = in[i];
    sum += pair.x + pair.y;
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

void run(int n) {
  int size = 1;
  while (size <= n / 2) size *= 2;
  const int few = n / 16, some = n / 4, width = 500, rows = n / width, chases = n / 256, chains = n / 1024;
  float* floats = device_floats(n);
  float* more = device_floats(n);
  float* out = device_zeros<float>(n);
  double* a = device_doubles(n);
  double* b = device_doubles(n);
  double* c = device_zeros<double>(n);
  int* ints = device_ints(n, 1000);
  int* next = device_array<int>(size, [size](int i) {
    return static_cast<int>((1664525u * i + 1013904223u) & (size - 1u));
  });
  int* found = device_zeros<int>(some);
  unsigned* counters = device_zeros<unsigned>(some);
  float* float_counters = device_zeros<float>(some);
  double* total = device_zeros<double>(1);
  for (int r = 0; r < kLaunches; ++r) copy_elements<<<ceil_div(n, 256), 256>>>(floats, out, n);
  for (int r = 0; r < kLaunches; ++r)
    copy_elements<<<ceil_div(some, 1024), 1024>>>((const int4*)ints, (int4*)out, some);
  for (int r = 0; r < kLaunches; ++r) triad<<<1056, 256>>>(a, b, c, b, n);
  for (int r = 0; r < kLaunches; ++r)
    triad<<<ceil_div(some, 512), 512>>>((const float4*)floats, (const float4*)more, (float4*)out, b, some);
  for (int r = 0; r < kLaunches; ++r)
    strided_reads<<<ceil_div(few, 128), 128>>>(floats, out, 1, few, 16, few);
  for (int r = 0; r < kLaunches; ++r)
    strided_reads<<<ceil_div(few, 128), 128>>>(floats, out, 16, 1, 16, few);
  for (int r = 0; r < kLaunches; ++r)
    strided_reads<<<ceil_div(n / 33, 96), 96>>>(floats, out, 33, 8, 4, n / 33);
  for (int r = 0; r < kLaunches; ++r)
    count_in_rows<<<ceil_div(rows, 6), 192>>>(ints, found, 400, width, rows);
  for (int r = 0; r < kLaunches; ++r)
    random_gather<<<ceil_div(some, 256), 256>>>(floats, out, size - 1, some);
  for (int r = 0; r < kLaunches; ++r)
    chase_pointers<<<ceil_div(chases, 64), 64>>>(next, found, 48, size, chases);
  for (int r = 0; r < kLaunches; ++r) chase_pointers<<<1, 32>>>(next, found, 64, size, 32);
  for (int r = 0; r < kLaunches; ++r) mixed_chains<0, 16><<<chains, 256>>>(out, 0.999f, 3, 32);
  for (int r = 0; r < kLaunches; ++r) mixed_chains<0, 16><<<chains, 256>>>(out, 0.999f, 3, 400);
  for (int r = 0; r < kLaunches; ++r) mixed_chains<6, 4><<<chains, 512>>>(out, 0.999f, 11, 64);
  for (int r = 0; r < kLaunches; ++r)
    shared_strides<<<n / kSharedFloats, 512>>>(floats, out, 1, 64);
  for (int r = 0; r < kLaunches; ++r)
    shared_strides<<<n / kSharedFloats, 512>>>(floats, out, 4, 64);
  for (int r = 0; r < kLaunches; ++r)
    shared_strides<<<n / kSharedFloats, 512>>>(floats, out, 33, 64);
  for (int r = 0; r < kLaunches; ++r)
    conflicting_atomics<<<ceil_div(few, 256), 256>>>(counters, 1, few);
  for (int r = 0; r < kLaunches; ++r)
    conflicting_atomics<<<ceil_div(some, 256), 256>>>(counters, 32, some);
  for (int r = 0; r < kLaunches; ++r)
    conflicting_atomics<<<ceil_div(some, 256), 256>>>(counters, some, some);
  for (int r = 0; r < kLaunches; ++r)
    conflicting_atomics<<<ceil_div(some, 128), 128>>>(float_counters, 1000, some);
  for (int r = 0; r < kLaunches; ++r) reduce_sum<<<264, 1024>>>((const double2*)a, total, n / 2);
  free_all(floats, more, out, a, b, c, ints, next, found, counters, float_counters, total);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("array_benchmarks");
}
