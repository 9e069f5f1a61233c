// What a division in floating point takes whose numerator is 0, which ptxas' check of the operands sends the slow way. Each of
// 1,000 iterations divides, multiplies and adds; `threads` of each warp have the numerator 0 (none, one or all), the others 1.
// One block with so many warps. Prints `type,threads,warps,cycles`: cycles of an iteration of the block.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/slow_divisions.cu -o slow_divisions && ./slow_divisions
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kTimes = 1000;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
__global__ void divide(int zeros, T one, T divisor, T* out, long long* cycles) {
  const T numerator = static_cast<int>(threadIdx.x % 32) < zeros ? one - 1 : one;
  T x = threadIdx.x * static_cast<T>(0.01), sum = 0;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < kTimes; ++i) {
    sum = numerator / (divisor + sum) * static_cast<T>(1e-30) + x;
    x *= static_cast<T>(0.5);
  }
  const long long end = clock64();
  out[threadIdx.x] = sum;
  if (threadIdx.x == 0) *cycles = end - begin;
}

template <class T>
void run(const char* type, T* out, long long* cycles) {
  for (const int zeros : {0, 1, 32})
    for (const int warps : {1, 4, 8, 16, 32}) {
      for (int repeat = 0; repeat < 2; ++repeat) divide<T><<<1, 32 * warps>>>(zeros, 1, 3, out, cycles);
      check(cudaDeviceSynchronize());
      std::printf("%s,%s,%d,%.1f\n", type, zeros == 0 ? "none" : zeros == 1 ? "one" : "all", warps,
                  static_cast<double>(*cycles) / kTimes);
    }
}

}  // namespace

int main() {
  void* out = nullptr;
  long long* cycles = nullptr;
  check(cudaMalloc(&out, 1024 * sizeof(double)));
  check(cudaMallocManaged(&cycles, sizeof(long long)));
  std::printf("type,threads,warps,cycles\n");
  run<float>("f32", static_cast<float*>(out), cycles);
  run<double>("f64", static_cast<double*>(out), cycles);
  return 0;
}
