// Host code has to parse; what real sources include has to be found.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <iostream>
#include <math_constants.h>
#include <string>
#include <vector>

#define CHECK(call)                                               \
  do {                                                            \
    const cudaError_t status = (call);                            \
    if (status != cudaSuccess) {                                  \
      std::cerr << cudaGetErrorString(status) << std::endl;       \
      std::exit(EXIT_FAILURE);                                    \
    }                                                             \
  } while (0)

static __constant__ float taps[16];

__global__ void convolve(float* to, const float* from, int n) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  assert(n > 0);
  tile[threadIdx.x] = from[i];
  __syncthreads();
  to[i] = tile[0] * taps[0] + std::abs(tile[1]) + std::max(tile[2], 0.0f) + std::sqrt(tile[3]) + CUDART_PI_F;
  if (i == 0) printf("%f\n", to[0]);
}

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "none";
  std::vector<float> host(1 << 10);
  std::generate(host.begin(), host.end(), [] { return rand() / static_cast<float>(RAND_MAX); });
  float* to;
  void* from;
  CHECK(cudaMalloc(&to, host.size() * sizeof(float)));
  CHECK(cudaMalloc(&from, host.size() * sizeof(float)));
  CHECK(cudaMemcpy(from, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(taps, host.data(), sizeof(taps)));
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  const auto begin = std::chrono::steady_clock::now();
  cudaEventRecord(start);
  const dim3 block(128);
  convolve<<<dim3((host.size() + block.x - 1) / block.x), block, 128 * sizeof(float)>>>(to, static_cast<float*>(from), 1 << 10);
  CHECK(cudaGetLastError());
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);
  std::cout << name << ' ' << ms << ' ' << sinf(ms) << sqrt(2.0) << max(1, 2) << std::strlen(argv[0]) << std::endl;
  std::printf("%lld\n", static_cast<long long>((std::chrono::steady_clock::now() - begin).count()));
  cudaFree(to);
  cudaFree(from);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
