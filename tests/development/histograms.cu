// Counts of keys in 256 bins: the keys spread, or nearly all alike.
#include "device.h"

__global__ void count_global(const int* keys, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] & 255], 1);
}

__global__ void count_shared(const int* keys, int* bins, int n) {
  __shared__ int part[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) part[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&part[keys[i] & 255], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], part[i]);
}

// A table for each warp, four keys a load.
__global__ void count_by_warps(const uchar4* keys, int* bins, int n4) {
  __shared__ int part[4][256];
  for (int i = threadIdx.x; i < 4 * 256; i += blockDim.x) part[i / 256][i % 256] = 0;
  __syncthreads();
  int* mine = part[threadIdx.x / 32];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const uchar4 four = keys[i];
    atomicAdd(&mine[four.x], 1);
    atomicAdd(&mine[four.y], 1);
    atomicAdd(&mine[four.z], 1);
    atomicAdd(&mine[four.w], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(&bins[i], part[0][i] + part[1][i] + part[2][i] + part[3][i]);
}

// A block's counts in bytes, a column for each thread, 64 bins.
__global__ void count_by_threads(const int* keys, int* bins, int n) {
  __shared__ unsigned char part[64][64];
  const int tid = threadIdx.x;
  for (int b = 0; b < 64; ++b) part[b][tid] = 0;
  const int first = blockIdx.x * 64 * 128;
  for (int k = 0; k < 128; ++k) {
    const int i = first + k * 64 + tid;
    if (i < n) ++part[keys[i] & 63][tid];
  }
  __syncthreads();
  int sum = 0;
  for (int t = 0; t < 64; ++t) sum += part[tid][(t + tid) % 64];
  atomicAdd(&bins[tid], sum);
}

void run(int n) {
  int* spread = device_ints(n, 1 << 20);
  int* alike = device_array<int>(n, [](int i) { return i % 100 == 0 ? i % 256 : 7; });
  int* bins = device_zeros<int>(256);
  for (int r = 0; r < kLaunches; ++r) count_global<<<ceil_div(n, 256), 256>>>(spread, bins, n);
  for (int r = 0; r < kLaunches; ++r) count_global<<<ceil_div(n, 128), 128>>>(alike, bins, n);
  for (int r = 0; r < kLaunches; ++r) count_shared<<<ceil_div(n, 16 * 256), 256>>>(spread, bins, n);
  for (int r = 0; r < kLaunches; ++r) count_shared<<<ceil_div(n, 16 * 512), 512>>>(alike, bins, n);
  for (int r = 0; r < kLaunches; ++r)
    count_by_warps<<<ceil_div(n, 32 * 128), 128>>>((uchar4*)spread, bins, n);
  for (int r = 0; r < kLaunches; ++r) count_by_threads<<<ceil_div(n, 64 * 128), 64>>>(spread, bins, n);
  free_all(spread, alike, bins);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("histograms");
}
