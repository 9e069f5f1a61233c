// How fast a partition issues mixtures of instructions: 16 warps each, independent results. Prints
// `ffma,imad,wide,iadd,lop,lds,warps,cycles`: how many of each are in an iteration, warps of a partition, and the cycles that an
// iteration takes each warp of a partition in turn.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/issue_mixes.cu -o issue_mixes && ./issue_mixes
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <int kFfma, int kImad, int kWide, int kAdd, int kLop, int kLds>
__global__ void mix(int times, float seed, int other, long long* cycles, float* result) {
  __shared__ float words[1024];
  float f[8];
  int m[8], a[8], l[8];
  long long w[8];
  float sum = 0;
  words[threadIdx.x] = seed;
  for (int k = 0; k < 8; ++k) {
    f[k] = seed * k;
    w[k] = other + k;
    m[k] = other * k + threadIdx.x;
    a[k] = other + k * threadIdx.x;
    l[k] = other - k * threadIdx.x;
  }
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int t = 0; t < times; ++t) {
    constexpr int kMost = kFfma + kImad + kWide + kAdd + kLop + kLds;
#pragma unroll
    for (int k = 0; k < kMost; ++k) {  // spread evenly
      if (k < kFfma) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[k % 8]) : "f"(seed));
      if (k < kImad) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(m[k % 8]) : "r"(other), "r"(m[(k + 3) % 8]));
      if (k < kWide) asm volatile("mad.wide.s32 %0, %1, %2, %0;" : "+l"(w[k % 8]) : "r"(other), "r"(m[(k + 3) % 8]));
      if (k < kAdd) asm volatile("add.s32 %0, %0, %1;" : "+r"(a[k % 8]) : "r"(a[(k + 3) % 8]));
      if (k < kLop) asm volatile("xor.b32 %0, %0, %1;" : "+r"(l[k % 8]) : "r"(l[(k + 3) % 8]));
      if (k < kLds) {
        float v;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"((int)__cvta_generic_to_shared(&words[threadIdx.x % 32 + k * 32])));
        sum += v;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  for (int k = 0; k < 8; ++k) sum += f[k] + m[k] + a[k] + l[k] + w[k];
  if (sum == 1e30f) *result = sum;
}

long long* cycles;
float* result;

template <int kFfma, int kImad, int kWide, int kAdd, int kLop, int kLds>
void measure() {
  for (const int warps : {4, 8}) {  // of a partition
    constexpr int kTimes = 500;
    for (int r = 0; r < 2; ++r)
      mix<kFfma, kImad, kWide, kAdd, kLop, kLds><<<1, warps * 128>>>(kTimes, 1.5f, 3, cycles, result);
    check(cudaDeviceSynchronize());
    std::printf("%d,%d,%d,%d,%d,%d,%d,%.2f\n", kFfma, kImad, kWide, kAdd, kLop, kLds, warps,
                static_cast<double>(*cycles) / kTimes / warps);
  }
}

}  // namespace

int main() {
  check(cudaMallocManaged(&cycles, 8));
  check(cudaMalloc((void**)&result, 4));
  std::printf("ffma,imad,wide,iadd,lop,lds,warps,cycles\n");
  measure<32, 0, 0, 0, 0, 0>();
  measure<0, 32, 0, 0, 0, 0>();
  measure<0, 0, 32, 0, 0, 0>();
  measure<0, 0, 0, 32, 0, 0>();
  measure<0, 0, 0, 0, 32, 0>();
  measure<0, 0, 0, 16, 16, 0>();
  measure<16, 16, 0, 0, 0, 0>();
  measure<24, 8, 0, 0, 0, 0>();
  measure<16, 0, 16, 0, 0, 0>();
  measure<24, 0, 8, 0, 0, 0>();
  measure<0, 16, 16, 0, 0, 0>();
  measure<16, 0, 0, 16, 0, 0>();
  measure<16, 0, 0, 8, 8, 0>();
  measure<0, 16, 0, 16, 0, 0>();
  measure<0, 0, 16, 16, 0, 0>();
  measure<8, 8, 0, 8, 8, 0>();
  measure<8, 8, 8, 8, 0, 0>();
  measure<16, 8, 0, 8, 0, 0>();
  measure<16, 4, 4, 8, 0, 0>();
  measure<16, 0, 8, 8, 0, 0>();
  measure<0, 0, 0, 0, 0, 8>();
  measure<32, 0, 0, 0, 0, 8>();
  measure<16, 0, 0, 16, 0, 8>();
  measure<16, 4, 4, 8, 0, 8>();
  return 0;
}
