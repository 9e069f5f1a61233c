// What additions in shared memory take: whole numbers, which it adds itself, and floating-point numbers, for which threads
// compare and exchange until they succeed. One block; each of its warps adds `kTimes` times. Prints
// `type,pattern,parameter,warps,cycles`, a row for each launch: cycles of the block. Patterns:
//   same       threads that share an address, in groups of `parameter` neighbours; each warp has addresses of its own
//   common     the same, but all warps have the same addresses
//   stride     addresses of their own, `parameter` words apart
//   random     addresses anywhere in `parameter` words that all warps share
//   far        random, with so much arithmetic between the additions as takes some 1,800 cycles
// Executed instructions come from Nsight Compute, in the order of the launches:
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/shared_exchanges.cu -o shared_exchanges && ./shared_exchanges
//   ncu --csv --page raw --clock-control none --metrics smsp__inst_executed.sum ./shared_exchanges
#include <cstdio>

#include "device.h"

constexpr int kTimes = 64, kWords = 8192;

__device__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

enum Pattern { same, common, stride, random_words, far };

template <class T, Pattern kPattern>
__global__ void add(int parameter, T* result, long long* cycles) {
  extern __shared__ char memory[];
  T* words = reinterpret_cast<T*>(memory);
  constexpr int kCount = kWords * 4 / sizeof(T);
  for (int k = threadIdx.x; k < kCount; k += blockDim.x) words[k] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long begin = clock64();
  float value = 1 + lane;
  for (int k = 0; k < kTimes; ++k) {
    int at = 0;
    if (kPattern == same) at = warp * 32 + lane / parameter;
    if (kPattern == common) at = lane / parameter;
    if (kPattern == stride) at = (lane * parameter + warp * 32) % kCount;
    if (kPattern == random_words || kPattern == far)
      at = mix(threadIdx.x * kTimes + k) % static_cast<unsigned>(parameter);
    if (kPattern == far) {
#pragma unroll 1
      for (int step = 0; step < 60; ++step) value = value * 0.5f + 1;
    }
    atomicAdd(&words[at], static_cast<T>(value));
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - begin;
  for (int k = threadIdx.x; k < kCount; k += blockDim.x) result[k] = words[k];
}

void* result;
long long* cycles;

template <class T, Pattern kPattern>
void run(const char* type, const char* pattern, int parameter, int warps) {
  cudaFuncSetAttribute(add<T, kPattern>, cudaFuncAttributeMaxDynamicSharedMemorySize, kWords * 4);
  add<T, kPattern><<<1, 32 * warps, kWords * 4>>>(parameter, static_cast<T*>(result), cycles);
  long long took = 0;
  cudaMemcpy(&took, cycles, sizeof took, cudaMemcpyDeviceToHost);
  std::printf("%s,%s,%d,%d,%lld\n", type, pattern, parameter, warps, took);
}

template <class T>
void run_all(const char* type) {
  for (const int warps : {1, 4, 8, 16, 32}) {
    for (const int n : {1, 2, 4, 8, 16, 32}) run<T, same>(type, "same", n, warps);
    for (const int n : {1, 2, 4, 8, 16, 32}) run<T, common>(type, "common", n, warps);
    for (const int n : {2, 4, 8, 16, 32}) run<T, stride>(type, "stride", n, warps);
    for (const int n : {1, 4, 16, 64, 256, 1024, 4096}) run<T, random_words>(type, "random", n, warps);
    for (const int n : {16, 256, 4096}) run<T, far>(type, "far", n, warps);
  }
}

int main() {
  cudaMalloc(&result, kWords * 4);
  cudaMalloc((void**)&cycles, sizeof *cycles);
  std::printf("type,pattern,parameter,warps,cycles\n");
  run_all<int>("int");
  run_all<float>("float");
  run_all<double>("double");
  return finish("shared_exchanges");
}
