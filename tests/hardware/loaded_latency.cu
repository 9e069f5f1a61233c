// How long an access waits for memory or L2 the nearer these are to their bandwidth: on all SMs, from 1 to 64 warps of
// each have 1 to 8 loads of 4 or 16 bytes a thread under way, over and over; where `stores` is 1, each value is stored as
// well. By Little's law a round takes (bytes under way) / (bytes a cycle); `clock64()` says the same without the ramp of
// the launch. `turnover` is a copy with an element for each thread: its blocks only load, store and end.
// Writes `case,footprint_mb,warps,loads,bytes,stores,us,gb_s,cycles`: bytes is a thread's of one load, gb_s what is loaded
// and stored, cycles the mean of a round.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/loaded_latency.cu -o loaded_latency && ./loaded_latency
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__device__ float sum_of(float v) { return v; }
__device__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

// Each warp goes through its own stretches of the array; the next round begins when all loads of this one are there.
template <class T, int kLoads, bool kStores>
__global__ void rounds(const T* from, T* to, size_t n, int times, long long* cycles, float* result) {
  const size_t threads = gridDim.x * (size_t)blockDim.x;
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  float sum = 0;
  const long long begin = clock64();
  for (int t = 0; t < times; ++t) {
    T v[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) v[k] = __ldcg(&from[(i + k * threads) % n]);
    float all = 0;
#pragma unroll
    for (int k = 0; k < kLoads; ++k) all += sum_of(v[k]);
    sum += all;
    if (kStores)
#pragma unroll
      for (int k = 0; k < kLoads; ++k) to[(i + k * threads) % n] = v[k];
    i += kLoads * threads + (all == 1e30f);
    if (i >= n) i -= n;
  }
  if (threadIdx.x % 32 == 0) cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - begin;
  if (sum == 1e30f) *result = sum;
}

template <class T>
__global__ void turnover(const T* from, T* to, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

float *from, *to, *result;
long long *device_cycles, host_cycles[1 << 16];
cudaEvent_t before, after;
int sms;

template <class Launch>
double time_of(Launch launch) {
  launch();
  check(cudaDeviceSynchronize());
  float least = 1e30F;
  for (int k = 0; k < 3; ++k) {
    check(cudaEventRecord(before));
    launch();
    check(cudaEventRecord(after));
    check(cudaEventSynchronize(after));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before, after));
    least = std::min(least, ms * 1000);
  }
  check(cudaGetLastError());
  return least;
}

template <class T, int kLoads, bool kStores>
void measure(size_t mb, int warps) {
  const size_t n = (mb << 20) / sizeof(T);
  const int block = std::min(warps * 32, 256), blocks = sms * warps * 32 / block;
  const size_t a_round = (size_t)blocks * block * kLoads;
  const int times = (int)std::max<size_t>(20, std::min<size_t>(400, (512 << 20) / (a_round * sizeof(T))));
  const double us = time_of([&] {
    rounds<T, kLoads, kStores><<<blocks, block>>>((const T*)from, (T*)to, n, times, device_cycles, result);
  });
  const int all = blocks * block / 32;
  check(cudaMemcpy(host_cycles, device_cycles, all * sizeof(long long), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (int w = 0; w < all; ++w) sum += (double)host_cycles[w];
  const double bytes = (double)a_round * sizeof(T) * times * (kStores ? 2 : 1);
  std::printf("rounds,%zu,%d,%d,%zu,%d,%.2f,%.1f,%.1f\n", mb, warps, kLoads, sizeof(T), kStores, us, bytes / us / 1e3,
              sum / all / times);
}

template <class T, int kLoads>
void measure_both(size_t mb, int warps) {
  measure<T, kLoads, false>(mb, warps);
  measure<T, kLoads, true>(mb / 2, warps);
}

template <class T>
void measure_turnover(size_t mb, int block) {
  const size_t n = (mb << 20) / sizeof(T);
  const double us =
      time_of([&] { turnover<<<(unsigned)((n + block - 1) / block), block>>>((const T*)from, (T*)to, n); });
  std::printf("turnover,%zu,,%d,%zu,1,%.2f,%.1f,\n", mb, block, sizeof(T), us, 2.0 * (double)(mb << 20) / us / 1e3);
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  sms = properties.multiProcessorCount;
  check(cudaMalloc((void**)&from, size_t{1} << 30));
  check(cudaMalloc((void**)&to, size_t{1} << 30));
  check(cudaMalloc((void**)&result, 4));
  check(cudaMalloc((void**)&device_cycles, sizeof(host_cycles)));
  check(cudaMemset(from, 0, size_t{1} << 30));
  check(cudaMemset(to, 0, size_t{1} << 30));
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  std::printf("case,footprint_mb,warps,loads,bytes,stores,us,gb_s,cycles\n");
  for (const size_t mb : {size_t{16}, size_t{1024}})
    for (const int warps : {1, 2, 4, 8, 16, 24, 32, 48, 64}) {
      measure_both<float, 1>(mb, warps);
      measure_both<float, 2>(mb, warps);
      measure_both<float, 4>(mb, warps);
      measure_both<float, 8>(mb, warps);
      measure_both<float4, 1>(mb, warps);
      measure_both<float4, 4>(mb, warps);
    }
  for (const size_t mb : {size_t{4}, size_t{8}, size_t{16}, size_t{128}, size_t{512}})
    for (const int block : {32, 64, 128, 256, 512, 1024}) {
      measure_turnover<unsigned char>(mb / 4, block);
      measure_turnover<float>(mb, block);
      measure_turnover<double>(mb, block);
      measure_turnover<float4>(mb, block);
    }
  return 0;
}
