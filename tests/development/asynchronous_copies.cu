// Tiles brought to shared memory by asynchronous copies, while the tile before is worked on.
#include <cuda_pipeline.h>

#include "device.h"

__global__ void one_ahead(const float4* in, float* out, int tiles) {
  __shared__ float4 tile[2][128];
  const int t = threadIdx.x;
  const float4* own = in + static_cast<long>(blockIdx.x) * tiles * 128;
  __pipeline_memcpy_async(&tile[0][t], &own[t], 16);
  __pipeline_commit();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &own[(k + 1) * 128 + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 v = tile[k % 2][(t + 17) % 128];
    sum += v.x * v.y + v.z * v.w;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}

__global__ void at_once(const float4* in, float* out, int tiles) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x;
  const float4* own = in + static_cast<long>(blockIdx.x) * tiles * 128;
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    tile[t] = own[k * 128 + t];
    __syncthreads();
    const float4 v = tile[(t + 17) % 128];
    sum += v.x * v.y + v.z * v.w;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}

void run(int blocks) {
  const int tiles = 16;
  float4* in = (float4*)device_floats(blocks * tiles * 128 * 4);
  float* out = device_zeros<float>(blocks * 128);
  for (int r = 0; r < kLaunches; ++r) one_ahead<<<blocks, 128>>>(in, out, tiles);
  for (int r = 0; r < kLaunches; ++r) at_once<<<blocks, 128>>>(in, out, tiles);
  free_all(in, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("asynchronous_copies");
}
