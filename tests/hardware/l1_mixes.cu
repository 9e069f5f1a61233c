// How many loads that hit L1 an SM takes a cycle, by what lies between them and by the lines that they touch: one block of
// `threads` on each SM, independent loads, from 8 KiB of each block. Prints `mode,threads,fma,cycles`: cycles of the SM for each load of
// a warp.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/l1_mixes.cu -o l1_mixes && ./l1_mixes
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

enum Mode { kRow, kOneWord, kBoth, kTwoWords, kWide, kOneAddress, kHalfRows };

__device__ float get(const float* p) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
__device__ float4 get4(const float* p) {
  float4 v;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}

template <Mode kMode, int kFma>
__global__ void mix(const float* memory, int times, long long* cycles, float* result) {
  const float* own = memory + blockIdx.x * 2048;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum[4] = {}, more[8] = {};
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) sum[0] += get(own + i);
  __syncthreads();
  const long long begin = clock64();
  for (int t = 0; t < times; ++t) {
    const float* line = own + (t * 7 + warp) % 8 * 128;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (kMode == kRow || (kMode == kBoth && k % 2 == 0)) sum[k % 4] += get(line + k * 128 + lane);
      if (kMode == kOneWord || (kMode == kBoth && k % 2 == 1)) sum[k % 4] += get(line + k * 128);
      if (kMode == kTwoWords) sum[k % 4] += get(line + k * 128 + lane / 16 * 128);
      if (kMode == kHalfRows) sum[k % 4] += get(line + k * 128 + lane % 16);
      if (kMode == kWide) {
        const float4 v = get4(line + k * 128 + lane % 8 * 4);
        sum[k % 4] += v.x + v.y + v.z + v.w;
      }
      if (kMode == kOneAddress) sum[k % 4] += get(own + 32 * k + lane);
#pragma unroll
      for (int f = 0; f < kFma; ++f)
        more[(k * kFma + f) % 8] = more[(k * kFma + f) % 8] * 0.5f + sum[(k + 2) % 4];
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  for (int k = 0; k < 8; ++k) sum[0] += more[k] + sum[k % 4];
  if (sum[0] == 12345) *result = sum[0];
}

// A product of matrices as everyone writes it first, in L1 but for what it has to read.
__global__ void product(const float* a, const float* b, float* c, int n, int m) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < m; ++k) sum += a[row * m + k] * b[k * n + column];
  c[row * n + column] = sum;
}

float* memory;
float* result;
long long* cycles;

template <Mode kMode, int kFma>
void run(const char* name, int threads) {
  constexpr int kTimes = 2000;
  mix<kMode, kFma><<<132, threads>>>(memory, kTimes, cycles, result);
  check(cudaDeviceSynchronize());
  std::printf("%s,%d,%d,%.3f\n", name, threads, kFma,
              static_cast<double>(cycles[0]) / kTimes / 8 / (threads / 32));
}

template <int kFma>
void run_modes(int threads) {
  run<kRow, kFma>("row", threads);
  run<kOneWord, kFma>("one_word", threads);
  run<kBoth, kFma>("both", threads);
  run<kTwoWords, kFma>("two_words", threads);
  run<kHalfRows, kFma>("half_rows", threads);
  run<kWide, kFma>("wide", threads);
  run<kOneAddress, kFma>("one_address", threads);
}

}  // namespace

int main() {
  check(cudaMalloc(&memory, 1 << 28));
  check(cudaMemset(memory, 0, 1 << 28));
  check(cudaMalloc(&result, 4));
  check(cudaMallocManaged(&cycles, 8 * 132));
  std::printf("mode,threads,fma,cycles\n");
  for (const int threads : {128, 512, 1024}) {
    run_modes<0>(threads);
    run_modes<1>(threads);
    run_modes<3>(threads);
    run_modes<6>(threads);
  }
  // m = 16: all of it in L1. Blocks of 32 x 8 as in tests/development/products.cu.
  for (const int m : {16, 64, 256, 1024}) {
    product<<<dim3(8, 132 * 8), dim3(32, 8)>>>(memory, memory + (1 << 25), memory + (1 << 25) + (1 << 22),
                                               256, m);
    check(cudaDeviceSynchronize());
  }
  return 0;
}
