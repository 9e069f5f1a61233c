// Steps of sorts: bitonic in global and shared memory, radix, merging, odd and even.
#include <algorithm>

#include "device.h"

__global__ void bitonic_step(const unsigned* in, unsigned* out, int j, int k) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  const unsigned mine = in[i], theirs = in[other];
  const bool up = (i & k) == 0, lower = i < other;
  out[i] = (up == lower) == (mine < theirs) ? mine : theirs;
}

__global__ void bitonic_block(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[1024];
  const int tid = threadIdx.x, first = blockIdx.x * 1024;
  part[tid] = in[first + tid];
  part[tid + 512] = in[first + tid + 512];
  for (int k = 2; k <= 1024; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      const int i = 2 * tid - (tid & (j - 1));
      const unsigned a = part[i], b = part[i + j];
      if ((a > b) == ((i & k) == 0)) {
        part[i] = b;
        part[i + j] = a;
      }
    }
  __syncthreads();
  out[first + tid] = part[tid];
  out[first + tid + 512] = part[tid + 512];
}

// How many keys of each block have each digit.
__global__ void radix_count(const unsigned* keys, int* counts, int shift, int n) {
  __shared__ int part[16];
  if (threadIdx.x < 16) part[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&part[keys[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = part[threadIdx.x];
}

__global__ void radix_scatter(const unsigned* keys, const int* firsts, unsigned* out, int shift, int n) {
  __shared__ int place[16];
  if (threadIdx.x < 16) place[threadIdx.x] = firsts[threadIdx.x * gridDim.x + blockIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[atomicAdd(&place[keys[i] >> shift & 15], 1)] = keys[i];
}

// Two sorted runs of `length` each become one: each element finds its place by a binary search in the other run.
__global__ void merge_runs(const unsigned* in, unsigned* out, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, run = i / length, pair = run / 2 * 2 * length;
  const unsigned* other = in + (run % 2 == 0 ? pair + length : pair);
  const unsigned key = in[i];
  int low = 0, high = length;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (other[middle] < key || (run % 2 == 1 && other[middle] == key))
      low = middle + 1;
    else
      high = middle;
  }
  out[pair + i % length + low] = key;
}

__global__ void odd_even_step(int* data, int odd, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + odd;
  if (i + 1 < n) {
    const int a = data[i], b = data[i + 1];
    if (a > b) {
      data[i] = b;
      data[i + 1] = a;
    }
  }
}

void run(int n) {
  unsigned* keys = (unsigned*)device_ints(n, 1 << 30);
  unsigned* sorted = device_zeros<unsigned>(n);
  unsigned* runs = device_array<unsigned>(n, [](int i) { return static_cast<unsigned>(i % 1024 * 7); });
  int* counts = device_zeros<int>(16 * ceil_div(n, 256));
  // A block's keys of digit d go to the d-th sixteenth of the array.
  const int blocks = ceil_div(n, 256), part = n / 16;
  int* firsts = device_array<int>(16 * blocks, [blocks, part, n](int i) {
    return static_cast<int>(
        std::min<long>(1L * (i / blocks) * part + 1L * (i % blocks) * part / blocks, n - 256));
  });
  for (int r = 0; r < kLaunches; ++r) bitonic_step<<<n / 256, 256>>>(keys, sorted, 1, 2);
  for (int r = 0; r < kLaunches; ++r) bitonic_step<<<n / 512, 512>>>(keys, sorted, 64, 1024);
  for (int r = 0; r < kLaunches; ++r) bitonic_step<<<n / 128, 128>>>(keys, sorted, n / 4, n / 2);
  for (int r = 0; r < kLaunches; ++r) bitonic_block<<<n / 1024, 512>>>(keys, sorted);
  for (int r = 0; r < kLaunches; ++r) radix_count<<<blocks, 256>>>(keys, counts, 4, n);
  for (int r = 0; r < kLaunches; ++r) radix_scatter<<<blocks, 256>>>(keys, firsts, sorted, 4, n);
  for (int r = 0; r < kLaunches; ++r) merge_runs<<<n / 256, 256>>>(runs, sorted, 1024);
  for (int r = 0; r < kLaunches; ++r) odd_even_step<<<ceil_div(n, 512), 256>>>((int*)keys, r % 2, n);
  free_all(keys, sorted, runs, counts, firsts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sorts");
}
