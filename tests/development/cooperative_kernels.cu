// Sums, scans, counts and copies of n numbers by threads that work together in tiles, warps and blocks.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "device.h"

namespace cg = cooperative_groups;

// A sum for each tile of kSize threads.
template <int kSize>
__global__ void tile_sums(const float* in, float* sums, int n) {
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = i < n ? in[i] : 0.0f;
  for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
  if (tile.thread_rank() == 0) sums[i / kSize] = sum;
}

// One atomic addition for all the threads that come here together: each gets a place of its own.
__device__ int take_place(int* counter) {
  const auto active = cg::coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(counter, static_cast<int>(active.size()));
  return active.shfl(first, 0) + active.thread_rank();
}

// Keeps the numbers below a threshold, in any order.
__global__ void filter_aggregated(const int* in, int* out, int* counter, int threshold, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int value = in[i];
    if (value < threshold) out[take_place(counter)] = value;
  }
}

// Inclusive sums within each block, four numbers for each thread.
__global__ void __launch_bounds__(512)
    scan_blocks(const int4* __restrict__ in, int4* __restrict__ out, int* __restrict__ totals, int quads) {
  __shared__ int warp_sums[16];
  const int i = blockIdx.x * 512 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int4 v = i < quads ? in[i] : make_int4(0, 0, 0, 0);
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  int sum = v.w;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += other;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int part = lane < 16 ? warp_sums[lane] : 0;
#pragma unroll
    for (int d = 1; d < 16; d *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, part, d);
      if (lane >= d) part += other;
    }
    if (lane < 16) warp_sums[lane] = part;
  }
  __syncthreads();
  const int before = sum - v.w + (warp > 0 ? warp_sums[warp - 1] : 0);
  if (i < quads) out[i] = make_int4(before + v.x, before + v.y, before + v.z, before + v.w);
  if (threadIdx.x == 511) totals[blockIdx.x] = before + v.w;
}

template <class T>
__device__ T block_sum(T value, T* shared) {
  shared[threadIdx.x] = value;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  __syncthreads();
  return shared[0];
}

// The sum of all numbers in one launch: the last block to finish adds up the sums of the blocks.
__global__ void sum_last_block(const float* in, volatile double* partial, double* total, unsigned* done,
                               int n) {
  __shared__ double shared[256];
  __shared__ bool last;
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) sum += partial[k];
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) *total = sum;
}

// Sums of runs of equal keys. The last lane of a run in a warp adds to the sum of the key.
__global__ void segmented_sums(const short* keys, const float* values, double* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
  const int key = i < n ? keys[i] : -1;
  float sum = i < n ? values[i] : 0.0f;
  for (int d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, sum, d);
    const int other_key = __shfl_up_sync(0xffffffffu, key, d);
    if (lane >= d && other_key == key) sum += other;
  }
  const int next = __shfl_down_sync(0xffffffffu, key, 1);
  if (key >= 0 && (lane == 31 || next != key)) atomicAdd(&sums[key], static_cast<double>(sum));
}

// Transposition by tiles of 32 x 32, with or without a column more in shared memory.
template <class T, int kPad>
__global__ void transpose(const T* in, T* out, int side) {
  __shared__ T tile[32][32 + kPad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < side && y + k < side) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * side + x];
  cg::this_thread_block().sync();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < side && y + k < side) out[(y + k) * side + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Smoothing of pieces of 1024. While one stage is in work, the next piece is copied to the other one.
__global__ void smooth_staged(const float* __restrict__ in, float* __restrict__ out, int pieces) {
  __shared__ __align__(16) float stages[2][1024];
  const int t = threadIdx.x, stride = gridDim.x;
  __pipeline_memcpy_async(&stages[0][4 * t], &in[blockIdx.x * 1024 + 4 * t], 16);
  __pipeline_commit();
  for (int piece = blockIdx.x, s = 0; piece < pieces; piece += stride, s ^= 1) {
    if (piece + stride < pieces)
      __pipeline_memcpy_async(&stages[s ^ 1][4 * t], &in[(piece + stride) * 1024 + 4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int k = t; k < 1024; k += 256) {
      const float left = stages[s][k > 0 ? k - 1 : 0], right = stages[s][k < 1023 ? k + 1 : 1023];
      out[piece * 1024 + k] = 0.5f * stages[s][k] + 0.25f * (left + right);
    }
    __syncthreads();
  }
}

// Counts of the sixteen values of a digit for each block. Four ballots tell each lane who has its digit.
__global__ void radix_count(const int* keys, int* counts, int shift, int n) {
  __shared__ int shared[16];
  const int t = threadIdx.x, lane = t % 32;
  if (t < 16) shared[t] = 0;
  __syncthreads();
  int mine = 0;
  for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
    const int digit = start + t < n ? keys[start + t] >> shift : 0;
    unsigned same = __ballot_sync(0xffffffffu, start + t < n);
#pragma unroll
    for (int bit = 0; bit < 4; ++bit) {
      const unsigned ballot = __ballot_sync(0xffffffffu, digit >> bit & 1);
      same &= lane >> bit & 1 ? ballot : ~ballot;
    }
    mine += __popc(same);
  }
  if (lane < 16) atomicAdd(&shared[lane], mine);
  __syncthreads();
  if (t < 16) counts[t * gridDim.x + blockIdx.x] = shared[t];
}

void run(int n) {
  const int side = static_cast<int>(sqrt(n)), edge = ceil_div(side, 32), pieces = n / 1024,
            busy = pieces < 792 ? pieces : 792;
  const int blocks = ceil_div(n, 256), few = blocks < 528 ? blocks : 528;
  float *in = device_floats(n), *out = device_zeros<float>(n);
  int *keys = device_ints(n, 4096), *kept = (int*)out,
      *counts = device_zeros<int>(ceil_div(n, 256) + 16 * 528);
  short* segments = device_array<short>(n, [](int i) { return i / 37 % 30000; });
  double *sums = device_zeros<double>(30000), *partial = device_zeros<double>(528);
  unsigned* done = device_zeros<unsigned>(1);
  int* counters = device_zeros<int>(kLaunches);
  for (int r = 0; r < kLaunches; ++r) tile_sums<8><<<blocks, 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) tile_sums<32><<<ceil_div(n, 96), 96>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) filter_aggregated<<<few, 256>>>(keys, kept, counters + r, 1500, n);
  for (int r = 0; r < kLaunches; ++r)
    scan_blocks<<<ceil_div(n / 4, 512), 512>>>((int4*)keys, (int4*)out, counts, n / 4);
  for (int r = 0; r < kLaunches; ++r) sum_last_block<<<few, 256>>>(in, partial, sums, done, n);
  for (int r = 0; r < kLaunches; ++r) segmented_sums<<<ceil_div(n, 640), 640>>>(segments, in, sums, n);
  for (int r = 0; r < kLaunches; ++r) transpose<float, 0><<<dim3(edge, edge), dim3(32, 8)>>>(in, out, side);
  for (int r = 0; r < kLaunches; ++r) transpose<int, 1><<<dim3(edge, edge), dim3(32, 8)>>>(keys, kept, side);
  for (int r = 0; r < kLaunches; ++r) smooth_staged<<<busy, 256>>>(in, out, pieces);
  for (int r = 0; r < kLaunches; ++r) radix_count<<<few, 256>>>(keys, counts, 4, n);
  free_all(in, out, keys, counts, segments, sums, partial, done, counters);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("cooperative_kernels");
}
