// Trees over a block: fewer threads at each level.
#include "device.h"

constexpr int kBlock = 256;

__global__ void tree_interleaved(const float* in, float* out) {
  __shared__ float part[kBlock];
  const int tid = threadIdx.x;
  part[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (int s = 1; s < kBlock; s *= 2) {
    if (tid % (2 * s) == 0) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

__global__ void tree_sequential(const float* in, float* out) {
  __shared__ float part[kBlock];
  const int tid = threadIdx.x;
  part[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (tid < s) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

__global__ void tree_shuffle(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void tree_global(float* data, int n) {
  const int tid = threadIdx.x, first = blockIdx.x * n;
  for (int s = n / 2; s > 0; s /= 2) {
    if (tid < s) data[first + tid] += data[first + tid + s];
    __syncthreads();
  }
}

__global__ void scan_block(const float* in, float* out) {
  __shared__ float part[2][kBlock];
  const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  int from = 0;
  part[0][tid] = in[i];
  __syncthreads();
  for (int s = 1; s < kBlock; s *= 2) {
    part[1 - from][tid] = tid >= s ? part[from][tid] + part[from][tid - s] : part[from][tid];
    from = 1 - from;
    __syncthreads();
  }
  out[i] = part[from][tid];
}

int main() {
  const int blocks = 600, n = 200000;
  float* in = device_floats(blocks * 512);
  float* out = device_floats(blocks * 512);
  for (int run = 0; run < kRuns; ++run) tree_interleaved<<<blocks, kBlock>>>(in, out);
  for (int run = 0; run < kRuns; ++run) tree_sequential<<<blocks, kBlock>>>(in, out);
  for (int run = 0; run < kRuns; ++run) tree_shuffle<<<100, 128>>>(in, out, n);
  for (int run = 0; run < kRuns; ++run) tree_global<<<blocks, 256>>>(in, 512);
  for (int run = 0; run < kRuns; ++run) scan_block<<<blocks, kBlock>>>(in, out);
  return finish("reductions");
}
