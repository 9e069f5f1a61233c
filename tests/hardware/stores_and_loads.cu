// What L1 and L2 do with a line that a thread loads and stores: whether a load after a store hits, what it waits for, and
// how many stores to parts of sectors the GPU takes. Each thread goes through a row of its own, or the threads of a warp
// lie side by side (`side`: 1). Prints `mode,bytes,side,row,blocks,threads,passes,steps,us,cycles`; cycles is the mean of
// a step of a thread. The launches are in the order of the lines, each once, for Nsight Compute.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/stores_and_loads.cu -o stores_and_loads && ./stores_and_loads
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

enum Mode { kLoad, kStore, kUpdate, kStoreThenLoad, kUpdateSlowly, kUpdateOther, kUpdateAndBack };

__device__ float one(float v) { return v; }
__device__ float one(double v) { return static_cast<float>(v); }
__device__ float one(float4 v) { return v.x; }
__device__ void set(float& v, float to) { v = to; }
__device__ void set(double& v, float to) { v = to; }
__device__ void set(float4& v, float to) { v = make_float4(to, to, to, to); }

// Element j of a row, for j from 0 to steps - 1, `passes` times. Every step needs the value of the one before.
template <Mode kMode, class T>
__global__ void walk(T* p, T* q, long step, long row, int steps, int passes, float* result, long long* cycles) {
  const long t = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  T* at = p + t * row;
  T* other = q + t * row;
  float before = 0;
  const long long begin = clock64();
  for (int pass = 0; pass < passes; ++pass)
#pragma unroll 1
    for (int j = 0; j < steps; ++j) {
      const long i = (kMode == kUpdateAndBack && (pass & 1) ? steps - 1 - j : j) * step;
      volatile T* a = at + i;
      T v{};
      if (kMode == kStoreThenLoad) {
        set(v, before);
        at[i] = v;
        asm volatile("" ::: "memory");
      }
      if (kMode != kStore) {
        v = at[i];
        before = one(v) * 0.5f + before * 0.25f;
      }
      if (kMode == kUpdateSlowly) {
        const long long from = clock64() + (before == 12345);
        while (clock64() - from < 2000) {}
      }
      if (kMode == kStore || kMode == kUpdate || kMode == kUpdateSlowly || kMode == kUpdateAndBack) {
        set(v, before);
        at[i] = v;
      }
      if (kMode == kUpdateOther) {
        set(v, before);
        other[i] = v;
      }
      (void)a;
    }
  if (t == 0) *cycles = clock64() - begin;
  if (before == 12345) *result = before;
}

char* memory;
float* result;
long long* cycles;
cudaEvent_t before, after;
constexpr long kBytes = 1L << 30;

template <Mode kMode, class T>
void run(const char* mode, bool side, long row_bytes, int blocks, int threads, int passes) {
  const long all = static_cast<long>(blocks) * threads;
  const long elements = row_bytes / static_cast<long>(sizeof(T));
  if (all * row_bytes > kBytes / 2) return;
  const long step = side ? all : 1, row = side ? 1 : elements;
  check(cudaEventRecord(before));
  walk<kMode, T><<<blocks, threads>>>(reinterpret_cast<T*>(memory), reinterpret_cast<T*>(memory + kBytes / 2), step, row,
                                      static_cast<int>(elements), passes, result, cycles);
  check(cudaEventRecord(after));
  check(cudaDeviceSynchronize());
  float ms = 0;
  check(cudaEventElapsedTime(&ms, before, after));
  std::printf("%s,%zu,%d,%ld,%d,%d,%d,%ld,%.2f,%.1f\n", mode, sizeof(T), side, row_bytes, blocks, threads, passes,
              elements * passes, ms * 1000, static_cast<double>(*cycles) / static_cast<double>(elements * passes));
}

template <class T>
void run_modes(bool side, long row, int blocks, int threads, int passes) {
  run<kLoad, T>("load", side, row, blocks, threads, passes);
  run<kStore, T>("store", side, row, blocks, threads, passes);
  run<kUpdate, T>("update", side, row, blocks, threads, passes);
  run<kStoreThenLoad, T>("store_then_load", side, row, blocks, threads, passes);
  run<kUpdateOther, T>("update_other", side, row, blocks, threads, passes);
  run<kUpdateAndBack, T>("update_and_back", side, row, blocks, threads, passes);
  if (blocks == 1) run<kUpdateSlowly, T>("update_slowly", side, row, blocks, threads, passes);
}

}  // namespace

int main() {
  check(cudaMalloc((void**)&memory, kBytes));
  check(cudaMemset(memory, 0, kBytes));
  check(cudaMalloc((void**)&result, 4));
  check(cudaMallocManaged(&cycles, 8));
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  std::printf("mode,bytes,side,row,blocks,threads,passes,steps,us,cycles\n");
  for (const bool side : {true, false}) {
    run_modes<float>(side, 256, 1, 32, 2);
    run_modes<double>(side, 256, 1, 32, 2);
    run_modes<float4>(side, 1024, 1, 32, 2);
    run_modes<float>(side, 256, 1, 256, 2);
    run_modes<double>(side, 1024, 1, 256, 2);
    for (const int warps : {1, 8, 32}) {
      const int threads = warps < 8 ? 32 : 256, blocks = 132 * warps * 32 / threads;
      run_modes<float>(side, 1024, blocks, threads, 1);
      run_modes<double>(side, 2048, blocks, threads, 1);
      run_modes<float>(side, 1280, blocks, threads, 1);
    }
  }
  return 0;
}
