// Atomic operations: one address, one per warp, many, in several types.
#include "device.h"

__global__ void add_one_address(int* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, i & 3);
}

__global__ void take_tickets(int* next, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = atomicAdd(next, 1);
}

__global__ void add_spread(float* bins, int spread, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[i % spread], 1.0f);
}

__global__ void add_own(unsigned long long* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[i], 5ull);
}

__global__ void maximum_by_exchange(double* cells, const int* where, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long* cell = (unsigned long long*)&cells[where[i]];
  unsigned long long old = *cell;
  while (__longlong_as_double(old) < i) {
    const unsigned long long seen = atomicCAS(cell, old, __double_as_longlong(i));
    if (seen == old) break;
    old = seen;
  }
}

__global__ void add_in_shared(const int* keys, int* out, int spread, int n) {
  __shared__ int bins[128];
  if (threadIdx.x < 128) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int k = 0; k < 16; ++k) atomicAdd(&bins[(keys[i] + k * 7) % spread], 1);
  __syncthreads();
  if (threadIdx.x < 128) out[blockIdx.x * 128 + threadIdx.x] = bins[threadIdx.x];
}

void run(int n) {
  int* cells = device_zeros<int>(2 * n);
  int* out = device_zeros<int>(n);
  int* where = device_ints(n, n / 4);
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) add_one_address<<<blocks, 256>>>(cells, n);
  for (int r = 0; r < kLaunches; ++r) take_tickets<<<blocks, 256>>>(cells, out, n);
  for (int r = 0; r < kLaunches; ++r) add_spread<<<blocks, 256>>>((float*)cells, 1024, n);
  for (int r = 0; r < kLaunches; ++r) add_spread<<<ceil_div(n, 128), 128>>>((float*)cells, 37, n);
  for (int r = 0; r < kLaunches; ++r) add_own<<<blocks, 256>>>((unsigned long long*)cells, n);
  cudaMemset(cells, 0, 2 * n * sizeof(int));
  for (int r = 0; r < kLaunches; ++r) maximum_by_exchange<<<blocks, 256>>>((double*)cells, where, n);
  for (int r = 0; r < kLaunches; ++r) add_in_shared<<<blocks, 256>>>(where, out, 128, n);
  for (int r = 0; r < kLaunches; ++r) add_in_shared<<<ceil_div(n, 512), 512>>>(where, out, 4, n);
  free_all(cells, out, where);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("atomics");
}
